"""Vectors of numbers on their way to bits: codes of sign and magnitude, and one bit of each number as rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bytes, Floats, Ints, Words, Words32
from deniable.kernels.fused import CUT
from deniable.kernels.plain import compiled_in
from deniable.kernels.steps import grid_codes

Codes = NDArray[np.integer[Any]]
Grid = tuple[float, float, int]  # both ends, and how many equal steps


def narrowest(bits: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest type for whole numbers of this many bits."""
    return np.min_scalar_type((1 << bits) - 1)


@compiled_in("vectors_compiled", lambda numbers, *_: numbers.size)
def sign_magnitude(numbers: Floats, unit: float, bits: int) -> Codes | None:
    """Codes of `bits` bits: whether a number is at least zero, then its size in units, cut off, at most the largest.

    The unit is a power of two. None where a number is not finite.
    """
    if not np.isfinite(numbers).all():
        return None
    size = np.minimum(np.floor(np.abs(numbers) / unit), (1 << bits - 1) - 1)
    return (size.astype(np.int64) | (numbers >= 0).astype(np.int64) << bits - 1).astype(narrowest(bits))


@compiled_in("vectors_compiled", lambda vector, place: vector.size)
def bit_rows(vector: Codes, place: int) -> Bytes:
    """Bit `place` of every number of each vector, packed."""
    one = vector.dtype.type(1)
    return np.packbits((vector >> vector.dtype.type(place) & one).astype(np.bool_), axis=1, bitorder="little")


@compiled_in("vectors_compiled", lambda below, *_: below.size)
def rounded_up(below: Codes, chances: Ints, words: Words, points: Codes) -> None:
    """Write each number, or the next one where the upper 53 bits of its word are below its chance of 2^53."""
    heads = words >> CUT < chances.view(np.uint64)
    np.add(below, heads, out=points, dtype=points.dtype, casting="unsafe")  # which has room for one more


@compiled_in("vectors_compiled", lambda numbers, *_: numbers.size)
def rounded_numbers(numbers: Floats, grid: Grid, words: Words, points: Codes) -> bool:
    """The same for numbers on an even grid, as `grid_codes` has them; whether all of them lie inside."""
    low, high, steps = grid
    found = grid_codes(numbers, np.linspace(low, high, steps + 1))
    if found is not None:
        rounded_up(*found, words, points)
    return found is not None


@compiled_in("vectors_compiled", lambda points, *_: points.shape[0] * 64)
def toss_columns(points: Codes, words: Words32, whole: int, first: int, rows: Bytes) -> None:
    """Write a bit for each number of some columns, from `first` on: whether its word, scaled to `whole`, is below it.

    The words have a row for each column. `first` is a multiple of eight, and no byte has bits of further columns.
    """
    columns = len(words)
    drawn = words.astype(np.uint64) * np.uint64(whole) >> np.uint64(32)
    heads = np.less(drawn.T, points[:, first : first + columns])
    rows[:, first // 8 : (first + columns + 7) // 8] = np.packbits(heads, axis=1, bitorder="little")
