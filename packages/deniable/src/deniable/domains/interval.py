"""An interval of numbers, as a grid of equal steps; what lies between two points is rounded to either of them by a coin."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable import kernels
from deniable.arrays import Floats, Ints
from deniable.core import WHOLE, Answers, Coins, Domain, Input
from deniable.errors import InvalidParameter, OutsideDomain

MOST_STEPS = 1 << 22


@dataclass(frozen=True)
class Interval(Domain[float, Ints]):
    """Numbers from `low` to `high`, on a grid of `steps` equal steps: steps + 1 points, which are the answers.

    A number between two points becomes the upper one with the probability that makes it right on average (to 2^-53 of a
    step), so that a mean is not biased by the grid, and mechanisms are finite channels. A number outside is refused; with
    `clip` it becomes the nearest end, and `outside` counts how many do.

    >>> Interval(0, 10, steps=5).index([0, 3.1, 10])
    array([0, 2, 5])
    """

    low: float
    high: float
    steps: int = 1024
    clip: bool = False
    kind = "interval"
    ordered = True

    def __post_init__(self) -> None:
        ends = (self.low, self.high)
        if not all(isinstance(end, int | float) and math.isfinite(end) for end in ends) or not self.low < self.high:
            raise InvalidParameter("An interval needs two finite ends, the lower one first: Interval(0, 100).")
        if isinstance(self.steps, bool) or not isinstance(self.steps, int) or not 1 <= self.steps <= MOST_STEPS:
            raise InvalidParameter(f"An interval is cut into 1 to {MOST_STEPS} equal steps.")
        self._fix(low=float(self.low), high=float(self.high))

    @property
    def size(self) -> int:
        return self.steps + 1

    @cached_property
    def points(self) -> Floats:
        """The points of the grid, both ends exactly."""
        return np.linspace(self.low, self.high, self.size)

    @cached_property
    def labels(self) -> Sequence[float]:  # type: ignore[override]
        return tuple(self.points.tolist())

    def index(self, values: Answers) -> Ints:
        return np.rint(self._position(values)).astype(np.int64)

    @property
    def inputs(self) -> Sequence[Input]:
        return Input("below", 0, self.steps - 1), Input("up", 0, WHOLE)

    def encode(self, values: Answers) -> Sequence[Ints]:
        """The grid point below each number, and how far it is above it, in parts of 2^-53 of a step."""
        found = None
        if not self.clip and isinstance(values, np.ndarray) and values.dtype == np.float64 and values.ndim == 1:
            found = kernels.grid_codes(np.asarray(values), self.points)
        if found is None:  # other numbers, or some that are refused
            found = kernels.grid_codes(self._inside(values), self.points)
            assert found is not None
        return found

    def placed(self, codes: Sequence[Ints], coins: Coins) -> Ints:
        below, up = codes
        return below + coins.rounded(up)

    def nearest(self, values: Answers) -> Floats:
        """The point of the grid nearest to each number, the lower of two that are equally near; no coin is tossed."""
        return self.points[np.ceil(self._position(values) - 0.5).astype(np.int64)]

    def snapped(self, values: Answers) -> Floats:
        return self.nearest(values)

    def outside(self, values: Answers) -> int:
        """How many of these numbers lie outside the interval: what `clip` would move."""
        numbers = self._numbers(values)
        return int(((numbers < self.low) | (numbers > self.high)).sum())

    def _position(self, values: Answers) -> Floats:
        """Where each number lies, in steps from the lower end; a point of the grid exactly on a whole number."""
        return kernels.grid_position(self._inside(values), self.points)

    def _inside(self, values: Answers) -> Floats:
        """Numbers of the interval; others are refused, or moved to its ends."""
        numbers = self._numbers(values)
        if self.clip:
            numbers = np.clip(numbers, self.low, self.high)
        elif not ((numbers >= self.low) & (numbers <= self.high)).all():
            raise OutsideDomain(
                f"An answer lies outside the interval from {self.low:g} to {self.high:g}. Widen the interval, or pass "
                "clip=True to move such answers to its ends."
            )
        return numbers

    def _numbers(self, values: Answers) -> Floats:
        return finite_numbers(values).astype(np.float64, copy=False)


def finite_numbers(values: Answers) -> NDArray[np.integer | np.floating]:
    """The answers as a row of finite numbers; refuses what is none."""
    try:
        numbers = np.asarray(values)
    except ValueError:  # lists of different lengths
        numbers = np.empty(0, object)
    kind = numbers.dtype.kind
    if numbers.ndim != 1 or kind not in "iuf" or (kind == "f" and not np.isfinite(numbers).all()):
        raise OutsideDomain("An answer is not a finite number. Leave it out, or replace it before it is randomized.")
    return numbers
