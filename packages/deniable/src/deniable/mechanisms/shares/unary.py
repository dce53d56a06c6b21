"""Unary encoding: one bit for each answer, each bit randomized on its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Self

import numpy as np

from deniable.arrays import Bools, Bytes, Floats, Ints
from deniable.core import (
    LARGEST_DENSE,
    Candidate,
    CellProtocol,
    Coins,
    Columns,
    Domain,
    Flags,
    Layout,
    PrivacyLoss,
    check_probability,
    checked_epsilon,
    empty,
    odds_below,
)
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import hidden_share, lowest, open_error
from deniable.mechanisms.algebra.utility_formulas import published_optimum
from deniable.mechanisms.shares.utility_base import UtilityBase

MOST_EXACT = 1 << 12  # cells of which it is worked out exactly how often all of them are zero


@dataclass(frozen=True)
class Unary(CellProtocol, UtilityBase):
    """The true value's bit is one with probability p, every other bit with probability q, independently.

    odds = p (1 - q) / (q (1 - p)). By default p = 1/2, the optimized encoding (OUE, Wang et al. 2017), and q is the smallest
    that the budget allows; `symmetric` has p + q = 1 (basic RAPPOR, Erlingsson et al. 2014). A q of 0 asks for the smallest.
    """

    domain: Domain
    epsilon: float
    p: Fraction = Fraction(1, 2)
    q: Fraction = Fraction(0)
    wire = "unary-1"
    independent_bits = random_fakes = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_probability(self.p)
        check_probability(self.q)
        if self.q == 0:
            self._fix(q=self.p / (self.odds * (1 - self.p) + self.p))
        if not 0 < self.q < self.p < 1 or self.loss().epsilon() > self.epsilon:
            raise InvalidParameter(
                "Unary encoding needs 0 < q < p < 1 with p (1 - q) / (q (1 - p)) at most e^epsilon. "
                "Leave q out to get the smallest that the budget allows."
            )

    @classmethod
    def symmetric(cls, domain: Domain, epsilon: float) -> "Unary":
        """Every bit is kept with probability sqrt(odds) / (sqrt(odds) + 1): basic RAPPOR."""
        root = odds_below(checked_epsilon(epsilon) / 2)
        return cls(domain, epsilon, root / (root + 1), 1 / (root + 1))

    @property
    def pairs(self) -> tuple[Fraction, Fraction]:
        return self.p * self.q, self.q * self.q  # bits are independent

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (
            Candidate("unary, symmetric", cls.symmetric, LARGEST_DENSE),
            Candidate("unary, optimized", cls, LARGEST_DENSE),
        )

    @property
    def work(self) -> int:
        return (self.domain.size + 63) // 64

    @property
    def layout(self) -> Layout:
        return Layout((Flags("cells", self.domain.size),))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Bytes]:
        noise = coins.toss_packed(self.q, len(truth), self.domain.size)
        kept = coins.toss(self.p, len(truth))
        return {"cells": noise.with_bit(truth, kept).bytes}

    def blank(self, size: int, coins: Coins) -> Mapping[str, Bytes]:
        return {"cells": coins.toss_packed(self.q, size, self.domain.size).bytes}

    @property
    def blank_support(self) -> Fraction:
        return self.q

    @cached_property
    def idle(self) -> Fraction:
        return (1 - self.q) ** self.domain.size if self.domain.size <= MOST_EXACT else Fraction(0)

    def is_idle(self, columns: Columns) -> Bools:
        return empty(columns["cells"])

    @cached_property
    def _ones(self) -> Floats:
        """The law of how many bits are one: the true one or not, and a binomial number of others."""
        size, p, q = self.domain.size, float(self.p), float(self.q)
        k = np.arange(size)
        logs = np.concatenate([[0.0], np.cumsum(np.log(k[1:]))])  # of factorials
        others = np.exp(logs[-1] - logs - logs[::-1] + k * np.log(q) + (size - 1 - k) * np.log1p(-q))
        return np.append(0, p * others) + np.append((1 - p) * others, 0)

    def guess(self) -> float:
        size, p, q, ones = self.domain.size, float(self.p), float(self.q), self._ones
        odds = p * (1 - q) / (q * (1 - p))
        k = np.arange(size + 1)
        return float((ones * np.where(k > 0, odds, 1) / (k * odds + size - k)).sum())

    def fake_odds(self, random: bool) -> tuple[Fraction, Fraction]:
        if not random:
            return super().fake_odds(random)
        # with c ones, of which the true one, it is odds k / (c odds + k - c)
        odds, size = self.loss().odds or Fraction(1), self.domain.size
        return odds * size / (odds + size - 1), size / ((size - 1) * odds + 1)

    @property
    def published(self) -> tuple[str, Fraction]:
        return "uUE", self.p

    @classmethod
    def recommended(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        p = published_optimum(domain.size, float(odds_below(checked_epsilon(epsilon))), open_share)["p"]
        return cls(domain, epsilon, Fraction(p).limit_denominator(1 << 20))

    def least_load(self) -> int:
        return 1

    @cached_property
    def _profile_of(self) -> tuple[Floats, Ints]:
        """The law of the profiles, and the profile of each number of ones. Rare neighbouring numbers share one."""
        ones = self._ones
        profile = np.minimum(np.cumsum(ones) - ones / 2, 1 - 1e-12) * 32
        _, profile = np.unique(profile.astype(np.int64), return_inverse=True)
        return np.bincount(profile, ones).astype(np.float64), profile.astype(np.int64)

    @property
    def profile_law(self) -> Floats:
        return self._profile_of[0]

    def profiles(self, columns: Columns) -> Ints:
        ones = np.bitwise_count(columns["cells"].astype(np.uint8, copy=False)).sum(axis=1, dtype=np.int64)
        return self._profile_of[1][ones]

    def supported(self, targets: int) -> tuple[int, int, bool]:
        return targets, 0, True

    @property
    def support_variance(self) -> Fraction:
        return self.p * (1 - self.p) + (self.domain.size - 1) * self.q * (1 - self.q)

    @property
    def likeliest(self) -> Fraction:
        return max(self.p, 1 - self.p) * max(self.q, 1 - self.q) ** (self.domain.size - 1)

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.p * (1 - self.q) / (self.q * (1 - self.p)))

    @classmethod
    def tuned(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        return cls(domain, epsilon, best_p(domain.size, odds_below(checked_epsilon(epsilon)), open_share))


@lru_cache(maxsize=256)
def best_p(values: int, odds: Fraction, open_share: float) -> Fraction:
    """The p with the smallest total error, in steps of 2^-20.

    For many values it lies near sqrt(odds) / (sqrt(odds) + sqrt(A)) with A = (1 - open_share) odds + open_share.

    >>> best_p(230, Fraction(7389, 1000), 0.77)
    Fraction(334047, 524288)
    """
    odds_, share = np.array(float(odds)), np.array(open_share)

    def error(step: int) -> float:
        p = np.array(step / _STEPS)
        q = p / (odds_ * (1 - p) + p)
        idle = (1 - q) ** values if values <= MOST_EXACT else 0
        return float(open_error(values, p, q, odds_, hidden_share(p, odds_, q, idle), share))

    return Fraction(lowest(range(1, _STEPS), error), _STEPS)


_STEPS = 1 << 20
