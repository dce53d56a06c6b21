"""A law as data: the straight-line program that turns the code of an answer into a report, and nothing else that runs.

A program is a list of nodes. Each applies one operation of a closed list to earlier nodes, or draws from the coins. Every
node has a type with bounds, which follow from the operation, so that no overflow is possible; what does not fit is refused
when the program is made, wherever it comes from. The last part says which node is which field of the report.

As JSON a node is `[operation, [earlier nodes], parameters...]`; fractions are text such as "3/4", and so are whole numbers
from 2^53 on. `docs/law.md` has the meaning of every operation, so that other languages can run and check the same data.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from deniable.core.operations import DRAWS, Node, Type, type_of
from deniable.errors import InvalidLaw

MOST_NODES = 20_000
MOST_ENTRIES = 1 << 22  # of all tables and weights of a program together
LARGE = 1 << 53  # from here on JavaScript does not read whole numbers exactly


@dataclass(frozen=True)
class Program:
    """The nodes of a law, and the node of each field of the report."""

    nodes: tuple[Node, ...]
    report: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        if not self.nodes or len(self.nodes) > MOST_NODES:
            raise InvalidLaw(f"A law has from 1 to {MOST_NODES:,} operations; this one has {len(self.nodes):,}.")
        if self.entries > MOST_ENTRIES:
            raise InvalidLaw(f"The tables of a law have at most {MOST_ENTRIES:,} entries; these have {self.entries:,}.")
        if len({name for name, _ in self.report}) != len(self.report) or not self.report:
            raise InvalidLaw("Each field of a report needs a name of its own.")
        if any(not 0 <= node < len(self.nodes) for _, node in self.report):
            raise InvalidLaw("A field of the report refers to an operation that does not exist.")
        _ = self.types

    @cached_property
    def types(self) -> tuple[Type, ...]:
        """The type of every node; refuses operations that are not defined for what they are applied to."""
        found: list[Type] = []
        for place, node in enumerate(self.nodes):
            if any(type(arg) is not int or not 0 <= arg < place for arg in node.args):
                raise InvalidLaw(f"Operation {place} ({node.op!s:.20}) must refer to earlier operations only.")
            found.append(type_of(node, [found[arg] for arg in node.args]))
        return tuple(found)

    @property
    def codes(self) -> list[tuple[int, Node]]:
        """The nodes whose values come from the encoder, in order."""
        return [(place, node) for place, node in enumerate(self.nodes) if node.op == "code"]

    @property
    def entries(self) -> int:
        """How many entries its tables and weights have together."""
        return sum(map(_entries, self.nodes))

    @classmethod
    def joined(cls, parts: "Sequence[tuple[str, Program]]") -> "Program":
        """Programs one after the other as one: codes are called "name: code", fields "name.field".

        Every node refers to nodes of its own part, so no draw and no answer of one part goes into another.
        """
        nodes: list[Node] = []
        report: list[tuple[str, int]] = []
        for name, program in parts:
            start = len(nodes)
            for node in program.nodes:
                params = (f"{name}: {node.params[0]}", *node.params[1:]) if node.op == "code" else node.params
                nodes.append(Node(node.op, tuple(arg + start for arg in node.args), params))
            report += [(f"{name}.{field}", node + start) for field, node in program.report]
        return cls(tuple(nodes), tuple(report))

    def part(self, fields: Sequence[str]) -> "Program":
        """What makes these fields of the report, and nothing else."""
        report = dict(self.report)
        if not fields or not set(fields) <= set(report):
            raise InvalidLaw("A part of a law needs at least one field, and only fields of its report.")
        needed = self.upstream([report[field] for field in fields])
        at = {place: number for number, place in enumerate(needed)}
        nodes = [self.nodes[place] for place in needed]
        moved = tuple(Node(node.op, tuple(at[arg] for arg in node.args), node.params) for node in nodes)
        return Program(moved, tuple((field, at[report[field]]) for field in fields))

    def upstream(self, targets: Sequence[int]) -> list[int]:
        """These nodes and all that they are made of, in order."""
        found, todo = set[int](), list(targets)
        while todo:
            if (place := todo.pop()) not in found:
                found.add(place)
                todo.extend(self.nodes[place].args)
        return sorted(found)

    def to_json(self) -> str:
        """The canonical text, whose hash is the fingerprint."""
        return json.dumps(self.plain(), separators=(",", ":"), sort_keys=True)

    def plain(self) -> dict[str, object]:
        """The same as plain data."""
        return {"nodes": [_plain(node) for node in self.nodes], "report": [list(field) for field in self.report]}

    @cached_property
    def fingerprint(self) -> str:
        """128 bits that name this law: the SHA-256 of `to_json`, cut, in hexadecimal."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:32]

    @classmethod
    def from_json(cls, text: str) -> "Program":
        """The law in a text, from anywhere; refuses whatever is not one."""
        try:
            plain = json.loads(text, parse_float=_unfloated, parse_constant=_unfloated)
            nodes = tuple(_read(each) for each in _list(plain["nodes"]))
            report = tuple(_field(*_list(each)) for each in _list(plain["report"]))
        except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError) as error:
            raise InvalidLaw("This is not a law: it needs the lists nodes and report.") from error
        return cls(nodes, report)

    def __str__(self) -> str:
        """The law in lines that people can read: draws and encoded answers by name, everything else in place."""
        return "\n".join(_lines(self))


