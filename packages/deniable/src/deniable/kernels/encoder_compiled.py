"""The encoder of Poisson private representation, compiled by numba; gives what its twin in encoder_plain.py gives."""

import math

import numpy as np
from numba import njit

from deniable.arrays import Floats, Ints, Words
from deniable.kernels import encoder_plain
from deniable.kernels.draws_compiled import FIVE, HALF, LANE, MASK, ONE, THREE, TWO, block_of, settle_bit
from deniable.kernels.encoder_plain import FAR, NONE
from deniable.kernels.same_text import compiled


def encode(
    words: Words,
    offsets: Ints,
    place: Words,
    value: Words,
    chunk: Words,
    key: Words,
    threshold: int,
    values: int,
    epsilon: float,
    alpha: float,
    series: Floats,
    state: Floats,
    labels: Words,
) -> tuple[int, int]:
    most = int(np.diff(offsets).max(initial=0))
    digits, time = np.empty(most, np.uint64), np.empty(1)
    at, used = _encode(
        words, offsets, place, value, chunk, key, np.uint64(threshold), np.uint64(values), epsilon, alpha, series, state,
        labels, digits, time, time.view(np.int64)
    )  # fmt: skip
    return int(at), int(used)


@njit(cache=True, nogil=True)
def _encode(  # type: ignore[no-untyped-def]
    words, offsets, place, value, chunk, key, threshold, values, epsilon, alpha, series, state, labels, digits, far, far_bits
):
    at, used = int(state[0]), 0
    while at < len(labels):
        first, last = offsets[at], offsets[at + 1]
        log_most = epsilon * (last - first)
        mine, values_here = place[first:last], value[first:last]
        time, counted, rank = state[1], state[2], state[3]
        best, label, reach = state[4], state[5], state[6]
        while True:
            if used + 3 > len(words):
                _keep(state, at, time, counted, rank, best, label, reach)
                return at, used
            if time < reach:
                time += exponential(words[used])
                mark = exponential(words[used + 1])
                used += 2
                rank += 1.0
                counted = time
                if mark > math.pow(reach / time, alpha):
                    continue
            else:
                beyond = alpha - 1.0
                rest = reach * math.pow(reach / time, beyond) / beyond - exponential(words[used])
                if rest <= 0.0:
                    labels[at] = np.uint64(label)
                    used += 1
                    break
                later = reach * math.pow(reach / (beyond * rest), 1.0 / beyond)
                x = math.pow(reach / later, alpha)
                lost = -math.expm1(-x)
                if uniform(words[used + 1]) * x > lost:
                    time, used = later, used + 2
                    continue
                if later < FAR:
                    before = math.pow(reach / counted, alpha)
                    mean = (later - counted) + (
                        later * x * polynomial(series, x) - counted * before * polynomial(series, before)
                    )
                    skipped, taken = poisson(max(mean, 0.0), words, used + 3)
                    if skipped == NONE:
                        _keep(state, at, time, counted, rank, best, label, reach)
                        return at, used
                    rank += 1.0 + skipped
                else:
                    taken = used + 3
                mark = -math.log1p(-uniform(words[used + 2]) * lost)
                time = counted = later
                used = taken
            if time < FAR:
                candidate = rank
            else:
                far[0] = time
                candidate = float(far_bits[0] >> 20)
            net = _net(np.uint64(candidate), mine, values_here, chunk[at], key[at], threshold, values, digits)
            weight = time * math.pow(mark, 1.0 / alpha) * math.exp(-epsilon * net)
            if weight < best:
                best, label = weight, candidate
                reach = weight * math.exp(log_most)
        at += 1
        _keep(state, at, 0.0, 0.0, 0.0, math.inf, 0.0, math.inf)
    return at, used


@njit(cache=True, nogil=True)
def _keep(state, at, time, counted, rank, best, label, reach):  # type: ignore[no-untyped-def]
    state[0], state[1], state[2], state[3] = at, time, counted, rank
    state[4], state[5], state[6] = best, label, reach


@njit(cache=True, nogil=True)
def _net(label, mine, value, chunk, key, threshold, values, digits):  # type: ignore[no-untyped-def]
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


_names = compiled(encoder_plain, {"uniform": uniform}, after="uniform")
exponential, polynomial, poisson = _names["exponential"], _names["polynomial"], _names["poisson"]
