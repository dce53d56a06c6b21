"""The response of one coordinate: the true value with probability p, each other one with probability q, in whole 2^-32."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats
from deniable.core import log_up, odds_below
from deniable.errors import InvalidParameter

WHOLE = 1 << 32  # what thresholds count in
MOST_VALUES = 256


@dataclass(frozen=True)
class CoordinateResponse:
    """k-ary randomized response of one coordinate (Warner 1965; Kairouz, Bonawitz, Ramage 2016).

    p = 1 - (k - 1) q, and p / q is what one differing coordinate costs. Value 0 is the public reference.
    """

    values: int
    q: Fraction

    def __post_init__(self) -> None:
        if isinstance(self.values, bool) or not isinstance(self.values, int) or not 2 <= self.values <= MOST_VALUES:
            raise InvalidParameter(f"A coordinate has 2 to {MOST_VALUES} values, its reference included.")
        if not 0 < self.q * self.values < 1:
            raise InvalidParameter("A wrong value must be less likely than the true one: 0 < q < 1 / values.")

    @classmethod
    def of(cls, epsilon: float, values: int = 2) -> "CoordinateResponse":
        """The response whose odds are the largest fraction that a budget allows."""
        return cls(values, 1 / (odds_below(epsilon) + values - 1))

    @classmethod
    def quantised(cls, epsilon: float, values: int = 2) -> "CoordinateResponse":
        """The response whose q is a whole number of 2^-32, rounded up, so that it costs a little less than the budget.

        >>> CoordinateResponse.quantised(0.25).threshold
        1880437611
        """
        exact = cls.of(epsilon, values)
        return cls(values, Fraction(math.ceil(exact.q * WHOLE), WHOLE))

    @property
    def p(self) -> Fraction:
        """The probability of the true value."""
        return 1 - (self.values - 1) * self.q

    @property
    def odds(self) -> Fraction:
        """p / q: how much more likely a value is where it is true than where another is."""
        return self.p / self.q

    @cached_property
    def epsilon(self) -> float:
        """The logarithm of the odds, rounded up."""
        return log_up(self.odds)

    @property
    def threshold(self) -> int:
        """q in units of 2^-32, where it is a whole number of them."""
        scaled = self.q * WHOLE
        if scaled.denominator != 1:
            raise InvalidParameter("Only a quantised response has a threshold. Make it with CoordinateResponse.quantised.")
        return scaled.numerator

    @cached_property
    def noise(self) -> float:
        """The variance of the unbiased indicator of a value that is not the true one; e^eps / (e^eps - 1)^2 for two."""
        return float(self.q * (1 - self.q) / (self.p - self.q) ** 2)

    def indicator(self, reported: ArrayLike, value: int) -> Floats:
        """([z = value] - q) / (p - q): right on average, one where the value is true and zero where it is not."""
        p, q = float(self.p), float(self.q)
        return (np.equal(reported, value) - q) / (p - q)

    def ratio(self, truth: Sequence[int], reference: Sequence[int], drawn: Sequence[int]) -> float:
        """How much more likely a draw is as a response to the truth than as one to the reference.

        A coordinate where both agree says nothing; elsewhere the true value counts odds, the reference 1 / odds, others 1.
        """
        net = 0
        for v, c, z in zip(truth, reference, drawn, strict=True):
            net += (v != c) * (int(z == v) - int(z == c))
        return float(self.odds) ** net

    def divergence(self) -> float:
        """The Kullback-Leibler divergence between the responses to two values, in bits: no code can take less."""
        return float(self.p - self.q) * math.log2(float(self.odds))

    def entropy(self) -> float:
        """The bits that one response takes."""
        p, q = float(self.p), float(self.q)
        return -p * math.log2(p) - (self.values - 1) * q * math.log2(q)
