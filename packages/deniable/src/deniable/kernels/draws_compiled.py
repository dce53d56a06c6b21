"""Shared draws, compiled by numba; each gives exactly what its twin in draws.py gives."""

import numpy as np
from numba import njit

from deniable.arrays import Bytes, Ints, Ints32, Words, Words32
from deniable.kernels.compiled import ALL, ZERO, compare_digit
from deniable.kernels.draws import HALF, MASK, MULTIPLY_0, MULTIPLY_1, WEYL_0, WEYL_1
from deniable.kernels.draws import scrambled as plain_scrambled
from deniable.kernels.lanes_compiled import use_widest_vectors

EXACT = 1 << 52  # floats of whole numbers below it divide without fault
ONE, TWO, THREE, FIVE, LANE = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(5), np.uint64(31)


@njit(cache=True, nogil=True, inline="always")
def one_round(c0, c1, c2, c3, k0, k1):  # type: ignore[no-untyped-def]
    first = MULTIPLY_0 * c0
    second = MULTIPLY_1 * c2
    return (second >> HALF) ^ c1 ^ k0, second & MASK, (first >> HALF) ^ c3 ^ k1, first & MASK


@njit(cache=True, nogil=True, inline="always")
def block_of(c0, c1, c2, c3, k0, k1):  # type: ignore[no-untyped-def]
    # Written out: LLVM then runs several counters side by side.
    c0, c1, c2, c3 = one_round(c0 & MASK, c1 & MASK, c2 & MASK, c3 & MASK, k0, k1)
    c0, c1, c2, c3 = one_round(c0, c1, c2, c3, (k0 + WEYL_0) & MASK, (k1 + WEYL_1) & MASK)
    c0, c1, c2, c3 = one_round(c0, c1, c2, c3, (k0 + np.uint64(2) * WEYL_0) & MASK, (k1 + np.uint64(2) * WEYL_1) & MASK)
    c0, c1, c2, c3 = one_round(c0, c1, c2, c3, (k0 + np.uint64(3) * WEYL_0) & MASK, (k1 + np.uint64(3) * WEYL_1) & MASK)
    c0, c1, c2, c3 = one_round(c0, c1, c2, c3, (k0 + np.uint64(4) * WEYL_0) & MASK, (k1 + np.uint64(4) * WEYL_1) & MASK)
    c0, c1, c2, c3 = one_round(c0, c1, c2, c3, (k0 + np.uint64(5) * WEYL_0) & MASK, (k1 + np.uint64(5) * WEYL_1) & MASK)
    c0, c1, c2, c3 = one_round(c0, c1, c2, c3, (k0 + np.uint64(6) * WEYL_0) & MASK, (k1 + np.uint64(6) * WEYL_1) & MASK)
    c0, c1, c2, c3 = one_round(c0, c1, c2, c3, (k0 + np.uint64(7) * WEYL_0) & MASK, (k1 + np.uint64(7) * WEYL_1) & MASK)
    c0, c1, c2, c3 = one_round(c0, c1, c2, c3, (k0 + np.uint64(8) * WEYL_0) & MASK, (k1 + np.uint64(8) * WEYL_1) & MASK)
    return one_round(c0, c1, c2, c3, (k0 + np.uint64(9) * WEYL_0) & MASK, (k1 + np.uint64(9) * WEYL_1) & MASK)


@njit(cache=True, nogil=True)
def settle_bit(group, place, chunk, label, key, threshold):  # type: ignore[no-untyped-def]
    """Whether a coordinate is one, from digit group `group` on: all digits before were equal."""
    lane = place & LANE
    while group < 8:
        counter = ((place >> FIVE) << THREE) + np.uint64(group)
        w0, w1, w2, w3 = block_of(counter, chunk, label & MASK, label >> HALF, key & MASK, key >> HALF)
        digit = (((w0 >> lane) & ONE) << THREE) | (((w1 >> lane) & ONE) << TWO)
        digit |= (((w2 >> lane) & ONE) << ONE) | ((w3 >> lane) & ONE)
        wanted = (threshold >> np.uint64(28 - 4 * group)) & np.uint64(15)
        if digit != wanted:
            return digit < wanted
        group += 1
    return False


def draw_bits(place: Words, chunk: Words, label: Words, key: Words, threshold: int) -> Bytes:
    out = np.empty(len(place), np.uint8)
    _draw_bits(place, chunk, label, key, np.uint64(threshold), out)
    return out


