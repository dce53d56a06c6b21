"""What is published about the distribution of a number or an ordered answer."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.arrays import Floats
from deniable.core import Estimate, Tally
from deniable.survey.kinds.kind import Published

if TYPE_CHECKING:
    from deniable.mechanisms.distributions.distribution import Distribution, Value
    from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
    from deniable.mechanisms.distributions.heat_map import HeatMap
    from deniable.survey.kinds.map_summary import MapSummary

Limits = Callable[[float], tuple[Floats, Floats]]  # by confidence level: lower and upper ends

BINS = 12
FINER = 2  # points of the distribution function for each bin
AT_MOST = "share at most"  # the measure of the distribution function
QUARTILES = {"lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75}
REMEMBERED = 32  # distributions, each fitted once for a tally


@dataclass(frozen=True, eq=False)
class Shares(Estimate):
    """Unbiased estimates whose intervals are given, and beside them what fits the reports best."""

    fitted: Floats = field(default_factory=lambda: np.zeros(0))
    limits: Limits = field(default=lambda _: (np.zeros(0), np.zeros(0)), repr=False)

    def interval(self, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        """The ends of the intervals; those of the distribution function hold all at once, the others each on its own."""
        return self.limits(confidence)


@dataclass(frozen=True, eq=False)
class Summary(Published):
    """A histogram in order, the distribution function with its band, the median, the quartiles and the mean.

    `quantiles` are others that the survey asks for.
    """

    distribution: "Distribution"
    quantiles: tuple[float, ...] = ()

    @property
    def parts(self) -> Sequence[Shares]:
        """The histogram, the distribution function, and the single figures."""
        return [self.bins, self.function, *self.figures()]

    @cached_property
    def bins(self) -> Shares:
        """The histogram: bins of a round width, or the answers themselves where they are few."""
        found, grid = self.distribution, self.distribution.grid
        if not grid.atoms:
            shown = found.histogram(min(round_bins(float(grid.points[0]), float(grid.points[-1])), grid.size))
            return linear_shares(found, shown.labels, np.diff(np.array([grid.below(edge) for edge in shown.edges]), axis=0))
        group = round_group(grid.size)
        firsts = range(0, grid.size, group)
        ends = [(grid.labels[first], grid.labels[min(first + group, grid.size) - 1]) for first in firsts]
        labels = [str(first) if first == last else f"{first} to {last}" for first, last in ends]
        rows = np.equal.outer(np.arange(len(firsts)), np.arange(grid.size) // group).astype(np.float64)
        return linear_shares(found, labels, rows)

    @cached_property
    def function(self) -> Shares:
        """The share of people up to some numbers, with the band that holds for all numbers at once."""
        found, grid = self.distribution, self.distribution.grid
        last = grid.size - 1
        places = np.unique(np.round(np.linspace(0, last, min(FINER * BINS, last) + 1)[:-1]).astype(np.int64))
        at = grid.points if grid.atoms else grid.edges[1:]
        labels = [grid.labels[place] if grid.atoms else f"{at[place]:g}" for place in places]
        each = [found.linear((np.arange(grid.size) <= place).astype(np.float64)) for place in places]
        raw, errors = (np.array([getattr(value, name) for value in each]) for name in ("raw", "standard_error"))

        def band(confidence: float) -> tuple[Floats, Floats]:
            limits = found.band(confidence)
            return limits.lower[places], limits.upper[places]

        fitted = np.array([float(value) for value in each])
        return Shares(labels, raw, errors**2, found.n, measure=AT_MOST, fitted=fitted, limits=band)

    def figures(self) -> Iterator[Shares]:
        """The median, the quartiles, other quantiles and the mean; of words, where in their order these lie."""
        for name, share in (QUARTILES | {f"quantile {share:g}": share for share in self._others}).items():
            yield self._figure(name, self.distribution.quantile(share))
        if not self.words:
            yield self._figure("mean", self.distribution.mean())

    def sentences(self, confidence: float) -> list[str]:
        """The median, the quartiles, other quantiles and the mean in words, with their intervals."""
        lower, median, upper = (self._said(self.distribution.quantile(share), confidence) for share in QUARTILES.values())
        less, more = ("lower", "higher") if self.words else ("less", "more")
        lines = [
            f"Half of the people answered {median[0]} or {less} ({median[1]}).",
            f"A quarter answered {lower[0]} or {less} ({lower[1]}), and a quarter {upper[0]} or {more} ({upper[1]}).",
        ]
        for share in self._others:
            said = self._said(self.distribution.quantile(share), confidence)
            lines.append(f"{100 * share:.6g} % answered {said[0]} or {less} ({said[1]}).")
        if not self.words:
            mean = self.distribution.mean()
            lines.append("The mean is {} ({}).".format(*self._said(mean, confidence)))
        return lines

    @property
    def _others(self) -> Sequence[float]:
        """The quantiles that are asked for, besides the median and the quartiles."""
        return [share for share in self.quantiles if share not in QUARTILES.values()]

    def _said(self, value: "Value", confidence: float) -> tuple[str, str]:
        """A figure and its interval, with as many digits as the interval justifies."""
        low, high = value.interval(confidence)
        if self.words:
            named = [f"“{self.words[round(number)]}”" for number in (value, low, high)]
        else:
            digits = min(max(1 - math.floor(math.log10(max(high - low, 1e-6))), 0), 6)
            named = [f"{number + 0.0:,.{digits}f}" for number in (value, low, high)]
        return named[0], " to ".join(dict.fromkeys(named[1:]))

    def _figure(self, name: str, value: "Value") -> Shares:
        label = self.words[round(value)] if self.words else ""

        def ends(confidence: float) -> tuple[Floats, Floats]:
            low, high = value.interval(confidence)
            return np.array([low]), np.array([high])

        raw, fitted = np.array([value.raw]), np.array([float(value)])
        variance = np.array([value.standard_error**2])
        return Shares([label], raw, variance, self.distribution.n, measure=name, fitted=fitted, limits=ends)

    @property
    def words(self) -> Sequence[str]:
        """The answers, if they are words."""
        labels = self.distribution.grid.labels
        return [str(label) for label in labels] if any(isinstance(label, str) for label in labels) else ()


def linear_shares(found: "Distribution | HeatMap", labels: Sequence[object], rows: Floats) -> Shares:
    """Shares of people with these weights of the answers, each with an interval of its own."""

    def covary() -> Floats:
        return rows @ found.covariance @ rows.T

    raw = Estimate(labels, rows @ found.raw, np.maximum(covary().diagonal(), 0), found.n, covary)
    return Shares(labels, raw.values, raw.variance, found.n, covary, fitted=rows @ found.values, limits=raw.interval)


def round_bins(low: float, high: float) -> int:
    """How many bins of a round width the range has, about 12; exactly 12 if no round width fits.

    >>> round_bins(0, 120), round_bins(0, 100), round_bins(0, 1), round_bins(0, 7.3)
    (12, 10, 10, 12)
    """
    exponent = math.floor(math.log10((high - low) / BINS))
    widths = [first * 10.0**power for power in (exponent, exponent + 1) for first in (1, 2, 2.5, 5)]
    counts = [
        round((high - low) / width) for width in widths if math.isclose((high - low) / width, round((high - low) / width))
    ]
    fitting = [count for count in counts if BINS // 2 < count < 2 * BINS]
    return min(fitting, key=lambda count: abs(count - BINS)) if fitting else BINS


def round_group(size: int) -> int:
    """How many neighbouring answers make a bin, a round number: one, if there are at most 24 answers.

    >>> round_group(11), round_group(82), round_group(256)
    (1, 10, 20)
    """
    if size <= 2 * BINS:
        return 1
    groups = [first * 10**power for power in range(5) for first in (1, 2, 5)]
    return min(groups, key=lambda group: abs(-(-size // group) - BINS))


class _Counted:
    """Tallies with their mechanisms, equal to others where both have the same content."""

    def __init__(self, rounds: "Sequence[tuple[DistributionMechanism, Tally]]") -> None:
        self.rounds = [(mechanism, tally) for mechanism, tally in rounds if tally.n]
        self._key = tuple((tally.fingerprint, tally.n, tally.counts.tobytes()) for _, tally in self.rounds)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Counted) and self._key == other._key


@lru_cache(maxsize=REMEMBERED)
def _fitted(counted: _Counted, quantiles: tuple[float, ...]) -> "Summary | MapSummary":
    if len(counted.rounds) == 1:
        mechanism, tally = counted.rounds[0]
        found: Any = mechanism.distribution(tally)
        if hasattr(found, "plane"):
            from deniable.survey.kinds.map_summary import MapSummary  # which few surveys need

            return MapSummary(found)
        return Summary(found, quantiles)
    from deniable.mechanisms.distributions.rounds import combined  # which few surveys need

    return Summary(combined(counted.rounds), quantiles)


def summary(*rounds: "tuple[DistributionMechanism, Tally]", quantiles: tuple[float, ...] = ()) -> "Summary | MapSummary":
    """What is published of the tallies of one round or several; the fit is computed once, however often it is asked for."""
    return _fitted(_Counted(rounds), quantiles)