# To and from JSON, and for people


def _entries(node: Node) -> int:
    return sum(
        len(each) if set(map(type, each)) == {int} else sum(len(row) if isinstance(row, tuple) else 1 for row in each)
        for each in node.params
        if isinstance(each, tuple)
    )


def _plain(node: Node) -> list[Any]:
    return [node.op, list(node.args), *map(_written, node.params)]


def _written(value: Any) -> Any:
    if isinstance(value, Fraction):
        return f"{value.numerator}/{value.denominator}"
    if isinstance(value, tuple):
        if set(map(type, value)) == {int} and min(value) > -LARGE and max(value) < LARGE:
            return list(value)  # the same, quickly: tables can be long
        return [_written(each) for each in value]
    return str(value) if isinstance(value, int) and abs(value) >= LARGE else value


def _list(plain: Any) -> list[Any]:
    if not isinstance(plain, list):
        raise TypeError("a list is needed")
    return plain


def _unfloated(text: str) -> int:
    """A number that was written as 3.0 or 3e2: JSON makes no difference between that and 3 or 300."""
    return _exact(int(float(text))) if float(text).is_integer() else _exact(None)


def _exact(value: Any) -> int:
    """A whole number that every language reads exactly."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= LARGE:
        raise ValueError("no whole number under 2^53")
    return value


def _field(name: Any, node: Any) -> tuple[str, int]:
    if not isinstance(name, str):
        raise TypeError("a field needs a name")
    return name, _exact(node)


def _read(plain: Any) -> Node:
    op, args, *params = _list(plain)
    if not isinstance(op, str):
        raise TypeError("an operation needs a name")
    named = 1 if op == "code" else 0
    return Node(op, tuple(map(_exact, _list(args))), (*params[:named], *map(_parsed, params[named:])))


def _parsed(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_parsed(each) for each in value)
    if not isinstance(value, str):
        return _exact(value)
    if _WHOLE.fullmatch(value):
        return int(value)
    fraction = _FRACTION.fullmatch(value)
    if fraction is None:
        raise ValueError("no parameter of a law")
    return Fraction(int(fraction[1]), int(fraction[2]))


_WHOLE = re.compile(r"-?[0-9]{1,4300}")  # longer numbers are none that Python reads
_FRACTION = re.compile(r"([0-9]{1,4300})/([0-9]{1,4300})")

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "lt": "<", "eq": "==", "and": "&", "or": "|", "xor": "^", "shr": ">>"}


def _lines(program: Program) -> list[str]:
    uses = [0] * len(program.nodes)
    for node in program.nodes:
        for arg in node.args:
            uses[arg] += 1
    texts: list[str] = []
    lines: list[str] = []
    count = 0
    for place, node in enumerate(program.nodes):
        text = _text(node, [texts[arg] for arg in node.args])
        if node.op == "const":
            texts.append(text)
        elif node.op == "code":
            lines.append(f"{node.params[0]:10} = answer, {program.types[place]}" + _after(node, texts))
            texts.append(str(node.params[0]))
        elif node.op in DRAWS or uses[place] > 1:
            name, count = f"{'draw' if node.op in DRAWS else 'part'}{count}", count + 1
            lines.append(f"{name:10} = {text}")
            texts.append(name)
        else:
            texts.append(text)
    return lines + [f"{name:10} : {texts[node]}" for name, node in program.report]


def _after(node: Node, texts: list[str]) -> str:
    return f", encoded with {', '.join(texts[arg] for arg in node.args)}" if node.args else ""


def _text(node: Node, args: list[str]) -> str:
    if node.op == "const":
        return str(node.params[0])
    if node.op in _SIGNS:
        return f"({args[0]} {_SIGNS[node.op]} {args[1]})"
    if node.op in ("mod", "div"):
        return f"({args[0]} {'mod' if node.op == 'mod' else '//'} {node.params[0]})"
    params = [_shortened(each) for each in node.params]
    return f"{node.op}({', '.join([*args, *params])})"


def _shortened(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:24]}... ({len(text)} characters)"
