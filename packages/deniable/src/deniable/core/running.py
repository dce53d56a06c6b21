"""How a law runs: its program over arrays, one value for each answer of a batch, with the draws of the coins given."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

import numpy as np

from deniable import kernels
from deniable.arrays import Ints
from deniable.core.bits import PackedBits
from deniable.core.coins import Coins
from deniable.core.layout import Drawn
from deniable.core.operations import DRAWS, Node, Type
from deniable.core.orders import NO_CODE, Gridded, Padded, Ranked, Taken, differ, inside, unmade
from deniable.core.program import Program
from deniable.core.steps import around, cells, joined, packed
from deniable.core.tracing import Encoded
from deniable.core.weights import WeightTable
from deniable.errors import InvalidLaw, OutsideDomain

Run = Callable[[Sequence[object], Coins, int], object]  # of the arguments' values, the coins and the number of answers
_Run = Callable[[Sequence[Any], Coins, int], Any]


def run(program: Program, codes: Sequence[Encoded], coins: Coins, size: int) -> Drawn:
    """The fields of the reports. `codes` has an array for each code of the program, or a function of the draws it takes."""
    return run_steps(program, compiled(program), codes, coins, size)


def run_steps(program: Program, found: "Steps", codes: Sequence[Encoded], coins: Coins, size: int) -> Drawn:
    """The fields of the reports, by steps that were made of the program."""
    constants, steps = found
    values: list[Any] = constants.copy()
    given = list(codes)
    for place, operate, args, dead in steps:
        if operate is None or operate is unmade:
            code = given.pop(0)
            value = code(*[copied(values[arg]) for arg in args]) if callable(code) else code
            checked = checked_code(value, program.types[place], size, operate is unmade)
            # What an encoder holds, a later one may still write into: neither draws nor codes are theirs any more.
            values[place] = copied(checked) if any(map(callable, given)) else checked
        else:
            values[place] = operate([values[arg] for arg in args], coins, size)
        for arg in dead:
            values[arg] = None
    fields = {}
    for name, node in program.report:
        value = values[node]
        fields[name] = value.bytes if isinstance(value, PackedBits) else value
    return fields


def run_rest(program: Program, start: int, given: Mapping[int, object], coins: Coins, size: int) -> Drawn:
    """The fields of the reports, from the values of some earlier nodes and from what is drawn from `start` on, alone."""
    values: dict[int, Any] = dict(given)
    for place in _rest(program, start, given):
        node = program.nodes[place]
        if node.op == "code" or (node.op in DRAWS and place < start):
            raise InvalidLaw("The rest of this law needs more than what was kept of its beginning.")
        operate = operation(node, [program.types[arg] for arg in node.args], False)
        values[place] = operate([values[arg] for arg in node.args], coins, size)
    fields = {name: values[node] for name, node in program.report}
    return {name: value.bytes if isinstance(value, PackedBits) else value for name, value in fields.items()}


def _rest(program: Program, start: int, given: Collection[int]) -> list[int]:
    """The nodes that a report is made of, in order, and all draws from `start` on, which take their bytes as ever."""
    found, todo = set[int](), [node for _, node in program.report]
    todo += [place for place, node in enumerate(program.nodes) if place >= start and node.op in DRAWS]
    while todo:
        if (place := todo.pop()) not in found and place not in given:
            found.add(place)
            todo.extend(program.nodes[place].args)
    return sorted(found)


def copied(value: object) -> object:
    """The same, in memory that nobody else has."""
    if isinstance(value, PackedBits):
        return PackedBits(value.bytes.copy(), value.width)
    return value.copy() if isinstance(value, np.ndarray | Taken | Ranked | Padded | Gridded) else value


def checked_code(code: object, kind: Type, size: int, unwritten: bool = False) -> Ints | Taken | Ranked | Padded | Gridded:
    """Refuse a code that the law was not proved for. The message does not hold it.

    Arrays of a class of their own could compute something else than they hold: of those the plain array is taken.
    """
    if unwritten and type(code) is Gridded and code.fits(kind, size):
        return code
    if type(code) in (Taken, Ranked) and kind.distinct and _arranges(cast("Taken | Ranked", code), kind, size):
        return cast("Taken | Ranked", code)
    if type(code) is Padded and kind.width is not None:
        if not code.is_plain() or len(code) != size or not code.fits(kind.low, kind.high, kind.width):
            raise OutsideDomain(NO_CODE)
        if not kind.distinct or code.rises():
            return code
        code = np.asarray(code)  # all different perhaps, if not in order: looked at as any other
    shape = (size,) if kind.width is None else (size, kind.width)
    code = np.asarray(code) if isinstance(code, np.ndarray | Gridded) else code
    if type(code) is np.ndarray and code.dtype.kind in "iub" and code.shape == shape and inside(code, kind.low, kind.high):
        if kind.distinct and not differ(code, kind.low, kind.size):
            raise OutsideDomain(NO_CODE)
        if kind.width is None or kind.low < 0:  # as wide as all numbers: NumPy cuts off what a narrow array has no room for
            return code if code.dtype in (_INT, _TRUTH) else code.astype(np.int64)
        narrow = np.min_scalar_type(kind.high)  # shifting vectors is most of the work on them
        return code.astype(narrow) if narrow.itemsize < code.itemsize else code
    raise OutsideDomain(NO_CODE)


def _arranges(code: Taken | Ranked, kind: Type, size: int) -> bool:
    return code.is_plain() and (len(code), code.size, code.size) == (size, kind.width, kind.high + 1) and kind.low == 0


Step = tuple[int, Run | None, tuple[int, ...], tuple[int, ...]]
Steps = tuple[list[object], list[Step]]  # constants by node, and the others


def compiled(program: Program) -> Steps:
    """The steps of a program, made once."""
    found: Steps | None = program.__dict__.get("_steps")  # kept with the program, which never changes
    if found is None:
        found = program.__dict__["_steps"] = made_steps(program)
    return found


def made_steps(program: Program) -> Steps:
    """The constants, and for every other node what computes it, from which nodes, and which are not needed afterwards."""
    constants = [node.params[0] if node.op == "const" else None for node in program.nodes]
    return constants, [step for step in _compiled(program) if constants[step[0]] is None]


def _compiled(program: Program) -> list[Step]:
    last = {arg: place for place, node in enumerate(program.nodes) for arg in node.args}
    uses = Counter(arg for node in program.nodes for arg in node.args)
    kept = {node for _, node in program.report}
    fresh: set[int] = set()
    owned: set[int] = set()  # rows with a bit put into them in place
    steps: list[Step] = []
    for place, node in enumerate(program.nodes):
        dead = tuple(sorted({arg for arg in node.args if last[arg] == place and arg not in kept}))
        # An array that nothing else refers to may be written into: never a code, nor what a later node shares with it.
        free = bool(node.args) and node.args[0] in dead and node.args[0] in fresh
        if node.op in _FRESH or (node.op == "widen" and free):
            fresh.add(place)
        types = [program.types[arg] for arg in node.args]
        first = program.nodes[node.args[0]] if node.args else node
        alone = free and uses[node.args[0]] == 1
        if node.op == "swap" and first.op == "put" and alone and first.args[1] == node.args[2]:
            # Into the place of a bit that was just put there: the other bit is put there instead, and this one where it was.
            steps[node.args[0]] = (node.args[0], _pending, *steps[node.args[0]][2:])
            steps.append((place, _exchanged(node.args[0] in owned), node.args, dead))
            continue
        if node.op == "put" and free:
            owned.add(place)
        steps.append((place, None if node.op == "code" else operation(node, types, free), node.args, dead))
    return steps


_FRESH = DRAWS | {  # whose results are arrays of their own
    *("add", "sub", "mul", "mod", "div", "table", "where", "around", "at"),
    *("put", "swap", "and", "or", "xor", "not", "turn", "pack", "cells", "join"),
}
_INT, _TRUTH = np.dtype(np.int64), np.dtype(np.bool_)


def operation(node: Node, types: Sequence[Type], free: bool) -> Run:
    """What computes a node; `free`: it may write into the array of its first argument."""
    if node.op == "and" and free and types[0].row and not types[1].row:
        return _cleared
    if node.op in _RUNS:
        return _RUNS[node.op](node)
    if node.op in _ARITHMETIC:
        return _arithmetic(_ARITHMETIC[node.op], free and (types[0].width is not None or types[1].width is None))
    if node.op in _EXTREMES:
        return _extreme(_EXTREMES[node.op])
    if node.op in ("put", "swap"):
        return _replaced(node.op, free)
    if node.op == "mod":
        return _wrapped(node.params[0], types[0], free)
    raise InvalidLaw(f"There is no operation {node.op!r:.30}.")


_ARITHMETIC: Mapping[str, Any] = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
_EXTREMES: Mapping[str, Any] = {"min": np.minimum, "max": np.maximum}


def _aligned(a: Any, b: Any) -> tuple[Any, Any]:
    """A vector and a number of the same answers, side by side."""
    if type(b) is np.ndarray and type(a) is np.ndarray and b.ndim != a.ndim:
        return (a[:, None], b) if a.ndim == 1 else (a, b[:, None])
    return a, b


def _extreme(ufunc: Any) -> _Run:
    return lambda args, coins, size: ufunc(*_aligned(*args), dtype=np.int64)


def _arithmetic(ufunc: Any, free: bool) -> _Run:
    def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
        a, b = _aligned(*args)
        if free and type(a) is np.ndarray and a.dtype == _INT:
            return ufunc(a, b, out=a, dtype=np.int64)
        return ufunc(a, b, dtype=np.int64)

    return operate


def _wrapped(by: int, kind: Type, free: bool) -> _Run:
    if kind.low >= 0 and kind.high < 2 * by:

        def wrap(args: Sequence[Any], coins: Coins, size: int) -> Any:
            value = _full(args[0], size)
            if not (free and value.dtype == _INT and value.flags.c_contiguous):
                value = np.array(value, np.int64, order="C")
            kernels.wrap(value.reshape(-1), by)
            return value

        return wrap
    if kind.low >= 0 and kind.high < 1 << 31 and kind.width is None:
        return lambda args, coins, size: kernels.remainder(_numbers(args, size)[0], by, kind.high)
    return lambda args, coins, size: np.remainder(args[0], by, dtype=np.int64)


def _constant(node: Node) -> _Run:
    value = node.params[0]
    return lambda args, coins, size: value


def _full(value: Any, size: int) -> Any:
    return value if isinstance(value, _ARRAYS) else np.full(size, value)


_ARRAYS = (np.ndarray, PackedBits)


def _numbers(values: Sequence[Any], size: int) -> list[Any]:
    """Whole numbers also where they are truth values, whose sums and differences NumPy has other ideas of."""
    return [_full(value, size).astype(np.int64, copy=False) for value in values]


def _logical(ufunc: Any) -> Callable[[Node], _Run]:
    def make(node: Node) -> Run:
        def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
            a, b = args
            if isinstance(b, PackedBits):
                return PackedBits(ufunc(a.bytes, b.bytes), a.width)
            if isinstance(a, PackedBits):
                return PackedBits(a.bytes * _full(b, size).astype(np.bool_, copy=False)[:, None], a.width)
            return ufunc(a, b)

        return operate

    return make


def _cleared(args: Sequence[Any], coins: Coins, size: int) -> PackedBits:
    row, kept = args
    row.bytes[np.flatnonzero(np.logical_not(_full(kept, size)))] = 0
    return cast("PackedBits", row)


def _negated(node: Node) -> _Run:
    def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
        value = _full(args[0], size)
        if isinstance(value, PackedBits):
            return ~value
        return ~value if value.dtype == np.bool_ else value == 0

    return operate


def _where(node: Node) -> _Run:
    def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
        condition, a, b = args
        condition = _full(condition, size)
        if condition.dtype != np.bool_:
            condition = condition != 0
        if isinstance(a, PackedBits):
            return PackedBits(np.where(condition[:, None], a.bytes, b.bytes), a.width)
        if getattr(a, "ndim", 1) == 2:
            condition = condition[:, None]
        if getattr(a, "dtype", None) == getattr(b, "dtype", None) == np.bool_:
            return b ^ condition & (a ^ b)  # many times as fast on truth values
        return np.where(condition, a, b)

    return operate


def _looked_up(node: Node) -> _Run:
    table = np.array(node.params[0], np.int64)
    if table.min() >= 0 and table.max() <= 1:
        table = table.astype(np.bool_)
    return lambda args, coins, size: table.take(_full(args[0], size).astype(np.int64, copy=False))


def _packed(node: Node) -> _Run:
    bits = node.params[0]
    return lambda args, coins, size: packed([_full(each, size) for each in args], bits)


def _at(node: Node) -> _Run:
    def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
        vector, index = args
        if type(vector) in (Taken, Ranked, Padded):
            return vector.at(index)
        found = vector[:, index] if isinstance(index, int) else vector[np.arange(size), index.astype(np.int64, copy=False)]
        return found.astype(np.int64)

    return operate


def _pick_each(node: Node) -> _Run:
    table = WeightTable(node.params[0])
    return lambda args, coins, size: coins.pick_each(table, _full(args[0], size).astype(np.int64, copy=False))


def _toss_each(node: Node) -> _Run:
    whole = node.params[0]

    def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
        heads = _full(args[0], size).astype(np.int64, copy=False)
        return coins.toss_each(np.ascontiguousarray(heads).ravel(), whole).reshape(heads.shape)

    return operate


def _subset(node: Node) -> _Run:
    n, k = node.params

    def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
        return coins.subset(n, k, _full(args[0], size).astype(np.bool_, copy=False))

    return operate


def _ones(node: Node) -> _Run:
    def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
        return args[0].row_sums() if isinstance(args[0], PackedBits) else np.bitwise_count(args[0]).astype(np.int64)

    return operate


def _pending(args: Sequence[Any], coins: Coins, size: int) -> Any:
    return args


def _exchanged(free: bool) -> _Run:
    def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
        (row, place, value), other, _ = args
        row = row if free else PackedBits(row.bytes.copy(), row.width)
        return row.move(other, place, _full(value, size))

    return operate


def _replaced(op: str, free: bool) -> _Run:
    def operate(args: Sequence[Any], coins: Coins, size: int) -> Any:
        row = args[0] if free else PackedBits(args[0].bytes.copy(), args[0].width)
        return row.put(args[1], _full(args[2], size)) if op == "put" else row.swap(args[1], args[2])

    return operate


_RUNS: Mapping[str, Callable[[Node], _Run]] = {
    "const": _constant,
    "abs": lambda node: lambda args, coins, size: np.absolute(args[0], dtype=np.int64),
    "div": lambda node: lambda args, coins, size: np.floor_divide(args[0], node.params[0], dtype=np.int64),
    "lt": lambda node: lambda args, coins, size: np.less(*args),
    "eq": lambda node: lambda args, coins, size: np.equal(*args),
    "not": _negated,
    "and": _logical(np.bitwise_and),
    "or": _logical(np.bitwise_or),
    "xor": _logical(np.bitwise_xor),
    "shr": lambda node: lambda args, coins, size: np.right_shift(*args, dtype=np.int64),
    "ones": _ones,
    "where": _where,
    "table": _looked_up,
    "aim": lambda node: lambda args, coins, size: kernels.aim(*_numbers(args, size)),
    "around": lambda node: lambda args, coins, size: around(*_numbers(args, size), *node.params),
    "get": lambda node: lambda args, coins, size: args[0].bit(args[1]),
    "widen": lambda node: lambda args, coins, size: args[0].widened(node.params[0]),
    "turn": lambda node: lambda args, coins, size: args[0].turned(_full(args[1], size).astype(np.bool_, copy=False)),
    "pack": _packed,
    "cells": lambda node: lambda args, coins, size: cells(args[0], node.params[0]),
    "join": lambda node: lambda args, coins, size: joined(args),
    "at": _at,
    "toss": lambda node: lambda args, coins, size: coins.toss(node.params[0], size),
    "below": lambda node: lambda args, coins, size: coins.below(node.params[0], size),
    "public": lambda node: lambda args, coins, size: coins.public(node.params[0], size),
    "split": lambda node: lambda args, coins, size: coins.split(node.params[0], node.params[1], node.params[2], size),
    "pick": lambda node: lambda args, coins, size: coins.pick(node.params[0], size),
    "pick_each": _pick_each,
    "toss_each": _toss_each,
    "flags": lambda node: lambda args, coins, size: coins.toss_packed(node.params[0], size, node.params[1]),
    "subset": _subset,
    "majority": lambda node: lambda args, coins, size: coins.majority(node.params[0], size),
}
