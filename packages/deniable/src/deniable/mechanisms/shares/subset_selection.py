"""Subset selection: report a set of answers that contains the true one more often than not."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Self

import numpy as np

from deniable.arrays import Bytes, Ints
from deniable.core import LARGEST_DENSE, Candidate, CellProtocol, Coins, Domain, Flags, Layout, checked_epsilon, odds_below
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import hidden_share, is_whole, lowest, open_error
from deniable.mechanisms.algebra.utility_formulas import disclosed_beside, disguise, published_error, published_optimum
from deniable.mechanisms.shares.utility_base import UtilityBase


@dataclass(frozen=True)
class SubsetSelection(CellProtocol, UtilityBase):
    """Report `size` of the d values; a set with the true value is `odds` times as likely as one without.

    p = k odds / (k odds + d - k) for k = size, and the other places are filled uniformly. With the best size it has the
    smallest error of all mechanisms (Wang et al. 2016; Ye, Barg 2018). The set is sent as d bits, so no order can betray
    which element is true. A size of 0 asks for the best one.
    """

    domain: Domain
    epsilon: float
    size: int = 0
    wire = "subset-1"
    derived = ("odds",)
    support_variance = Fraction(0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if is_whole(self.size):
            self._fix(size=int(self.size) or best_size(self.domain.size, self.odds))
        if not is_whole(self.size) or not 1 <= self.size < self.domain.size:
            raise InvalidParameter(
                f"The subset must have 1 to {self.domain.size - 1} of the {self.domain.size} values. "
                "Leave the size out to get the best one."
            )

    @cached_property
    def p(self) -> Fraction:
        return chance(self.domain.size, self.size, self.odds)[0]

    @cached_property
    def q(self) -> Fraction:
        return chance(self.domain.size, self.size, self.odds)[1]

    @property
    def pairs(self) -> tuple[Fraction, Fraction]:
        d, k, p = self.domain.size, self.size, self.p
        if d == 2:
            return Fraction(0), Fraction(0)
        neither = p * (k - 1) * (k - 2) + (1 - p) * k * (k - 1)
        return p * Fraction(k - 1, d - 1), neither / ((d - 1) * (d - 2))

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (Candidate("subset", cls, LARGEST_DENSE),)

    @property
    def work(self) -> int:
        return (self.domain.size + 63) // 64

    @property
    def layout(self) -> Layout:
        return Layout((Flags("cells", self.domain.size, ones=self.size),))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Bytes]:
        honest, last = coins.toss(self.p, len(truth)), self.domain.size - 1
        chosen = coins.subset(last, self.size, one_less=honest).widened(last + 1).with_bit(last, honest)
        # Among the others the last value stands in for the truth, whose own bit says whether we were honest.
        return {"cells": chosen.exchanged(truth, last).bytes}

    def blank(self, size: int, coins: Coins) -> Mapping[str, Bytes]:
        return {"cells": coins.subset(self.domain.size, self.size, np.zeros(size, np.bool_)).bytes}

    @property
    def blank_support(self) -> Fraction:
        return Fraction(self.size, self.domain.size)

    @property
    def published(self) -> tuple[str, Fraction]:
        return "uSS", Fraction(self.size)

    @classmethod
    def recommended(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        """Of the two whole numbers next to that of the paper the better one."""
        values, odds = domain.size, odds_below(checked_epsilon(epsilon))
        best = int(published_optimum(values, float(odds), open_share)["k"])

        def error(k: int) -> Fraction:
            p, q = chance(values, k, odds)
            disclosed = 1 - disguise(values, p, q) * (1 - disclosed_beside("uSS", values, Fraction(k), odds))
            return published_error(values, p, q, disclosed, Fraction(open_share))

        return cls(domain, epsilon, min({min(max(k, 1), values - 1) for k in (best, best + 1)}, key=error))

    def least_load(self) -> int:
        return self.size

    def supported(self, targets: int) -> tuple[int, int, bool]:
        return min(targets, self.size), max(0, targets - (self.domain.size - self.size)), True

    @property
    def likeliest(self) -> Fraction:
        return self.p / math.comb(self.domain.size - 1, self.size - 1)

    @classmethod
    def tuned(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        return cls(domain, epsilon, best_size(domain.size, odds_below(checked_epsilon(epsilon)), Fraction(open_share)))


def chance(values: int, size: int, odds: Fraction) -> tuple[Fraction, Fraction]:
    """The probabilities that a set of `size` out of `values` contains the true value, and a given other one."""
    p = size * odds / (size * odds + values - size)
    return p, (p * (size - 1) + (1 - p) * size) / (values - 1)


def subset_error(values: int, places: int, size: int, odds: Fraction, open_share: Fraction) -> Fraction:
    """The total error over this many values, if each stands for `size` of `places` and all pairs share as many."""
    p, q = chance(places, size, odds)
    return open_error(values, p, q, odds, hidden_share(p, odds, Fraction(size, places)), open_share)


@lru_cache(maxsize=256)
def best_size(values: int, odds: Fraction, open_share: Fraction = Fraction(0)) -> int:
    """The size with the smallest total error.

    >>> from deniable.core.odds import odds_below
    >>> best_size(1024, odds_below(1.0))
    275
    """
    # With no open share it is a constant + A / size + B / (values - size) with A, B > 0: it falls and then rises. That it
    # does so with one too is tested.
    return lowest(range(1, values), lambda size: subset_error(values, values, size, odds, open_share))
