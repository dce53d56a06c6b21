"""The text of encoder_plain.py, compiled by numba; only the functions here are written differently."""

import math

import numpy as np
from numba import njit

from deniable.arrays import Floats, Words
from deniable.kernels import encoder_plain, poisson_plain
from deniable.kernels.compiled import ZERO
from deniable.kernels.directions_compiled import DIGITS, LOG_2, LOOSE, MIDDLE, S11, UNIT
from deniable.kernels.draws import HALF, MASK
from deniable.kernels.draws_compiled import FIVE, LANE, ONE, THREE, TWO, block_of, settle_bit
from deniable.kernels.encoder_plain import AHEAD, EARLY, GROUP, MOST_TIED
from deniable.kernels.first_draws_compiled import count_first_draws
from deniable.kernels.same_text import compiled, uncounted

LABELS, FOUR, EIGHT, NINE, FIFTEEN = np.uint64(AHEAD), np.uint64(4), np.uint64(8), np.uint64(9), np.uint64(15)
# Where `nets_of_bits` keeps the upper halves of labels, how many coordinates are ones so far, how many are tied, labels and
# next digits of those that are, and which they are; the lower halves come first.
HIGH, ONES, TIED, OWN_LOW, OWN_HIGH, NEXT, TIES = (np.uint64(AHEAD * each) for each in range(1, 8))
TOGETHER = np.uint64(6)  # coordinates, after which it looks whether a point may still win
FIRST, AT_ONCE, MOST_TIES = np.uint64(EARLY), np.uint64(GROUP), np.uint64(MOST_TIED)
# The lanes of every set of them, four bits each from the lowest on, and above these how many there are.
LANES = np.array(
    [
        sum(lane << 4 * place for place, lane in enumerate(each)) | len(each) << 32
        for each in ([lane for lane in range(EARLY) if lanes >> lane & 1] for lanes in range(1 << EARLY))
    ],
    np.uint64,
)
FEW = 5  # points, for which looking at their draws one after the other is as quick


# Places without a sign let LLVM see that none is negative, and run several draws side by side.


@njit(cache=True, nogil=True, inline="always")
def first_digit(lane, w0, w1, w2, w3):  # type: ignore[no-untyped-def]
    """The first four binary digits of the number at a place of a block."""
    digit = (((w0 >> lane) & ONE) << THREE) | (((w1 >> lane) & ONE) << TWO)
    return digit | (((w2 >> lane) & ONE) << ONE) | ((w3 >> lane) & ONE)


@uncounted
def net_of_bits(label, start, size, place, chunk, key, threshold, digits):  # type: ignore[no-untyped-def]
    c1, c2, c3, k0, k1 = chunk & MASK, label & MASK, label >> HALF, key & MASK, key >> HALF
    net, top = np.int64(0), threshold >> np.uint64(28)
    for i in range(size):
        at = place[start + i]
        w0, w1, w2, w3 = block_of((at >> FIVE) << THREE, c1, c2, c3, k0, k1)
        digits[i] = first_digit(at & LANE, w0, w1, w2, w3)
    for i in range(size):
        net += np.int64(digits[i] < top)
    # Ties are first moved to the front, which takes no branch that could be guessed wrong.
    tied = ZERO
    for i in range(size):
        tie = np.uint64(digits[i] == top)
        digits[tied] = place[start + i]
        tied += tie
    for i in range(tied):
        net += np.int64(settle_bit(1, digits[i], chunk, label, key, threshold))
    return 2 * net - np.int64(size)


@uncounted
def net_of_values(label, start, size, place, value, chunk, key, threshold, values):  # type: ignore[no-untyped-def]
    c1, c2, c3, k0, k1 = chunk & MASK, label & MASK, label >> HALF, key & MASK, key >> HALF
    net, reference = np.int64(0), (values - ONE) * threshold
    for i in range(size):
        at = place[start + i]
        w0, w1, w2, w3 = block_of(at >> TWO, c1, c2, c3, k0, k1)
        lane = at & THREE
        word = w0
        word = w1 if lane == ONE else word
        word = w2 if lane == TWO else word
        word = w3 if lane == THREE else word
        high = value[start + i] * threshold
        true = np.int64(word < high) & np.int64(word >= high - threshold)
        net += true - np.int64(word >= reference)
    return net


