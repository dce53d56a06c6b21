"""What a proof is about: a program whose codes are secret or known, and the nodes that an adversary sees.

Rules of proof turn a problem into others whose loss is at least as large: they make draws known, replace nodes by codes that
may be anything, or show more than the report. The new problem is built from the old one node by node, simplified on the way.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from deniable.core import Node, Program, Type
from deniable.core.operations import DRAWS, type_of
from deniable.errors import InvalidLaw
from deniable.privacy.steps import spend

MOST_VALUES = 1 << 20  # of a code that is followed value by value


Item = TypeVar("Item")


def linked(items: Iterable[tuple[Item, Collection[int]]]) -> list[list[Item]]:
    """The items in groups that have none of these numbers in common."""
    groups: list[tuple[set[int], list[Item]]] = []
    for item, numbers in items:
        own, members, apart = set(numbers), [item], []
        spend(len(groups) + len(own))
        for other in groups:
            if other[0] & own:
                own |= other[0]
                members = other[1] + members
            else:
                apart.append(other)
        groups = [*apart, (own, members)]
    return [members for _, members in groups]


@dataclass(frozen=True)
class Problem:
    """Nodes with their types, those that are seen, and which codes are known; `values` are those a code may have."""

    nodes: tuple[Node, ...]
    types: tuple[Type, ...]
    view: tuple[int, ...]
    known: frozenset[int]
    values: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, program: Program) -> "Problem":
        """The problem of a whole program: public draws are known, and the report is seen.

        Draws that an encoder is given are known too: a code may be any function of them, so it is proved for each. That is
        only right for draws that do not depend on an answer themselves.
        """
        given, todo = set[int](), [arg for _, node in program.codes for arg in node.args]
        while todo:
            place = todo.pop()
            if program.nodes[place].op == "code":
                raise InvalidLaw("An encoder receives something that already depends on the answer. Give it draws only.")
            if place not in given:
                given.add(place)
                todo.extend(program.nodes[place].args)
        build, at = Builder(), dict[int, int]()
        try:
            for place, node in enumerate(program.nodes):
                if node.op == "public" or (node.op in DRAWS and place in given):
                    at[place] = build.code(program.types[place], known=True)
                elif node.op == "code":
                    at[place] = build.code(program.types[place], known=False)
                else:
                    at[place] = build.add(node.op, [at[arg] for arg in node.args], node.params)
        except RecursionError as error:
            raise InvalidLaw("The operations of this law are nested too deeply for a proof.") from error
        return build.problem([at[node] for _, node in program.report])

    @cached_property
    def key(self) -> Hashable:
        """What distinguishes this problem from others."""
        return self.nodes, self.types, self.view, self.known, tuple(sorted(self.values.items()))

    def is_draw(self, node: int) -> bool:
        """Whether a node is a draw, all of which are private here."""
        return self.nodes[node].op in DRAWS or self.nodes[node].op == "counts"

    @cached_property
    def tainted(self) -> tuple[bool, ...]:
        """Which nodes depend on a secret code."""
        found: list[bool] = []
        spend(len(self.nodes))
        for place, node in enumerate(self.nodes):
            secret = node.op == "code" and place not in self.known
            found.append(secret or any(found[arg] for arg in node.args))
        return tuple(found)

    @cached_property
    def private(self) -> tuple[frozenset[int], ...]:
        """The draws that each node depends on, but for those of which the outcome is certain."""
        found: list[frozenset[int]] = []
        for place, node in enumerate(self.nodes):
            certain = node.op in ("toss", "flags") and node.params[0] in (0, 1)
            own = frozenset([place]) if self.is_draw(place) and not certain else frozenset()
            several = {found[arg] for arg in node.args if found[arg]} | ({own} if own else set())
            found.append(own.union(*several) if len(several) > 1 else next(iter(several), own))
            spend(1 + len(node.args) + (len(found[-1]) if len(several) > 1 else 0))
        return tuple(found)

    def is_used_once(self, node: int) -> bool:
        """Whether a node is used in one place only, and not seen."""
        return self._uses[node] == 1 and node not in self.view

    @cached_property
    def _uses(self) -> Counter[int]:
        return Counter(arg for each in self.nodes for arg in each.args)

    def upstream(self, targets: Sequence[int], until: Collection[int] = ()) -> list[int]:
        """These nodes and all that they are made of, in order; what those of `until` are made of is left out."""
        found, todo = set[int](), list(targets)
        while todo:
            node = todo.pop()
            if node not in found:
                found.add(node)
                todo.extend(self.nodes[node].args if node not in until else ())
        spend(len(found))
        return sorted(found)

    def values_of(self, node: int) -> Sequence[int] | None:
        """The values that a code may have, if they are few enough to be followed one by one."""
        if node in self.values:
            return self.values[node]
        kind = self.types[node]
        return range(kind.low, kind.high + 1) if kind.width is None and kind.size <= MOST_VALUES else None

    def range_of(self, node: int) -> int:
        """How many values a node may have by its type."""
        if self.nodes[node].op == "code":
            values = self.values_of(node)
            assert values is not None
            return len(values)
        return self.types[node].size

    def secrets(self, targets: Sequence[int]) -> list[int]:
        """The secret codes that these nodes depend on."""
        return [n for n in self.upstream(targets) if self.nodes[n].op == "code" and n not in self.known]

    def knowns(self, targets: Sequence[int]) -> list[int]:
        """The known codes that these nodes depend on."""
        return [n for n in self.upstream(targets) if n in self.known]

    def rebuilt(self, view: Sequence[int], instead: Mapping[int, "Stand"] | None = None) -> "Problem":
        """The problem with another view, and with some nodes replaced by codes or constants."""
        build, at = Builder(), dict[int, int]()
        build.copy(self, view, at, instead or {})
        return build.problem([at[node] for node in view])


@dataclass(frozen=True)
class Stand:
    """What stands for a node: a number, or else a code that is known or not, with the values that it may have."""

    constant: int | None = None
    known: bool = False
    values: tuple[int, ...] | None = None


class Builder:
    """Nodes of a new problem; what is simple is simplified at once."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.types: list[Type] = []
        self.known: set[int] = set()
        self.values: dict[int, tuple[int, ...]] = {}
        self._at: dict[Node, int] = {}

    def problem(self, view: Sequence[int]) -> Problem:
        """The problem with the nodes so far."""
        spend(len(self.nodes))
        unique = tuple(dict.fromkeys(view))
        return Problem(tuple(self.nodes), tuple(self.types), unique, frozenset(self.known), dict(self.values))

    def code(self, kind: Type, known: bool, values: tuple[int, ...] | None = None) -> int:
        """A new code of this type."""
        place = self._append(Node("code", (), (f"code{len(self.nodes)}",)), kind)
        if known:
            self.known.add(place)
        if values is not None:
            self.values[place] = values
        return place

    def constant(self, value: int) -> int:
        """The node of a number."""
        return self.add("const", [], (value,))

    def draw_counts(self, outcomes: tuple[Any, ...]) -> int:
        """A draw of a number with these values and probabilities."""
        numbers = [value for value, _ in outcomes]
        return self._append(Node("counts", (), (outcomes, len(self.nodes))), Type(min(numbers), max(numbers)))

    def _append(self, node: Node, kind: Type) -> int:
        self.nodes.append(node)
        self.types.append(kind)
        return len(self.nodes) - 1

    def copy(self, problem: Problem, targets: Sequence[int], at: dict[int, int], instead: Mapping[int, Stand]) -> None:
        """The nodes that the targets are made of, with replacements; `at` takes where each old node is now."""
        needed, todo = set[int](), list(targets)
        while todo:
            node = todo.pop()
            if node not in needed and node not in at:
                needed.add(node)
                if node not in instead:
                    todo.extend(problem.nodes[node].args)
        spend(2 * len(needed))
        for node in sorted(needed):
            each, stand = problem.nodes[node], instead.get(node)
            if stand is not None and stand.constant is not None:
                at[node] = self.constant(stand.constant)
            elif stand is not None:
                at[node] = self.code(problem.types[node], stand.known, stand.values)
            elif each.op == "code":
                at[node] = self.code(problem.types[node], node in problem.known, problem.values.get(node))
            elif each.op == "counts":
                at[node] = self.draw_counts(each.params[0])
            else:
                at[node] = self.add(each.op, [at[arg] for arg in each.args], each.params)

    def add(self, op: str, args: Sequence[int], params: tuple[Any, ...] = ()) -> int:
        """The node of an operation, or of what is the same and simpler."""
        node, drawn = Node(op, tuple(args), params), op in DRAWS or op == "code"
        if not drawn and node in self._at:
            return self._at[node]
        spend(1 + len(args) + sum(len(each) for each in params if isinstance(each, tuple)) // 64)
        simple = self._simpler(op, args, params)
        if simple is not None:
            self._at[node] = simple
            return simple
        kind = type_of(node, [self.types[arg] for arg in args])
        if op not in DRAWS and op not in ("code", "const") and kind.low == kind.high and kind.width is None:
            return self.constant(kind.low)
        self._at[node] = self._append(node, kind)
        return self._at[node]

    def _constant_of(self, node: int) -> int | None:
        kind = self.types[node]
        return kind.low if kind.low == kind.high and kind.width is None else None

    def _simpler(self, op: str, args: Sequence[int], params: tuple[Any, ...]) -> int | None:
        fixed = [self._constant_of(arg) for arg in args]
        kinds = [self.types[arg] for arg in args]
        if op == "where":
            if fixed[0] is not None:
                return args[1] if fixed[0] else args[2]
            return args[1] if args[1] == args[2] else None
        if op == "mod" and kinds[0].low >= 0 and kinds[0].high < params[0]:
            return args[0]
        if op == "add" and 0 in fixed and None in fixed and kinds[fixed.index(0)].width is None:
            return args[1 - fixed.index(0)]
        if op == "mul" and 1 in fixed and None in fixed:
            return args[1 - fixed.index(1)]
        if op == "eq":
            if args[0] == args[1]:
                return self.constant(1)
            if kinds[0].high < kinds[1].low or kinds[1].high < kinds[0].low:
                return self.constant(0)
            if None not in fixed:
                return self.constant(int(fixed[0] == fixed[1]))
            if fixed[1] == 0 and self.nodes[args[0]].op == "mul":
                first, second = self.nodes[args[0]].args
                if self.types[first].low >= 0 and self.types[second].low >= 0:  # a product is 0 if one of them is
                    zeros = [self.add("eq", [arg, args[1]]) for arg in (first, second)]
                    return self.add("or", zeros)
            if fixed[1] is not None and self.nodes[args[0]].op == "table":
                table = self.nodes[args[0]]
                return self.add("table", table.args, (tuple(int(value == fixed[1]) for value in table.params[0]),))
            if fixed[1] == 0 and self.nodes[args[0]].op == "not":
                return self.nodes[args[0]].args[0]
            if fixed[1] == 0 and kinds[0].low >= 0 and kinds[0].high == 1:
                return self.add("not", [args[0]])
        if op == "lt" and fixed[0] == 0 and kinds[1].low >= 0:
            return self.add("not", [self.add("eq", [args[1], args[0]])])
        if op == "lt" and fixed[1] is not None and self.nodes[args[0]].op == "where":
            condition, first, second = self.nodes[args[0]].args
            if self.types[first].low >= fixed[1] > self.types[second].high:
                return self.add("not", [condition])
        if op == "lt" and fixed[1] == 1 and kinds[0].low >= 0:
            return self.add("eq", [args[0], self.constant(0)])
        if op == "lt" and (kinds[0].high < kinds[1].low or kinds[0].low >= kinds[1].high):
            return self.constant(int(kinds[0].high < kinds[1].low))
        if op == "not" and not kinds[0].row and self.nodes[args[0]].op == "not":
            return self.nodes[args[0]].args[0]
        if op == "table" and fixed[0] is not None:
            return self.constant(params[0][fixed[0]])
        if op in ("min", "max") and kinds[0].width is None and kinds[1].width is None:
            small, large = (0, 1) if kinds[0].high <= kinds[1].low else (1, 0)
            if kinds[small].high <= kinds[large].low:
                return args[small] if op == "min" else args[large]
        if op in ("and", "or") and fixed[0] is not None and fixed[1] is None and not kinds[1].row:
            return self._simpler(op, [args[1], args[0]], params)
        if op in ("and", "or") and not kinds[1].row and fixed[1] in (0, 1) and (kinds[0].row or kinds[0].high <= 1):
            if op == "and":
                return args[0] if fixed[1] else (None if kinds[0].row else self.constant(0))
            return args[0] if not fixed[1] else self.constant(1)
        return None
