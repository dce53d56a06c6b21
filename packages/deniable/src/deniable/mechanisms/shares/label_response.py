"""Labels beside feature vectors: the response of BitRand, whose parameter has two bounds, and noisy one-hot labels."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import (
    Coins,
    Columns,
    Domain,
    Layout,
    Number,
    PrivacyLoss,
    PureProtocol,
    check_probability,
    checked_epsilon,
    simplest_between,
)
from deniable.errors import InvalidParameter, InvalidReport


@dataclass(frozen=True)
class LabelResponse(PureProtocol):
    """Keep the label with probability `keep`, otherwise any other, uniformly: label-RR (BitRand, 2022).

    keep = e^b / (1 + e^b). The loss is |b + ln(C - 1)| for C labels, so that b must lie between -epsilon - ln(C - 1) and
    epsilon - ln(C - 1); the paper states the second bound only. At it, the default, this is `DirectResponse`.
    """

    domain: Domain
    epsilon: float
    keep: Fraction = Fraction(0)
    wire = "label-1"
    pairs = (Fraction(0), Fraction(0))  # a report supports one label only

    def __post_init__(self) -> None:
        super().__post_init__()
        check_probability(self.keep)
        if self.keep == 0:
            self._fix(keep=self.odds / (self.odds + self.domain.size - 1))
        if not 0 < self.keep < 1 or self.keep * self.domain.size == 1:
            raise InvalidParameter("The probability to keep a label must be between 0 and 1, and not 1 / labels.")

    @classmethod
    def with_beta(cls, domain: Domain, epsilon: float, beta: float) -> "LabelResponse":
        """The response with this b, refused if it does not keep epsilon."""
        others = math.log(domain.size - 1)
        if not -epsilon - others <= beta <= epsilon - others:
            raise InvalidParameter(
                f"With {domain.size} labels and epsilon {epsilon:g}, beta must lie between {-epsilon - others:.6g} and "
                f"{epsilon - others:.6g}: below the first, a wrong label becomes too likely."
            )
        return cls.as_published(domain, epsilon, beta)

    @classmethod
    def as_published(cls, domain: Domain, epsilon: float, beta: float) -> "LabelResponse":
        """The response with any b: the paper's theorem allows all below epsilon - ln(C - 1), where epsilon need not hold."""
        if not math.isfinite(beta) or abs(beta) > 100:
            raise InvalidParameter("Beta must be a number from -100 to 100.")
        power = Fraction(math.exp(beta))
        odds = simplest_between(power * (1 - Fraction(1, 10**15)), power)
        return cls(domain, epsilon, odds / (1 + odds))

    @classmethod
    def laplace(cls, domain: Domain, epsilon: float) -> "LabelResponse":
        """What adding Laplace noise of scale 2 / epsilon to the one-hot label and taking the largest comes to.

        The largest depends on nothing but which entry was one, so it is a response with a smaller `keep`, and a smaller
        loss than the noise paid for: for comparison.
        """
        share = laplace_keep(domain.size, checked_epsilon(epsilon))
        return cls(domain, epsilon, Fraction(round(share * (1 << 40)), 1 << 40))

    @property
    def p(self) -> Fraction:
        return self.keep

    @cached_property
    def q(self) -> Fraction:
        return (1 - self.keep) / (self.domain.size - 1)

    @property
    def layout(self) -> Layout:
        return Layout((Number("value", self.domain.size),))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        size = self.domain.size
        return {"value": (coins.split(self.p, 1, size - 1, len(truth)) + truth) % size}

    def votes(self, columns: Columns) -> Ints:
        value = columns["value"]
        if len(value) and value.max() >= self.domain.size:
            raise InvalidReport("A report names a label outside the domain.")
        return np.bincount(value, minlength=self.domain.size)

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        return columns["value"][:, None] == cells[None, :]

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(max(self.p / self.q, self.q / self.p))


def laplace_keep(labels: int, epsilon: float) -> float:
    """The probability that the true entry of a one-hot label stays the largest under Laplace noise of scale 2 / epsilon.

    The integral over its noise y of the density times F(y + 1)^(C - 1), F the distribution of the noise: in closed form
    below -1 and above 0, and numerically between.

    >>> round(laplace_keep(2, 2.0), 6)
    0.72409
    """
    shift = epsilon / 2
    half = math.exp(-shift) / 2
    below = math.exp(-shift) / labels / 2**labels
    above = (1 - (1 - half) ** labels) / (2 * half * labels)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(-shift, 0, 65)
    width = edges[1] - edges[0]
    y = (edges[:-1, None] + width / 2 * (1 + nodes)).ravel()
    between = np.exp(y) / 2 * (1 - half * np.exp(-y)) ** (labels - 1)
    return float(below + above + width / 2 * (np.tile(weights, 64) @ between))
