"""What is published about a number: its distribution function, quantiles, ranges and mean, with errors that hold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from deniable.arrays import Floats
from deniable.core import Estimate, confidence_each
from deniable.core.showing import axes_for
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.grid import Grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWS, SEED = 4000, 0  # of the errors of a distribution function, for its band and its quantiles
ONE_SIGMA = 0.6827  # the confidence of one standard error


class Value(float):
    """A number with its error: the standard error of the unbiased estimate, and intervals."""

    raw: float
    standard_error: float
    _ends: Callable[[float], tuple[float, float]] | None

    def __new__(
        cls,
        value: float,
        raw: float,
        standard_error: float,
        ends: Callable[[float], tuple[float, float]] | None = None,
    ) -> "Value":
        made = super().__new__(cls, value)
        made.raw, made.standard_error, made._ends = raw, standard_error, ends
        return made

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The ends of a confidence interval. It belongs to the unbiased estimate `raw`, and assumes no smoothness."""
        if self._ends is not None:
            return self._ends(confidence)
        reach = _reach(confidence) * self.standard_error
        return self.raw - reach, self.raw + reach

    def __reduce__(self) -> tuple[object, ...]:
        return Value, (float(self), self.raw, self.standard_error)


@dataclass(frozen=True, eq=False)
class Band:
    """Limits that hold the whole distribution function at once: P(X <= at[k]) lies from lower[k] to upper[k]."""

    at: Floats
    lower: Floats
    upper: Floats
    confidence: float


