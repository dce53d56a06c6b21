"""The meaning of every operation of a law once more, as plainly as possible: one answer, whole numbers, every outcome.

It shares nothing with the interpreter but the checked program, and gives the exact chance of every report. Interpreters in
all languages are compared with it.
"""

import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import comb
from typing import Any

from deniable.core.operations import Node
from deniable.core.program import Program

Outcomes = list[tuple[Any, Fraction]]


class TooMany(Exception):
    """More combinations of values than asked for."""


def chances(program: Program, codes: Sequence[Any], most: int = 1 << 20) -> dict[str, Fraction]:
    """The probability of every report, written as `key` says. Codes are numbers or lists of numbers."""
    last = {arg: place for place, node in enumerate(program.nodes) for arg in node.args}
    last |= {node: len(program.nodes) for _, node in program.report}
    given = iter([tuple(code) if isinstance(code, Sequence) else code for code in codes])
    live: list[int] = []
    states: dict[tuple[Any, ...], Fraction] = {(): Fraction(1)}
    for place, node in enumerate(program.nodes):
        found: dict[tuple[Any, ...], Fraction] = {}
        kept = [each for each in live if last[each] > place]
        code = next(given) if node.op == "code" else None
        for state, chance in states.items():
            values = dict(zip(live, state, strict=True))
            args = [values[arg] for arg in node.args]
            for value, own in [(code, Fraction(1))] if node.op == "code" else outcomes(node, args):
                rest = tuple(values[each] for each in kept) + ((value,) if place in last else ())
                found[rest] = found.get(rest, Fraction(0)) + chance * own
        if len(found) > most:
            raise TooMany
        live, states = kept + ([place] if place in last else []), found
    law: dict[str, Fraction] = {}
    for state, chance in states.items():
        values = dict(zip(live, state, strict=True))
        report = key([values[node] for _, node in program.report])
        law[report] = law.get(report, Fraction(0)) + chance
    return law


def key(values: Sequence[Any]) -> str:
    """A report as text: its fields in order, rows as bytes in hexadecimal."""
    return " ".join(_text(value) for value in values)


