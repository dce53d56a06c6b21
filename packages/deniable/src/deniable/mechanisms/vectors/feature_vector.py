"""The mean of vectors: every person reports a few coordinates, each by a mechanism for one number."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import (
    SMALLEST_EPSILON,
    Candidate,
    Coins,
    Columns,
    Domain,
    Drawn,
    Estimate,
    Flags,
    Layout,
    Mechanism,
    Number,
    PrivacyLoss,
    Reports,
    Tally,
    check_people,
    checked_epsilon,
    packed,
    rounded_down,
)
from deniable.domains.features import Features, checked_rows, rows_at_once
from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms.algebra import mean_formulas as formulas
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.means.duchi import Duchi
from deniable.mechanisms.means.hybrid import Hybrid
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.means.piecewise import Piecewise
from deniable.mechanisms.means.three_outputs import ThreeOutputs

ROWS = 1 << 12  # reports counted at a time
SCALARS: dict[str, type[MeanMechanism]] = {each.wire: each for each in (Duchi, ThreeOutputs, Piecewise, Hybrid)}
_VARIANCES: dict[str, Callable[[float, float], float]] = {
    "duchi-1": formulas.duchi,
    "three-outputs-1": formulas.three_outputs,
    "piecewise-1": formulas.suboptimal,
    "hybrid-1": formulas.hybrid,
}


@dataclass(frozen=True)
class FeatureVector(Mechanism[Sequence[float], Ints]):
    """Report k of the d coordinates, each by a mechanism for one number with epsilon / k.

    Which k is public and does not depend on the vector: a uniform first one, and the others evenly spread after it, around
    the end. So each coordinate is reported with probability k / d, and (d / k) times the mean report is unbiased; its
    variance is (d / k) (Var(x) + x^2) - x^2 for one person, on [-1, 1]. Coordinates that are not reported cost nothing.
    Without `coordinates` and `scalar` those with the smallest worst-case variance are taken; that is mostly Duchi's, with
    about 2.2 of epsilon each. `typical` takes the best for coordinates of a typical size; `composed` reports all of them.
    Wang et al. 2019, with another way to choose the coordinates.
    """

    domain: Features
    epsilon: float
    coordinates: int = 0
    scalar: str = ""
    wire = "feature-vector-1"
    question = "vectors"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_features(self.domain)
        if not is_whole(self.coordinates) or not 0 <= self.coordinates <= self.domain.dimensions:
            raise InvalidParameter(
                f"A report may hold 1 to {self.domain.dimensions} coordinates. Leave them out to get the best number."
            )
        if self.scalar not in ("", *SCALARS):
            raise InvalidParameter(f"Coordinates are reported by one of {', '.join(SCALARS)}.")
        if not self.coordinates or not self.scalar:
            k, name = best_sampling(self.domain.dimensions, self.epsilon, None, int(self.coordinates), self.scalar)
            self._fix(coordinates=k, scalar=name)
        if self.epsilon / self.coordinates < SMALLEST_EPSILON:
            raise InvalidParameter(
                f"An epsilon of {self.epsilon:g} cannot be split among {self.coordinates} coordinates: each needs at least "
                f"{SMALLEST_EPSILON:f}. Report fewer coordinates."
            )

    @classmethod
    def typical(cls, domain: Features, epsilon: float, size: float) -> "FeatureVector":
        """The best for coordinates whose root mean square is `size`, from the middle of the range and in its units."""
        check_features(domain)
        half = (domain.high - domain.low) / 2
        if not 0 <= size <= half:
            raise InvalidParameter("The typical size of a coordinate lies between 0 and half of the range.")
        return cls(domain, epsilon, *best_sampling(domain.dimensions, checked_epsilon(epsilon), size / half))

    @classmethod
    def best(cls, domain: Features, epsilon: float, typical: float | None = None) -> "FeatureVector":
        """The best for coordinates of a typical size, or else in the worst case."""
        return cls(domain, epsilon) if typical is None else cls.typical(domain, epsilon, typical)

    @classmethod
    def composed(cls, domain: Features, epsilon: float) -> "FeatureVector":
        """All coordinates, with epsilon / d each: what sampling is better than."""
        check_features(domain)
        return cls(domain, epsilon, domain.dimensions)

    @cached_property
    def part(self) -> MeanMechanism:
        """The mechanism for one coordinate."""
        share = rounded_down(Fraction(self.epsilon) / self.coordinates)  # down: their sum stays within it
        return SCALARS[self.scalar](self.domain.coordinate, share)  # type: ignore[call-arg]

    @property
    def sampled(self) -> bool:
        """Whether some coordinates are left out."""
        return self.coordinates < self.domain.dimensions

    @property
    def _bits(self) -> int:
        return self.part.layout.bits

    @cached_property
    def batch(self) -> int:
        return rows_at_once(self.domain.dimensions)

    @property
    def secure_batch(self) -> int:
        """More than a seed has at a time: coins are tossed for a few coordinates only."""
        return 3 * self.batch // 2

    @property
    def layout(self) -> Layout:
        values = Flags("values", self.coordinates * self._bits)
        return Layout((Number("start", self.domain.dimensions), values) if self.sampled else (values,))

    @property
    def cells(self) -> int:
        return self.domain.dimensions * self.part.cells

    @cached_property
    def offsets(self) -> Ints:
        """How far each reported coordinate is from the first, around the end."""
        return np.arange(self.coordinates) * self.domain.dimensions // self.coordinates

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (
            Candidate("sampled coordinates", cls.best, prior="typical"),
            Candidate("all coordinates, budget split", cls.composed),
        )

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        n, d = len(truth), self.domain.dimensions
        start = coins.public(d, n) if self.sampled else np.zeros(n, np.int64)
        values = [self.part.randomize(truth[:, (start + offset) % d], coins)["value"] for offset in self.offsets]
        row = packed(values, self._bits).bytes
        return {"start": start, "values": row} if self.sampled else {"values": row}

    def unpacked(self, columns: Columns) -> tuple[Ints, Ints]:
        """The coordinates in each report, and the number of the report of each."""
        packed, k, d = columns["values"].astype(np.uint8, copy=False), self.coordinates, self.domain.dimensions
        bits = np.unpackbits(packed, axis=1, bitorder="little", count=k * self._bits).reshape(len(packed), k, self._bits)
        values = (bits.astype(np.int64) << np.arange(self._bits)).sum(axis=2)
        start = columns["start"].astype(np.int64) if self.sampled else np.zeros(len(packed), np.int64)
        if len(values) and (values.max() >= self.part.cells or start.max() >= d):
            raise InvalidReport("A report holds a number that this mechanism does not send.")
        return (start[:, None] + self.offsets) % d, values

    def reading(self) -> dict[str, object]:
        shape = [self.coordinates, self.domain.dimensions, self._bits, self.part.cells]
        return {**self.part.reading(), "coordinates": shape}

    def votes(self, columns: Columns) -> Ints:
        counts = np.zeros(self.cells, np.int64)
        for first in range(0, len(columns["values"]), ROWS):
            where, values = self.unpacked({name: column[first : first + ROWS] for name, column in columns.items()})
            counts += np.bincount((where * self.part.cells + values).ravel(), minlength=self.cells)
        return counts

    def decode(self, reports: Reports) -> Floats:
        """An unbiased row of numbers for each report; coordinates that it leaves out are at the middle of the range."""
        domain, (where, values) = self.domain, self.unpacked(reports.columns)
        half = (domain.high - domain.low) / 2
        rows = np.full((len(reports), domain.dimensions), (domain.low + domain.high) / 2)
        reported = half * domain.dimensions / self.coordinates * self.part._centred[values]
        rows[np.arange(len(reports))[:, None], where] += reported
        return rows

    def outer_mean(self, rows: Floats) -> Floats | None:
        """The mean of x x' from decoded rows, the noise taken out; None where reports do not determine it.

        Coordinates are randomized independently, so that products of two are unbiased; the square of a decoded number is
        not, but its mean is affine in the true square.
        """
        slope, constant = np.polyfit(self.part._points**2, self.part.second_moments, 1)
        if self.sampled or slope < 1e-6:  # two outcomes only have the same square for every answer
            return None
        middle, half = (self.domain.low + self.domain.high) / 2, (self.domain.high - self.domain.low) / 2
        rows = (rows - middle) / half
        found = rows.T @ rows / len(rows)
        np.fill_diagonal(found, (np.diag(found) - constant) / slope)
        mean = rows.mean(axis=0)
        return np.asarray(found * half**2 + middle * half * (mean[:, None] + mean[None, :]) + middle**2)

    def estimate(self, tally: Tally) -> Estimate:
        """The mean of each coordinate, without bias, with the variance of the reports over n (as for one number)."""
        self.check_tally(tally)
        counts, n = tally.counts.reshape(self.domain.dimensions, -1), tally.n
        often = self.domain.dimensions / self.coordinates
        mean = often * (counts @ self.part._centred) / n
        second = often**2 * (counts @ self.part._centred**2) / n
        return self._in_units(mean, (second - mean**2) / max(n - 1, 1), n)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """The means to expect from n people with vectors like these, one or several rows, and the variance of each."""
        rows = np.atleast_2d(np.asarray(truth, np.float64))
        position = self.domain.coordinate._position(checked_rows(rows, self.domain.dimensions).ravel())
        check_people(n)
        below = np.minimum(position.astype(np.int64), self.domain.steps - 1)
        second = self.part.second_moments
        between = (second[below] + (second[below + 1] - second[below]) * (position - below)).reshape(rows.shape)
        x = (2 * position / self.domain.steps - 1).reshape(rows.shape)
        variance = (self.domain.dimensions / self.coordinates * between - x**2).mean(axis=0) / n
        return self._in_units(x.mean(axis=0), variance, n)

    def worst_variance(self) -> float:
        """The largest variance of one coordinate in one report, in the units of the question."""
        return self.part.worst_variance(self.domain.dimensions / self.coordinates)

    def _in_units(self, mean: Floats, variance: Floats, n: int) -> Estimate:
        half = (self.domain.high - self.domain.low) / 2
        return Estimate(self.domain.labels, self.domain.low + half * (1 + mean), half**2 * variance, n, measure="mean")

    def loss(self) -> PrivacyLoss:
        odds = self.part.loss().odds
        assert odds is not None
        return PrivacyLoss(odds**self.coordinates)

    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters(), "part": dict(self.part.parameters())}


def check_features(domain: Domain) -> None:
    """Refuse domains that are not vectors in a box."""
    if not isinstance(domain, Features):
        raise InvalidParameter("This mechanism is for vectors. Its domain must be Features(dimensions, low, high).")


@lru_cache(maxsize=1024)
def best_sampling(
    dimensions: int, epsilon: float, typical: float | None = None, coordinates: int = 0, scalar: str = ""
) -> tuple[int, str]:
    """How many coordinates to report, and by which mechanism: the smallest variance, at worst or for a typical size.

    >>> best_sampling(768, 10.0)
    (5, 'duchi-1')
    """
    best: tuple[float, int, str] | None = None
    points = [place / 20 for place in range(21)] if typical is None else [typical]
    most = min(dimensions, max(1, math.ceil(2 * epsilon)))  # below half an epsilon each, fewer are always better
    for k in [coordinates] if coordinates else range(1, most + 1):
        for name in [scalar] if scalar else SCALARS:
            at = _VARIANCES[name]
            variance = max(dimensions / k * (at(epsilon / k, x) + x * x) - x * x for x in points)
            if best is None or variance < best[0] * (1 - 1e-9):
                best = variance, k, name
    assert best is not None
    return best[1:]