@dataclass(frozen=True, eq=False)
class Histogram(Estimate):
    """Shares of bins. The values are the fitted ones; intervals are those of the unbiased estimate `raw`."""

    edges: Floats = field(default_factory=lambda: np.zeros(0))
    raw: Floats = field(default_factory=lambda: np.zeros(0))

    def interval(self, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends of intervals around the unbiased estimates; see `Estimate.interval`."""
        reach = _reach(confidence_each(confidence, len(self.values) if together else 1)) * self.standard_error
        return share_ends(self.raw, reach)


class FittedShares:
    """Shares of all answers, and linear questions about them: `values` fit best, `raw` are unbiased."""

    values: Floats
    raw: Floats
    covary: Callable[[], Floats]

    @cached_property
    def covariance(self) -> Floats:
        """The covariances of the unbiased shares."""
        return self.covary()

    def linear(self, weights: Floats) -> Value:
        """The mean of any function of the answer: `weights` holds what it is for each of them."""
        rows = np.asarray(weights, np.float64)
        if rows.shape != self.values.shape:
            raise InvalidParameter(f"A linear question has a weight for each of the {len(self.values)} answers.")
        spread = float(rows @ self.covariance @ rows)
        return Value(float(rows @ self.values), float(rows @ self.raw), max(spread, 0.0) ** 0.5)


@dataclass(frozen=True, eq=False)
class Distribution(FittedShares):
    """The distribution of a number among the n people who reported.

    `values` are the shares of all answers that fit the reports best, a smooth curve and a few `heaps`; they are never
    negative, and have no error in closed form. Intervals and bands belong to the unbiased linear estimate, `raw`, whose
    covariance is exact; they assume nothing about the shape, and hold for these n people.
    """

    grid: Grid = field(repr=False)
    n: int
    values: Floats = field(repr=False)
    raw: Floats = field(repr=False)
    covary: Callable[[], Floats] = field(repr=False)
    heaps: tuple[int, ...] = ()
    circular: bool = False

    def starting_at(self, number: float) -> "Distribution":
        """The same people, where answers that go round begin with this one: then they have quantiles.

        Answers before it follow after the last one: hours that start at 4 end with 25, 26 and 27.
        """
        if not self.circular:
            raise InvalidParameter("Only circular answers, planned with circular=True, can start anywhere.")
        points = self.grid.points
        first = int((points < number).sum())
        if first == self.grid.size:
            raise InvalidParameter("The start must be one of the answers.")
        order = np.roll(np.arange(self.grid.size), -first)
        turn = points[-1] - points[0] + points[1] - points[0]
        moved = Grid(np.roll(points + np.where(points < number, turn, 0), -first), self.grid.labels, atoms=True)
        back = np.argsort(order)
        return Distribution(
            moved,
            self.n,
            self.values[order],
            self.raw[order],
            lambda: self.covariance[np.ix_(order, order)],
            tuple(sorted(int(back[heap]) for heap in self.heaps)),
        )

    def _needs_origin(self) -> None:
        if self.circular:
            raise InvalidParameter(
                "Circular answers have no order, and so no quantiles, mean or distribution function. Use share(22, 5) for "
                "a range, or choose a start: starting_at(4).quantile(0.5)."
            )

    def cdf(self, number: float) -> Value:
        """The share of people whose number is at most this one."""
        self._needs_origin()
        return within_one(self.linear(self.grid.below(number)))

    def share(self, low: float, high: float) -> Value:
        """The share of people whose number is from `low` to `high`; if numbers go round, `low` may be the larger one."""
        if self.circular and low > high:
            return within_one(self.linear(np.maximum(self.grid.points >= low, self.grid.points <= high).astype(np.float64)))
        return within_one(self.linear(self.grid.between(low, high)))

    def mean(self) -> Value:
        """The mean number."""
        self._needs_origin()
        return self.linear(self.grid.points)

    @cached_property
    def _cumulated(self) -> tuple[Floats, Floats, Floats]:
        """The fitted and the unbiased shares up to each answer but the last, and the standard errors of the latter."""
        sums = np.cumsum(np.cumsum(self.covariance, axis=0), axis=1)
        return np.cumsum(self.values), np.cumsum(self.raw)[:-1], np.sqrt(np.maximum(sums.diagonal()[:-1], 0))

    def quantile(self, share: float) -> Value:
        """The number that this share of people do not exceed: 0.5 gives the median.

        Its interval holds the numbers at which the unbiased distribution function, put in order, may reach the share; see
        `_errors_in_order`. An end in a heap moves to the end of its cell: most of these people have one number, and where
        in the cell it lies is unknown. For single answers, as those of `Ordered`, it covers at least as often as stated.
        """
        self._needs_origin()
        if not 0 < share < 1:
            raise InvalidParameter("A quantile needs a share between 0 and 1, for example 0.5 for the median.")
        ordered = np.sort(np.clip(self._cumulated[1], 0, 1))

        def ends(confidence: float) -> tuple[float, float]:
            tail = (1 - confidence_each(confidence, 1)) / 2
            rarest = round(tail * (DRAWS - 1))
            low, high = self._errors_in_order[[rarest, -1 - rarest]]
            above, below = (np.clip(np.sort(ordered - error), 0, 1) for error in (low, high))
            ends = self.grid.reaches(above, share), self.grid.reaches(below, share, last=True)
            return ends if self.grid.atoms else self._past_heaps(*ends)

        value, raw = self.grid.at(self._cumulated[0], share), self.grid.reaches(ordered, share)
        low, high = ends(ONE_SIGMA)
        return Value(value, raw, (high - low) / 2, ends)

    def _past_heaps(self, low: float, high: float) -> tuple[float, float]:
        """The ends of an interval of numbers, past the cells of heaps in which they lie."""
        edges = self.grid.edges
        first, last = edges[list(self.heaps)], edges[[heap + 1 for heap in self.heaps]]
        starts, stops = first[(first <= low) & (low <= last)], last[(first <= high) & (high <= last)]
        return min([low, *starts.tolist()]), max([high, *stops.tolist()])

    @cached_property
    def _errors_in_order(self) -> Floats:
        """Draws of the error of the unbiased distribution function after its values have been put in order, least first.

        The estimate itself rises and falls, and a share is reached at several places. In order it never falls, and is
        closer to the truth (Chernozhukov, Fernandez-Val, Galichon 2010), but pointwise limits no longer fit: they are too
        wide wherever neighbouring values change places. How often they do depends on the slope, for which the draws take
        that of the fitted shares.
        """
        fitted, _, errors = self._cumulated
        drawn = np.clip(fitted[:-1] + self._draws * errors, 0, 1)
        return np.asarray(np.sort(np.sort(drawn, axis=1) - fitted[:-1], axis=0))

    def likely_cuts(self, share: float, count: int = 16) -> list[int]:
        """Where a quantile may lie by the unbiased estimate: `count` equally probable cuts, cut c before answer number c."""
        fitted, _, errors = self._cumulated
        below = [NormalDist().cdf(each) for each in (fitted[:-1] - share) / np.maximum(errors, 1e-300)]
        probable = np.round(np.maximum.accumulate(below), 9)  # the same on every machine
        ranks = (np.arange(count) + 0.5) / count
        return np.rint(np.interp(ranks, probable, np.arange(1, self.grid.size))).astype(np.int64).tolist()

    def histogram(self, bins: int = 12) -> Histogram:
        """The shares of so many bins of equal width, in order."""
        if not 1 <= bins <= self.grid.size:
            raise InvalidParameter(f"A histogram of {self.grid.size} answers has 1 to {self.grid.size} bins.")
        edges = np.linspace(self.grid.points[0], self.grid.points[-1], bins + 1)
        below = np.array([self.grid.below(edge) for edge in edges])
        below[0] = 0
        rows = np.diff(below, axis=0)
        labels = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]

        def covary() -> Floats:
            return rows @ self.covariance @ rows.T

        variance = np.maximum(covary().diagonal(), 0)
        return Histogram(labels, rows @ self.values, variance, self.n, covary, edges=edges, raw=rows @ self.raw)

    def band(self, confidence: float = 0.95) -> Band:
        """Limits for the distribution function that hold everywhere at once.

        They lie the same number of standard errors from the unbiased estimate everywhere; how many follows from 4,000
        draws (seed 0) of the largest error, with the exact covariance. Since a distribution function never falls, lower
        limits hold further right too, and upper ones further left: that narrows the band and costs no confidence.
        """
        self._needs_origin()
        _reach(confidence)
        _, raw, errors = self._cumulated
        reach = float(np.quantile(self._largest, confidence)) * errors
        lower = np.maximum.accumulate(np.clip(raw - reach, 0, 1))
        upper = np.minimum.accumulate(np.clip(raw + reach, 0, 1)[::-1])[::-1]
        at = self.grid.points if self.grid.atoms else self.grid.edges[1:]
        return Band(at, np.append(lower, 1.0), np.append(upper, 1.0), confidence)

    @cached_property
    def _draws(self) -> Floats:
        """Draws of the errors of the distribution function with their exact covariance, in standard errors."""
        sums = np.cumsum(np.cumsum(self.covariance, axis=0), axis=1)[:-1, :-1]
        errors = np.sqrt(np.maximum(sums.diagonal(), 1e-300))
        variances, basis = np.linalg.eigh(sums / np.outer(errors, errors))
        half = basis * np.sqrt(np.maximum(variances, 0))
        return np.asarray(_normal_draws(len(half)) @ half.T)

    @cached_property
    def _largest(self) -> Floats:
        """Draws of the largest error of the distribution function, in standard errors."""
        return np.asarray(np.abs(self._draws).max(axis=1))

    def estimate(self) -> Estimate:
        """The unbiased shares of all answers, with their exact variances."""
        labels = cast(tuple[str, ...], self.grid.labels)
        return Estimate(labels, self.raw, self.covariance.diagonal(), self.n, self.covary, ordered=True)

    def plot(self, bins: int = 40, confidence: float = 0.95, ax: "Axes | None" = None) -> "Axes":
        """The histogram, with median and quartiles, and on a second axis the distribution function with its band."""
        self._needs_origin()
        shown, band = self.histogram(min(bins, self.grid.size)), self.band(confidence)
        ax = axes_for(ax, 7, 3.6)
        ax.bar(shown.edges[:-1], 100 * shown.values, np.diff(shown.edges), align="edge", color="#bbccdd", label="histogram")
        ax.set_ylabel(f"% of {self.n:,} people")
        for share, style in ((0.25, ":"), (0.5, "-"), (0.75, ":")):
            label = {0.25: "quartiles", 0.5: "median"}.get(share)
            ax.axvline(float(self.quantile(share)), color="#222222", linestyle=style, linewidth=0.8, label=label)
        right = ax.twinx()
        step: Literal["post"] | None = "post" if self.grid.atoms else None
        right.fill_between(band.at, 100 * band.lower, 100 * band.upper, color="#4477aa", alpha=0.25, step=step, linewidth=0)
        right.plot(
            band.at, 100 * self._cumulated[0], color="#4477aa", drawstyle="steps-post" if self.grid.atoms else "default"
        )
        right.set(ylabel=f"% with at most this number, {confidence:.0%} band", ylim=(0, 100))
        ax.legend(loc="upper left", frameon=False)
        for axes in (ax, right):
            axes.spines["top"].set_visible(False)
        return ax


@lru_cache(maxsize=2)
def _normal_draws(size: int) -> Floats:
    """Independent normal draws, the same for every distribution of a size."""
    return np.random.default_rng(SEED).standard_normal((DRAWS, size))


def within_one(found: Value) -> Value:
    """A share of people, whose interval lies within 0 and 1."""

    def ends(confidence: float) -> tuple[float, float]:
        low, high = share_ends(np.array(found.raw), _reach(confidence) * found.standard_error)
        return float(low), float(high)

    return Value(float(found), found.raw, found.standard_error, ends)


def share_ends(raw: Floats, reach: Floats | float) -> tuple[Floats, Floats]:
    """The ends of intervals of shares, which lie within 0 and 1 and are never empty.

    An unbiased share may be negative. Its interval is then as wide as that of 0: the least share that is possible.

    >>> share_ends(np.array([-0.3, 0.5, 1.2]), 0.1)
    (array([0. , 0.4, 0.9]), array([0.1, 0.6, 1. ]))
    """
    return np.clip(np.minimum(raw, 1) - reach, 0, 1), np.clip(np.maximum(raw, 0) + reach, 0, 1)


def _reach(confidence: float) -> float:
    """How many standard errors a normal interval reaches to either side."""
    return NormalDist().inv_cdf((1 + confidence_each(confidence, 1)) / 2)
