"""The operations of a law: a closed list, each with the type of what it gives.

Types have bounds, so that no number of a law can be too large for a machine, and proofs know how many values there are.
`docs/law.md` says what every operation does; running.py does it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from deniable.errors import InvalidLaw

LARGEST = 1 << 62  # no number of a program lies outside -2^62..2^62
MOST_DRAWS = 64  # that an encoder is given
WIDEST = 1 << 20  # cells of a row, and numbers of a vector
MOST_SUBSET = 1 << 32  # n times k of a subset of k out of n


@dataclass(frozen=True)
class Type:
    """A whole number within bounds; with a width a vector of such numbers, and without bounds a row of so many bits.

    The numbers of a `distinct` vector all differ from each other, whatever the answer is.
    """

    low: int = 0
    high: int = 1
    width: int | None = None
    row: bool = False
    distinct: bool = False

    @property
    def size(self) -> int:
        """How many numbers lie within the bounds."""
        return self.high - self.low + 1

    def __str__(self) -> str:
        if self.row:
            return f"{self.width} bits"
        each = f"{self.low}..{self.high}"
        return each if self.width is None else f"{self.width} {'different of' if self.distinct else 'times'} {each}"


@dataclass(frozen=True)
class Node:
    """One operation, the earlier nodes it is applied to, and its parameters: whole numbers, fractions, text or tables."""

    op: str
    args: tuple[int, ...] = ()
    params: tuple[Any, ...] = ()


def _check(holds: bool, node: Node, what: str) -> None:
    if not holds:
        raise InvalidLaw(f"The operation {node.op!s:.20} {what}.")


def _within(node: Node, low: int, high: int, width: int | None = None) -> Type:
    _check(-LARGEST <= low <= high <= LARGEST, node, "gives numbers beyond 2^62, which a law must not hold")
    return Type(low, high, width)


def _whole(node: Node, place: int, low: int, high: int = LARGEST) -> int:
    value = node.params[place] if place < len(node.params) else None
    _check(type(value) is int, node, f"needs a whole number as parameter {place + 1}")  # one that is nothing else besides
    _check(low <= cast(int, value) <= high, node, f"needs parameter {place + 1} to be from {low} to {high}")
    return cast(int, value)


def _odds(node: Node, place: int) -> Fraction:
    value = node.params[place] if place < len(node.params) else None
    exact = type(value) is Fraction and {type(value.numerator), type(value.denominator)} == {int}
    _check(exact and 0 <= cast(Fraction, value) <= 1, node, "needs a probability, an exact fraction from 0 to 1")
    return cast(Fraction, value)


def _weights(node: Node, weights: Any) -> int:
    listed = isinstance(weights, tuple) and len(weights) > 0 and all(type(each) is int and each >= 0 for each in weights)
    _check(listed, node, "needs weights that are whole numbers from 0")
    total = sum(weights)
    _check(0 < total < 1 << 63, node, "needs weights with a sum from 1 to 2^63 - 1")
    return total


def _corners(combine: Callable[[int, int], int]) -> Callable[[Node, list[Type]], Type]:
    """The type of an operation on two numbers that is extreme where they are."""

    def infer(node: Node, args: list[Type]) -> Type:
        a, b = args
        _check(not (a.row or b.row), node, "is for numbers, not for rows of bits")
        _check(a.width is None or b.width is None or a.width == b.width, node, "needs vectors of the same length")
        ends = [combine(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
        return _within(node, min(ends), max(ends), a.width if b.width is None else b.width)

    return infer


def _number(node: Node, kind: Type, low: int | None = None, high: int | None = None) -> Type:
    _check(not kind.row and kind.width is None, node, "needs a single number")
    _check(low is None or kind.low >= low, node, f"needs a number from {low}")
    _check(high is None or kind.high <= high, node, f"needs a number up to {high}")
    return kind


def _row(node: Node, kind: Type) -> int:
    _check(kind.row, node, "needs a row of bits")
    return cast(int, kind.width)


def _code(node: Node, args: list[Type]) -> Type:
    _check(bool(node.params) and isinstance(node.params[0], str), node, "needs a name")
    _check(len(args) <= MOST_DRAWS, node, f"sees at most {MOST_DRAWS} draws")
    low = _whole(node, 1, -LARGEST)
    high = _whole(node, 2, low)
    width = _whole(node, 3, 1, WIDEST) if len(node.params) > 3 else None
    if len(node.params) < 5:
        return Type(low, high, width)
    distinct = _whole(node, 4, 0, 1) == 1
    _check(not distinct or cast(int, width) <= high - low + 1, node, "has too few numbers for a vector of different ones")
    return Type(low, high, width, distinct=distinct)


def _const(node: Node, args: list[Type]) -> Type:
    value = _whole(node, 0, -LARGEST)
    return Type(value, value)


def _divided(node: Node, args: list[Type]) -> Type:
    _check(not args[0].row, node, "is for numbers")
    by, kind = _whole(node, 0, 1), args[0]
    return Type(kind.low // by, kind.high // by, kind.width)


def _remainder(node: Node, args: list[Type]) -> Type:
    _check(not args[0].row, node, "is for numbers")
    by, kind = _whole(node, 0, 1), args[0]
    if kind.low // by == kind.high // by:
        return Type(kind.low % by, kind.high % by, kind.width)
    return Type(0, by - 1, kind.width)


def _compared(node: Node, args: list[Type]) -> Type:
    for kind in args:
        _number(node, kind)
    return Type()


def _logical(node: Node, args: list[Type]) -> Type:
    if any(kind.row for kind in args):
        if node.op == "and" and not args[1].row:  # the row, or one without a bit
            _number(node, args[1], 0, 1)
            return args[0]
        _check(len({_row(node, kind) for kind in args}) == 1, node, "needs rows of the same width")
        return args[0]
    for kind in args:
        _number(node, kind, 0)
    if node.op == "and":
        return Type(0, min(kind.high for kind in args))
    return _within(node, 0, (1 << max(kind.high for kind in args).bit_length()) - 1)


def _not(node: Node, args: list[Type]) -> Type:
    if args[0].row:
        return args[0]
    kind = _number(node, args[0], 0, 1)
    return Type(1 - kind.high, 1 - kind.low)


def _shifted(node: Node, args: list[Type]) -> Type:
    a, b = _number(node, args[0], 0), _number(node, args[1], 0, 62)
    return Type(a.low >> b.high, a.high >> b.low)


def _chosen(node: Node, args: list[Type]) -> Type:
    condition, a, b = args
    _number(node, condition, 0, 1)
    _check(a.row == b.row and a.width == b.width, node, "needs two values of the same kind")
    return Type(min(a.low, b.low), max(a.high, b.high), a.width, a.row)


def _table(node: Node, args: list[Type]) -> Type:
    values = node.params[0] if node.params else None
    _check(isinstance(values, tuple) and set(map(type, values)) == {int}, node, "needs a table")
    _number(node, args[0], 0, len(values) - 1)  # type: ignore[arg-type]
    return _within(node, min(values), max(values))  # type: ignore[arg-type]


def _get(node: Node, args: list[Type]) -> Type:
    _number(node, args[1], 0, _row(node, args[0]) - 1)
    return Type()


def _put(node: Node, args: list[Type]) -> Type:
    _number(node, args[1], 0, _row(node, args[0]) - 1)
    _number(node, args[2], 0, 1)
    return args[0]


def _swap(node: Node, args: list[Type]) -> Type:
    for kind in args[1:]:
        _number(node, kind, 0, _row(node, args[0]) - 1)
    return args[0]


def _widen(node: Node, args: list[Type]) -> Type:
    return Type(0, 1, _whole(node, 0, _row(node, args[0]), WIDEST), True)


def _turn(node: Node, args: list[Type]) -> Type:
    _row(node, args[0])
    _number(node, args[1], 0, 1)
    return args[0]


def _pack(node: Node, args: list[Type]) -> Type:
    bits = _whole(node, 0, 1, 62)
    for kind in args:
        _number(node, kind, 0, (1 << bits) - 1)
    _check(0 < bits * len(args) <= WIDEST, node, "gives too wide a row")
    return Type(0, 1, bits * len(args), True)


def _cells(node: Node, args: list[Type]) -> Type:
    _check(not args[0].row and args[0].width is not None and args[0].low >= 0, node, "needs a vector of numbers from 0")
    _whole(node, 0, 0, 61)
    return Type(0, 1, args[0].width, True)


def _join(node: Node, args: list[Type]) -> Type:
    width = sum(_row(node, kind) for kind in args)
    _check(0 < width <= WIDEST, node, "gives too wide a row")
    return Type(0, 1, width, True)


def _at(node: Node, args: list[Type]) -> Type:
    kind = args[0]
    _check(not kind.row and kind.width is not None, node, "needs a vector")
    _number(node, args[1], 0, cast(int, kind.width) - 1)
    return Type(kind.low, kind.high)


def _absolute(node: Node, args: list[Type]) -> Type:
    kind = args[0]
    _check(not kind.row, node, "is for numbers")
    nearest = 0 if kind.low <= 0 <= kind.high else min(abs(kind.low), abs(kind.high))
    return Type(nearest, max(abs(kind.low), abs(kind.high)), kind.width)


def _aim(node: Node, args: list[Type]) -> Type:
    column, row, _ = _number(node, args[0], 0), _number(node, args[1], 1), _number(node, args[2], 0, 1)
    _check(column.high & (column.high + 1) == 0 and row.high <= column.high, node, "needs columns 0 to 2^k - 1")
    return Type(0, column.high)


def _around(node: Node, args: list[Type]) -> Type:
    near = _whole(node, 0, 1)
    among = _whole(node, 1, near)
    _number(node, args[0], 0, among - near)
    place = _number(node, args[1], 0)
    return Type(0, max(place.high, among - 1))


def _ones(node: Node, args: list[Type]) -> Type:
    if args[0].row:
        return Type(0, _row(node, args[0]))
    return Type(0, _number(node, args[0], 0).high.bit_length())


def _toss(node: Node, args: list[Type]) -> Type:
    _odds(node, 0)
    return Type()


def _below(node: Node, args: list[Type]) -> Type:
    return Type(0, _whole(node, 0, 1) - 1)


def _split(node: Node, args: list[Type]) -> Type:
    first, second = _whole(node, 1, 1), _whole(node, 2, 0)
    _check(_odds(node, 0) == 1 or second > 0, node, "needs a second part, unless the first is certain")
    return _within(node, 0, first + second - 1)


def _pick(node: Node, args: list[Type]) -> Type:
    _weights(node, node.params[0] if node.params else None)
    return Type(0, len(node.params[0]) - 1)


def _pick_each(node: Node, args: list[Type]) -> Type:
    rows = node.params[0] if node.params else None
    _check(isinstance(rows, tuple) and len(rows) > 0, node, "needs rows of weights")
    totals = {(_weights(node, row), len(row)) for row in cast(Sequence[Any], rows)}
    _check(len(totals) == 1, node, "needs rows of the same length and sum")
    _number(node, args[0], 0, len(cast(Sequence[Any], rows)) - 1)
    return Type(0, len(cast(Any, rows)[0]) - 1)


def _toss_each(node: Node, args: list[Type]) -> Type:
    kind, whole = args[0], _whole(node, 0, 1)
    _check(not kind.row and kind.low >= 0 and kind.high <= whole, node, "needs numbers from 0 to its whole")
    return Type(0, 1, kind.width)


def _flags(node: Node, args: list[Type]) -> Type:
    _odds(node, 0)
    return Type(0, 1, _whole(node, 1, 1, WIDEST), True)


def _subset(node: Node, args: list[Type]) -> Type:
    n = _whole(node, 0, 1, WIDEST)
    # All k words are drawn again if one is refused, with a probability of at most n / 2^32: beyond, none would ever do.
    _check(n * _whole(node, 1, 1, n) <= MOST_SUBSET, node, "needs n times k to be at most 2^32")
    _number(node, args[0], 0, 1)
    return Type(0, 1, n, True)


def _majority(node: Node, args: list[Type]) -> Type:
    return Type(0, 1, _whole(node, 0, 1, WIDEST), True)


# operation: how many arguments (None: any number), how many parameters at most, the type
OPERATIONS: Mapping[str, tuple[int | None, int, Callable[[Node, list[Type]], Type]]] = {
    "code": (None, 5, _code),
    "const": (0, 1, _const),
    "add": (2, 0, _corners(lambda a, b: a + b)),
    "sub": (2, 0, _corners(lambda a, b: a - b)),
    "mul": (2, 0, _corners(lambda a, b: a * b)),
    "min": (2, 0, _corners(min)),
    "max": (2, 0, _corners(max)),
    "abs": (1, 0, _absolute),
    "div": (1, 1, _divided),
    "mod": (1, 1, _remainder),
    "lt": (2, 0, _compared),
    "eq": (2, 0, _compared),
    "not": (1, 0, _not),
    "and": (2, 0, _logical),
    "or": (2, 0, _logical),
    "xor": (2, 0, _logical),
    "shr": (2, 0, _shifted),
    "ones": (1, 0, _ones),
    "where": (3, 0, _chosen),
    "table": (1, 1, _table),
    "aim": (3, 0, _aim),
    "around": (2, 2, _around),
    "get": (2, 0, _get),
    "put": (3, 0, _put),
    "swap": (3, 0, _swap),
    "widen": (1, 1, _widen),
    "turn": (2, 0, _turn),
    "pack": (None, 1, _pack),
    "cells": (1, 1, _cells),
    "join": (None, 0, _join),
    "at": (2, 0, _at),
    "toss": (0, 1, _toss),
    "below": (0, 1, _below),
    "public": (0, 1, _below),
    "split": (0, 3, _split),
    "pick": (0, 1, _pick),
    "pick_each": (1, 1, _pick_each),
    "toss_each": (1, 1, _toss_each),
    "flags": (0, 2, _flags),
    "subset": (1, 2, _subset),
    "majority": (0, 1, _majority),
}
DRAWS = frozenset(["toss", "below", "public", "split", "pick", "pick_each", "toss_each", "flags", "subset", "majority"])


def type_of(node: Node, args: list[Type]) -> Type:
    """The type of what an operation gives, applied to values of these types."""
    if node.op not in OPERATIONS:
        raise InvalidLaw(f"There is no operation {node.op!r:.30}. A newer release may know it.")
    arity, most, infer = OPERATIONS[node.op]
    _check(arity in (None, len(args)), node, f"needs {arity} arguments")
    _check(len(node.params) <= most, node, f"has at most {most} parameters")
    return infer(node, args)
