"""Public random rotations, compiled by numba; each loop gives exactly what its twin in rotations.py gives.

Several rows are turned together, side by side, so that every step of a transform is one long loop over neighbours.
"""

import math

import numpy as np
from numba import njit

from deniable.arrays import Floats, Ints, Words
from deniable.kernels.columns_compiled import COLUMNS, count_columns, signed_transform, transform
from deniable.kernels.lanes_compiled import TILE, turn_tile
from deniable.kernels.mixing import STEP
from deniable.kernels.rotations import TURNS, Singles
from deniable.kernels.same_text import uncounted

SINGLES, DOUBLES = 32, 16  # rows side by side
ROWS, ZERO, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = (np.uint64(each) for each in (SINGLES, 0, 2, 3, 4, 5, 6, 7, 8))
BIT = np.uint16(1)
MOST_COUNTED = SINGLES << 14  # numbers, so few that 16 bits hold how many there are of a row
HIGH, LOW = 16, 15  # bits of a key of 31 bits that are looked at first, and then
MOST_WHOLE = 1 << 14  # dimensions up to which an axis is turned back in whole numbers of 16 and 32 bits


def sign_words(seed: Ints, size: int) -> Words:
    found = np.empty((TURNS * size // 64, len(seed)), np.uint64)
    _sign_words(seed.astype(np.uint64, copy=False), found)
    return found.T


def rotated(rows: Floats | Singles, words: Words, size: int) -> Singles:
    wide = np.empty((len(rows), size), np.float32)
    _rotated(rows.astype(np.float32, copy=False), _beside(words), np.float32(1 / math.sqrt(size)), wide)
    return wide


def turned_at(rows: Singles, words: Words, size: int, place: Ints) -> Ints:
    found = np.empty(len(rows), np.int64)
    _turned_at(np.ascontiguousarray(rows), _beside(words), np.float32(1 / math.sqrt(size)), size, place, found)
    return found


def axes_before(axes: Ints, opposite: Ints, words: Words, size: int, width: int) -> Floats:
    found = np.empty((len(axes), width))
    _axes_before(axes, opposite, np.ascontiguousarray(words), size, 1 / math.sqrt(size), found)
    return found


def axis_sums(axes: Ints, opposite: Ints, words: Words, size: int, width: int, unit: int) -> Ints:
    sums = np.zeros(width, np.int64)
    if size <= MOST_WHOLE:
        scale = size**-1.5 if math.isqrt(size) ** 2 != size else float(math.isqrt(size)) ** -3
        _whole_sums(axes, opposite, _beside(words), size, scale * unit, float(unit), sums)
    else:
        _axis_sums(axes, opposite, np.ascontiguousarray(words), size, 1 / math.sqrt(size), float(unit), sums)
    return sums


def largest_at(rows: Singles, place: Ints) -> Ints:
    found = np.empty(len(rows), np.int64)
    _largest_at(rows.view(np.uint32), place, found)
    return found


def _beside(words: Words) -> Words:
    """The same words of several rows as neighbours, with those of as many rows as stand side by side."""
    n = len(words)
    if n % SINGLES == 0:
        return np.ascontiguousarray(words.T)
    found = np.zeros((words.shape[1], -(-n // SINGLES) * SINGLES), np.uint64)
    found[:, :n] = words.T
    return found


@njit(cache=True, nogil=True)
def _sign_words(seed, found):  # type: ignore[no-untyped-def]
    start = np.empty(len(seed), np.uint64)
    for row in range(len(seed)):
        start[row] = _mixed((seed[row] << np.uint64(16)) + np.uint64(1))
    for word in range(len(found)):
        for row in range(len(seed)):
            found[word, row] = _mixed(start[row] + np.uint64(word) * STEP)


@njit(cache=True, nogil=True)
def _mixed(word):  # type: ignore[no-untyped-def]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@uncounted
def _bytes_of(words, at, own, many):  # type: ignore[no-untyped-def]
    """A byte of each word. `many` is an argument because LLVM would write a loop of a fixed length out, without vectors."""
    for k in range(many):
        own[k] = words[k] >> at & np.uint64(255)


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
def _turn(side, rows, words, first, last, size, scale):  # type: ignore[no-untyped-def]
    """Some rows, side by side, after all turns; the scale of the last one is left out."""
    part = size // 64
    _stand(side, rows, first, last)
    signed_transform(side, SINGLES, size, words, first, np.float32(1))
    for turn in range(1, TURNS):
        signed_transform(side, SINGLES, size, words[turn * part :], first, scale)


@njit(cache=True, nogil=True)
def _stand(side, rows, first, last):  # type: ignore[no-untyped-def]
    """Write some rows side by side, filled up with zeros: tiles of both are turned round."""
    width = rows.shape[1]
    whole = width // TILE * TILE if last - first == SINGLES else 0
    flat, bits = rows.reshape(-1).view(np.uint32), side.view(np.uint32)
    side[whole * SINGLES :] = 0
    for row in range(first, first + SINGLES, TILE):
        for column in range(0, whole, TILE):
            turn_tile(flat, row * width + column, width, bits[column * SINGLES + row - first :], SINGLES)
    for row in range(first, last):
        for column in range(whole, width):
            side[column * SINGLES + row - first] = rows[row, column]


@njit(cache=True, nogil=True)
def _rotated(rows, words, scale, wide):  # type: ignore[no-untyped-def]
    n, size = wide.shape
    side = np.empty(size * SINGLES, np.float32)
    for first in range(0, n, SINGLES):
        last = min(n, first + SINGLES)
        _turn(side, rows, words, first, last, size, scale)
        for row in range(first, last):
            for column in range(size):
                wide[row, column] = side[column * SINGLES + row - first] * scale


@njit(cache=True, nogil=True)
def _turned_at(rows, words, scale, size, place, found):  # type: ignore[no-untyped-def]
    side, wanted, column_of = np.empty(size * SINGLES, np.float32), np.zeros(SINGLES, np.int32), np.empty(SINGLES, np.int32)
    high, low = np.empty(size * SINGLES, np.uint16), np.empty(size * SINGLES, np.int16)
    keys = side.view(np.uint32)
    for first in range(0, len(rows), SINGLES):
        last = min(len(rows), first + SINGLES)
        _turn(side, rows, words, first, last, size, scale)
        wanted[: last - first] = place[first:last]
        side *= scale
        for i in range(len(keys)):
            high[i] = np.uint16(keys[i] >> np.uint32(LOW) & np.uint32((1 << HIGH) - 1))
            low[i] = np.int16(keys[i] & np.uint32((1 << LOW) - 1))
        _select(high, low, size, wanted, column_of)
        for row in range(first, last):
            column = column_of[row - first]
            found[row] = 2 * column + np.int64(keys[column * SINGLES + row - first] >> np.uint32(31))


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
        transform(side, DOUBLES, size, 1)
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


@uncounted
def _spread(own, bits, many):  # type: ignore[no-untyped-def]
    """The bits of a byte, in eight columns."""
    for k in range(np.uint64(many)):
        byte = own[k]
        bits[k] = byte & BIT
        bits[k + ROWS] = byte >> np.uint16(1) & BIT
        bits[k + TWO * ROWS] = byte >> np.uint16(2) & BIT
        bits[k + THREE * ROWS] = byte >> np.uint16(3) & BIT
        bits[k + FOUR * ROWS] = byte >> np.uint16(4) & BIT
        bits[k + FIVE * ROWS] = byte >> np.uint16(5) & BIT
        bits[k + SIX * ROWS] = byte >> np.uint16(6) & BIT
        bits[k + SEVEN * ROWS] = byte >> np.uint16(7) & BIT


@uncounted
def _turn_whole(bits, own, words, first, size, turn):  # type: ignore[no-untyped-def]
    """The bit of each coordinate and row in this turn, side by side."""
    for part in range(size // 8):
        beside = words[turn * (size // 64) + part // 8, first : first + SINGLES]
        _bytes_of(beside, np.uint64(8 * (part & 7)), own, len(beside))
        _spread(own, bits[part * 8 * SINGLES : (part + 1) * 8 * SINGLES], len(own))


@uncounted
def _double(short, minus, half, many):  # type: ignore[no-untyped-def]
    """As many columns again, in opposite signs where a row has a minus."""
    for column in range(half):
        for k in range(many):
            short[(half + column) * many + k] = np.int16((short[column * many + k] ^ minus[k]) - minus[k])


@njit(cache=True, nogil=True, fastmath={"reassoc"})  # sums of whole numbers, in any order
def _whole_sums(axes, opposite, words, size, scale, unit, sums):  # type: ignore[no-untyped-def]
    """The sums of axes turned back: up to their scale, all numbers on the way are whole."""
    short, long = np.empty(size * SINGLES, np.int16), np.empty(size * SINGLES, np.int32)
    minus, byte, bits = np.zeros(SINGLES, np.int16), np.zeros(SINGLES, np.uint16), np.empty(size * SINGLES, np.uint16)
    part = size // 64
    for first in range(0, len(axes), SINGLES):
        last = min(len(axes), first + SINGLES)
        for row in range(first, last):
            short[row - first] = np.int16(1 - 2 * opposite[row])
        half = 1
        while half < size:  # the first transform, of an axis: the second half is the first one, or its opposite
            for row in range(first, last):
                minus[row - first] = np.int16(-np.int64(axes[row] & half != 0))
            _double(short, minus, np.uint64(half), np.uint64(len(minus)))
            half *= 2
        signed_transform(short, SINGLES, size, words[(TURNS - 1) * part :], first, np.int16(1))
        for i in range(size * SINGLES):
            long[i] = np.int32(short[i])
        signed_transform(long, SINGLES, size, words[(TURNS - 2) * part :], first, np.int32(1))
        _turn_whole(bits, byte, words, first, size, TURNS - 3)
        for row in range(last - first, SINGLES):
            long[row::SINGLES] = 0
        for column in range(np.uint64(len(sums))):
            at, some = column * ROWS, 0.0  # whole numbers below 2^53
            for k in range(ROWS):
                some += np.rint(
                    np.float64(long[at + k] * (np.int32(1) - np.int32(2) * np.int32(bits[at + k]))) * scale + unit
                )
            sums[column] += np.int64(some) - (SINGLES - (last - first)) * np.int64(unit)


@njit(cache=True, nogil=True)
def _largest_at(rows, place, found):  # type: ignore[no-untyped-def]
    n, size = rows.shape
    wide = (size + COLUMNS - 1) // COLUMNS * COLUMNS  # filled up with columns that reach no key
    high, low = np.zeros(wide * SINGLES, np.uint16), np.full(wide * SINGLES, -1, np.int16)
    wanted, column_of = np.zeros(SINGLES, np.int32), np.empty(SINGLES, np.int32)
    for first in range(0, n, SINGLES):
        last = min(n, first + SINGLES)
        for row in range(first, last):
            wanted[row - first] = place[row]
            for column in range(size):
                at = column * SINGLES + row - first
                high[at] = np.uint16(rows[row, column] >> np.uint32(LOW) & np.uint32((1 << HIGH) - 1))
                low[at] = np.int16(rows[row, column] & np.uint32((1 << LOW) - 1))
        _select(high, low, size, wanted, column_of)
        for row in range(first, last):
            found[row] = column_of[row - first]


@njit(cache=True, nogil=True)
def _select(high, low, size, wanted, column_of):  # type: ignore[no-untyped-def]
    """Of several rows side by side, the largest key that more than `wanted` columns reach, bit by bit; then its column.

    Keys are looked at in two parts: after the higher one, only columns that share it are left. `low` is used up.
    """
    left, above, reach = wanted.copy(), np.empty(SINGLES, np.int32), np.empty(SINGLES, np.int32)
    upper, lower, some = np.zeros(SINGLES, np.uint16), np.zeros(SINGLES, np.int16), np.empty(SINGLES, np.int16)
    _find(high, upper, upper.copy(), some, reach, above, left, HIGH)
    left -= above
    _narrow(high, low, upper, np.uint64(size), np.uint64(len(left)))
    _find(low, lower, lower.copy(), some, reach, above, left, LOW)
    left -= above
    column_of[:] = 0
    _pass_same(low, lower, left, column_of, np.uint64(size), np.uint64(len(left)))


@uncounted
def _find(side, key, tried, some, reach, above, wanted, bits):  # type: ignore[no-untyped-def]
    """The largest key that more than `wanted` columns reach, and how many are above it: those that reach the next one."""
    above[:] = 0
    for bit in range(bits - 1, -1, -1):
        _try(key, tried, reach, bit, len(key))
        _count(side, len(side), tried, some, reach)
        _keep(key, tried, reach, above, wanted, len(key))


@uncounted
def _try(key, tried, reach, bit, many):  # type: ignore[no-untyped-def]
    for k in range(many):
        tried[k] = key[k] | 1 << bit
        reach[k] = 0


@uncounted
def _keep(key, tried, reach, above, wanted, many):  # type: ignore[no-untyped-def]
    for k in range(many):
        enough = reach[k] > wanted[k]
        key[k] = tried[k] if enough else key[k]
        above[k] = above[k] if enough else reach[k]


@uncounted
def _narrow(high, low, key, size, many):  # type: ignore[no-untyped-def]
    """Columns with another key are out."""
    for column in range(size):
        for k in range(many):
            at = column * many + k
            low[at] = low[at] if high[at] == key[k] else np.int16(-1)


@uncounted
def _pass_same(low, key, left, column_of, size, many):  # type: ignore[no-untyped-def]
    """Count the columns before the one that has so many others with the same key before it."""
    for column in range(size):
        for k in range(many):
            left[k] -= np.int32(low[column * many + k] == key[k])
            column_of[k] += np.int32(left[k] >= 0)


@uncounted
def _count(side, length, least, some, reach):  # type: ignore[no-untyped-def]
    """How many columns reach these keys, row by row."""
    for begin in range(0, length, MOST_COUNTED):
        for k in range(len(some)):
            some[k] = 0
        for start in range(begin, min(begin + MOST_COUNTED, length), COLUMNS * SINGLES):
            count_columns(side, start, SINGLES, least, some)
        for k in range(len(some)):
            reach[k] += np.int32(some[k])
