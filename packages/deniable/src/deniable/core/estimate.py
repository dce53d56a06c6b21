"""What is published: the share of people behind each answer, with its error."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Floats
from deniable.core.showing import MOST_LINES, Bar, Tabular, axes_for, html_bars
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from deniable.core.charting import Line


@dataclass(frozen=True, eq=False)
class Estimate(Tabular):
    """Shares of the n people who reported, or another `measure`, with the variance of the privacy noise.

    Raw estimates are unbiased, so single values may lie below 0 or above 1; cleaning them is a separate step, and what
    comes out of that has no variance in closed form (None). The variance is about these n people; `for_population` adds
    the error of having asked only them.
    """

    labels: Sequence[object]
    values: Floats
    variance: Floats | None
    n: int
    covary: Callable[[], Floats] | None = field(default=None, repr=False)
    measure: str = "share"  # what the values are, if not shares of people: "mean", "total weight", ...
    ordered: bool = False  # whether the answers have an order that charts must keep; numbers always have one

    @property
    def standard_error(self) -> Floats:
        """The square root of the variance; 0 where that, which is only right on average, comes out below it."""
        if self.variance is None:
            raise InvalidParameter("A cleaned estimate has no error in closed form. Use the error of the raw estimate.")
        return np.sqrt(np.maximum(self.variance, 0))

    def covariance(self) -> Floats:
        """The matrix of covariances between the values, where it is known exactly."""
        if self.covary is None:
            raise InvalidParameter("The covariance of this estimate is not known in closed form.")
        return self.covary()

    def interval(self, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        """Lower and upper ends of normal confidence intervals.

        Each holds with this confidence; `together` makes them wide enough to hold all at once, so that the largest values
        can be picked out afterwards (Sidak 1967: right for normal errors, however they depend on each other).
        """
        level = confidence_each(confidence, len(self.values) if together else 1)
        reach = NormalDist().inv_cdf((1 + level) / 2) * self.standard_error
        return self.values - reach, self.values + reach

    def for_population(self) -> "Estimate":
        """The same values as an estimate for the people the reporters were drawn from: adds the sampling variance."""
        if self.measure != "share":
            raise InvalidParameter("Only shares have a sampling variance that follows from the estimate alone.")
        shares = np.clip(self.values, 0, 1)
        variance = self.standard_error**2 + shares * (1 - shares) / self.n

        def covary() -> Floats:
            return self.covariance() + (np.diag(shares) - np.outer(shares, shares)) / self.n

        return replace(self, variance=variance, covary=covary if self.covary else None)

    def cleaned(self, values: Floats) -> "Estimate":
        """Other values for the same question, with no claim about their error."""
        return replace(self, values=values, variance=None, covary=None)

    def top(self, count: int) -> list[object]:
        """The answers with the largest values, largest first."""
        return [self.labels[place] for place in self.largest(count)]

    def largest(self, count: int) -> list[int]:
        """The positions of the largest values, largest first."""
        return np.argsort(-self.values, kind="stable")[:count].tolist()

    def columns(self, confidence: float = 0.95) -> dict[str, list[object]]:
        """The answers, values, standard errors and intervals; after cleaning, only the answers and values."""
        own: dict[str, list[object]] = {"answer": list(self.labels), self.measure.replace(" ", "_"): self.values.tolist()}
        if self.variance is not None:
            low, high = self.interval(confidence)
            own |= {"standard_error": self.standard_error.tolist(), "low": low.tolist(), "high": high.tolist()}
        return own

    def shown(self, most: int = MOST_LINES) -> list[int]:
        """The positions that a chart shows: numbers and ordered answers in their order, others by size, largest first.

        If there are more than `most`, the largest ones are shown.
        """
        if not self.in_order:
            return self.largest(most)
        return list(range(len(self.values))) if len(self.values) <= most else sorted(self.largest(most))

    @property
    def in_order(self) -> bool:
        """Whether charts keep the order of the answers."""
        return self.ordered or all(isinstance(label, int | float) for label in self.labels)

    def plot(self, confidence: float = 0.95, top: int = MOST_LINES, ax: "Axes | None" = None) -> "Axes":
        """At most `top` bars with error bars, on `ax` or on new axes. Grey: the share may be zero.

        Numbers and ordered answers keep their order, and too many of them are added up in bins; other answers are sorted by
        size, and the smallest are folded into one line. Returns the axes: `estimate.plot().figure.savefig("shares.png")`
        writes a file.
        """
        from deniable.core.charting import chart_lines  # which results need only once they are drawn

        lines, scale = chart_lines(self, confidence, top), 100 if self.measure == "share" else 1
        ax = axes_for(ax, 7, 1.2 + 0.32 * len(lines))
        for place, line in enumerate(lines):
            errors = None if line.high is None else [scale * (line.high - line.value)]
            grey = line.others or (self.measure == "share" and line.noisy)
            colour = "#bbbbbb" if grey else "#4477aa"
            ax.barh([place], [scale * line.value], xerr=errors, color=colour, ecolor="#222222", capsize=3)
        ax.set_yticks(range(len(lines)), [self._name(line) for line in lines])
        ax.invert_yaxis()
        ax.set_xlabel(self._unit + (f", {confidence:.0%} intervals" if self.variance is not None else ""))
        ax.axvline(0, color="#222222", linewidth=0.8)
        ax.spines[["top", "right"]].set_visible(False)
        if len(lines) < len(self.values):
            size = f"{len(self.values):,} answers"
            ax.set_title(f"The largest of {size}" if lines[-1].others else f"{size} in {len(lines)} bins")
        return ax

    @staticmethod
    def _name(line: "Line") -> str:
        return f"{line.label} (largest)" if line.others else line.label

    @property
    def _unit(self) -> str:
        return f"% of {self.n:,} people" if self.measure == "share" else f"{self.measure}, {self.n:,} people"

    def _repr_html_(self) -> str:
        """A bar for each answer, with its 95 % interval: what notebooks show."""
        from deniable.core.charting import chart_lines

        scale, bars, lines = 100 if self.measure == "share" else 1, [], chart_lines(self)
        for line in lines:
            value, text = scale * line.value, f"{scale * line.value:.4g}"
            if line.low is None or line.high is None:
                bars.append(Bar(self._name(line), text, value))
            else:
                ends = scale * line.low, scale * line.high
                bars.append(Bar(line.label, f"{text} ({ends[0]:.4g} to {ends[1]:.4g})", value, *ends))
        unsure = self.measure == "share" and any(line.noisy for line in lines)
        note = "Where the interval covers zero, the share may be nothing but noise." if unsure else ""
        return html_bars(self._unit + ("" if self.variance is None else ", 95% intervals"), bars, note)


def confidence_each(confidence: float, intervals: int) -> float:
    """How sure each of several intervals must be, so that all of them hold with this confidence."""
    if not 0 < confidence < 1:
        raise InvalidParameter("The confidence level must be between 0 and 1, for example 0.95.")
    return float(confidence ** (1 / intervals))
