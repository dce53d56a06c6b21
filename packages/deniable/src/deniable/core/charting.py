"""What charts show, in the terminal, in pictures, in notebooks and on pages alike: order, bins, and what is only noise.

Answers that have an order keep it, and too many of them are added up in bins. Other answers are sorted by size, and the
smallest of too many are folded into one line.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deniable.arrays import Floats
from deniable.core.showing import MOST_LINES

if TYPE_CHECKING:
    from deniable.core.estimate import Estimate

MOST_COVARIANCES = 2048  # answers; beyond that their matrix takes too much memory
WIDTHS = (1, 2, 5)  # of bins, times powers of ten


class Line(NamedTuple):
    """One line of a chart. The value of folded answers (`others`) is that of the largest of them."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    others: int = 0  # how many answers are folded into this line
    places: tuple[int, ...] = ()  # the positions of its answers

    @property
    def noisy(self) -> bool:
        """Whether the interval covers zero or less, so that the value may be nothing but noise."""
        return self.low is not None and self.low <= 0


def written(label: object) -> str:
    """An answer as charts show it: numbers without needless digits."""
    return f"{label:g}" if isinstance(label, float) else str(label)


def chart_lines(estimate: "Estimate", confidence: float = 0.95, most: int = MOST_LINES) -> list[Line]:
    """At most so many lines that show an estimate.

    >>> from deniable import Categories, DirectResponse
    >>> ages = DirectResponse(Categories(range(100)), 1.0).predict([0.01] * 100, 1000)
    >>> lines = chart_lines(ages, most=20)
    >>> len(lines), lines[0].label, round(lines[0].value, 6)
    (20, '0 to 4', 0.05)
    """
    size = len(estimate.values)
    if estimate.in_order and estimate.measure == "share" and size > most:
        return _bins(estimate, confidence, most)
    low, high = (None, None) if estimate.variance is None else estimate.interval(confidence)

    def line(place: int) -> Line:
        name, value = written(estimate.labels[place]), float(estimate.values[place])
        if low is None or high is None:
            return Line(name, value, places=(place,))
        return Line(name, value, float(low[place]), float(high[place]), places=(place,))

    if size <= most:
        return [line(place) for place in estimate.shown(most)]
    kept = estimate.shown(most - 1)
    rest = sorted(set(range(size)) - set(kept))
    return [*map(line, kept), Line(f"{len(rest):,} others", float(estimate.values[rest].max()), others=len(rest))]


def _bins(estimate: "Estimate", confidence: float, most: int) -> list[Line]:
    """Shares of neighbouring answers, added up."""
    from deniable.core.estimate import Estimate

    size = len(estimate.values)
    starts = _starts(estimate.labels, most)
    ends = [*starts[1:], size]
    labels = [_named(estimate.labels, start, end) for start, end in zip(starts, ends, strict=True)]
    values = np.add.reduceat(estimate.values, starts)
    folded = Estimate(labels, values, _variance(estimate, starts), estimate.n, ordered=True)
    low, high = (None, None) if folded.variance is None else folded.interval(confidence)
    return [
        Line(
            label,
            float(values[place]),
            None if low is None else float(low[place]),
            None if high is None else float(high[place]),
            places=tuple(range(starts[place], ends[place])),
        )
        for place, label in enumerate(labels)
    ]


def _starts(labels: Sequence[object], most: int) -> list[int]:
    """Where bins begin: of consecutive whole numbers at round ones, else after every so many answers."""
    size = len(labels)
    width = next(step * 10**power for power in range(20) for step in WIDTHS if step * 10**power * most >= size)
    first, last = labels[0], labels[-1]
    consecutive = isinstance(first, int) and isinstance(last, int) and last - first == size - 1
    offset = -int(str(first)) % width if consecutive else 0
    starts = sorted({0, *range(offset, size, width)})
    return starts if len(starts) <= most else [*range(0, size, width)]


def _named(labels: Sequence[object], start: int, end: int) -> str:
    first, last = written(labels[start]), written(labels[end - 1])
    return first if first == last else f"{first} to {last}"


def _variance(estimate: "Estimate", starts: list[int]) -> Floats | None:
    """The variance of the sums: exact where covariances are known, else the most it can be."""
    if estimate.variance is None:
        return None
    if estimate.covary is not None and len(estimate.values) <= MOST_COVARIANCES:
        rows = np.add.reduceat(estimate.covariance(), starts, axis=0)
        return np.diag(np.add.reduceat(rows, starts, axis=1)).copy()
    return np.add.reduceat(estimate.standard_error, starts) ** 2
