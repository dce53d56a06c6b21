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
from deniable.kernels.poisson_plain import NONE, poisson, uniform

FAR = 2.0**40  # past it a label is the time of a point, not its rank
FOUND, ENDED, LACKING = 0, 1, 2
AHEAD, AFTER_BEST = 16, 4  # points whose draws are looked at together, and right after one that was the best so far
FEW = 3  # coordinates of a chunk, up to which points are looked at one after the other
ROOM = 144  # words of `digits` beside those for each coordinate and point, for the compiled twin
EARLY, GROUP = 8, 64  # draws of a chunk that the compiled twin looks at beforehand, and in how many chunks at once
WORTH = 16  # coordinates from which that pays in NumPy
MOST_TIED = 1 << 12  # of these draws and their coordinates

# The plain ones: this text runs before numba is worth loading.
draw_bits, draw_values = unwrap(draws.draw_bits), unwrap(draws.draw_values)


def encode(
    words: Words,
    waits: Floats,
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

    Chunk c holds the non-reference coordinates place[offsets[c]:offsets[c + 1]]. `waits` has the exponential number of each
    word, `factors` exp(-epsilon n) for every n from minus to plus as many coordinates as a chunk has at most. `state` keeps
    an unfinished chunk: its number, T, the time up to which points are counted, their number, the best weight, its label
    and A. A step that lacks words is taken again from its first word.

    The first draws of chunks may be known beforehand. Of the others, points that can win are found several at a time, as if
    none of them did, and their draws are looked at together; what comes after one that wins is forgotten, and its words are
    used again.
    """
    middle = len(factors) // 2
    digits, nets = np.empty((AHEAD + 1) * (middle + 1) + ROOM, np.uint64), np.empty(AHEAD, np.int64)
    ahead, room = np.empty((AHEAD, 6)), np.empty(4 * EARLY)
    early, ties = np.empty((GROUP, EARLY), np.int64), np.empty(2 * MOST_TIED, np.uint64)
    return encode_in(
        words, waits, offsets, place, value, chunk, key, np.uint64(threshold), np.uint64(values), factors, middle,
        alpha, series, state, labels, digits, nets, ahead, room, early, ties,
    )  # fmt: skip


def encode_in(
    words: Words,
    waits: Floats,
    offsets: Ints,
    place: Words,
    value: Words,
    chunk: Words,
    key: Words,
    below: np.uint64,
    kinds: np.uint64,
    factors: Floats,
    middle: int,
    alpha: float,
    series: Floats,
    state: Floats,
    labels: Words,
    digits: Words,
    nets: Ints,
    ahead: Floats,
    room: Floats,
    early: Ints,
    ties: Words,
) -> tuple[int, int]:
    """The same in memory that is given."""
    at, used = int(state[0]), 0
    begin, ready, known = at, at, 0
    beyond, root, inverse = alpha - 1.0, 1.0 / alpha, 1.0 / (alpha - 1.0)
    time, counted, rank = float(state[1]), float(state[2]), float(state[3])
    best, label, reach = float(state[4]), float(state[5]), float(state[6])
    while at < len(labels):
        if at >= ready:
            begin = at
            ready, known = nets_before(at, offsets, place, value, chunk, key, below, kinds, early, ties)
        first, last = int(offsets[at]), int(offsets[at + 1])
        largest = float(factors[middle - (last - first)])
        if alpha == 2.0 and known == EARLY and rank == 0.0 and used + 2 * EARLY <= len(words):
            used, time, rank, best, label = weigh_early(waits, used, early, at - begin, factors, middle, largest, room)
            counted, reach = time, best * largest
        few = last - first <= FEW
        found, wanted, sum_counted = 0, AFTER_BEST if known > 0 and not few else 1, math.nan
        while True:
            status, used, time, counted, rank, best, label, reach, weight, own, sum_counted = next_point(
                words, waits, used, time, counted, rank, best, label, reach,
                alpha, beyond, root, inverse, series, sum_counted, early, at - begin, known, factors, middle, largest,
            )  # fmt: skip
            if status == FOUND:
                ahead[found, 0], ahead[found, 1], ahead[found, 2] = time, counted, rank
                ahead[found, 3], ahead[found, 4], ahead[found, 5] = used, weight, own
                found += 1
                if found < wanted:
                    continue
            won = False
            if found > 0:
                nets_of(
                    ahead, found, first, last, place, value, chunk[at], key[at], below, kinds, factors, best, digits, nets
                )
                for one in range(found):
                    weight = float(ahead[one, 4]) * float(factors[middle + nets[one]])
                    if weight < best:
                        best, label, reach, sum_counted = weight, float(ahead[one, 5]), weight * largest, math.nan
                        time, counted = float(ahead[one, 0]), float(ahead[one, 1])
                        rank, used, won = float(ahead[one, 2]), int(ahead[one, 3]), True
                        break
            if status == LACKING and not won:
                state[0], state[1], state[2], state[3] = at, time, counted, rank
                state[4], state[5], state[6] = best, label, reach
                return at, used
            if status == ENDED and not won:
                labels[at], used = np.uint64(int(label)), used + 1
                break
            found, wanted = 0, 1 if few else AFTER_BEST if won else AHEAD
        at += 1
        time, counted, rank, best, label, reach = 0.0, 0.0, 0.0, math.inf, 0.0, math.inf
    return at, used


def next_point(
    words: Words,
    waits: Floats,
    used: int,
    time: float,
    counted: float,
    rank: float,
    best: float,
    label: float,
    reach: float,
    alpha: float,
    beyond: float,
    root: float,
    inverse: float,
    series: Floats,
    sum_counted: float,
    early: Ints,
    row: int,
    known: int,
    factors: Floats,
    middle: int,
    largest: float,
) -> tuple[int, int, float, float, float, float, float, float, float, float, float]:
    """The next point that can win and whose draw is to be looked at; those before it that are known are weighed.

    Whether there is one, words that are used, T, the time up to which points are counted, their number, the best weight, its
    label and A so far, then T V^(1/alpha) and the label of the point, and S(counted) - counted where that is known.
    """
    while used + 3 <= len(words):
        if time < reach:
            time += float(waits[used])
            weight = time * power(float(waits[used + 1]), root)
            used += 2
            rank += 1.0
            counted = time
            if weight > reach:
                continue
        else:
            rest = reach * power(reach / time, beyond) * inverse - float(waits[used])
            if rest <= 0.0:
                return ENDED, used, time, counted, rank, best, label, reach, 0.0, 0.0, sum_counted
            share = beyond * rest / reach
            later, x = reach / power(share, inverse), power(share, alpha * inverse)
            lost = fallen(x)
            if uniform(words[used + 1]) * x > lost:
                time, used = later, used + 2
                continue
            taken = used + 3
            if later < FAR:
                sum_later = later * x * polynomial(series, x)
                if math.isnan(sum_counted):
                    before = power(reach / counted, alpha)
                    sum_counted = counted * before * polynomial(series, before)
                skipped, taken = poisson(max((later - counted) + (sum_later - sum_counted), 0.0), words, taken)
                if skipped == NONE:
                    break
                rank += 1.0 + skipped
                sum_counted = sum_later
            weight = later * power(minus_log(uniform(words[used + 2]) * lost), root)
            time = counted = later
            used = taken
        own = rank if time < FAR else time_label(time)
        if own > known:
            return FOUND, used, time, counted, rank, best, label, reach, weight, own, sum_counted
        weight *= float(factors[middle + early[row, int(own) - 1]])
        if weight < best:
            best, label, reach, sum_counted = weight, own, weight * largest, math.nan
    return LACKING, used, time, counted, rank, best, label, reach, 0.0, 0.0, sum_counted


def nets_before(
    at: int,
    offsets: Ints,
    place: Words,
    value: Words,
    chunk: Words,
    key: Words,
    threshold: int | np.uint64,
    values: int | np.uint64,
    early: Ints,
    ties: Words,
) -> tuple[int, int]:
    """Look at the first draws of chunks from `at` on: (the chunk after them, how many draws of each are known).

    A row of `early` becomes `net_of` of labels 1, 2, ...; `ties` is room for the compiled twin.
    """
    last = min(at + GROUP, len(offsets) - 1)
    part = slice(int(offsets[at]), int(offsets[last]))
    if part.stop - part.start < WORTH:
        return last, 0
    own = np.repeat(np.arange(at, last), np.diff(offsets[at : last + 1]))
    for draw in range(EARLY):
        label = np.full(len(own), draw + 1, np.uint64)
        given = place[part], chunk[own], label, key[own], int(threshold)
        if values == 2:
            agrees = 2 * draw_bits(*given).astype(np.int64) - 1
        else:
            drawn = draw_values(*given, int(values))
            agrees = (drawn == value[part]).astype(np.int64) - (drawn == 0)
        early[: last - at, draw] = np.bincount(own - at, agrees, minlength=last - at)
    return last, EARLY


def weigh_early(
    waits: Floats, used: int, early: Ints, row: int, factors: Floats, middle: int, largest: float, room: Floats
) -> tuple[int, float, float, float, float]:
    """The first points of a chunk, up to one past A, for alpha = 2: words that are used, T, number, best weight, its label.

    `room` is for the compiled twin.
    """
    time, rank, best, label = 0.0, 0, math.inf, 0.0
    while rank < EARLY and time < best * largest:
        time += float(waits[used])
        weight = time * math.sqrt(waits[used + 1]) * float(factors[middle + early[row, rank]])
        used, rank = used + 2, rank + 1
        if weight < best:
            best, label = weight, float(rank)
    return used, time, float(rank), best, label


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


def exponential(word: int | np.uint64) -> float:
    """An exponential number of mean one, exact in relative terms near 0."""
    return minus_log(uniform(word))


def exponentials(words: Words) -> Floats:
    """The same for many words."""
    return np.asarray(-np.log1p(-((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53))


def minus_log(u: float) -> float:
    """-log(1 - u)."""
    return -math.log1p(-u)


def fallen(x: float) -> float:
    """1 - exp(-x) for x from 0 to 1."""
    return -math.expm1(-x)


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
