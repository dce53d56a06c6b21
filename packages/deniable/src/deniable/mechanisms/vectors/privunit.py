"""The mean of vectors of length one: a random direction, more often than not one near the true one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

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
    PrivacyLoss,
    Reports,
    Tally,
    check_people,
)
from deniable.domains.features import UnitVectors, check_unit_vectors, rows_at_once
from deniable.errors import InvalidParameter, InvalidReport, MissingExtra
from deniable.mechanisms.algebra.rotation import normals
from deniable.mechanisms.vectors.unit_codes import outer_mean

WHOLE = (1 << 16) - 1  # coordinates of a report have 16 bits


@dataclass(frozen=True)
class PrivUnit(Mechanism[Sequence[float], Floats]):
    """Report a direction z: with probability p one of the cap z x >= gamma around the true x, else one of the others.

    Directions on either side are uniform. With q the share of all directions that lie in the cap,

        p = q odds / (q odds + 1 - q)        m = (p - q) / (q (1 - q)) E[t; t >= gamma]

    so that a direction in the cap is `odds` times as likely as one outside, and z / m is unbiased; t is the first
    coordinate of a uniform direction. Without `gamma` the one with the largest m is taken, which has the smallest error:
    |z / m - x|^2 = 1 / m^2 - 1 on average. Bhowmick et al. 2018; with the best split Asi et al. 2022.

    The proof is a THEOREM about real numbers. The sampler works in floating point, and its law is not certified. Where a
    certificate is needed, take `FeatureVector` after a `Rotation`.
    """

    domain: UnitVectors
    epsilon: float
    gamma: float = -1.0
    wire = "privunit-1"
    derived = ("odds",)
    question = "vectors"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_unit_vectors(self.domain)
        if self.gamma == -1.0:
            self._fix(gamma=self._best_gamma())
        if not isinstance(self.gamma, float) or not 0 <= self.gamma < 1:
            raise InvalidParameter("gamma must be at least 0 and below 1. Leave it out to get the best one.")

    @property
    def _shape(self) -> float:
        """Both shapes of the beta distribution of (1 - t) / 2, for the first coordinate t of a uniform direction."""
        return (self.domain.dimensions - 1) / 2

    def _cap(self, gamma: float) -> tuple[float, float]:
        """The share of directions in the cap that begins at gamma, and the mean of t over them times that share."""
        d = self.domain.dimensions
        density = math.lgamma(d / 2) - math.lgamma((d - 1) / 2) - math.log(math.pi) / 2
        return float(_beta()[0](self._shape, self._shape, (1 - gamma) / 2)), math.exp(
            density + (d - 1) / 2 * math.log1p(-gamma * gamma) - math.log(d - 1)
        )

    def _length(self, gamma: float) -> float:
        share, first = self._cap(gamma)
        odds = float(self.odds)
        if share <= 0:
            return 0.0
        return (odds - 1) / (share * odds + 1 - share) * first  # (p - q) / (q (1 - q)) = (odds - 1) / (q odds + 1 - q)

    def _best_gamma(self) -> float:
        low, high = 0.0, 1.0
        for _ in range(6):  # a grid that is made finer around its best point; the length rises and then falls
            grid = np.linspace(low, high, 41)[: -1 if high == 1.0 else None]
            best = int(np.argmax([self._length(float(gamma)) for gamma in grid]))
            low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)])
        return (low + high) / 2

    @cached_property
    def length(self) -> float:
        """m: how long the mean report is."""
        return self._length(self.gamma)

    @property
    def inside(self) -> Fraction:
        """The probability that a report lies in the cap."""
        share = Fraction(self._cap(self.gamma)[0])
        return share * self.odds / (share * self.odds + 1 - share)

    @cached_property
    def batch(self) -> int:
        return rows_at_once(self.domain.dimensions)

    @property
    def layout(self) -> Layout:
        """Every coordinate as a number of 16 bits, 0 for -1 and 65535 for 1."""
        return Layout((Flags("vector", 16 * self.domain.dimensions),))

    @property
    def cells(self) -> int:
        return 2 * self.domain.dimensions

    @property
    def traced(self) -> bool:
        """No: see `loss`."""
        return False

    @property
    def threaded(self) -> bool:
        """Yes: `randomize` writes to nothing but its own arrays."""
        return True

    def randomize(self, truth: Floats, coins: Coins) -> Drawn:
        n, d = truth.shape
        share, inverse = self._cap(self.gamma)[0], _beta()[1]
        cap, uniform = coins.toss(self.inside, n), (coins.below(1 << 53, n) + 0.5) / (1 << 53)
        around = normals(coins, n * d).reshape(n, d)
        tail = np.where(cap, share * uniform, share + (1 - share) * uniform)  # the share of directions nearer to x
        t = 1 - 2 * inverse(self._shape, self._shape, tail)
        around -= (around * truth).sum(axis=1, keepdims=True) * truth
        around /= np.sqrt((around**2).sum(axis=1, keepdims=True))
        z = t[:, None] * truth + np.sqrt(1 - t**2)[:, None] * around
        reported = np.rint((np.clip(z, -1, 1) + 1) / 2 * WHOLE).astype("<u2")
        return {"vector": reported.view(np.uint8).reshape(n, 2 * d)}

    def votes(self, columns: Columns) -> Ints:
        """The sums of all coordinates as reported, then the sums of their squares."""
        reported = np.ascontiguousarray(columns["vector"]).view("<u2")
        sums, squares = np.zeros(reported.shape[1], np.int64), np.zeros(reported.shape[1], np.int64)
        for start in range(0, len(reported), 1 << 12):
            part = reported[start : start + (1 << 12)].astype(np.int64)
            sums, squares = sums + part.sum(axis=0), squares + (part**2).sum(axis=0)
        return np.concatenate([sums, squares])

    def decode(self, reports: Reports) -> Floats:
        """An unbiased row of numbers for each report, up to the 16 bits of a coordinate."""
        vector = np.ascontiguousarray(reports.columns["vector"]).view("<u2").astype(np.float64)
        return np.asarray((vector * 2 / WHOLE - 1) / self.length)

    @property
    def second_moments(self) -> tuple[float, float]:
        """The mean square of a report along x, and along each direction across x: E[z z'] = b I + (a - b) x x'."""
        along = self._second_moment()
        return along, (1 - along) / (self.domain.dimensions - 1)

    def outer_mean(self, rows: Floats) -> Floats:
        """The mean of x x' from decoded rows, the noise taken out."""
        return outer_mean(rows, self.second_moments, self.length)

    def check_tally(self, tally: Tally) -> None:
        self.check_owner(tally)
        d = self.domain.dimensions
        limits = np.repeat([WHOLE, WHOLE**2], d).astype(np.float64) * tally.n
        if tally.counts.shape != (self.cells,) or tally.counts.min() < 0 or (tally.counts > limits).any():
            raise InvalidReport(f"A tally of this mechanism has {self.cells} sums; this one does not.")

    def estimate(self, tally: Tally) -> Estimate:
        """The mean vector, without bias up to the 16 bits of a coordinate, with the variance of the reports over n."""
        self.check_tally(tally)
        d, n, scale = self.domain.dimensions, tally.n, 2 / WHOLE / self.length
        mean = tally.counts[:d] / n
        spread = np.maximum(tally.counts[d:] / n - mean**2, 0) * scale**2
        return Estimate(self.domain.labels, mean * scale - 1 / self.length, spread / max(n - 1, 1), n, measure="mean")

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """The means to expect from n people with vectors like these, one or several rows, and the variance of each."""
        rows = self.domain.index(np.atleast_2d(np.asarray(truth, np.float64)))
        check_people(n)
        d = self.domain.dimensions
        second = self._second_moment()  # of t, along the truth; the rest is even over the other directions
        variance = (rows**2 * second + (1 - rows**2) * (1 - second) / (d - 1)) / self.length**2 - rows**2
        return Estimate(self.domain.labels, rows.mean(axis=0), variance.mean(axis=0) / n, n, measure="mean")

    def _second_moment(self) -> float:
        """The mean of t^2: a uniform direction has 1 / d, and the cap a larger one."""
        d, gamma = self.domain.dimensions, self.gamma
        share, first = self._cap(gamma)
        # By parts: E[t^2; t >= g] = (g E[t; t >= g] (d - 1) / d + q / d), from d/dt of t (1 - t^2)^((d - 1) / 2).
        above = gamma * first * (d - 1) / d + share / d
        inside = float(self.inside)
        return inside * above / share + (1 - inside) * (1 / d - above) / (1 - share)

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds, proof="theorem", protects="any two vectors of length one, in exact arithmetic")


def _beta() -> tuple[Any, Any]:
    """The regularized incomplete beta function and its inverse."""
    try:
        from scipy.special import betainc, betaincinv
    except ImportError:
        raise MissingExtra("PrivUnit", "stats") from None
    return betainc, betaincinv
