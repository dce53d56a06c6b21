"""PrivSet and beyond: a report names several keys at once, more often than not some of the person's own."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Bytes, Floats, Ints
from deniable.core import (
    LARGEST_DENSE,
    Candidate,
    Coins,
    Columns,
    Flags,
    Layout,
    PackedBits,
    PrivacyLoss,
    Tally,
    encoded,
)
from deniable.core.steps import joined
from deniable.domains.key_value import KeyValue, Pairs
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import is_whole, lowest
from deniable.mechanisms.key_value.key_value_estimate import KeyValueEstimate, Named, Spread
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol

MOST_PLACES = 1 << 20  # cells of a row
MOST_SIZE = 1 << 12  # places that a report names
MOST_PADDING = 1 << 10  # keys of a person: the law has an exchange for each
PARTS = 1 << 24  # in which the weights of sets that share more or fewer places are counted
FINE = 1 << 64  # in which the share of uniform reports is counted
TYPICAL = 0.1  # how many people have the key that size and threshold are best for, unless keys cannot be so common


@dataclass(frozen=True)
class PrivSet(KeyValueProtocol):
    """Report `size` of d + l places, l = `at_most`; a report with `threshold` places of the set is `odds` times as likely.

    The last l places stand for padding, so that the padded set x of every person has l places. With probability `share`
    the report S is any k = `size` of all N = d + l places. Otherwise it has c >= t = `threshold` places of x, k - c others,
    with the chance that c has among all sets with t or more, rounded to 2^-24: what is rarer than that counts as far. So

        p = E / l        q = (k - E) / d        E = share k l / N + (1 - share) (mean of c >= t)

    are the probabilities that a key of the person, and any other, is named. Without numbers, k and t have the smallest
    error of the frequency of a key that one in ten has. Reports say nothing about values.
    t = 1: Wang, Huang, Nie, Wang, Xu, Yang 2018 (PrivSet). k = 1 names one key, as `PCKVDirect.frequencies` does.
    """

    domain: KeyValue
    epsilon: float
    size: int = 0
    threshold: int = 0
    wire = "privset-1"
    derived = ("odds",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_whole(self.size) or not is_whole(self.threshold) or self.size < 0 or self.threshold < 0:
            raise InvalidParameter("The size and the threshold are whole numbers. Leave them out for the best.")
        if self.places > MOST_PLACES or self.padding > MOST_PADDING:
            raise InvalidParameter(
                f"Reports name places among {self.places:,}, of which {self.padding:,} stand for padding; at most "
                f"{MOST_PLACES:,} and {MOST_PADDING:,} are possible. Lower at_most, or use PCKVDirect.frequencies."
            )
        size, threshold = int(self.size), int(self.threshold)
        if size == 0 and threshold <= self.padding:
            size, threshold = best_sizes(self.keys, self.padding, self.odds, threshold)
        elif threshold == 0 and size < self.places:
            threshold = _best_threshold(self.keys, self.padding, size, float(self.odds))
        self._fix(size=size, threshold=threshold)
        if not 1 <= threshold <= min(size, self.padding) or not size <= min(MOST_SIZE, self.keys + threshold - 1):
            raise InvalidParameter(
                f"With {self.keys:,} keys, at most {self.padding:,} a person, the threshold is 1 to {self.padding:,}, and "
                f"the size from there to {min(MOST_SIZE, self.keys):,}. Leave them out to get the best ones."
            )

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (Candidate("privset", cls, LARGEST_DENSE, target="frequency", since=2),)

    @property
    def padding(self) -> int:
        """How many places stand for padding: as many as a person may have keys."""
        return self.domain.at_most

    @property
    def places(self) -> int:
        """How many keys there are with those that stand for padding."""
        return self.keys + self.padding

    @cached_property
    def near(self) -> tuple[int, tuple[int, ...]]:
        """How many places of its set a likelier report has at least, and the weights of so many, one more, and so on."""
        least, ways = self._ways
        every = sum(ways)
        weights = [way * PARTS // every for way in ways]
        common = [place for place, weight in enumerate(weights) if weight]  # one after the other: there is one peak
        return least + common[0], tuple(weights[common[0] : common[-1] + 1])

    @cached_property
    def _ways(self) -> tuple[int, list[int]]:
        """How many places of its set a likelier report may have at least; how many reports have so many, one more, ..."""
        least, most = max(self.threshold, self.size - self.keys), min(self.size, self.padding)
        ways = [math.comb(self.padding, least) * math.comb(self.keys, self.size - least)]
        for shared in range(least, most):
            more, fewer = (self.padding - shared) * (self.size - shared), (shared + 1) * (self.keys - self.size + shared + 1)
            ways.append(ways[-1] * more // fewer)
        return least, ways

    @cached_property
    def _lift(self) -> Fraction:
        """How many times as likely as a uniform report the likeliest of the others is."""
        (least, weights), (first, ways) = self.near, self._ways
        densest, among = 0, 1  # compared without a reduced fraction for each, whose terms may have thousands of digits
        for weight, way in zip(weights, ways[least - first :], strict=False):
            if weight * among > densest * way:
                densest, among = weight, way
        return Fraction(densest * math.comb(self.places, self.size), among * sum(weights))

    @cached_property
    def share(self) -> Fraction:
        """How many reports are uniform: as few as the odds allow, rounded up."""
        return Fraction(math.ceil(FINE / (1 + (self.odds - 1) / self._lift)), FINE)

    @cached_property
    def p(self) -> Fraction:
        """The probability that a report names a given key of the person."""
        return self._shared / self.padding

    @cached_property
    def q(self) -> Fraction:
        """The probability that it names a given other key."""
        return (self.size - self._shared) / self.keys

    @cached_property
    def _shared(self) -> Fraction:
        """How many places of the set a report has on average."""
        least, weights = self.near
        mean = Fraction(sum(weight * (least + place) for place, weight in enumerate(weights)), sum(weights))
        return self.share * Fraction(self.size * self.padding, self.places) + (1 - self.share) * mean

    @property
    def cells(self) -> int:
        return self.keys

    @property
    def layout(self) -> Layout:
        return Layout((Flags("cells", self.places, ones=self.size),))

    def randomize(self, truth: Pairs, coins: Coins) -> Mapping[str, Bytes]:
        n, places = len(truth), self.places
        own = encoded(truth, self._all_keys, "keys", places, width=self.padding, distinct=True)
        uniform = coins.toss(self.share, n)
        anywhere: Any = coins.subset(places, self.size, np.zeros(n, np.bool_))  # a symbol, while the law is traced
        row: Any = np.where(uniform, anywhere, self._likelier(coins, n))
        # So far the last places stand for the person's set: each is exchanged with a key of theirs, or stays as it is.
        for number in range(self.padding):
            row = row.exchanged(own[:, number], self.keys + number)
        return {"cells": row.bytes}

    def _likelier(self, coins: Coins, n: int) -> Any:
        """Rows with at least the threshold of the last places: two numbers of such places are drawn for at a time."""
        least, weights = self.near
        which = coins.pick(weights, n)
        odd, halves = which % 2 == 1, list[Any]()
        for step in range(0, len(weights), 2):
            shared, two = least + step, step + 1 < len(weights)
            rest = self.size - shared
            others: Any = coins.subset(self.keys, max(rest, 1), odd if two else np.full(n, rest == 0))
            own: Any = coins.subset(self.padding, shared + two, ~odd if two else np.zeros(n, np.bool_))
            drawn = (others, own)
            halves = [np.where(which < step, a, b) for a, b in zip(halves, drawn, strict=True)] if step else list(drawn)
        return joined(halves)

    def named(self, columns: Mapping[str, Any], key: Any, high: int) -> Any:
        return columns["cells"].bit(key)

    def votes(self, columns: Columns) -> Ints:
        cells = PackedBits(columns["cells"].astype(np.uint8, copy=False), self.places)
        return cells.column_sums()[: self.keys]

    def estimate(self, tally: Tally) -> KeyValueEstimate:  # type: ignore[override]
        self.check_tally(tally)
        p, q = float(self.p), float(self.q)
        return self._with_error((tally.counts / tally.n - q) / (p - q), tally.n)

    def predict(self, truth: ArrayLike, n: int) -> KeyValueEstimate:  # type: ignore[override]
        return self._with_error(self.checked_table(truth, n)[0], n)

    def _with_error(self, shares: Floats, n: int) -> KeyValueEstimate:
        p, q = float(self.p), float(self.q)
        named, per, none = q + shares * (p - q), 1 / (p - q), np.zeros(self.keys)
        yes, no = (float(chance * (1 - chance)) for chance in (self.p, self.q))  # 1 - p may be tiny
        fixed = (shares * yes + (1 - shares) * no) * per**2 / n
        spread, drawn = (Spread(each, none, none) for each in (fixed, named * (1 - named) * per**2 / n))
        half = np.clip(named, 0, 1) / 2  # either end, which says the same
        adds = Named((per, per, 0.0), (0.0, 0.0, 0.0), (half, half, 0.0), n, 0.0)
        ends = self.domain.low, self.domain.high
        return KeyValueEstimate(self.domain.labels, n, *ends, shares, None, spread, drawn, adds)

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(1 + (1 - self.share) / self.share * self._lift, protects="any two sets of pairs")


@lru_cache(maxsize=256)
def best_sizes(keys: int, padding: int, odds: Fraction, threshold: int = 0) -> tuple[int, int]:
    """How many places to name, and how many of them make a report likelier, for the smallest error of a frequency.

    With more places the error falls and then rises, and so does the smallest error with the threshold, unless that is given.

    >>> from deniable.core.odds import odds_below
    >>> [best_sizes(50, 5, odds_below(epsilon)) for epsilon in (0.5, 1.0, 2.0, 6.0)]
    [(4, 1), (3, 1), (1, 1), (2, 2)]
    """

    def best(threshold: int) -> tuple[float, int, int]:
        sizes = range(threshold, max(threshold, min((keys + padding) // 2, MOST_SIZE)) + 1)
        size = lowest(sizes, lambda size: float(_errors(keys, padding, size, float(odds))[threshold - 1]))
        return float(_errors(keys, padding, size, float(odds))[threshold - 1]), size, threshold

    found = best(threshold or 1)
    while not threshold and found[2] < padding and (more := best(found[2] + 1)) < found:
        found = more
    return found[1:]


def _best_threshold(keys: int, padding: int, size: int, odds: float) -> int:
    return int(np.argmin(_errors(keys, padding, size, odds))) + 1


def _errors(keys: int, padding: int, size: int, odds: float) -> Floats:
    """n times the variance of a frequency with each threshold from 1 on; infinite where it cannot be estimated."""
    shared = np.arange(max(0, size - keys), min(size, padding) + 1)
    before = shared[:-1]
    steps = np.log((padding - before) * (size - before) / ((before + 1.0) * (keys - size + before + 1)))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    away = (shared - size * padding / (keys + padding)) * chances
    above, below = np.cumsum(away[::-1])[::-1][1:], -np.cumsum(away)[:-1]
    far = shared[1:] * 1.0 > size * padding / (keys + padding)
    near = np.cumsum(chances[::-1])[::-1][1:]
    # Of two equal sums, the one whose terms have the same sign: it is right also where it is tiny.
    more = (odds - 1) * np.where(far, above, below) / (1 + (odds - 1) * near)
    gap = more * (1 / padding + 1 / keys)
    p = size / (keys + padding) + more / padding
    q, frequency = p - gap, min(TYPICAL, padding / keys)
    errors = np.full(padding, math.inf)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = np.where(gap > 0, (frequency * p * (1 - p) + (1 - frequency) * q * (1 - q)) / gap**2, math.inf)
    errors[shared[1:] - 1] = found
    return errors
