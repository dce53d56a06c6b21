"""Public random rotations, compiled by numba; each loop gives exactly what its twin in rotations.py gives.

Several rows are turned together, side by side, so that every step of a transform is one long loop over neighbours.
"""

import math

import numpy as np
from numba import njit

from deniable.arrays import Floats, Ints, Words
from deniable.kernels.rotations import TURNS, Singles

SINGLES, DOUBLES = 32, 16  # rows side by side


def rotated(rows: Floats, words: Words, size: int) -> Singles:
    wide = np.empty((len(rows), size), np.float32)
    _rotated(rows.astype(np.float64, copy=False), words, np.float32(1 / math.sqrt(size)), wide)
    return wide


def axes_before(axes: Ints, opposite: Ints, words: Words, size: int, width: int) -> Floats:
    found = np.empty((len(axes), width))
    _axes_before(axes, opposite, words, size, 1 / math.sqrt(size), found)
    return found


def axis_sums(axes: Ints, opposite: Ints, words: Words, size: int, width: int, unit: int) -> Ints:
    sums = np.zeros(width, np.int64)
    _axis_sums(axes, opposite, words, size, 1 / math.sqrt(size), float(unit), sums)
    return sums


def largest_at(rows: Singles, place: Ints) -> Ints:
    found = np.empty(len(rows), np.int64)
    _largest_at(rows.view(np.uint32), place, found)
    return found


@njit(cache=True, nogil=True)
def _transform(side, rows, size):  # type: ignore[no-untyped-def]
    """The Hadamard transform of columns that stand side by side, without its scale."""
    step = 1
    while step < size:
        length = step * rows
        for start in range(0, size * rows, 2 * length):
            low, high = side[start : start + length], side[start + length : start + 2 * length]
            for k in range(length):
                a, b = low[k], high[k]
                low[k] = a + b
                high[k] = a - b
        step *= 2


@njit(cache=True, nogil=True)
def _turn_singles(side, words, first, last, size, turn):  # type: ignore[no-untyped-def]
    """Change the sign of every coordinate whose bit is one, by its highest bit."""
    own, bits = np.zeros(SINGLES, np.uint32), side.view(np.uint32)
    for half in range(size // 32):
        for row in range(first, last):
            word = words[row, turn * (size // 64) + half // 2]
            own[row - first] = np.uint32(word >> np.uint64(32 * (half & 1)) & np.uint64(0xFFFFFFFF))
        for bit in range(32):
            at = (half * 32 + bit) * SINGLES
            for k in range(SINGLES):
                bits[at + k] ^= own[k] >> np.uint32(bit) << np.uint32(31)


@njit(cache=True, nogil=True)
def _turn_doubles(side, words, first, last, size, turn):  # type: ignore[no-untyped-def]
    own, bits = np.zeros(DOUBLES, np.uint64), side.view(np.uint64)
    for word in range(size // 64):
        for row in range(first, last):
            own[row - first] = words[row, turn * (size // 64) + word]
        for bit in range(64):
            at = (word * 64 + bit) * DOUBLES
            for k in range(DOUBLES):
                bits[at + k] ^= own[k] >> np.uint64(bit) << np.uint64(63)


@njit(cache=True, nogil=True)
def _rotated(rows, words, scale, wide):  # type: ignore[no-untyped-def]
    n, size = wide.shape
    side = np.empty(size * SINGLES, np.float32)
    for first in range(0, n, SINGLES):
        last = min(n, first + SINGLES)
        side[:] = 0
        for row in range(first, last):
            for column in range(rows.shape[1]):
                side[column * SINGLES + row - first] = np.float32(rows[row, column])
        for turn in range(TURNS):
            _turn_singles(side, words, first, last, size, turn)
            _transform(side, SINGLES, size)
            side *= scale
        for row in range(first, last):
            for column in range(size):
                wide[row, column] = side[column * SINGLES + row - first]


@njit(cache=True, nogil=True)
def _turn_back(side, sign, axes, opposite, words, first, last, size, scale):  # type: ignore[no-untyped-def]
    for row in range(first, last):
        side[row - first] = scale - 2 * scale * opposite[row]
    half = 1
    while half < size:  # the first transform, of an axis: the second half is the first one, or its opposite
        for row in range(first, last):
            sign[row - first] = 1.0 - 2.0 * np.float64(axes[row] & half != 0)
        for column in range(half):
            at = column * DOUBLES
            for k in range(DOUBLES):
                side[half * DOUBLES + at + k] = side[at + k] * sign[k]
        half *= 2
    _turn_doubles(side, words, first, last, size, TURNS - 1)
    for turn in range(TURNS - 2, -1, -1):
        _transform(side, DOUBLES, size)
        side *= scale
        _turn_doubles(side, words, first, last, size, turn)


@njit(cache=True, nogil=True)
def _axes_before(axes, opposite, words, size, scale, found):  # type: ignore[no-untyped-def]
    side, sign = np.zeros(size * DOUBLES), np.ones(DOUBLES)
    for first in range(0, len(axes), DOUBLES):
        last = min(len(axes), first + DOUBLES)
        _turn_back(side, sign, axes, opposite, words, first, last, size, scale)
        for row in range(first, last):
            for column in range(found.shape[1]):
                found[row, column] = side[column * DOUBLES + row - first]


@njit(cache=True, nogil=True)
def _axis_sums(axes, opposite, words, size, scale, unit, sums):  # type: ignore[no-untyped-def]
    side, sign = np.zeros(size * DOUBLES), np.ones(DOUBLES)
    for first in range(0, len(axes), DOUBLES):
        last = min(len(axes), first + DOUBLES)
        _turn_back(side, sign, axes, opposite, words, first, last, size, scale)
        for column in range(len(sums)):
            some = 0.0  # whole numbers below 2^53
            for row in range(last - first):
                some += np.rint((side[column * DOUBLES + row] + 1) * unit)
            sums[column] += np.int64(some)


@njit(cache=True, nogil=True)
def _reaching(keys, least):  # type: ignore[no-untyped-def]
    count = np.int32(0)
    for column in range(keys.shape[0]):
        count += np.int32(keys[column] >= least)
    return count


@njit(cache=True, nogil=True)
def _largest_at(rows, place, found):  # type: ignore[no-untyped-def]
    size = rows.shape[1]
    keys = np.empty(size, np.int32)
    for row in range(rows.shape[0]):
        for column in range(size):
            keys[column] = np.int32(rows[row, column] & np.uint32(0x7FFFFFFF))
        wanted, key = place[row], np.int32(0)
        for bit in range(30, -1, -1):  # the largest key that more than `wanted` columns reach
            tried = np.int32(key | np.int32(1 << bit))
            reach = _reaching(keys, tried)
            if reach > wanted:
                key = tried
            if reach == wanted + 1:  # it is the smallest of these
                key = np.int32(0x7FFFFFFF)
                for column in range(size):
                    if keys[column] >= tried:
                        key = min(key, keys[column])
                break
        for column in range(size):
            wanted -= keys[column] > key
        for column in range(size):
            if keys[column] == key:
                if wanted == 0:
                    found[row] = column
                    break
                wanted -= 1