@njit(cache=True, nogil=True)
def _draw_bits(place, chunk, label, key, threshold, out):  # type: ignore[no-untyped-def]
    top = threshold >> np.uint64(28)
    for i in range(place.shape[0]):
        lane = place[i] & LANE
        w0, w1, w2, w3 = block_of(
            (place[i] >> FIVE) << THREE, chunk[i], label[i] & MASK, label[i] >> HALF, key[i] & MASK, key[i] >> HALF
        )
        digit = (((w0 >> lane) & ONE) << THREE) | (((w1 >> lane) & ONE) << TWO)
        digit |= (((w2 >> lane) & ONE) << ONE) | ((w3 >> lane) & ONE)
        out[i] = np.uint8(2) if digit == top else np.uint8(digit < top)
    for i in range(place.shape[0]):
        if out[i] == 2:
            out[i] = np.uint8(settle_bit(1, place[i], chunk[i], label[i], key[i], threshold))


def draw_values(place: Words, chunk: Words, label: Words, key: Words, threshold: int, values: int) -> Bytes:
    out = np.empty(len(place), np.uint8)
    _draw_values(place, chunk, label, key, np.uint64(threshold), np.uint64(values), out)
    return out


@njit(cache=True, nogil=True)
def _draw_values(place, chunk, label, key, threshold, values, out):  # type: ignore[no-untyped-def]
    for i in range(place.shape[0]):
        w0, w1, w2, w3 = block_of(
            place[i] >> TWO, chunk[i], label[i] & MASK, label[i] >> HALF, key[i] & MASK, key[i] >> HALF
        )
        lane = place[i] & THREE
        word = w0
        if lane == ONE:
            word = w1
        elif lane == TWO:
            word = w2
        elif lane == THREE:
            word = w3
        value = word // threshold + ONE
        out[i] = np.uint8(value) if value < values else np.uint8(0)


def draw_rows(
    rows: Words32, row: Ints, first: Ints, last: Ints, chunk: Words, label: Words, key: Words, threshold: int
) -> None:
    longest = int((last - first).max(initial=0)) // 32 + 2
    less, equal = np.empty(longest, np.uint32), np.empty(longest, np.uint32)
    digits = np.array([0xFFFFFFFF if threshold >> (31 - place) & 1 else 0 for place in range(32)], np.uint64)
    _draw_rows(rows, row, first, last, chunk, label, key, digits, less, equal)


@njit(cache=True, nogil=True)
def _draw_rows(rows, row, first, last, chunk, label, key, digits, less, equal):  # type: ignore[no-untyped-def]
    for c in range(row.shape[0]):
        if first[c] >= last[c]:
            continue
        start, count = draw_part(first[c], last[c], chunk[c], label[c], key[c], digits, less, equal)
        target = rows[row[c]]
        for i in range(count):
            target[start + i] |= less[i]


@njit(cache=True, nogil=True)
def draw_part(first, last, chunk, label, key, digits, less, equal):  # type: ignore[no-untyped-def]
    """Coordinates first..last - 1 of a draw, in words of 32: which word is the first, and how many there are."""
    d0, d1, d2, d3 = digits[0], digits[1], digits[2], digits[3]
    d4, d5, d6, d7 = digits[4], digits[5], digits[6], digits[7]
    start, stop = np.uint64(first) >> FIVE, np.uint64(last - 1) >> FIVE
    count = np.int64(stop - start) + 1
    c1, c2, c3 = chunk & MASK, label & MASK, label >> HALF
    k0, k1 = key & MASK, key >> HALF
    for i in range(count):  # the first eight digits: most lanes are settled then
        counter = (start + np.uint64(i)) << THREE
        w0, w1, w2, w3 = block_of(counter, c1, c2, c3, k0, k1)
        lt, same = compare_digit(w0, d0, ZERO, ALL)
        lt, same = compare_digit(w1, d1, lt, same)
        lt, same = compare_digit(w2, d2, lt, same)
        lt, same = compare_digit(w3, d3, lt, same)
        w0, w1, w2, w3 = block_of(counter + ONE, c1, c2, c3, k0, k1)
        lt, same = compare_digit(w0, d4, lt, same)
        lt, same = compare_digit(w1, d5, lt, same)
        lt, same = compare_digit(w2, d6, lt, same)
        lt, same = compare_digit(w3, d7, lt, same)
        less[i] = np.uint32(lt)
        equal[i] = np.uint32(same)
    for i in range(count):
        if equal[i] != 0:
            _settle_word(i, start + np.uint64(i), c1, c2, c3, k0, k1, digits, less, equal)
    less[0] &= np.uint32((MASK << (np.uint64(first) & LANE)) & MASK)
    less[count - 1] &= np.uint32(MASK >> (LANE - (np.uint64(last - 1) & LANE)))
    return np.int64(start), count


