"""Steps of a law that NumPy has no function for. In a `randomize` they record an operation; given arrays they compute it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from deniable import kernels
from deniable.arrays import Bools, Bytes, Ints
from deniable.core.bits import PackedBits
from deniable.core.layout import Drawn, Flags, Layout
from deniable.core.tracing import Answer, Symbol, refuse

Entry = TypeVar("Entry", bound=np.generic)


def encoded(
    truth: object,
    function: Callable[..., object],
    name: str,
    below: int,
    *draws: Ints,
    width: int | None = None,
    distinct: bool = False,
) -> Ints:
    """The code that `function(truth, *draws)` gives, a whole number from 0 to `below` - 1: any code may do that.

    With a `width` it is a vector of so many such numbers, which may have to be `distinct`: to differ from each other.

    What it returns is checked before the law goes on, and the law is proved for every code. The draws it is given should be
    those that are in the report anyway, or that are used for nothing else.
    """
    if isinstance(truth, Answer):
        symbols = cast(Sequence[Symbol], draws)
        return cast(Ints, truth.trace.code(name, 0, below - 1, width, truth.reader(function), symbols, distinct))
    if isinstance(truth, Symbol):
        refuse("An encoder needs the answer itself", "Give it `truth`, and what is drawn beside it.")
    return cast(Ints, function(truth, *draws))


def lookup(table: NDArray[Entry], index: NDArray[np.integer]) -> NDArray[Entry]:
    """The entry of a table of whole numbers, or of truth values, that the index names."""
    if isinstance(index, Symbol):
        return index.looked_up(np.asarray(table))
    return np.take(table, index)


def aimed(column: Ints, row: Ints, odd: Ints | Bools) -> Ints:
    """The column, its lowest bit that `row` has flipped where needed that row & column has an odd number of ones, or not."""
    if isinstance(column, Symbol):
        trace = column.trace
        return trace.add("aim", (column, trace.symbol(row), trace.symbol(odd)))
    return kernels.aim(column, row, odd)


def around(start: Ints, place: Ints, near: int, among: int) -> Ints:
    """The number at a place of an order of 0..among - 1: first the `near` ones from `start` on, then all others in turn.

    Places from `among` on stay as they are. So every place is taken once, wherever the near numbers start.
    """
    if isinstance(start, Symbol) or isinstance(place, Symbol):
        trace = (place if isinstance(place, Symbol) else start).trace
        return trace.add("around", (trace.symbol(start), trace.symbol(place)), near, among)
    further = place - near
    found = np.where(place < near, start + place, further + near * (further >= start))
    return np.where(place < among, found, place)


def packed(numbers: Sequence[NDArray[Entry]], bits: int) -> PackedBits:
    """Numbers side by side as a row, `bits` each, lowest bit first."""
    if any(isinstance(each, Symbol) for each in numbers):
        trace: Any = next(each.trace for each in numbers if isinstance(each, Symbol))
        return trace.add("pack", [trace.symbol(each) for each in numbers], bits)
    if bits == 1:
        return PackedBits.pack(np.stack(numbers, axis=1).astype(np.bool_, copy=False))
    if len(numbers) == 1:
        wide = numbers[0].astype("<u8").view(np.uint8).reshape(-1, 8)
        return PackedBits(np.ascontiguousarray(wide[:, : (bits + 7) // 8]), bits)
    values = np.stack([np.asarray(each, np.int64) for each in numbers], axis=1)
    flat = (values[:, :, None] >> np.arange(bits) & 1).astype(np.uint8).reshape(len(values), -1)
    return PackedBits(np.packbits(flat, axis=1, bitorder="little"), bits * len(numbers))


def cells(vector: Ints, place: int) -> PackedBits:
    """The row of this bit of all numbers of a vector."""
    if isinstance(vector, Symbol):
        return vector.trace.add("cells", (vector,), place)
    from deniable.kernels.vectors import bit_rows  # which few questions need

    return PackedBits(bit_rows(vector, place), vector.shape[1])


def joined(rows: Sequence[PackedBits]) -> PackedBits:
    """Rows of bits one after the other."""
    if len(rows) == 1:
        return rows[0]
    if isinstance(rows[0], Symbol):
        return rows[0].trace.add("join", rows)
    return PackedBits.pack(np.concatenate([row.unpack() for row in rows], axis=1))


def empty(row: Bytes) -> Bools:
    """Which rows have no bit set."""
    return np.equal(row.trace.add("ones", (row,)), 0) if isinstance(row, Symbol) else np.equal(row.max(axis=1), 0)


def bit_of(rows: Bytes, bits: int, cells: Ints) -> Bools:
    """The bits of these cells: of packed rows of `bits` each, of shape (rows, cells)."""
    if isinstance(rows, Symbol):
        return rows.bit(cells)
    packed = PackedBits(rows.astype(np.uint8, copy=False), bits)
    return np.stack([packed.bit(cell) for cell in cells], axis=1)


def one_row(layout: Layout, drawn: Drawn) -> PackedBits:
    """A report as one row of bits."""
    fields = [(field, drawn[field.name]) for field in layout.fields if field.bits]
    return joined([cast(PackedBits, row) if isinstance(f, Flags) else packed([row], f.bits) for f, row in fields])
