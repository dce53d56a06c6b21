"""The mean by one of three numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Ints
from deniable.core import Coins, Drawn
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.mean_formulas import three_outputs_share
from deniable.mechanisms.means.mean_mechanism import MeanMechanism


@dataclass(frozen=True)
class ThreeOutputs(MeanMechanism):
    """Report -C, 0 or C: with three answers a number near 0 can say so.

    P(0) = a at x = 0 and a / odds at the ends, and the other two are `odds` apart at the ends; between, all are linear in
    |x|. C = odds (odds + 1) / ((odds - 1) (odds - a)). The best a is computed unless one is given, up to odds / (odds + 2).
    Zhao et al. 2020. Best for epsilon from about 1.6 to 2.56.
    """

    domain: Interval
    epsilon: float
    a: Fraction = Fraction(-1)
    wire = "three-outputs-1"
    candidate = "three outputs"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.a, Fraction):
            raise InvalidParameter("The share of zeros must be a Fraction. Leave it out to get the best one.")
        largest = self.odds / (self.odds + 2)
        if self.a == -1:
            # Twelve digits: what is lost of the variance is the square of what is lost here.
            best = Fraction(round(three_outputs_share(self.epsilon) * (1 << 40)), 1 << 40)
            self._fix(a=min(best, largest))
        if not 0 <= self.a <= largest:
            raise InvalidParameter("The share of zeros must lie between 0 and odds / (odds + 2). Leave it out for the best.")

    @cached_property
    def centred(self) -> Sequence[Fraction]:
        scale = self.odds * (self.odds + 1) / ((self.odds - 1) * (self.odds - self.a))
        return (-scale, Fraction(0), scale)

    def row(self, index: int) -> Sequence[Fraction]:
        x, odds, a = self.point(index), self.odds, self.a
        far = abs(x)
        zero = (1 - far) * a + far * a / odds
        toward = (1 - far) * (1 - a) / 2 + far * (1 - a / odds) * odds / (odds + 1)
        away = 1 - zero - toward
        return (away, zero, toward) if x >= 0 else (toward, zero, away)

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        n, distance = len(truth), 2 * truth - self.domain.steps
        end = coins.toss_each(np.abs(distance), self.domain.steps)  # the nearer end, or the middle
        middle_zero, end_zero = coins.toss(self.a, n), coins.toss(self.a / self.odds, n)
        middle_side, end_side = coins.toss(Fraction(1, 2), n), coins.toss(self.odds / (self.odds + 1), n)
        zero = np.where(end, end_zero, middle_zero)
        up = np.where(end, end_side, middle_side) == (distance >= 0)
        return {"value": np.where(zero, 1, 2 * up)}