@njit(cache=True, nogil=True)
def _settle_word(i, block, c1, c2, c3, k0, k1, digits, less, equal):  # type: ignore[no-untyped-def]
    lt, same = np.uint64(less[i]), np.uint64(equal[i])
    for group in range(2, 8):
        w0, w1, w2, w3 = block_of((block << THREE) + np.uint64(group), c1, c2, c3, k0, k1)
        for place in range(4):
            word = w0 if place == 0 else (w1 if place == 1 else (w2 if place == 2 else w3))
            lt, same = compare_digit(word, digits[4 * group + place], lt, same)
        if same == 0:
            break
    less[i] = np.uint32(lt)


def take_ones(words: Words32, table: Ints32) -> Ints32:
    out = np.empty(int(np.bitwise_count(words).sum()) + 1, np.int32)
    return out[: _take_ones(words, table, out)]


@njit(cache=True, nogil=True)
def _take_ones(words, table, out):  # type: ignore[no-untyped-def]
    # Every entry is written and the place moves on only for ones: no branch that could be guessed wrong.
    found = np.uint64(0)
    for i in range(words.shape[0]):
        word, start = np.uint64(words[i]), np.uint64(32 * i)
        for lane in range(np.uint64(32)):
            out[found] = table[start + lane]
            found += (word >> lane) & ONE
    return found


def permute(values: Ints, round_keys: Words, left: int, right: int, size: int, inverse: bool) -> Ints:
    out = np.empty(len(values), np.int64)
    given = np.uint64(left), np.uint64(right), np.uint64(size)
    if not inverse and len(round_keys) == 6 and left * right < EXACT:
        _once(values, round_keys, *given[:2], out)
        beyond = np.flatnonzero(out >= size)
        if beyond.size:
            again = np.empty(len(beyond), np.int64)
            _permute(out[beyond], round_keys, *given, inverse, again)
            out[beyond] = again
    else:
        _permute(values, round_keys, *given, inverse, out)
    return out


scrambled = njit(cache=True, nogil=True, inline="always")(plain_scrambled)


@njit(cache=True, nogil=True, inline="always")
def _both(high, low, even, odd, left, right):  # type: ignore[no-untyped-def]
    high += scrambled(low ^ even, left)
    high = min(high, high - left)  # what is below wraps around, to more
    low += scrambled(high ^ odd, right)
    return high, min(low, low - right)


@njit(cache=True, nogil=True, error_model="numpy")
def _once(values, round_keys, left, right, out):  # type: ignore[no-untyped-def]
    """All rounds once, without a branch: LLVM runs several values side by side."""
    use_widest_vectors()
    k0, k1, k2, k3, k4, k5 = round_keys[0], round_keys[1], round_keys[2], round_keys[3], round_keys[4], round_keys[5]
    for i in range(values.shape[0]):
        x = np.uint64(values[i])
        high = np.uint64(np.int64(np.float64(values[i]) / np.float64(np.int64(right))))  # right below 2^52
        low = x - high * right
        high, low = _both(high, low, k0, k1, left, right)
        high, low = _both(high, low, k2, k3, left, right)
        high, low = _both(high, low, k4, k5, left, right)
        out[i] = np.int64(high * right + low)


@njit(cache=True, nogil=True)
def _permute(values, round_keys, left, right, size, inverse, out):  # type: ignore[no-untyped-def]
    turns = round_keys.shape[0]
    for i in range(values.shape[0]):
        x = np.uint64(values[i])
        while True:
            high, low = x // right, x % right
            for step in range(turns):
                turn = turns - 1 - step if inverse else step
                if turn % 2 == 0:
                    move = scrambled(low ^ round_keys[turn], left)
                    high += left - move if inverse else move
                    if high >= left:
                        high -= left
                else:
                    move = scrambled(high ^ round_keys[turn], right)
                    low += right - move if inverse else move
                    if low >= right:
                        low -= right
            x = high * right + low
            if x < size:
                break
        out[i] = np.int64(x)
