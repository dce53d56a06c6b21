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
AHEAD = 16  # points whose draws are looked at together
ROOM = 144  # words of `digits` beside those for each coordinate and point, for the compiled twin

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
    factors: Floats,
    alpha: float,
    series: Floats,
    state: Floats,
    labels: Words,
) -> tuple[int, int]:
    """Labels for chunks from state[0] on, as far as the words reach: (chunks that are done, words that are used).

    Chunk c holds the non-reference coordinates place[offsets[c]:offsets[c + 1]]. `factors` has exp(-epsilon n) for every n
    from minus to plus as many coordinates as a chunk has at most. `state` keeps an unfinished chunk: its number, T, the time
    up to which points are counted, their number, the best weight, its label and A. A step that lacks words is taken again
    from its first word.

    Points that can win are found several at a time, as if none of them did, and their draws are looked at together; what
    comes after one that wins is forgotten, and its words are used again.
    """
    at, used, middle = int(state[0]), 0, len(factors) // 2
    below, kinds = np.uint64(threshold), np.uint64(values)
    digits, nets = np.empty((AHEAD + 1) * (middle + 1) + ROOM, np.uint64), np.empty(AHEAD, np.int64)
    ahead = np.empty((AHEAD, 6))
    while at < len(labels):
        first, last = int(offsets[at]), int(offsets[at + 1])
        time, counted, rank = float(state[1]), float(state[2]), float(state[3])
        best, label, reach = float(state[4]), float(state[5]), float(state[6])
        wanted = 1
        while True:
            found, after, ended = look_ahead(words, used, time, counted, rank, reach, alpha, series, wanted, ahead)
            if found == 0 and not ended:
                keep(state, at, time, counted, rank, best, label, reach)
                return at, used
            nets_of(ahead, found, first, last, place, value, chunk[at], key[at], below, kinds, factors, best, digits, nets)
            won = False
            for one in range(found):
                weight = float(ahead[one, 4]) * float(factors[middle + nets[one]])
                if weight < best:
                    best, label = weight, float(ahead[one, 5])
                    reach = weight * float(factors[middle - (last - first)])
                    found, won = one + 1, True
                    break
            if found > 0:
                time, counted = float(ahead[found - 1, 0]), float(ahead[found - 1, 1])
                rank, used = float(ahead[found - 1, 2]), int(ahead[found - 1, 3])
            if ended and not won:
                labels[at], used = np.uint64(int(label)), after
                break
            wanted = 4 if won else AHEAD
        at += 1
        keep(state, at, 0.0, 0.0, 0.0, math.inf, 0.0, math.inf)
    return at, used


def look_ahead(
    words: Words,
    used: int,
    time: float,
    counted: float,
    rank: float,
    reach: float,
    alpha: float,
    series: Floats,
    wanted: int,
    ahead: Floats,
) -> tuple[int, int, bool]:
    """The next points that can win: (how many, words that are used, whether there are no more).

    A row of `ahead` is T, the time up to which points are counted, their number, the words used up to here, T V^(1/alpha)
    and the label. There are fewer than `wanted` where no more can win, or where words lack.
    """
    found, beyond, sum_counted = 0, alpha - 1.0, math.nan  # S(counted) - counted, once it is known
    while found < wanted and used + 3 <= len(words):
        if time < reach:
            time += exponential(words[used])
            mark = exponential(words[used + 1])
            used += 2
            rank += 1.0
            counted = time
            if mark > power(reach / time, alpha):
                continue
        else:
            rest = reach * power(reach / time, beyond) / beyond - exponential(words[used])
            if rest <= 0.0:
                return found, used + 1, True
            later = reach * power(reach / (beyond * rest), 1.0 / beyond)
            x = power(reach / later, alpha)
            lost = -math.expm1(-x)
            if uniform(words[used + 1]) * x > lost:
                time, used = later, used + 2
                continue
            taken = used + 3
            if later < FAR:
                sum_later = later * x * polynomial(series, x)
                if math.isnan(sum_counted):
                    before = power(reach / counted, alpha)
                    sum_counted = counted * before * polynomial(series, before)
                mean = (later - counted) + (sum_later - sum_counted)
                skipped, taken = poisson(max(mean, 0.0), words, taken)
                if skipped == NONE:
                    break
                rank += 1.0 + skipped
                sum_counted = sum_later
            mark = -math.log1p(-uniform(words[used + 2]) * lost)
            time = counted = later
            used = taken
        ahead[found, 0], ahead[found, 1], ahead[found, 2] = time, counted, rank
        ahead[found, 3], ahead[found, 4] = used, time * power(mark, 1.0 / alpha)
        ahead[found, 5] = rank if time < FAR else time_label(time)
        found += 1
    return found, used, False


def time_label(time: float) -> float:
    """The upper 44 bits of a time."""
    return float(np.float64(time).view(np.int64) >> 20)


def power(x: float, exponent: float) -> float:
    """x to this power; with alpha = 2 there is no need for logarithms."""
    if exponent == 1.0:
        return x
    if exponent == 2.0:
        return x * x
    return math.sqrt(x) if exponent == 0.5 else math.pow(x, exponent)


def keep(state: Floats, at: int, time: float, counted: float, rank: float, best: float, label: float, reach: float) -> None:
    """Write down where the encoder is."""
    state[0], state[1], state[2], state[3] = at, time, counted, rank
    state[4], state[5], state[6] = best, label, reach


def nets_of(
    ahead: Floats,
    found: int,
    first: int,
    last: int,
    place: Words,
    value: Words,
    chunk: np.uint64,
    key: np.uint64,
    threshold: int | np.uint64,
    values: int | np.uint64,
    factors: Floats,
    best: float,
    digits: Words,
    nets: Ints,
) -> None:
    """`net_of` for the labels of the first points of `ahead`; of points that cannot win, perhaps more, but never enough.

    `factors` and `best` say what is enough, and `digits` is room, for the compiled twin: it stops where all is lost.
    """
    for one in range(found):
        nets[one] = net_of(int(ahead[one, 5]), first, last, place, value, chunk, key, threshold, values, digits)


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
    """The value of a polynomial, highest coefficient first, of a multiple of four of them: four sums that do not wait."""
    square = x * x
    fourth = square * square
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    for place in range(0, len(series), 4):
        a = a * fourth + float(series[place])
        b = b * fourth + float(series[place + 1])
        c = c * fourth + float(series[place + 2])
        d = d * fourth + float(series[place + 3])
    return (a * x + b) * square + (c * x + d)


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
