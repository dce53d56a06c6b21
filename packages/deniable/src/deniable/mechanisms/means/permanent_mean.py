"""The mean of a number that is asked for again and again, by a permanent pair of bits."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from deniable.arrays import Floats, Ints, Whole
from deniable.core import WHOLE, Answers, Coins, Drawn, Estimate, PermanentBits, PrivacyLoss
from deniable.core.law import node_of
from deniable.domains.interval import Interval
from deniable.mechanisms.means.mean_mechanism import MeanMechanism


@dataclass(frozen=True)
class PermanentMean(PermanentBits[float, Ints], MeanMechanism):
    """A person draws an offset once, which rounds each number to an end of the range, and keeps one noisy bit for each end.

    With s steps, a number at step j becomes the upper end if j + offset >= s, the offset being uniform from 0 to s - 1, so
    that it is right on average: the mean needs no correction for it. The bit of an end is true with probability
    h = odds / (odds + 1), drawn once; every report repeats it with probability `stay` and flips it otherwise. Whatever the
    number does, reports are made of two kept bits, so that a person never pays more than twice. A number is moved to the
    nearest point of the grid first. Ding, Kulkarni, Yekhanin 2017 (1BitMean with alpha-point rounding and permanent
    memoization), with their output perturbation as second round.
    """

    domain: Interval
    epsilon: float
    stay: Fraction = Fraction(1)
    wire = "permanent-mean-1"
    bit = "value"
    derived = ("odds",)

    @cached_property
    def centred(self) -> Sequence[Fraction]:
        scale = 1 / (2 * self.honest - 1)
        return (-scale, scale)

    def row(self, index: int) -> Sequence[Fraction]:
        up = (1 - self.honest) + (2 * self.honest - 1) * Fraction(index, self.domain.steps)
        return (1 - up, up)

    def placed(self, codes: Sequence[Ints], coins: Coins) -> Ints:
        below, up = codes
        return below + (up >= WHOLE // 2)  # the nearest point: the offset alone rounds, and it is kept

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        up = cast(Ints, self.kept_under(truth, [coins.public(self.domain.steps, len(truth))]))
        return self.again({"value": up == coins.toss(self.first, len(truth))}, coins)

    def kept_under(self, index: Whole, public: Sequence[Whole]) -> Whole:
        """Whether the upper end is reported."""
        (offset,) = public
        return cast(Whole, index + offset >= self.domain.steps)

    def kept_node(self) -> int:
        """The node of the law that a permanent bit is kept for."""
        return node_of(self, self.kept_under)

    def kept_for(self, values: Answers, public: Sequence[Ints]) -> Ints:
        """The same of many people, with their numbers and their offsets."""
        below, up = self.domain.encode(values)
        return np.asarray(self.kept_under(below + (up >= WHOLE // 2), public), np.int64)

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.honest / (1 - self.honest))

    @cached_property
    def second_moments(self) -> Floats:
        return np.full(self.domain.size, float(self.centred[1] ** 2))

    def kept_variance(self, estimate: Estimate) -> Floats:
        assert estimate.variance is not None
        second = float(self.centred[1] ** 2 - self.base.centred[1] ** 2) * self._half**2 / estimate.n
        return np.maximum(estimate.variance - second, 0.0)