def _text(value: Any) -> str:
    if isinstance(value, tuple) and isinstance(value[0], bool):
        return sum(1 << place for place, bit in enumerate(value) if bit).to_bytes((len(value) + 7) // 8, "little").hex()
    return json.dumps(value, separators=(",", ":"))


def outcomes(node: Node, args: Sequence[Any]) -> Outcomes:
    """What an operation can give, and how likely: a list of one if it is no draw."""
    drawn = _drawn(node, args) if node.op in _DRAWS else [(_OPERATIONS[node.op](node, *args), Fraction(1))]
    return [(value, chance) for value, chance in drawn if chance]


def _each(combine: Callable[..., int]) -> Callable[..., Any]:
    def operate(node: Node, *args: Any) -> Any:
        width = max((len(arg) for arg in args if isinstance(arg, tuple)), default=None)
        if width is None:
            return combine(*args, *node.params)
        columns = [arg if isinstance(arg, tuple) else (arg,) * width for arg in args]
        return tuple(combine(*each, *node.params) for each in zip(*columns, strict=True))

    return operate


def _bits(combine: Callable[[int, int], int]) -> Callable[..., Any]:
    def operate(node: Node, a: Any, b: Any) -> Any:
        if not isinstance(a, tuple):
            return combine(a, b)
        return tuple(
            bool(combine(int(x), int(y))) for x, y in zip(a, b if isinstance(b, tuple) else (b,) * len(a), strict=True)
        )

    return operate


def _changed(row: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*row[:place], value, *row[place + 1 :])


def _aimed(node: Node, column: int, row: int, odd: int) -> int:
    lowest = next(1 << place for place in range(row.bit_length()) if row >> place & 1)
    return column if (column & row).bit_count() % 2 == odd else column ^ lowest


def _around(node: Node, start: int, place: int) -> int:
    near, among = node.params
    inside = list(range(start, start + near))
    order = inside + [each for each in range(among) if each not in inside] if among < 1 << 16 else None
    if order is not None:
        return order[place] if place < among else place
    if place >= among:
        return place
    return start + place if place < near else place - near + near * (place - near >= start)


_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "const": lambda node: node.params[0],
    "add": _each(lambda a, b: a + b),
    "sub": _each(lambda a, b: a - b),
    "mul": _each(lambda a, b: a * b),
    "min": _each(min),
    "max": _each(max),
    "abs": _each(abs),
    "div": _each(lambda a, by: a // by),
    "mod": _each(lambda a, by: a % by),
    "lt": lambda node, a, b: int(a < b),
    "eq": lambda node, a, b: int(a == b),
    "not": lambda node, a: tuple(not bit for bit in a) if isinstance(a, tuple) else 1 - a,
    "and": _bits(lambda a, b: a & b),
    "or": _bits(lambda a, b: a | b),
    "xor": _bits(lambda a, b: a ^ b),
    "shr": lambda node, a, b: a >> b,
    "ones": lambda node, a: sum(a) if isinstance(a, tuple) else a.bit_count(),
    "where": lambda node, condition, a, b: a if condition else b,
    "table": lambda node, index: node.params[0][index],
    "aim": _aimed,
    "around": _around,
    "get": lambda node, row, place: int(row[place]),
    "put": lambda node, row, place, value: _changed(row, place, bool(value)),
    "swap": lambda node, row, a, b: _changed(_changed(row, a, row[b]), b, row[a]),
    "widen": lambda node, row: row + (False,) * (node.params[0] - len(row)),
    "turn": lambda node, row, which: tuple(bit != bool(which) for bit in row),
    "pack": lambda node, *numbers: tuple(bool(n >> bit & 1) for n in numbers for bit in range(node.params[0])),
    "cells": lambda node, vector: tuple(bool(n >> node.params[0] & 1) for n in vector),
    "join": lambda node, *rows: tuple(bit for row in rows for bit in row),
    "at": lambda node, vector, index: vector[index],
}
_DRAWS = {"toss", "below", "public", "split", "pick", "pick_each", "toss_each", "flags", "subset", "majority"}


def _drawn(node: Node, args: Sequence[Any]) -> Outcomes:
    op, params = node.op, node.params
    if op == "toss":
        return [(0, 1 - params[0]), (1, params[0])]
    if op in ("below", "public"):
        return [(value, Fraction(1, params[0])) for value in range(params[0])]
    if op == "split":
        heads, first, second = params
        inside, outside = heads / first, (1 - heads) / second if second else Fraction(0)
        return [(value, inside if value < first else outside) for value in range(first + second)]
    if op in ("pick", "pick_each"):
        weights = params[0] if op == "pick" else params[0][args[0]]
        return [(place, Fraction(weight, sum(weights))) for place, weight in enumerate(weights)]
    if op == "toss_each":
        if isinstance(args[0], tuple):
            return _together([Fraction(heads, params[0]) for heads in args[0]], int)
        return [(0, 1 - Fraction(args[0], params[0])), (1, Fraction(args[0], params[0]))]
    if op == "flags":
        return _together([params[0]] * params[1], bool)
    if op == "subset":
        n, k = params[0], params[1] - args[0]
        sets = itertools.combinations(range(n), k)
        return [(tuple(place in chosen for place in range(n)), Fraction(1, comb(n, k))) for chosen in sets]
    rows = [row for row in itertools.product((False, True), repeat=params[0]) if 2 * sum(row) > params[0]]
    return [(row, Fraction(1, len(rows))) for row in rows]


def _together(heads: Sequence[Fraction], kind: type) -> Outcomes:
    """All rows of coins of which each is one with its own probability."""
    found: Outcomes = [((), Fraction(1))]
    for each in heads:
        found = [
            ((*row, kind(bit)), chance * own) for row, chance in found for bit, own in ((0, 1 - each), (1, each)) if own
        ]
    return found
