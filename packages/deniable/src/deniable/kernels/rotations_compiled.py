"""Public random rotations, compiled by numba; each loop gives exactly what its twin in rotations.py gives.

Several rows are turned together, side by side, so that every step of a transform is one long loop over neighbours.
"""

import math

import numpy as np
from numba import njit

from deniable.arrays import Floats, Ints, Words
from deniable.kernels.mixing import STEP
from deniable.kernels.rotations import TURNS, Singles
from deniable.kernels.same_text import uncounted

SINGLES, DOUBLES = 32, 16  # rows side by side
ROWS, ZERO, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = (np.uint64(each) for each in (SINGLES, 0, 2, 3, 4, 5, 6, 7, 8))
HIGHEST, BIT = np.uint32(1 << 31), np.uint16(1)
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
    """The same words of several rows as neighbours."""
    return np.ascontiguousarray(words.T)


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
def _transform(side, rows, size):  # type: ignore[no-untyped-def]
    """The Hadamard transform of columns that stand side by side, without its scale: two steps at a time, then the last."""
    step = 1
    while 4 * step <= size:
        length = step * rows
        for start in range(0, size * rows, 4 * length):
            first, second = side[start : start + length], side[start + length : start + 2 * length]
            third, fourth = side[start + 2 * length : start + 3 * length], side[start + 3 * length : start + 4 * length]
            for k in range(length):
                a, b, c, d = first[k], second[k], third[k], fourth[k]
                first[k] = (a + b) + (c + d)
                second[k] = (a - b) + (c - d)
                third[k] = (a + b) - (c + d)
                fourth[k] = (a - b) - (c - d)
        step *= 4
    if step < size:
        low, high = side[: step * rows], side[step * rows : 2 * step * rows]
        for k in range(step * rows):
            a, b = low[k], high[k]
            low[k] = a + b
            high[k] = a - b


@uncounted
def _bytes_of(words, at, own, many):  # type: ignore[no-untyped-def]
    """A byte of each word. `many` is an argument because LLVM would write a loop of a fixed length out, without vectors."""
    for k in range(many):
        own[k] = words[k] >> at & np.uint64(255)


@uncounted
def _flip(bits, own, many):  # type: ignore[no-untyped-def]
    """Change the signs of eight columns by the bits of a byte; eight, since a loop of one has more to prepare than to do."""
    for k in range(np.uint64(many)):
        byte = np.uint32(own[k])
        bits[k] ^= np.uint32(byte << np.uint32(31))
        bits[k + ROWS] ^= np.uint32(byte << np.uint32(30)) & HIGHEST
        bits[k + TWO * ROWS] ^= np.uint32(byte << np.uint32(29)) & HIGHEST
        bits[k + THREE * ROWS] ^= np.uint32(byte << np.uint32(28)) & HIGHEST
        bits[k + FOUR * ROWS] ^= np.uint32(byte << np.uint32(27)) & HIGHEST
        bits[k + FIVE * ROWS] ^= np.uint32(byte << np.uint32(26)) & HIGHEST
        bits[k + SIX * ROWS] ^= np.uint32(byte << np.uint32(25)) & HIGHEST
        bits[k + SEVEN * ROWS] ^= np.uint32(byte << np.uint32(24)) & HIGHEST


