"""The encoder of Poisson private representation, skipping ahead; encoder_compiled.py compiles the same text.

Points of a unit-rate Poisson process at T_1 < T_2 < ... carry independent exponential marks V_i and the shared draws Z_i.
The point with the smallest w_i = T_i V_i^(1/alpha) / r(Z_i) is sent, r being how much more likely the draw is as a response
to the truth than as one to the reference; then its draw is a response to the truth, exactly (Liu, Chen, Ozgur, Li 2024).

With r at most R and a best point of weight w, a later point at T can win only if V <= (A / T)^alpha, A = R w. Those that can
and those that cannot are independent Poisson processes, so the next one that can is drawn at once and the number of the
others before it is Poisson. Before A every point is looked at; past it, candidates come with intensity

    1 - exp(-x),  x = (A / u)^alpha,   thinned from x; and   sum of exp(-x) over (t, T) = S(T) - S(t),  S(u) = u (1 + x
    p(x)),

p(x) = sum over n of (-x)^n (1 - a) / (n! (n + 1) (a + n)), a = 1 - 1/alpha. Nothing is cut off and nothing begins anew:
either would be seen in what is sent, and cost privacy that is not accounted for.

The label of a point is its rank while T < 2^40, and after that the upper 44 bits of T as a floating-point number: ranks so
large could not be drawn exactly, and a label need only distinguish points, not know their draws.
"""

import math
from inspect import unwrap

import numpy as np

from deniable.arrays import Floats, Ints, Words
from deniable.kernels import draws

FAR = 2.0**40  # past it a label is the time of a point, not its rank
NONE = -1.0  # there are not enough words left

# The plain ones: this text runs before numba is worth loading.
draw_bits, draw_values = unwrap(draws.draw_bits), unwrap(draws.draw_values)

# 1/(12 k) - 1/(360 k^3) + ...: what Stirling's formula leaves out
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


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
    """Labels for chunks from state[0] on, as far as the words reach: (chunks that are done, words that are used).

    Chunk c holds the non-reference coordinates place[offsets[c]:offsets[c + 1]]. `state` keeps an unfinished chunk: its
    number, T, the time up to which points are counted, their number, the best weight, its label and A. A step that lacks
    words is taken again from its first word.
    """
    at, used = int(state[0]), 0
    below, kinds = np.uint64(threshold), np.uint64(values)
    digits, far = np.empty(len(place), np.uint64), np.empty(1)
    far_bits = far.view(np.int64)
    while at < len(labels):
        first, last = int(offsets[at]), int(offsets[at + 1])
        log_most = epsilon * (last - first)
        time, counted, rank = float(state[1]), float(state[2]), float(state[3])
        best, label, reach = float(state[4]), float(state[5]), float(state[6])
        while True:
            if used + 3 > len(words):
                keep(state, at, time, counted, rank, best, label, reach)
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
                    labels[at] = np.uint64(int(label))
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
                        keep(state, at, time, counted, rank, best, label, reach)
                        return at, used
                    rank += 1.0 + skipped
                else:
                    taken = used + 3
                mark = -math.log1p(-uniform(words[used + 2]) * lost)
                time = counted = later
                used = taken
            far[0] = time
            candidate = rank if time < FAR else float(far_bits[0] >> 20)
            net = net_of(int(candidate), first, last, place, value, chunk[at], key[at], below, kinds, digits)
            weight = time * math.pow(mark, 1.0 / alpha) * math.exp(-epsilon * net)
            if weight < best:
                best, label = weight, candidate
                reach = weight * math.exp(log_most)
        at += 1
        keep(state, at, 0.0, 0.0, 0.0, math.inf, 0.0, math.inf)
    return at, used


def keep(state: Floats, at: int, time: float, counted: float, rank: float, best: float, label: float, reach: float) -> None:
    """Write down where the encoder is."""
    state[0], state[1], state[2], state[3] = at, time, counted, rank
    state[4], state[5], state[6] = best, label, reach


def net_of(
    label: int,
    first: int,
    last: int,
    place: Words,
    value: Words,
    chunk: np.uint64,
    key: np.uint64,
    threshold: int | np.uint64,
    values: int | np.uint64,
    digits: Words | None = None,
) -> int:
    """How many coordinates of a draw have the true value, less those that have the reference.

    `digits` is room that the compiled twin uses.
    """
    size = last - first
    if size == 0:
        return 0
    fill = np.ones(size, np.uint64)
    given = place[first:last], fill * chunk, fill * np.uint64(label), fill * key, int(threshold)
    if values == 2:
        return 2 * int(draw_bits(*given).sum()) - size
    drawn = draw_values(*given, int(values))
    return int((drawn == value[first:last]).sum()) - int((drawn == 0).sum())


def uniform(word: int | np.uint64) -> float:
    """A number strictly between 0 and 1, from 53 bits."""
    return ((int(word) >> 11) + 0.5) * 2.0**-53


def exponential(word: int | np.uint64) -> float:
    """An exponential number of mean one, exact in relative terms near 0."""
    return -math.log1p(-uniform(word))


def polynomial(series: Floats, x: float) -> float:
    """The value of a polynomial, highest coefficient first."""
    total = 0.0
    for coefficient in series:
        total = total * x + float(coefficient)
    return total


def log_poisson(number: float, mean: float) -> float:
    """The logarithm of a Poisson probability, without cancellation for large means."""
    if number < 10.0:
        total = number * math.log(mean) - mean
        factor = 2.0
        while factor <= number:
            total -= math.log(factor)
            factor += 1.0
        return total
    inverse = 1.0 / number
    square = inverse * inverse
    rest = 0.0
    for place in range(len(STIRLING) - 1, -1, -1):
        rest = rest * square + STIRLING[place]
    off = (mean - number) * inverse
    if abs(off) < 0.1:  # log1p(off) - off by its series
        power = 0.0
        for term in range(19, 1, -1):
            power = power * -off + 1.0 / term
        bend = -off * off * power
    else:
        bend = math.log1p(off) - off
    return number * bend - 0.5 * math.log(2.0 * math.pi * number) - rest * inverse


def poisson(mean: float, words: Words, used: int) -> tuple[float, int]:
    """A Poisson number and the words used, or NONE if they do not suffice: by inversion, or by PTRS (Hormann 1993)."""
    if mean < 10.0:
        if used >= len(words):
            return NONE, used
        rest, chance, number = uniform(words[used]), math.exp(-mean), 0.0
        while rest > chance and number < 200.0:
            rest -= chance
            number += 1.0
            chance *= mean / number
        return number, used + 1
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    quick = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        if used + 2 > len(words):
            return NONE, used
        side, height = uniform(words[used]) - 0.5, uniform(words[used + 1])
        used += 2
        edge = 0.5 - abs(side)
        number = math.floor((2.0 * a / edge + b) * side + mean + 0.43)
        if edge >= 0.07 and height <= quick:
            return float(number), used
        if number < 0.0 or (edge < 0.013 and height > edge):
            continue
        if math.log(height * scale / (a / (edge * edge) + b)) <= log_poisson(float(number), mean):
            return float(number), used
