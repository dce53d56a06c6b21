"""The error of keys with values that no mechanism with an unbiased estimate can beat, if it rounds values to an end first.

There are d keys, each of which a share f of people have. In the proof, a share w of people have m keys each, all sets of
m keys equally common, and the others have none: w m = d f, and m is at most what the domain allows. Values are 0 on a
range from -1 to 1 and are rounded to an end by a coin. A report is decoded as 2 d numbers, whose means are whether a
person has each key, and its end or 0.

Let Y be what is decoded, with f subtracted from the first d numbers. For people with keys, let x be whether they have
each key, less m / d, and the ends times a weight. Let r be the probability of a report divided by its mean over all
people: r(x) for those with keys, r_0 for those without. Let C = E[r(x) x] over people with keys, plus k (1 - r_0) /
sqrt(d) in each of the first d numbers. Decoding is right on average, for people with keys and without, so the mean over
all reports is

    E[C . Y] = V + k f sqrt(d)        with V = m (1 - m / d) + weight m

and by Cauchy and Schwarz E|Y|^2 >= (V + k f sqrt(d))^2 / E|C|^2. Of E|Y|^2, d f (1 - f) is no noise but who has which
key. The mean of r_0 is 1, so E|C|^2 is at most the largest |C|^2 - p (r_0 - 1) of any report, for every price p. Every k,
p and weight proves a bound; we search for good ones. A report is a mixture of those with only two probabilities, for
which r is q or odds q, and |C|^2 is convex, so these suffice. With R = E r(x), w R + (1 - w) r_0 = 1, and r_0 is q or
odds q: R and r_0 are linear in q.

*One key* (m = 1). A report is likelier for both ends of some keys, and for one end of b others. For given q and R, the
squared length of C is linear in b, so it is largest for the smallest or the largest b. Small numbers of keys are tried
one by one, larger ones as real numbers, by intervals of q on which all squares are quadratic functions. If the domain
allows one key only, the best k, p and weight lead to the error of the best mechanism (duality).

*Sets* (m > 1). For every direction u, E[r(x) u . x] is at most the standard deviation of u . x times that of r, whose
square is at most (R - q) (odds q - R). It is also at most (R - q) tau + (odds - 1) q E(u . x - tau)^+ for every tau,
because r - q is between 0 and (odds - 1) q. The former is sharp if a report is likelier for about 1 / (odds + 1) of all
people. The latter, with `set_tails`, is sharp if it names one key and fewer people have that. With values, the weight is
chosen such that the variance of u . x is the same in all directions.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from deniable.arrays import Floats
from deniable.core import checked_epsilon
from deniable.mechanisms.key_value.key_value_protocol import lowest_between

FEW = 512  # numbers of keys up to this are tried one by one if there are more than twice as many; else all are
PARTS = (2, 3, 4, 5)  # people may have a half, a third and so on of all keys
INTERVALS = 1024  # of q, on each side of one half
ROUNDING = 1e-9  # relatively: many times what floats can be off
STEPS = 40  # of the search for a price
TURNS, GAIN = 8, 1e-6  # of weight and k, as long as one gains as much
ROUNDS = 30  # of the search for a weight, or for k


def key_value_bound(keys: int, at_most: int, share: Fraction, epsilon: float, n: int, values: bool = True) -> float | None:
    """The standard error, root mean square over keys and over frequency and weight, or of frequencies alone.

    Every mechanism for sets of at most `at_most` keys has at least this error for some distribution of sets in which each
    key has the frequency `share`. So has every mechanism whose error depends on the frequency alone, for all of them.

    >>> round(key_value_bound(20, 1, Fraction(1, 20), 1.0, 100), 4)
    0.2643
    """
    budget = checked_epsilon(epsilon)
    least = max(_least_noise(keys, chosen, share, budget, values) for chosen in _sizes(keys, at_most, share))
    return math.sqrt(least / (n * keys * (2 if values else 1))) if least > 0 else None


def _sizes(keys: int, at_most: int, share: Fraction) -> set[int]:
    """The m that are tried: the smallest, the largest, and fractions of all keys, for which blocks have a whole size."""
    fewest = max(math.ceil(keys * share), 1)
    return {fewest, at_most, *(part for part in (3 * keys // 4, *(keys // n for n in PARTS)) if fewest < part < at_most)}


@dataclass(frozen=True)
class _Reports:
    """Reports that cover all others: bounds of |E[r(x) x]|^2 in the first and in the last d numbers, and r_0."""

    first: Floats
    last: Floats
    empty: Floats

    def largest(self, weight: float, k: float) -> float:
        """The largest |C|^2 - p (r_0 - 1), for a good price p."""
        squares, away = self.first + weight**2 * self.last + (k * (1 - self.empty)) ** 2, self.empty - 1
        most = float(squares.max())
        reach = min(most / max(float(min(away.max(), -away.min())), 1e-300), 1e5 * most / float(np.abs(away).max()))
        low, high = -reach, reach
        for _ in range(STEPS):
            price = (low + high) / 2
            dearest = (squares - price * away).argmax()
            low, high = (price, high) if away[dearest] > 0 else (low, price)
        return min(most, float((squares - (low + high) / 2 * away).max()))


@lru_cache(maxsize=128)
def _least_noise(keys: int, chosen: int, share: Fraction, epsilon: float, values: bool) -> float:
    """n times the sum of the variances of all keys, at least, if people have so many keys or none."""
    from deniable.planning.set_tails import evenness  # which few plans need

    odds, f = math.nextafter(math.exp(epsilon), math.inf), float(share)
    having = float(keys * share / chosen)
    reports = (_one_key if chosen == 1 else _sets)(_Reach(keys, chosen, having, odds), values)
    moments = chosen * (1 - chosen / keys), chosen if values else 0.0  # E|x|^2, of the first and of the last numbers
    pull, prior = f * math.sqrt(keys), (1 - having) / having * chosen / math.sqrt(keys)

    def reached(weight: float, k: float) -> float:
        product = moments[0] + weight * moments[1] + k * pull
        return product**2 / reports.largest(weight, k) if product else 0.0

    usual = math.sqrt(evenness(keys, chosen, values)), max(f / math.sqrt(keys), prior)
    weight, k, best = usual[0], prior, 0.0
    for _ in range(TURNS if values and chosen == 1 else 1):
        before = best
        if values and chosen == 1:
            weight = _best(partial(reached, k=k), usual[0])
        best = max(best, reached(weight, k), reached(weight, 0.0))
        k = _best(partial(reached, weight), usual[1])
        best = max(best, reached(weight, k))
        if best <= before * (1 + GAIN):
            break
    margin = ROUNDING + 1e-14 / ((odds - 1) * having)  # differences of r lose digits where it hardly varies
    return best * (1 - margin) - keys * f * (1 - f)


def _best(reached: Callable[[float], float], usual: float) -> float:
    """The argument with the largest value, from a thousandth of the usual one to a thousand times as much."""
    far = math.log(1000)
    return usual * math.exp(lowest_between(-far, far, lambda power: -reached(usual * math.exp(power)), ROUNDS))


@dataclass(frozen=True)
class _Reach:
    """How many keys people have, and what r may be for them: for people without keys, r is `empty` times q."""

    keys: int
    chosen: int
    having: float  # w
    odds: float

    def likelier(self, share: Floats | float, empty: float) -> Floats:
        """q, if the report is likelier for this share of the people with keys."""
        return 1 / (self.having * (1 + (self.odds - 1) * np.asarray(share)) + (1 - self.having) * empty)

    def mean(self, q: Floats, empty: float) -> Floats:
        """R: 1, if all people have keys."""
        return (1 - (1 - self.having) * empty * q) / self.having

    def variance(self, q: Floats, empty: float) -> Floats:
        """Of r, at most."""
        mean = self.mean(q, empty)
        return (mean - q) * (self.odds * q - mean)

    def edges(self, empty: float, least: float = 0.0) -> Floats:
        """Intervals of q, from reports that are likelier for this share of people with keys to those likelier for all.

        One of the ends stands for half of them.
        """
        every, half, few = self.likelier(np.array([1.0, 0.5, least]), empty)
        return np.concatenate([np.linspace(every, half, INTERVALS + 1)[:-1], np.linspace(half, few, INTERVALS + 1)])


def _one_key(reach: _Reach, values: bool) -> _Reports:
    """Where people have one key at most."""
    return _joined([each for empty in (1.0, reach.odds) for some in (_whole, _real) for each in some(reach, empty, values)])


def _whole(reach: _Reach, empty: float, values: bool) -> Iterator[_Reports]:
    """For all whole numbers of keys, up to a few; without values, reports do not depend on ends."""
    ends = np.arange(0, 2 * (FEW if reach.keys > 2 * FEW else reach.keys) + 1, 1 if values else 2)
    share = ends / (2 * reach.keys)
    q = reach.likelier(share, empty)
    variance = ((reach.odds - 1) * q) ** 2 * share * (1 - share)
    for one_end in (ends % 2, np.minimum(ends, 2 * reach.keys - ends)) if values else (ends % 2,):
        last = one_end / reach.keys * ((reach.odds - 1) * q / 2) ** 2
        yield _Reports((variance - last) / reach.keys, last / reach.keys, empty * q)


def _real(reach: _Reach, empty: float, values: bool) -> Iterator[_Reports]:
    """For all real numbers of keys that are larger, with both ends of each, or with one end of as many as can be."""
    if reach.keys <= 2 * FEW:
        return

    def last(q: Floats) -> Floats:
        mean = reach.mean(q, empty)
        return (reach.odds - 1) / 2 * q * np.minimum(mean - q, reach.odds * q - mean) / reach.keys

    def first(q: Floats) -> Floats:
        return reach.variance(q, empty) / reach.keys

    edges = reach.edges(empty, FEW / reach.keys)
    ends = empty * _ends(edges)
    yield _Reports(_above(first, edges), np.zeros(len(ends)), ends)
    if values:
        yield _Reports(_above(lambda q: first(q) - last(q), edges), _above(last, edges), ends)


def _sets(reach: _Reach, values: bool) -> _Reports:
    """Where people have several keys, or none; the squared length in all numbers is one bound."""
    from deniable.planning.set_tails import evenness, excesses  # which few plans need

    spread = reach.chosen / reach.keys * evenness(reach.keys, reach.chosen, values)
    taus, tails = excesses(reach.keys, reach.chosen, values) if spread else (np.zeros(1), np.zeros(1))
    found = []
    for empty in (1.0, reach.odds):
        edges = reach.edges(empty)
        middle = (edges[1:] + edges[:-1]) / 2
        rise = (reach.mean(middle, empty) - middle)[:, None] * taus + (reach.odds - 1) * middle[:, None] * tails
        best = rise.argmin(axis=1)  # this line bounds the length in all of the interval
        tau, tail, ends = np.tile(taus[best], 2), np.tile(tails[best], 2), _ends(edges)
        by_tail = ((reach.mean(ends, empty) - ends) * tau + (reach.odds - 1) * ends * tail) ** 2
        by_spread = spread * _above(partial(reach.variance, empty=empty), edges)
        narrow = np.tile(rise.min(axis=1) ** 2 < spread * reach.variance(middle, empty), 2)
        found.append(_Reports(np.where(narrow, by_tail, by_spread), np.zeros(len(ends)), empty * ends))
    return _joined(found)


def _ends(edges: Floats) -> Floats:
    """The left ends of all intervals, then the right ends."""
    return np.concatenate([edges[:-1], edges[1:]])


def _above(function: Callable[[Floats], Floats], edges: Floats) -> Floats:
    """At both ends of all intervals, the ends of a line above a function that is quadratic on each of them.

    Such a function is nowhere further above its chord than in the middle.
    """
    left, right = function(edges[:-1]), function(edges[1:])
    bulge = np.maximum(function((edges[:-1] + edges[1:]) / 2) - (left + right) / 2, 0.0)
    return np.concatenate([left + bulge, right + bulge])


def _joined(reports: Sequence[_Reports]) -> _Reports:
    first, last, empty = (np.concatenate([getattr(each, name) for each in reports]) for name in ("first", "last", "empty"))
    return _Reports(first, last, empty)
