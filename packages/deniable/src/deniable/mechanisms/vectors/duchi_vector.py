"""The mean of vectors by one sign for each coordinate, chosen together: Duchi's mechanism in many dimensions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import (
    Coins,
    Columns,
    Drawn,
    Estimate,
    Flags,
    Layout,
    Mechanism,
    PackedBits,
    PrivacyLoss,
    Reports,
    Tally,
    check_people,
    packed,
)
from deniable.domains.features import Features, checked_rows, rows_at_once
from deniable.errors import InvalidParameter
from deniable.mechanisms.vectors.feature_vector import check_features


@dataclass(frozen=True)
class DuchiVector(Mechanism[Sequence[float], Ints]):
    """Round each coordinate to an end, v in {-1, 1}^d; report signs t with weight `odds` if t v > 0, `tie` if 0, else 1.

    B t is unbiased, B = 1 / ((p - q) m) with p, q the probabilities of t v > 0 and < 0, and m the mean of t v / d given that
    it is positive. With an even number of dimensions t v may be 0. The published rule (Duchi, Jordan, Wainwright 2013; Wang
    et al. 2019) draws from all t with t v >= 0 or from all with t v <= 0; a tie lies in both, so its weight is odds + 1
    and the loss ln(e^epsilon + 1): `as_published`. Here a tie has weight 1, which keeps epsilon and has the smaller B.
    """

    domain: Features
    epsilon: float
    tie: Fraction = Fraction(1)
    wire = "duchi-vector-1"
    candidate = "all signs together"
    derived = ("odds",)
    question = "vectors"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_features(self.domain)
        if not isinstance(self.tie, Fraction) or self.tie <= 0:
            raise InvalidParameter("The weight of a tie must be a positive Fraction. Leave it out: 1 is right.")

    @classmethod
    def as_published(cls, domain: Features, epsilon: float) -> "DuchiVector":
        """With ties on both sides: it does not keep epsilon where the number of dimensions is even."""
        return cls(domain, epsilon, cls(domain, epsilon).odds + 1)

    @cached_property
    def _ways(self) -> tuple[int, int]:
        """How many rows of signs agree with v in more than half of the places, and in exactly half."""
        d = self.domain.dimensions
        ties = math.comb(d, d // 2) if d % 2 == 0 else 0
        return (2**d - ties) // 2, ties

    @cached_property
    def _sides(self) -> tuple[Fraction, Fraction]:
        """The probabilities of t v > 0 and of t v = 0."""
        more, ties = self._ways
        whole = (self.odds + 1) * more + self.tie * ties
        return self.odds * more / whole, self.tie * ties / whole

    @cached_property
    def scale(self) -> Fraction:
        """B, where the range is [-1, 1]."""
        d, more = self.domain.dimensions, self._ways[0]
        agreement = sum(math.comb(d, a) * (2 * a - d) for a in range(d // 2 + 1, d + 1))
        ahead, tied = self._sides
        return 1 / ((2 * ahead + tied - 1) * Fraction(agreement, d * more))

    @property
    def layout(self) -> Layout:
        return Layout((Flags("signs", self.domain.dimensions),))

    @property
    def secure_batch(self) -> int:
        """Fewer than a seed has at a time, whose codes are many times as large as the processor's cache."""
        return min(self.batch, 3 * rows_at_once(self.domain.dimensions))

    @property
    def cells(self) -> int:
        return self.domain.dimensions

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        ends = self.rounded(truth, coins)
        return {"signs": (~(ends ^ self.agreement(len(truth), coins))).bytes}

    def rounded(self, truth: Ints, coins: Coins) -> PackedBits:
        """The end that each coordinate is rounded to: v, with a one for the upper end."""
        ends = [coins.toss_each(truth[:, place], self.domain.steps) for place in range(self.domain.dimensions)]
        return packed(ends, 1)

    def agreement(self, n: int, coins: Coins) -> PackedBits:
        """In which places each report agrees with v; it is drawn without looking at v."""
        d, (ahead, tied) = self.domain.dimensions, self._sides
        agree = coins.majority(d, n)
        agree = agree.turned(~coins.toss(ahead / (1 - tied), n))
        if d % 2 == 0:
            balanced, draw = coins.subset(d, d // 2, np.zeros(n, np.bool_)), coins.toss(tied, n)
            agree = np.where(draw, balanced, agree)  # type: ignore[call-overload]
        return agree

    def decode(self, reports: Reports) -> Floats:
        """An unbiased row of numbers for each report."""
        domain, signs = self.domain, reports.columns["signs"].astype(np.uint8)
        bits = np.unpackbits(signs, axis=1, bitorder="little", count=domain.dimensions)
        half = (domain.high - domain.low) / 2
        return np.asarray((domain.low + domain.high) / 2 + half * float(self.scale) * (2.0 * bits - 1))

    def votes(self, columns: Columns) -> Ints:
        return PackedBits(columns["signs"].astype(np.uint8, copy=False), self.domain.dimensions).column_sums()

    def estimate(self, tally: Tally) -> Estimate:
        """The mean of each coordinate, without bias, with the variance of the reports over n."""
        self.check_tally(tally)
        mean = float(self.scale) * (2 * tally.counts / tally.n - 1)
        return self._in_units(mean, (float(self.scale) ** 2 - mean**2) / max(tally.n - 1, 1), tally.n)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """The means to expect from n people with vectors like these, one or several rows, and the variance of each."""
        rows = np.atleast_2d(np.asarray(truth, np.float64))
        position = self.domain.coordinate._position(checked_rows(rows, self.domain.dimensions).ravel())
        check_people(n)
        x = (2 * position / self.domain.steps - 1).reshape(rows.shape)
        return self._in_units(x.mean(axis=0), (float(self.scale) ** 2 - x**2).mean(axis=0) / n, n)

    def worst_variance(self) -> float:
        """The largest variance of one coordinate in one report, in the units of the question."""
        return float((self.domain.high - self.domain.low) / 2 * self.scale) ** 2

    def _in_units(self, mean: Floats, variance: Floats, n: int) -> Estimate:
        half = (self.domain.high - self.domain.low) / 2
        return Estimate(self.domain.labels, self.domain.low + half * (1 + mean), half**2 * variance, n, measure="mean")

    def loss(self) -> PrivacyLoss:
        # One dimension has no row of signs that is tied; two rows of signs always include one ahead and one behind.
        weights = [self.odds, Fraction(1), *([self.tie] if self._ways[1] else [])]
        return PrivacyLoss(max(weights) / min(weights))
