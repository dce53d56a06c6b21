"""The mean by one of two numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from deniable.arrays import Ints
from deniable.core import Coins, Drawn
from deniable.domains.interval import Interval
from deniable.mechanisms.means.mean_mechanism import MeanMechanism


@dataclass(frozen=True)
class Duchi(MeanMechanism):
    """Report one of two numbers, C or -C on [-1, 1]: the number is rounded to an end, and that end is kept or flipped.

    C = (odds + 1) / (odds - 1) and P(C) = 1/2 + x / (2 C); the variance C^2 - x^2 is the same whatever the grid. One bit.
    Duchi, Jordan, Wainwright 2013; LDP-FL (Sun, Qian, Chen 2021) is the same. Best for epsilon up to 0.609.
    """

    domain: Interval
    epsilon: float
    wire = "duchi-1"
    candidate = "Duchi"

    @cached_property
    def centred(self) -> Sequence[Fraction]:
        scale = (self.odds + 1) / (self.odds - 1)
        return (-scale, scale)

    def row(self, index: int) -> Sequence[Fraction]:
        up = (1 + (self.odds - 1) * Fraction(index, self.domain.steps)) / (self.odds + 1)
        return (1 - up, up)

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        up = coins.toss_each(truth, self.domain.steps)
        honest = coins.toss(self.odds / (self.odds + 1), len(truth))
        return {"value": up == honest}
