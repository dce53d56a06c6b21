"""The mean of numbers in an interval: what all such mechanisms share."""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from deniable import kernels
from deniable.arrays import Floats, Ints
from deniable.core import Columns, Estimate, Layout, Mechanism, Number, PrivacyLoss, Reports, Tally
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter, InvalidReport


def linear_pieces(numbers: Floats) -> list[list[float]]:
    """The same as straight lines: from which place on, the number there, and the step to the next one.

    >>> linear_pieces(np.array([1.0, 3.0, 5.0, 0.0]))
    [[0, 1.0, 2.0], [3, 0.0, 0.0]]
    """
    pieces, start = list[list[float]](), 0
    while start < len(numbers):
        rest = numbers[start:]
        step = float(rest[1] - rest[0]) if len(rest) > 1 else 0.0
        off = np.abs(rest - rest[0] - step * np.arange(len(rest))) > 1e-6 * abs(step)
        size = int(off.argmax()) if off.any() else len(rest)
        step = float(rest[size - 1] - rest[0]) / (size - 1) if size > 1 else 0.0  # over all of them, not to add up rounding
        pieces.append([start, float(rest[0]), step])
        start += size
    return pieces


class MeanMechanism(Mechanism[float, Ints]):
    """A report is one of `cells` numbers, whose mean is the true number: the mean of all reports needs no correction.

    Inside, the interval is [-1, 1]: `centred[k]` is what report k stands for, and x = (2 j - steps) / steps at point j of
    the grid. A subclass says which numbers these are and how likely each is, exactly (`row`), so that variances follow.
    """

    domain: Interval
    question = "means"
    derived: ClassVar[Sequence[str]] = ("odds",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, Interval):
            raise InvalidParameter("This mechanism needs an Interval of numbers, such as Interval(0, 100).")

    @cached_property
    @abstractmethod
    def centred(self) -> Sequence[Fraction]:
        """The number that each report stands for, where the interval is [-1, 1]."""

    @abstractmethod
    def row(self, index: int) -> Sequence[Fraction]:
        """The exact probability of each report at a point of the grid."""

    def chances(self, index: int) -> Floats:
        """The same as floats."""
        return np.array([float(chance) for chance in self.row(index)])

    @property
    def cells(self) -> int:
        return len(self.centred)

    @property
    def layout(self) -> Layout:
        return Layout((Number("value", self.cells),))

    def votes(self, columns: Columns) -> Ints:
        value = columns["value"]
        if len(value) and value.max() >= self.cells:
            raise InvalidReport("A report is not one of the numbers that this mechanism sends.")
        return kernels.histogram(value, self.cells)

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds)

    @cached_property
    def numbers(self) -> Floats:
        """The number that each report stands for, in the units of the question."""
        return self.domain.low + self._half * (1 + self._centred)

    def reading(self) -> dict[str, object]:
        return {"numbers": linear_pieces(self.numbers)}

    def decode(self, reports: Reports) -> Floats:
        """The unbiased number of each report, as rows of one."""
        return self.numbers[reports.columns["value"].astype(np.int64)][:, None]

    @cached_property
    def _centred(self) -> Floats:
        return np.array([float(value) for value in self.centred])

    @property
    def _half(self) -> float:
        return (self.domain.high - self.domain.low) / 2

    def point(self, index: int) -> Fraction:
        """A point of the grid, where the interval is [-1, 1]."""
        return Fraction(2 * index - self.domain.steps, self.domain.steps)

    def mean_of(self, tally: Tally) -> Estimate:
        return self.estimate(tally)

    def estimate(self, tally: Tally) -> Estimate:
        """The mean, without bias.

        Its variance is that of the reports over n. For the people whom the reporters were drawn from it is exact on
        average; for the reporters themselves it is too large by the variance of their true numbers over n.
        """
        self.check_tally(tally)
        n, shares = tally.n, tally.counts / tally.n
        mean = float(shares @ self.numbers)
        spread = float(shares @ (self.numbers - mean) ** 2) * n / max(n - 1, 1)
        return Estimate(("mean",), np.array([mean]), np.array([spread / n]), n, measure="mean")

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """The mean to expect from n people whose numbers have these shares at the points of the grid, and its variance."""
        shares = self.checked_truth(truth, n)
        noise = self._half**2 * float(shares @ (self.second_moments - self._points**2))
        mean = np.array([float(shares @ self.domain.points)])
        return Estimate(("mean",), mean, np.array([noise / n]), n, measure="mean")

    @cached_property
    def _points(self) -> Floats:
        return np.linspace(-1, 1, self.domain.size)

    @cached_property
    def second_moments(self) -> Floats:
        """The mean square of a report at each point of the grid, where the interval is [-1, 1]."""
        squares = self._centred**2
        return np.array([float(self.chances(index) @ squares) for index in range(self.domain.size)])

    def _between(self, number: float) -> tuple[float, int, float]:
        """Where a number lies where the interval is [-1, 1], the point of the grid below it, and how far it is past it."""
        position = float(self.domain._position([number])[0])
        below = min(int(position), self.domain.steps - 1)
        return 2 * position / self.domain.steps - 1, below, position - below

    def variance(self, number: float) -> float:
        """The variance of one report on this number, the rounding to the grid included."""
        x, below, past = self._between(number)
        second = (1 - past) * self.second_moments[below] + past * self.second_moments[below + 1]
        return float(self._half**2 * (second - x * x))

    def absolute_error(self, number: float) -> float:
        """How far one report is from this number on average."""
        x, below, past = self._between(number)
        chances = (1 - past) * self.chances(below) + past * self.chances(below + 1)
        return float(self._half * (chances @ np.abs(self._centred - x)))

    def worst_variance(self, often: float = 1) -> float:
        """The largest variance of one report, over all numbers of the interval, those between the points included.

        If only one report in `often` is about this number, it counts so many times, and the others as the middle.
        """
        x, second = self._points, often * self.second_moments
        slope = np.diff(second) / np.diff(x)  # between two points the second moment is linear
        at = np.clip(slope / 2, x[:-1], x[1:])
        return float(self._half**2 * (second[:-1] + slope * (at - x[:-1]) - at**2).max())
