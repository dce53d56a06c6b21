"""The mean by the piecewise mechanism or Duchi's, whichever a coin chooses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Coins, Drawn, PrivacyLoss, odds_below
from deniable.domains.interval import Interval
from deniable.mechanisms.algebra.mean_formulas import HYBRID_FROM
from deniable.mechanisms.means.duchi import Duchi
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.means.piecewise import Piecewise


@dataclass(frozen=True)
class Hybrid(MeanMechanism):
    """The piecewise mechanism with probability alpha, else Duchi's: one has a large variance where the other's is small.

    alpha = 1 - e^(-epsilon / 2) makes the variance the same for all numbers; up to epsilon 0.609 alpha = 0 is better (Wang
    et al. 2019). Which of the two was used stands in the report: the last two are Duchi's. Best for epsilon 0.609 to 1.6.
    """

    domain: Interval
    epsilon: float
    wire = "hybrid-1"
    candidate = "hybrid"

    @cached_property
    def alpha(self) -> Fraction:
        """The probability of the piecewise mechanism."""
        return 1 - 1 / odds_below(self.epsilon / 2) if self.epsilon > HYBRID_FROM else Fraction(0)

    @cached_property
    def piecewise(self) -> Piecewise:
        """One of the two, with its original window."""
        return Piecewise.original(self.domain, self.epsilon)

    @cached_property
    def duchi(self) -> Duchi:
        """The other."""
        return Duchi(self.domain, self.epsilon)

    @cached_property
    def centred(self) -> Sequence[Fraction]:
        return [*self.piecewise.centred, *self.duchi.centred]

    @property
    def cells(self) -> int:
        return self.piecewise.places + 2

    @cached_property
    def _centred(self) -> Floats:
        return np.concatenate([self.piecewise._centred, self.duchi._centred])

    def row(self, index: int) -> Sequence[Fraction]:
        first = [self.alpha * chance for chance in self.piecewise.row(index)]
        return first + [(1 - self.alpha) * chance for chance in self.duchi.row(index)]

    def chances(self, index: int) -> Floats:
        alpha = float(self.alpha)
        return np.concatenate([alpha * self.piecewise.chances(index), (1 - alpha) * self.duchi.chances(index)])

    @cached_property
    def second_moments(self) -> Floats:
        alpha = float(self.alpha)
        return alpha * self.piecewise.second_moments + (1 - alpha) * self.duchi.second_moments

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        first = coins.toss(self.alpha, len(truth))
        place, end = self.piecewise.randomize(truth, coins)["value"], self.duchi.randomize(truth, coins)["value"]
        return {"value": np.where(first, place, self.piecewise.places + end.astype(np.int64))}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds)

    def parameters(self) -> Mapping[str, object]:
        """With what is worked out from epsilon in floats, so that no other machine or client has to work it out alike."""
        return {"alpha": str(self.alpha), **self.piecewise.parameters()}
