"""How a law runs on many answers: all that is arithmetic on single numbers in one pass, with the bytes of the coins as ever.

The steps are made from the nodes of the program alone, and `running.run` gives the same reports for the same coins. Draws
are made in the order of the program, for the whole batch; what is drawn stays as compact as it comes from the stream until
it is needed. Nodes that are not arithmetic on single numbers run as ever, and before them whatever they need.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.core.operations import DRAWS, Node, Type
from deniable.core.program import Program
from deniable.kernels import fused

SMALL, SHORT = 1 << 31, 1 << 24  # numbers of four bytes; what a short word is scaled to
WHOLE = 1 << 53  # as in coins.py
OUTPUTS = {"uint8": fused.STORE_8, "uint16": fused.STORE_16, "uint32": fused.STORE_32, "int64": fused.STORE_64}
_BINARY = {
    "add": fused.ADD,
    "sub": fused.SUBTRACT,
    "mul": fused.MULTIPLY,
    "lt": fused.LESS,
    "eq": fused.EQUAL,
    "and": fused.AND,
    "or": fused.OR,
    "xor": fused.XOR,
    "shr": fused.SHIFT,
    "min": fused.LEAST,
    "max": fused.MOST,
}


@dataclass(frozen=True)
class Pass:
    """Steps that write some nodes: registers as wide as they must be, and where every column is read and written."""

    steps: Ints
    wide: bool
    registers: int
    fills: tuple[tuple[int, ...], tuple[int, ...]]  # constants, and the registers that hold them
    tables: NDArray[np.signedinteger]
    numbers: tuple[int, ...]  # nodes whose values are read
    stores: tuple[tuple[str, int], ...]  # the type of the column and the node that is written into it


@dataclass(frozen=True)
class Draw:
    """A node that is drawn compactly: the rows of bits, of words and of long words that it takes."""

    place: int
    heads: Fraction | None
    bits: int
    words: tuple[tuple[int, int], ...]  # the row, and what its words are scaled to, in the order of the stream
    long: int | None  # the row of long words


@dataclass(frozen=True)
class Other:
    """A node that runs as ever."""

    place: int


@dataclass(frozen=True)
class Plan:
    """What happens in turn, and how many rows of bits, words and long words there are."""

    actions: tuple[Pass | Draw | Other, ...]
    bits: int
    words: int
    longs: int


def plan(program: Program, columns: Sequence[str]) -> Plan | None:
    """How to run this program fused, its fields as columns of these types; None where that is not for it."""
    types = program.types
    report = [node for _, node in program.report]
    if any(types[node].row or types[node].width is not None or types[node].low < 0 for node in report):
        return None
    if not all(column in OUTPUTS for column in columns):
        return None
    return _Planner(program).made(list(zip(columns, report, strict=True)))


def _is_scalar(kind: Type) -> bool:
    return not kind.row and kind.width is None


def _is_compact(node: Node, args: Sequence[Type]) -> bool:
    """Whether what is drawn are short words and tosses."""
    if node.op in ("below", "public"):
        return bool(node.params[0] <= SHORT)
    if node.op == "split":
        heads, first, second = node.params
        return bool(0 < heads < 1 and 1 <= first <= SHORT and 1 <= second <= SHORT)
    if node.op == "toss_each":
        return bool(_is_scalar(args[0]) and 0 <= args[0].low <= args[0].high <= node.params[0] <= SHORT)
    return node.op == "toss"


def _is_long(node: Node, args: Sequence[Type]) -> bool:
    """Whether long words are drawn, and compared with chances that are numbers of their own."""
    return node.op == "toss_each" and node.params[0] == WHOLE and _is_scalar(args[0]) and args[0].low >= 0


def _is_arithmetic(node: Node, args: Sequence[Type]) -> bool:
    if not all(map(_is_scalar, args)):
        return False
    if node.op == "mod":
        return args[0].low >= 0 and args[0].high < max(SMALL, 2 * node.params[0])
    if node.op == "div":
        return args[0].low >= 0 and args[0].high < SMALL and node.params[0] < SMALL
    return node.op in _BINARY or node.op in ("const", "abs", "not", "where", "table", "aim", "around")


@dataclass
class _Planner:
    program: Program
    compact: dict[int, Draw] = field(default_factory=dict)
    bits: int = 0
    words: int = 0
    longs: int = 0

    def made(self, report: list[tuple[str, int]]) -> Plan | None:
        nodes, types = self.program.nodes, self.program.types
        actions: list[Pass | Draw | Other] = []
        written: set[int] = set()  # nodes with values of their own
        for place, node in enumerate(nodes):
            args = [types[arg] for arg in node.args]
            is_long = _is_long(node, args)
            is_compact = node.op in DRAWS and (is_long or _is_compact(node, args))
            if node.op != "code" and _is_arithmetic(node, args):
                continue
            needed = [arg for arg in dict.fromkeys(node.args) if self._is_delayed(arg, written)]
            if needed and (is_long or not is_compact):
                actions.append(self._passed([("int64", each) for each in needed], written))
                written.update(needed)
            if is_compact:
                self.compact[place] = self._drawn(place, node, is_long)
                actions.append(self.compact[place])
            else:
                actions.append(Other(place))
                written.add(place)
        last = self._passed(report, written)
        if not {fused.SCALE, fused.CHANCES, fused.BITS} & set(last.steps[:, 0].tolist()):
            return None  # what is drawn goes elsewhere first: nothing is left to be saved
        return Plan((*actions, last), self.bits, self.words, self.longs)

    def _is_delayed(self, place: int, written: set[int]) -> bool:
        return place not in written and self.program.nodes[place].op != "const"

    def _drawn(self, place: int, node: Node, is_long: bool) -> Draw:
        if is_long:
            self.longs += 1
            return Draw(place, None, 0, (), self.longs - 1)
        heads = node.params[0] if node.op in ("toss", "split") else None
        bounds = node.params[:0:-1] if node.op == "split" else node.params if heads is None else ()
        row, words = self.bits, []
        self.bits += heads is not None
        for bound in bounds:  # of a split the second part comes first
            if bound > 1 or node.op != "split":
                words.append((self.words, bound))
                self.words += 1
        return Draw(place, heads, row, tuple(words), None)

    def _passed(self, stores: list[tuple[str, int]], written: set[int]) -> Pass:
        return _Passing(self.program, self.compact, written).made(stores)


@dataclass
class _Joined:
    """Several tables of one number in one, each in bits of its own."""

    table: list[int]
    bits: int = 0
    parts: list[tuple[int, int]] = field(default_factory=list)
    register: int | None = None


class _Passing:
    """Makes the steps of one pass; a register is used again once nothing needs its number any more."""

    def __init__(self, program: Program, compact: dict[int, Draw], written: set[int]) -> None:
        self._program, self._compact, self._written = program, compact, written
        self._steps: list[tuple[int, ...]] = []
        self._held: dict[int, int] = {}  # node to register
        self._free: list[int] = []
        self._registers = 0
        self._fills: dict[int, int] = {}  # value to register, which is filled once
        self._tables: list[int] = []
        self._joined: dict[int, _Joined] = {}  # tables that are looked up together
        self._numbers: list[int] = []

    def made(self, stores: list[tuple[str, int]]) -> Pass:
        needed = self._needed([node for _, node in stores])
        self._join([place for place in needed if place not in self._written])
        uses = dict.fromkeys(needed, 0)
        for place in needed:
            for arg in self._args(place):
                uses[arg] += 1
        rows: dict[str, int] = {}
        waiting: dict[int, list[tuple[str, int]]] = {}
        for column, node in stores:
            waiting.setdefault(node, []).append((column, rows.get(column, 0)))
            rows[column] = rows.get(column, 0) + 1
        for place in needed:
            self._add(place)
            for column, row in waiting.get(place, ()):
                self._steps.append((OUTPUTS[column], row, self._held[place], 0, 0, 0, 0, 0))
            for arg in dict.fromkeys((*self._args(place), place)):
                uses[arg] -= self._args(place).count(arg)
                if uses[arg] == 0:
                    self._release(self._held[arg])
        types = self._program.types
        wide = any(max(-types[place].low, types[place].high) >= SMALL for place in needed)
        tables: NDArray[np.signedinteger] = np.array(self._tables, np.int64 if wide else np.int32)
        steps, fills = np.array(self._steps, np.int64).reshape(-1, 8), tuple(self._fills)
        held = tuple(self._fills.values())
        return Pass(steps, wide, self._registers, (fills, held), tables, tuple(self._numbers), tuple(stores))

    def _args(self, place: int) -> tuple[int, ...]:
        node = self._program.nodes[place]
        draw = self._compact.get(place)
        is_loaded = place in self._written or (draw is not None and (node.op != "toss_each" or draw.long is not None))
        return () if is_loaded else node.args

    def _needed(self, targets: list[int]) -> list[int]:
        found, todo = set[int](), targets.copy()
        while todo:
            if (place := todo.pop()) not in found:
                found.add(place)
                todo.extend(self._args(place))
        return sorted(found)

    def _register(self) -> int:
        if self._free:
            return self._free.pop()
        self._registers += 1
        return self._registers - 1

    def _filled(self, value: int) -> int:
        if value not in self._fills:
            self._fills[value] = self._registers
            self._registers += 1
        return self._fills[value]

    def _release(self, register: int) -> None:
        if register not in self._fills.values():
            self._free.append(register)

    def _step(self, op: int, a: int = 0, b: int = 0, c: int = 0, *params: int) -> int:
        to = self._register()
        self._steps.append((op, to, a, b, c, *params, *[0] * (3 - len(params))))
        return to

    def _add(self, place: int) -> None:
        node = self._program.nodes[place]
        if place in self._written:
            self._numbers.append(place)
            self._held[place] = self._step(fused.NUMBERS, len(self._numbers) - 1)
        elif place in self._compact:
            self._held[place] = self._load(self._compact[place], node)
        else:
            joined, args = self._joined.get(place), [self._held[arg] for arg in node.args]
            self._held[place] = self._compute(node, args) if joined is None else self._taken(joined, args[0])

    def _load(self, draw: Draw, node: Node) -> int:
        if draw.long is not None:
            self._numbers.append(node.args[0])
            return self._step(fused.CHANCES, draw.long, 0, 0, len(self._numbers) - 1)
        if node.op == "toss_each":
            drawn = self._scaled(draw.words[0], 0)
            self._release(drawn)
            return self._step(fused.LESS, drawn, self._held[node.args[0]])
        if node.op != "split":
            return self._step(fused.BITS, draw.bits) if draw.words == () else self._scaled(draw.words[0], 0)
        _, first, second = node.params
        rows = {bound: (row, bound) for row, bound in draw.words}
        if first == second and first > 1:
            parts = [self._scaled(draw.words[1], 0), self._scaled(draw.words[0], first)]
        else:
            parts = [self._scaled(rows[first], 0) if first > 1 else self._filled(0)]
            parts.append(self._scaled(rows[second], first) if second > 1 else self._filled(first))
        heads = self._step(fused.BITS, draw.bits)
        found = self._step(fused.WHERE, heads, *parts)
        for each in (heads, *parts):
            self._release(each)
        return found

    def _scaled(self, word: tuple[int, int], more: int) -> int:
        row, bound = word
        return self._step(fused.SCALE, row, 0, 0, bound, more)

    def _compute(self, node: Node, args: list[int]) -> int:
        match node.op:
            case "const":
                return self._filled(node.params[0])
            case "not":
                return self._step(fused.NOT, *args)
            case "abs":
                opposite = self._step(fused.SUBTRACT, self._filled(0), *args)
                self._release(opposite)
                return self._step(fused.MOST, *args, opposite)
            case "where":
                return self._step(fused.WHERE, *args)
            case "aim":
                return self._step(fused.AIM, *args)
            case "around":
                return self._step(fused.AROUND, *args, 0, *node.params)
            case "table":
                return self._looked_up(node.params[0], args[0])
            case "mod" | "div":
                return self._divided(node, args[0])
            case _:
                return self._step(_BINARY[node.op], *args)

    def _looked_up(self, table: Sequence[int], arg: int) -> int:
        self._tables += table
        return self._step(fused.LOOK_UP, arg, 0, 0, len(self._tables) - len(table))

    def _join(self, places: list[int]) -> None:
        """Tables of one number whose entries fit into a register together: looking up takes longer than all else."""
        tables: dict[int, list[int]] = {}
        for place in places:
            node = self._program.nodes[place]
            if node.op == "table" and self._program.types[place].low >= 0:
                tables.setdefault(node.args[0], []).append(place)
        for same in tables.values():
            bits = [self._program.types[place].high.bit_length() for place in same]
            if len(same) > 1 and sum(bits) < SMALL.bit_length():
                columns = [self._program.nodes[place].params[0] for place in same]
                joined = _Joined([0] * max(map(len, columns)))
                for place, width, column in zip(same, bits, columns, strict=True):
                    self._joined[place] = joined
                    joined.parts.append((joined.bits, (1 << width) - 1))
                    joined.table[: len(column)] = [
                        entry | own << joined.bits for entry, own in zip(joined.table, column, strict=False)
                    ]
                    joined.bits += width

    def _taken(self, joined: "_Joined", arg: int) -> int:
        """The next part of what is looked up together: parts are asked for in the order of their nodes."""
        if joined.register is None:
            joined.register = self._looked_up(joined.table, arg)
        found = self._step(fused.PART, joined.register, 0, 0, *joined.parts.pop(0))
        if not joined.parts:
            self._release(joined.register)
        return found

    def _divided(self, node: Node, arg: int) -> int:
        by, highest = node.params[0], self._program.types[node.args[0]].high
        if node.op == "mod" and highest < by:  # which a register of this width need not hold
            return self._step(fused.ADD, arg, self._filled(0))
        if node.op == "mod" and highest < 2 * by:
            return self._step(fused.WRAP, arg, 0, 0, by)
        # x // by = x m >> s for all x up to `highest`: see `remainder` in kernels/steps_compiled.py
        shift = (highest * by).bit_length()
        op = fused.REMAINDER if node.op == "mod" else fused.QUOTIENT
        return self._step(op, arg, 0, 0, by, (1 << shift) // by + 1, shift)
