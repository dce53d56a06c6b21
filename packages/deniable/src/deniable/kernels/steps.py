"""Steps of laws on arrays: a draw that is added where it counts, remainders, parities, places on a grid."""

import numpy as np
from numpy.typing import DTypeLike

from deniable.arrays import Bools, Floats, Ints
from deniable.kernels.plain import FIRST, NONE, AnyWords, compiled_in, scaled, scaled_word


@compiled_in("steps_compiled", lambda values, *_: values.size)
def add_scaled(values: Ints, words: AnyWords, bound: int, word_bits: int, where: Bools, more: int) -> Ints:
    """Add each scaled word and `more` to the values where it says so; the positions of refused words, which add nothing."""
    if len(words) == 1:
        value, refused_word = scaled_word(words, bound, word_bits)
        values += (value + more) * (int(where[0]) & (not refused_word))
        return FIRST if refused_word else NONE
    drawn, refused = scaled(words, np.array([bound], np.uint64), word_bits)
    values += (drawn + more) * (where & ~refused)  # a branch on a random bit would often be guessed wrong
    return np.flatnonzero(refused)


@compiled_in("steps_compiled", lambda values, *_: values.size)
def wrap(values: Ints, by: int) -> None:
    """Numbers from 0 to 2 by - 1, modulo `by`, in place."""
    words = values.view(np.uint64)  # less `by` a small number wraps round to a large one, and the smaller of both is right
    np.minimum(words, words - np.uint64(by), out=words)


@compiled_in("steps_compiled", lambda values, *_: values.size)
def remainder(values: Ints, by: int, highest: int) -> Ints:
    """Numbers from 0 to `highest`, below 2^31, modulo `by`."""
    return np.remainder(values, by, dtype=np.int64)


@compiled_in("steps_compiled", lambda column, *_: column.size)
def aim(column: Ints, row: Ints, odd: Ints | Bools) -> Ints:
    """The column, its lowest bit that `row` has flipped where needed that row & column has an odd number of ones, or not."""
    flipped = row & -row
    flipped *= (np.bitwise_count(row & column) & 1) != odd
    flipped ^= column
    return flipped


@compiled_in("steps_compiled", lambda values, *_: values.size)
def all_within(values: Ints, low: int, high: int) -> bool:
    """Whether all numbers, at least one, are from `low` to `high`."""
    return bool(low <= values.min() and values.max() <= high)


@compiled_in("steps_compiled", lambda numbers, *_: numbers.size)
def grid_position(numbers: Floats, points: Floats) -> Floats:
    """Where each number lies on an even grid, in steps from its first point; one of the points exactly on a whole number.

    All numbers are finite.
    """
    steps = len(points) - 1
    position = np.clip((numbers - points[0]) / (points[-1] - points[0]) * steps, 0, steps)
    near = np.rint(position)
    return np.where(numbers == points[near.astype(np.int64)], near, position)


WHOLE = 1 << 53  # parts of a step, as in coins.py


@compiled_in("steps_compiled", lambda numbers, *_: numbers.size)
def grid_codes(numbers: Floats, points: Floats, kind: DTypeLike = np.int64) -> tuple[Ints, Ints] | None:
    """The point of an even grid below each number, and how far it is above it in parts of 2^-53 of a step.

    Points are numbers of this kind. None where a number lies outside the grid or is none.
    """
    if not ((numbers >= points[0]) & (numbers <= points[-1])).all():
        return None
    position = grid_position(numbers, points)
    below = np.minimum(np.floor(position), len(points) - 2)
    position -= below
    position *= WHOLE
    return below.astype(kind), np.rint(position, out=position).astype(np.int64)
