"""Public random rotations of vectors: signs and Hadamard transforms in turn, and the number at a place of a ranking."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ints, Words
from deniable.kernels.mixing import STEP, mixed
from deniable.kernels.plain import compiled_in

TURNS = 3
Singles = NDArray[np.float32]


@compiled_in("rotations_compiled", lambda seed, size: 0)  # what is done with them is counted
def sign_words(seed: Ints, size: int) -> Words:
    """Public random bits for every turn and coordinate."""
    start = mixed((seed.astype(np.uint64) << np.uint64(16)) + np.uint64(1))
    return mixed(start[:, None] + np.arange(TURNS * size // 64, dtype=np.uint64) * STEP)


@compiled_in("rotations_compiled", lambda rows, words, size: len(rows) * size)
def rotated(rows: Floats | Singles, words: Words, size: int) -> Singles:
    """The vectors, filled up with zeros, after `TURNS` turns of signs, a bit of the words each, and a Hadamard transform."""
    wide = np.zeros((len(rows), size), np.float32)
    wide[:, : rows.shape[1]] = rows
    signs = unpacked_signs(words, size)
    for turn in range(TURNS):
        wide = hadamard(wide * signs[:, turn])
    return wide


@compiled_in("rotations_compiled", lambda axes, opposite, words, size, width: len(axes) * size)
def axes_before(axes: Ints, opposite: Ints, words: Words, size: int, width: int) -> Floats:
    """The vectors that `rotated` turns into these axes, or into their opposites: the first `width` coordinates."""
    wide = np.zeros((len(axes), size))
    wide[np.arange(len(axes)), axes] = 1 - 2 * opposite
    signs = unpacked_signs(words, size)
    for turn in reversed(range(TURNS)):
        wide = hadamard(wide) * signs[:, turn]
    return np.asarray(wide[:, :width])


@compiled_in("rotations_compiled", lambda axes, opposite, words, size, width, unit: len(axes) * size)
def axis_sums(axes: Ints, opposite: Ints, words: Words, size: int, width: int, unit: int) -> Ints:
    """The sums of these vectors, their coordinates counted from -1 on in parts of 1 / unit."""
    rows = axes_before(axes, opposite, words, size, width)
    return np.asarray(np.rint((rows + 1) * unit).astype(np.int64).sum(axis=0))


@compiled_in("rotations_compiled", lambda rows, place: rows.size)
def largest_at(rows: Singles, place: Ints) -> Ints:
    """The column at a place of each row, the columns being ordered by their absolute value, then by their number.

    Absolute values are compared as words, which are all in order: so each column has one place, whatever the floats are.
    """
    order = np.argsort(~(rows.view(np.uint32) << np.uint32(1)), axis=1, kind="stable")
    return order[np.arange(len(rows)), place]


@compiled_in("rotations_compiled", lambda rows, words, size, place: 0)  # both parts are counted
def turned_at(rows: Singles, words: Words, size: int, place: Ints) -> Ints:
    """What is at a place of each row after it was turned: twice its column, and one more if it is negative."""
    wide = rotated(rows, words, size)
    column = largest_at(wide, place)
    return 2 * column + np.signbit(wide[np.arange(len(wide)), column])


def unpacked_signs(words: Words, size: int) -> NDArray[np.int8]:
    """A sign for every turn and coordinate."""
    bits = np.unpackbits(np.ascontiguousarray(words, "<u8").view(np.uint8), axis=1, bitorder="little")
    return 1 - 2 * bits.reshape(len(words), TURNS, size).astype(np.int8)


def hadamard(rows: Any) -> Any:
    """The Hadamard transform of each row, scaled so that lengths stay: it undoes itself. The rows given are used up."""
    n, size = rows.shape
    after, step = np.empty_like(rows), 1
    while step < size:
        pairs, turned = (each.reshape(n, size // (2 * step), 2, step) for each in (rows, after))
        np.add(pairs[:, :, 0], pairs[:, :, 1], out=turned[:, :, 0])
        np.subtract(pairs[:, :, 0], pairs[:, :, 1], out=turned[:, :, 1])
        rows, after, step = after, rows, 2 * step
    rows *= rows.dtype.type(1 / math.sqrt(size))
    return rows