@uncounted
def _turn_singles(bits, own, words, first, last, size, turn):  # type: ignore[no-untyped-def]
    """Change the sign of every coordinate whose bit is one, by its highest bit."""
    for part in range(size // 8):
        beside = words[turn * (size // 64) + part // 8, first:last]
        _bytes_of(beside, np.uint64(8 * (part & 7)), own, len(beside))
        _flip(bits[part * 8 * SINGLES : (part + 1) * 8 * SINGLES], own, len(own))


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
    """Some rows, side by side, after all turns."""
    own, bits = np.zeros(SINGLES, np.uint32), side.view(np.uint32)
    side[:] = 0
    for row in range(first, last):
        for column in range(rows.shape[1]):
            side[column * SINGLES + row - first] = rows[row, column]
    for turn in range(TURNS):
        _turn_singles(bits, own, words, first, last, size, turn)
        _transform(side, SINGLES, size)
        side *= scale


@njit(cache=True, nogil=True)
def _rotated(rows, words, scale, wide):  # type: ignore[no-untyped-def]
    n, size = wide.shape
    side = np.empty(size * SINGLES, np.float32)
    for first in range(0, n, SINGLES):
        last = min(n, first + SINGLES)
        _turn(side, rows, words, first, last, size, scale)
        for row in range(first, last):
            for column in range(size):
                wide[row, column] = side[column * SINGLES + row - first]


@njit(cache=True, nogil=True)
def _turned_at(rows, words, scale, size, place, found):  # type: ignore[no-untyped-def]
    side, wanted, column_of = np.empty(size * SINGLES, np.float32), np.zeros(SINGLES, np.int32), np.empty(SINGLES, np.int32)
    high, low = np.empty(size * SINGLES, np.uint16), np.empty(size * SINGLES, np.int16)
    keys = side.view(np.uint32)
    for first in range(0, len(rows), SINGLES):
        last = min(len(rows), first + SINGLES)
        _turn(side, rows, words, first, last, size, scale)
        wanted[: last - first] = place[first:last]
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
def _turn_whole(bits, own, words, first, last, size, turn):  # type: ignore[no-untyped-def]
    """The bit of each coordinate and row in this turn, side by side."""
    for part in range(size // 8):
        beside = words[turn * (size // 64) + part // 8, first:last]
        _bytes_of(beside, np.uint64(8 * (part & 7)), own, len(beside))
        _spread(own, bits[part * 8 * SINGLES : (part + 1) * 8 * SINGLES], len(own))


@uncounted
def _double(sign, own, half, many):  # type: ignore[no-untyped-def]
    """As many columns again, in opposite signs where a row's own bit is one."""
    for column in range(half):
        for k in range(many):
            sign[(half + column) * many + k] = sign[column * many + k] ^ own[k]


@njit(cache=True, nogil=True, fastmath={"reassoc"})  # sums of whole numbers, in any order
def _whole_sums(axes, opposite, words, size, scale, unit, sums):  # type: ignore[no-untyped-def]
    """The sums of axes turned back: up to their scale, all numbers on the way are whole."""
    sign, bits = np.empty(size * SINGLES, np.uint16), np.empty(size * SINGLES, np.uint16)
    short, long, own = np.empty(size * SINGLES, np.int16), np.empty(size * SINGLES, np.int32), np.zeros(SINGLES, np.uint16)
    byte = np.zeros(SINGLES, np.uint16)
    for first in range(0, len(axes), SINGLES):
        last = min(len(axes), first + SINGLES)
        for row in range(first, last):
            sign[row - first] = np.uint16(opposite[row])
        half = 1
        while half < size:  # the first transform, of an axis: the second half is the first one, or its opposite
            for row in range(first, last):
                own[row - first] = np.uint16(axes[row] & half != 0)
            _double(sign, own, np.uint64(half), np.uint64(len(own)))
            half *= 2
        _turn_whole(bits, byte, words, first, last, size, TURNS - 1)
        for i in range(size * SINGLES):
            short[i] = np.int16(1) - np.int16((sign[i] ^ bits[i]) << np.uint16(1))
        _transform(short, SINGLES, size)
        _turn_whole(bits, byte, words, first, last, size, TURNS - 2)
        for i in range(size * SINGLES):
            long[i] = np.int32(short[i]) * (np.int32(1) - np.int32(bits[i]) * np.int32(2))
        _transform(long, SINGLES, size)
        _turn_whole(bits, byte, words, first, last, size, TURNS - 3)
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
    wide = (size + 7) // 8 * 8  # filled up with columns that reach no key
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
    upper, lower = np.zeros(SINGLES, np.uint16), np.zeros(SINGLES, np.int16)
    _find(high, upper, upper.copy(), reach, above, left, HIGH)
    left -= above
    _narrow(high, low, upper, np.uint64(size), np.uint64(len(left)))
    _find(low, lower, lower.copy(), reach, above, left, LOW)
    left -= above
    column_of[:] = 0
    _pass_same(low, lower, left, column_of, np.uint64(size), np.uint64(len(left)))


@uncounted
def _find(side, key, tried, reach, above, wanted, bits):  # type: ignore[no-untyped-def]
    """The largest key that more than `wanted` columns reach, and how many are above it: those that reach the next one."""
    above[:] = 0
    for bit in range(bits - 1, -1, -1):
        _try(key, tried, reach, bit, len(key))
        _count(side, len(side), tried, reach)
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
def _count(side, length, least, reach):  # type: ignore[no-untyped-def]
    """How many columns reach these keys, row by row; eight at a time, since what is written has to be read again."""
    for start in range(ZERO, np.uint64(length), EIGHT * ROWS):
        for k in range(ROWS):
            key, at = least[k], start + k
            some = np.int16(np.int16(side[at] >= key) + np.int16(side[at + ROWS] >= key))
            some = np.int16(some + np.int16(side[at + TWO * ROWS] >= key))
            some = np.int16(some + np.int16(side[at + THREE * ROWS] >= key))
            some = np.int16(some + np.int16(side[at + FOUR * ROWS] >= key))
            some = np.int16(some + np.int16(side[at + FIVE * ROWS] >= key))
            some = np.int16(some + np.int16(side[at + SIX * ROWS] >= key))
            some = np.int16(some + np.int16(side[at + SEVEN * ROWS] >= key))
            reach[k] += np.int32(some)