@uncounted
def nets_of_bits(ahead, found, start, size, place, chunk, key, threshold, factors, best, digits, nets):  # type: ignore[no-untyped-def]
    """All labels side by side, as long as one of them may win: see the places in `digits`."""
    c1, k0, k1, top = chunk & MASK, key & MASK, key >> HALF, threshold >> np.uint64(28)
    middle = np.int64(factors.shape[0] // 2)
    for lane in range(LABELS):
        label = np.uint64(int(ahead[min(lane, found - ONE), 5]))
        digits[lane], digits[HIGH + lane], digits[ONES + lane], digits[TIED + lane] = label & MASK, label >> HALF, ZERO, ZERO
    seen, alive = ZERO, True
    while alive and seen < size:
        stop = min(seen + TOGETHER, size)
        for i in range(seen, stop):
            at = place[start + i]
            bit, counter, ties = at & LANE, (at >> FIVE) << THREE, ZERO
            for lane in range(LABELS):
                w0, w1, w2, w3 = block_of(counter, c1, digits[lane], digits[HIGH + lane], k0, k1)
                digit = first_digit(bit, w0, w1, w2, w3)
                digits[ONES + lane] += np.uint64(digit < top)
                digits[TIED + lane] += np.uint64(digit == top)
                ties |= np.uint64(digit == top) << lane
            digits[TIES + i] = ties
        seen, alive = stop, False
        for one in range(found):  # what is tied or not looked at yet counts as a one
            nets[one] = np.int64(size) + 2 * np.int64(digits[ONES + one] + digits[TIED + one]) - 2 * np.int64(seen)
            alive |= ahead[one, 4] * factors[middle + nets[one]] < best
    if alive:
        tied = TIES + size
        for i in range(size):
            ties = digits[TIES + i]
            while ties:
                lowest = np.uint64((np.float64(ties & (~ties + ONE)).view(np.int64) >> 52) - 1023)
                ties &= ties - ONE
                digits[tied] = place[start + i] << FOUR | lowest
                tied += ONE
        _settle_ties(TIES + size, tied, c1, k0, k1, threshold, digits)
        for one in range(found):
            nets[one] = 2 * np.int64(digits[ONES + one]) - np.int64(size)


@uncounted
def _settle_ties(first, last, c1, k0, k1, threshold, digits):  # type: ignore[no-untyped-def]
    """Compare the next digits of tied places, several at a time; what lies behind the last is looked at in vain."""
    group = ONE
    while first < last and group < EIGHT:
        wanted = (threshold >> np.uint64(28 - 4 * group)) & np.uint64(15)
        left = first
        for begin in range(first, last, LABELS):
            for i in range(LABELS):
                lane = digits[begin + i] & FIFTEEN
                digits[OWN_LOW + i], digits[OWN_HIGH + i] = digits[lane], digits[HIGH + lane]
            for i in range(LABELS):
                at = digits[begin + i] >> FOUR
                counter = ((at >> FIVE) << THREE) + group
                w0, w1, w2, w3 = block_of(counter, c1, digits[OWN_LOW + i], digits[OWN_HIGH + i], k0, k1)
                digits[NEXT + i] = first_digit(at & LANE, w0, w1, w2, w3)
            for i in range(min(LABELS, last - begin)):
                digits[ONES + (digits[begin + i] & FIFTEEN)] += np.uint64(digits[NEXT + i] < wanted)
                tie = np.uint64(digits[NEXT + i] == wanted)
                digits[left] = digits[begin + i]
                left += tie
        last = left
        group += ONE


@uncounted
def nets_of(ahead, found, first, last, place, value, chunk, key, threshold, values, factors, best, digits, nets):  # type: ignore[no-untyped-def]
    start, size, many = np.uint64(first), np.uint64(last - first), np.uint64(found)
    if values == TWO and found >= FEW:
        nets_of_bits(ahead, many, start, size, place, chunk, key, threshold, factors, best, digits, nets)
    else:
        for one in range(many):
            label = np.uint64(int(ahead[one, 5]))
            if values == TWO:
                nets[one] = net_of_bits(label, start, size, place, chunk, key, threshold, digits)
            else:
                nets[one] = net_of_values(label, start, size, place, value, chunk, key, threshold, values)


@uncounted
def nets_before(at, offsets, place, value, chunk, key, threshold, values, early, ties):  # type: ignore[no-untyped-def]
    """The first draws of a chunk side by side; those that are tied are written down and settled together."""
    chunks, top, tied, first = np.uint64(offsets.shape[0] - 1), threshold >> np.uint64(28), ZERO, np.uint64(at)
    if values != TWO:
        return np.int64(chunks), np.int64(0)
    start, c, begins = np.uint64(offsets[first]), min(first + AT_ONCE, chunks), ties[MOST_TIES:]
    while c > first and (  # a group is of one vector
        (np.uint64(offsets[c]) - start) * FIRST > MOST_TIES
        or key[c - ONE] != key[first]
        or chunk[c - ONE] - chunk[first] != c - ONE - first
    ):
        c -= ONE
    size, row, c1, k0, k1 = np.uint64(offsets[c]) - start, ZERO, chunk[first], key[first] & MASK, key[first] >> HALF
    for i in range(size + ONE):
        begins[i] = ZERO
    for each in range(c - first):
        begins[np.uint64(offsets[first + each + ONE]) - start] += ONE
        for lane in range(FIRST):
            early[each, lane] = offsets[first + each] - offsets[first + each + ONE]
    for i in range(size):  # not chunk by chunk, whose ends would be guessed wrong
        row += begins[i]
        equal = count_first_draws(early, row, place[start + i], c1 + row, k0, k1, top)
        lanes, entry = LANES[equal], (start + i) << NINE | row << THREE
        ties[tied], ties[tied + ONE] = entry | (lanes & FIFTEEN), entry | ((lanes >> FOUR) & FIFTEEN)
        for lane in range(TWO, lanes >> HALF):  # seldom more than two of eight: a branch that is guessed right
            ties[tied + lane] = entry | ((lanes >> (FOUR * lane)) & FIFTEEN)
        tied += lanes >> HALF
    _settle_early(first, tied, place, chunk, key, threshold, early, ties)
    return (np.int64(c), np.int64(EARLY)) if c > first else (np.int64(c) + 1, np.int64(0))


@uncounted
def _settle_early(at, tied, place, chunk, key, threshold, early, ties):  # type: ignore[no-untyped-def]
    """Compare the next digits of tied draws, several at a time; what lies behind the last is looked at in vain."""
    own = ties[MOST_TIES:]
    wanted = (threshold >> np.uint64(24)) & FIFTEEN
    for begin in range(ZERO, tied, FIRST):
        for i in range(FIRST):
            entry = ties[min(begin + i, tied - ONE)]
            c = at + ((entry >> THREE) & np.uint64(63))
            own[i], own[FIRST + i], own[TWO * FIRST + i], own[THREE * FIRST + i] = (
                place[entry >> NINE],
                chunk[c],
                key[c],
                entry,
            )
        for i in range(FIRST):
            at_place, label = own[i], (own[THREE * FIRST + i] & np.uint64(7)) + ONE
            k = own[TWO * FIRST + i]
            w0, w1, w2, w3 = block_of(((at_place >> FIVE) << THREE) + ONE, own[FIRST + i], label, ZERO, k & MASK, k >> HALF)
            own[FOUR * FIRST + i] = first_digit(at_place & LANE, w0, w1, w2, w3)
        for i in range(min(FIRST, tied - begin)):
            entry, digit = ties[begin + i], own[FOUR * FIRST + i]
            row, lane = (entry >> THREE) & np.uint64(63), entry & np.uint64(7)
            one = digit < wanted
            if digit == wanted:
                one = settle_bit(2, own[i], own[FIRST + i], lane + ONE, own[TWO * FIRST + i], threshold)
            early[row, lane] += 2 * np.int64(one)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def weigh_early(waits, used, early, row, factors, middle, largest, room):  # type: ignore[no-untyped-def]
    """All of them as if none were past A, in place of branches that would be guessed wrong; then the last that counts.

    `room` has the times, the square roots of the marks, and the smallest weight so far with its label.
    """
    first, time, best, label, passed = np.uint64(used), 0.0, math.inf, 0.0, ZERO
    for k in range(FIRST):
        room[FIRST + k] = math.sqrt(waits[first + TWO * k + ONE])
    for k in range(FIRST):
        time += waits[first + TWO * k]
        weight = time * room[FIRST + k] * factors[np.uint64(middle + early[row, k])]
        label = float(k + ONE) if weight < best else label
        best = weight if weight < best else best
        room[k], room[TWO * FIRST + k], room[THREE * FIRST + k] = time, best, label
        passed += np.uint64(time < best * largest)
    last = min(passed, FIRST - ONE)
    return (
        used + 2 * np.int64(last + ONE),
        room[last],
        float(last + ONE),
        room[TWO * FIRST + last],
        room[THREE * FIRST + last],
    )


@njit(cache=True, nogil=True, inline="always", fastmath=LOOSE, error_model="numpy")
def minus_log(u):  # type: ignore[no-untyped-def]
    """1 - u = 2^e m with m from sqrt(1/2) to sqrt(2), and log m = 2 artanh(f / (2 + f)), f = m - 1, or -u where e = 0."""
    bits = np.float64(1.0 - u).view(np.int64)
    exponent = (bits - MIDDLE) >> DIGITS
    f = -u if exponent == 0 else np.int64(bits - (exponent << DIGITS)).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 2 / 15 + z * (2 / 17 + z * (2 / 19 + z * (2 / 21)))
    p = 2 / 7 + z * (2 / 9 + z * (2 / 11 + z * (2 / 13 + z * p)))
    return -(np.float64(exponent) * LOG_2 + s * (2.0 + z * (2 / 3 + z * (2 / 5 + z * p))))


@njit(cache=True, nogil=True, inline="always", fastmath=LOOSE, error_model="numpy")
def fallen(x):  # type: ignore[no-untyped-def]
    """x times the series of (-x)^n / (n + 1)!, in four sums that do not wait."""
    y = x * x
    z = y * y
    a = 1.0 + z * (1 / 120 + z * (1 / 362880 + z * (1 / 6227020800 + z * (1 / 355687428096000))))
    b = -1 / 2 + z * (-1 / 720 + z * (-1 / 3628800 + z * (-1 / 87178291200 + z * (-1 / 6402373705728000))))
    c = 1 / 6 + z * (1 / 5040 + z * (1 / 39916800 + z * (1 / 1307674368000)))
    d = -1 / 24 + z * (-1 / 40320 + z * (-1 / 479001600 + z * (-1 / 20922789888000)))
    return x * ((a + b * x) + y * (c + d * x))


@njit(cache=True, nogil=True, inline="always", fastmath=LOOSE, error_model="numpy")
def polynomial(series, x):  # type: ignore[no-untyped-def]
    """The twenty terms of the series, in four sums that do not wait."""
    y = x * x
    z = y * y
    a = b = c = d = 0.0
    for i in range(0, 20, 4):
        a = a * z + series[i]
        b = b * z + series[i + 1]
        c = c * z + series[i + 2]
        d = d * z + series[i + 3]
    return (a * x + b) * y + (c * x + d)


@njit(cache=True, nogil=True)
def uniform(word):  # type: ignore[no-untyped-def]
    return (float(word >> np.uint64(11)) + 0.5) * 2.0**-53


def exponentials(words: Words) -> Floats:
    found = np.empty(len(words))
    _exponentials(words, found)
    return found


@njit(cache=True, nogil=True, fastmath=LOOSE, error_model="numpy")
def _exponentials(words, found):  # type: ignore[no-untyped-def]
    for i in range(words.shape[0]):
        found[i] = minus_log((np.float64(np.int64(words[i] >> S11)) + 0.5) * UNIT)


OFTEN, ONCE = ("encode_in",), ("next_point",)
encode = compiled(
    encoder_plain,
    OFTEN,
    ONCE,
    uniform=uniform,
    poisson=compiled(poisson_plain, (), ("poisson",), uniform=uniform)["poisson"],
    minus_log=minus_log,
    fallen=fallen,
    polynomial=polynomial,
    nets_of=nets_of,
    nets_before=nets_before,
    weigh_early=weigh_early,
)["encode"]
