"""The text of encoder_plain.py, compiled by numba; only the two functions here are written differently."""

import numpy as np
from numba import njit

from deniable.kernels import encoder_plain
from deniable.kernels.draws import HALF, MASK
from deniable.kernels.draws_compiled import FIVE, LANE, ONE, THREE, TWO, block_of, settle_bit
from deniable.kernels.same_text import compiled


@njit(cache=True, nogil=True)
def net_of(candidate, first, last, place, value, chunk, key, threshold, values, digits):  # type: ignore[no-untyped-def]
    label, mine, value = np.uint64(candidate), place[first:last], value[first:last]
    # Own slices and loops from 0: LLVM then sees that no index is negative, and runs several draws side by side.
    c1, c2, c3, k0, k1 = chunk & MASK, label & MASK, label >> HALF, key & MASK, key >> HALF
    size = mine.shape[0]
    net = np.int64(0)
    if values == TWO:
        top = threshold >> np.uint64(28)
        for i in range(size):
            lane = mine[i] & LANE
            w0, w1, w2, w3 = block_of((mine[i] >> FIVE) << THREE, c1, c2, c3, k0, k1)
            digit = (((w0 >> lane) & ONE) << THREE) | (((w1 >> lane) & ONE) << TWO)
            digits[i] = digit | (((w2 >> lane) & ONE) << ONE) | ((w3 >> lane) & ONE)
        for i in range(size):
            net += np.int64(digits[i] < top)
        # Ties are first moved to the front, which takes no branch that could be guessed wrong.
        tied = np.uint64(0)
        for i in range(size):
            tie = np.uint64(digits[i] == top)
            digits[tied] = mine[i]
            tied += tie
        for i in range(tied):
            net += np.int64(settle_bit(1, digits[i], chunk, label, key, threshold))
        return 2 * net - size
    reference = (values - ONE) * threshold
    for i in range(size):
        w0, w1, w2, w3 = block_of(mine[i] >> TWO, c1, c2, c3, k0, k1)
        lane = mine[i] & THREE
        word = w0
        word = w1 if lane == ONE else word
        word = w2 if lane == TWO else word
        word = w3 if lane == THREE else word
        high = value[i] * threshold
        true = np.int64(word < high) & np.int64(word >= high - threshold)
        net += true - np.int64(word >= reference)
    return net


@njit(cache=True, nogil=True)
def uniform(word):  # type: ignore[no-untyped-def]
    return (float(word >> np.uint64(11)) + 0.5) * 2.0**-53


encode = compiled(encoder_plain, uniform=uniform, net_of=net_of)["encode"]
