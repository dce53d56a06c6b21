"""The text of encoder_plain.py, compiled by numba; only the functions here are written differently."""

import numpy as np
from numba import njit

from deniable.kernels import encoder_plain
from deniable.kernels.compiled import ZERO
from deniable.kernels.draws import HALF, MASK
from deniable.kernels.draws_compiled import FIVE, LANE, ONE, THREE, TWO, block_of, settle_bit
from deniable.kernels.encoder_plain import AHEAD
from deniable.kernels.same_text import compiled, uncounted

LABELS, FOUR, EIGHT, FIFTEEN = np.uint64(AHEAD), np.uint64(4), np.uint64(8), np.uint64(15)
# Where `nets_of_bits` keeps the upper halves of labels, how many coordinates are ones so far, how many are tied, labels and
# next digits of those that are, and which they are; the lower halves come first.
HIGH, ONES, TIED, OWN_LOW, OWN_HIGH, NEXT, TIES = (np.uint64(AHEAD * each) for each in range(1, 8))
TOGETHER = np.uint64(6)  # coordinates, after which it looks whether a point may still win
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


@njit(cache=True, nogil=True)
def uniform(word):  # type: ignore[no-untyped-def]
    return (float(word >> np.uint64(11)) + 0.5) * 2.0**-53


OFTEN = ("look_ahead", "polynomial", "poisson")
encode = compiled(encoder_plain, OFTEN, uniform=uniform, nets_of=nets_of)["encode"]
