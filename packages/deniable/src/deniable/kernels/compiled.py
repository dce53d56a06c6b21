"""The inner loops, compiled by numba; each gives exactly what its twin in plain.py gives."""

from functools import cache

import numpy as np
from numba import njit

from deniable.arrays import Bools, Bytes, Ints, Words
from deniable.kernels.lanes_compiled import LANES, lanes_with, store_word, write_positions
from deniable.kernels.plain import AnyWords

ZERO, ALL = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
EACH_BYTE = np.uint64(0x0101010101010101)
TOGETHER = 256  # words that are compared together
SIDE_BY_SIDE = 8  # subsets
ROWS = 1 << 11  # followed together: their columns stay in the innermost cache, and their counts fit into 16 bits


def toss_lanes(planes: Words, digit: int, used: int) -> tuple[Words, Ints]:
    words = planes.shape[1]
    smaller, tied = np.empty(words, np.uint64), np.empty(words // 2 + 64, np.int64)  # one lane of 256 is tied
    count = _toss_lanes(planes, _wanted(digit), used, smaller, tied)
    if count > len(tied):
        tied = np.empty(count, np.int64)
        _toss_lanes(planes, _wanted(digit), used, smaller, tied)
    return smaller, tied[:count]


@cache
def _wanted(digit: int) -> Words:
    return np.array([ALL if digit >> (7 - level) & 1 else 0 for level in range(8)], np.uint64)


@njit(cache=True, nogil=True, inline="always")
def compare_digit(word, digit, less, same):  # type: ignore[no-untyped-def]
    """Of lanes that were the same so far, those whose next digit is smaller, and those that are still the same."""
    differs = word ^ digit
    return less | (same & differs & digit), same & ~differs


@njit(cache=True, nogil=True)
def _toss_lanes(planes, wanted, used, smaller, tied):  # type: ignore[no-untyped-def]
    equal, open_words = np.empty(TOGETHER, np.uint64), np.empty(TOGETHER, np.int64)
    found = 0
    for start in range(0, smaller.shape[0], TOGETHER):
        many = min(TOGETHER, smaller.shape[0] - start)
        compare_planes(planes, start, wanted, smaller[start : start + many], equal)
        if used == 0:
            continue
        if (start + many) * 64 > used:  # lanes that only fill up the last word are not tossed further
            equal[many - 1] &= ALL >> np.uint64((start + many) * 64 - used)
        count = np.int64(0)
        for j in range(many):  # every word is written and the place moves on: a branch would often be guessed wrong
            open_words[count] = j
            count += np.int64(equal[j] != ZERO)
        for k in range(count):
            j = open_words[k]
            found = write_positions(equal[j], (start + j) * 64, tied, found)
    return found


@njit(cache=True, nogil=True)
def compare_planes(planes, start, wanted, smaller, equal):  # type: ignore[no-untyped-def]
    """The lanes of up to TOGETHER words from `start` on that are smaller than the wanted byte, and those that equal it."""
    # Written out, because LLVM vectorises straight code over words and not a loop over planes. The parts begin at 0: an
    # index that could be negative for all that LLVM knows makes it gather single words.
    stop = start + smaller.shape[0]
    p0, p1, p2, p3 = planes[0][start:stop], planes[1][start:stop], planes[2][start:stop], planes[3][start:stop]
    p4, p5, p6, p7 = planes[4][start:stop], planes[5][start:stop], planes[6][start:stop], planes[7][start:stop]
    w0, w1, w2, w3 = wanted[0], wanted[1], wanted[2], wanted[3]
    w4, w5, w6, w7 = wanted[4], wanted[5], wanted[6], wanted[7]
    for i in range(smaller.shape[0]):
        less, same = compare_digit(p0[i], w0, ZERO, ALL)
        less, same = compare_digit(p1[i], w1, less, same)
        less, same = compare_digit(p2[i], w2, less, same)
        less, same = compare_digit(p3[i], w3, less, same)
        less, same = compare_digit(p4[i], w4, less, same)
        less, same = compare_digit(p5[i], w5, less, same)
        less, same = compare_digit(p6[i], w6, less, same)
        less, same = compare_digit(p7[i], w7, less, same)
        smaller[i] = less
        equal[i] = same


def settle(bits: Bytes, tied: Ints, more: Bytes, digit: int) -> Ints:
    return tied[: _settle(bits, tied, more, digit)]


@njit(cache=True, nogil=True)
def _settle(bits, tied, more, digit):  # type: ignore[no-untyped-def]
    left = np.int64(0)
    for i in range(tied.shape[0]):  # without a branch, which would often be guessed wrong
        place = np.uint64(tied[i])
        bits[place >> np.uint64(3)] |= np.uint8(np.uint64(more[i] < digit) << (place & np.uint64(7)))
        tied[left] = tied[i]
        left += np.int64(more[i] == digit)
    return left


def scale(words: AnyWords, bound: int, word_bits: int) -> tuple[Ints, Ints]:
    values, refused = np.empty(len(words), np.int64), np.empty(len(words), np.bool_)
    if word_bits == 64:
        count = _scale_long(words, np.uint64(bound), values, refused)
    else:
        count = _scale(words, np.uint64(bound), np.uint64(word_bits), values, refused)
    return values, np.flatnonzero(refused) if count else np.empty(0, np.int64)


@njit(cache=True, nogil=True)
def _scale(words, bound, word_bits, values, refused):  # type: ignore[no-untyped-def]
    mask = (np.uint64(1) << word_bits) - np.uint64(1)
    threshold = (mask - bound + np.uint64(1)) % bound
    count = np.uint64(0)
    for i in range(words.shape[0]):
        product = words[i] * bound
        values[i] = np.int64(product >> word_bits)
        low = (product & mask) < threshold
        refused[i] = low
        count += np.uint64(low)
    return count


@njit(cache=True, nogil=True)
def _scale_long(words, bound, values, refused):  # type: ignore[no-untyped-def]
    threshold = (~bound + np.uint64(1)) % bound
    count = np.uint64(0)
    for i in range(words.shape[0]):
        values[i] = np.int64(_high_product(words[i], bound))
        low = words[i] * bound < threshold
        refused[i] = low
        count += np.uint64(low)
    return count


@njit(cache=True, nogil=True)
def _high_product(word, bound):  # type: ignore[no-untyped-def]
    half, low_half = np.uint64(32), np.uint64(0xFFFFFFFF)
    w1, w0, b1, b0 = word >> half, word & low_half, bound >> half, bound & low_half
    middle = w1 * b0 + (w0 * b0 >> half)
    other = w0 * b1 + (middle & low_half)
    return w1 * b1 + (middle >> half) + (other >> half)


def subsets(words: AnyWords, size: int, one_less: Bools, word_bits: int) -> tuple[Bytes, Ints]:
    member = np.zeros((len(words), (size + 7) // 8), np.uint8)
    refused = np.zeros(len(words), np.bool_)
    if word_bits == 64:
        _subsets_long(words, size, one_less, member, refused)
    elif size <= 64:
        _small_subsets(words, size, one_less, np.uint64(word_bits), member, refused)
    else:
        _subsets(words, size, one_less, np.uint64(word_bits), member, refused)
    return member, np.flatnonzero(refused)


@njit(cache=True, nogil=True)
def _subsets(words, size, one_less, word_bits, member, refused):  # type: ignore[no-untyped-def]
    chosen, mask = words.shape[1], (np.uint64(1) << word_bits) - np.uint64(1)
    first = np.uint64(size - chosen)
    bounds = np.arange(size - chosen + 1, size + 1).astype(np.uint64)
    thresholds = (mask - bounds + np.uint64(1)) % bounds
    parts, places = (size + LANES - 1) // LANES, np.empty(chosen, np.uint64)
    flags = np.empty((SIDE_BY_SIDE, parts * LANES), np.uint8)
    for start in range(0, words.shape[0], SIDE_BY_SIDE):
        many = min(SIDE_BY_SIDE, words.shape[0] - start)
        for i in range(many):
            w, marked, count = words[start + i], flags[i], np.uint64(0)
            for step in range(chosen):
                product = w[step] * bounds[step]
                count += np.uint64((product & mask) < thresholds[step])
                places[step] = product >> word_bits
            refused[start + i] = count > 0
            marked[:] = 0
            marked[places[0]] = not one_less[start + i]
            # A byte for each element. Where a step writes does not depend on what it reads: the next need not wait for it.
            for step in range(np.uint64(1), np.uint64(chosen)):
                marked[first + step] = marked[places[step]]
                marked[places[step]] = 1
        for i in range(many):  # once these bytes are written: a load of many of them would wait
            for part in range(parts):
                store_word(lanes_with(flags[i], part * LANES, 0), member[start + i], 8 * part)


@njit(cache=True, nogil=True)
def _small_subsets(words, size, one_less, word_bits, member, refused):  # type: ignore[no-untyped-def]
    # As below, with the members of a row in one word.
    chosen, mask, one = words.shape[1], (np.uint64(1) << word_bits) - np.uint64(1), np.uint64(1)
    first = size - chosen
    bounds = np.arange(first + 1, size + 1).astype(np.uint64)
    thresholds = (mask - bounds + one) % bounds
    for row in range(words.shape[0]):
        w, m = words[row], member[row]
        inside, count, whole = np.uint64(0), np.uint64(0), np.uint64(not one_less[row])
        for step in range(chosen):
            product = w[step] * bounds[step]
            count += np.uint64((product & mask) < thresholds[step])
            bit = one << (product >> word_bits)
            taken = np.uint64((inside & bit) != 0)
            bit ^= (bit ^ one << np.uint64(first + step)) & (np.uint64(0) - taken)
            inside |= bit & (np.uint64(0) - (whole | np.uint64(step > 0)))
        for byte in range(m.shape[0]):
            m[byte] = np.uint8(inside >> np.uint64(8 * byte) & np.uint64(255))
        refused[row] = count > 0


@njit(cache=True, nogil=True)
def _subsets_long(words, size, one_less, member, refused):  # type: ignore[no-untyped-def]
    chosen = words.shape[1]
    first = size - chosen
    for row in range(words.shape[0]):
        for step in range(chosen):
            word, bound = words[row, step], np.uint64(first + step + 1)
            refused[row] |= word * bound < (~bound + np.uint64(1)) % bound
            place = np.int64(_high_product(word, bound))
            if member[row, place >> 3] >> (place & 7) & 1:
                place = first + step
            if step > 0 or not one_less[row]:
                member[row, place >> 3] |= np.uint8(1 << (place & 7))


def column_sums(words: Words) -> Ints:
    sums = np.zeros(words.shape[1] * 64, np.int64)
    _column_sums(words, sums)
    return sums


@njit(cache=True, nogil=True, inline="always")
def full_adder(a, b, c):  # type: ignore[no-untyped-def]
    """The sum of three bits, lane by lane: its lower and its upper digit."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@njit(cache=True, nogil=True)
def _column_sums(words, sums):  # type: ignore[no-untyped-def]
    # Fifteen rows are added by full adders into four bit planes; the planes are spread into byte counters, eight columns
    # apart, which hold up to 255 rows before they are emptied into the sums.
    rows, width = words.shape
    counters = np.zeros((8, width), np.uint64)
    ones, twos = np.zeros(width, np.uint64), np.zeros(width, np.uint64)
    fours, eights = np.zeros(width, np.uint64), np.zeros(width, np.uint64)
    row, held = 0, 0
    while row < rows:
        if row + 15 <= rows:
            r0, r1, r2, r3, r4 = words[row], words[row + 1], words[row + 2], words[row + 3], words[row + 4]
            r5, r6, r7, r8, r9 = words[row + 5], words[row + 6], words[row + 7], words[row + 8], words[row + 9]
            r10, r11, r12, r13, r14 = words[row + 10], words[row + 11], words[row + 12], words[row + 13], words[row + 14]
            for i in range(width):
                one, two_a = full_adder(r0[i], r1[i], r2[i])
                one, two_b = full_adder(r3[i], r4[i], one)
                one, two_c = full_adder(r5[i], r6[i], one)
                two, four_a = full_adder(two_a, two_b, two_c)
                one, two_a = full_adder(r7[i], r8[i], one)
                one, two_b = full_adder(r9[i], r10[i], one)
                two, four_b = full_adder(two_a, two_b, two)
                one, two_a = full_adder(r11[i], r12[i], one)
                ones[i], two_b = full_adder(r13[i], r14[i], one)
                twos[i], four_c = full_adder(two_a, two_b, two)
                fours[i], eights[i] = full_adder(four_a, four_b, four_c)
            for bit in range(8):
                shift, counter = np.uint64(bit), counters[bit]
                for i in range(width):
                    counter[i] += (
                        (ones[i] >> shift & EACH_BYTE)
                        + ((twos[i] >> shift & EACH_BYTE) << np.uint64(1))
                        + ((fours[i] >> shift & EACH_BYTE) << np.uint64(2))
                        + ((eights[i] >> shift & EACH_BYTE) << np.uint64(3))
                    )
            row += 15
            held += 15
        else:
            single = words[row]
            for bit in range(8):
                shift, counter = np.uint64(bit), counters[bit]
                for i in range(width):
                    counter[i] += single[i] >> shift & EACH_BYTE
            row += 1
            held += 1
        if held > 240 or row >= rows:
            for bit in range(8):
                for i in range(width):
                    for byte in range(8):
                        sums[i * 64 + byte * 8 + bit] += np.int64(counters[bit, i] >> np.uint64(8 * byte) & np.uint64(255))
                    counters[bit, i] = np.uint64(0)
            held = 0


def histogram(values: AnyWords, size: int) -> Ints:
    counts = np.zeros((4, size), np.int64)
    _histogram(values, counts)
    return counts.sum(axis=0)


@njit(cache=True, nogil=True)
def _histogram(values, counts):  # type: ignore[no-untyped-def]
    # Four histograms side by side: equal neighbours do not wait for each other.
    first, second, third, fourth = counts[0], counts[1], counts[2], counts[3]
    whole = values.shape[0] // 4 * 4
    for i in range(0, whole, 4):
        first[values[i]] += 1
        second[values[i + 1]] += 1
        third[values[i + 2]] += 1
        fourth[values[i + 3]] += 1
    for i in range(whole, values.shape[0]):
        first[values[i]] += 1


def interval_counts(step: AnyWords, start: AnyWords, width: AnyWords, modulus: int, size: int) -> Ints:
    counts = np.zeros((size + 3) // 4 * 4, np.int64)
    place = np.empty(min(ROWS, len(step)), step.dtype)
    _interval_counts(step, start, width, step.dtype.type(modulus), place, counts)
    return counts[:size]


@njit(cache=True, nogil=True)
def _interval_counts(step, start, width, modulus, place, counts):  # type: ignore[no-untyped-def]
    # Lanes are rows, four values of x a pass: additions, comparisons and counters of the columns' own narrow type.
    narrow = step.dtype.type
    for first in range(0, step.shape[0], ROWS):
        rows = min(ROWS, step.shape[0] - first)
        by, below, here = step[first : first + rows], width[first : first + rows], place[:rows]
        here[:] = start[first : first + rows]
        for x in range(0, counts.shape[0], 4):
            a = b = c = d = narrow(0)
            for i in range(rows):
                at = here[i]
                a = narrow(a + narrow(at < below[i]))
                at = narrow(at + by[i])
                at = min(at, narrow(at - modulus))
                b = narrow(b + narrow(at < below[i]))
                at = narrow(at + by[i])
                at = min(at, narrow(at - modulus))
                c = narrow(c + narrow(at < below[i]))
                at = narrow(at + by[i])
                at = min(at, narrow(at - modulus))
                d = narrow(d + narrow(at < below[i]))
                at = narrow(at + by[i])
                here[i] = min(at, narrow(at - modulus))
            counts[x] += a
            counts[x + 1] += b
            counts[x + 2] += c
            counts[x + 3] += d
