"""Vectors of numbers: in a box, every coordinate on the grid of an interval, or of length one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from deniable import kernels
from deniable.arrays import Floats, Ints
from deniable.core import Answers, Coins, Domain, Gridded, Input
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter, OutsideDomain

MOST_DIMENSIONS = 1 << 16
FEW = 16  # vectors, below which their codes are written down at once


@dataclass(frozen=True)
class Features(Domain[Sequence[float], Ints]):
    """Vectors of `dimensions` numbers from `low` to `high`, each on a grid of `steps` equal steps.

    Every coordinate is an `Interval`: rounded to either neighbour by a coin, so that means are not biased by the grid, and
    refused outside, or moved to the nearest end with `clip`. The range must be public: it may not be read off the data.

    >>> Features(3, -1, 1, steps=4).index([[-1, 0.1, 1]])
    array([[0, 2, 4]])
    """

    dimensions: int
    low: float
    high: float
    steps: int = 1024
    clip: bool = False
    kind = "features"
    signed: ClassVar[bool] = False  # a code is a place on the grid

    def __post_init__(self) -> None:
        check_dimensions(self.dimensions)
        self._fix(low=self.coordinate.low, high=self.coordinate.high)

    @cached_property
    def coordinate(self) -> Interval:
        """What each coordinate may be."""
        return Interval(self.low, self.high, self.steps, self.clip)

    @property
    def labels(self) -> Sequence[int]:  # type: ignore[override]
        return range(self.dimensions)

    @property
    def size(self) -> int:
        return (self.steps + 1) ** self.dimensions

    @property
    def codes(self) -> int:
        """How many points the grid has for a number: its codes are their places, from 0 on."""
        return self.steps + 1

    @property
    def unit(self) -> float:
        """The width of a step."""
        return (self.high - self.low) / self.steps

    @property
    def factors(self) -> Sequence[int]:
        """How many values each coordinate has; a number of an answer is written with these as its digits' bases."""
        return [self.steps + 1] * self.dimensions

    def answer(self, index: int) -> tuple[float, ...]:
        digits = (index // (self.steps + 1) ** place % (self.steps + 1) for place in range(self.dimensions))
        return tuple(float(self.coordinate.points[digit]) for digit in digits)

    def index(self, values: Answers) -> Ints:
        rows = checked_rows(values, self.dimensions)
        return self.coordinate.index(rows.ravel()).reshape(rows.shape)

    @property
    def inputs(self) -> Sequence[Input]:
        return [each._replace(width=self.dimensions) for each in self.coordinate.inputs]

    def encode(self, values: Answers) -> Sequence[Ints]:
        """As `Interval.encode` for all numbers of each vector, the grid points in an array as narrow as they are."""
        if not self.clip and (floats := plain_rows(values, self.dimensions)) is not None:
            if len(floats) >= FEW:
                grid = self.low, self.high, self.steps
                pair = [Gridded(floats, grid, place, lambda: self._codes(floats)) for place in range(2)]
                return cast("Sequence[Ints]", pair)
            return self._codes(floats)
        return self._checked(values)

    def _codes(self, floats: Floats) -> Sequence[Ints]:
        narrow = np.min_scalar_type(self.steps - 1)
        found = kernels.grid_codes(floats.reshape(-1), self.coordinate.points, narrow)
        return self._checked(floats) if found is None else [code.reshape(floats.shape) for code in found]

    def _checked(self, values: Answers) -> Sequence[Ints]:
        """Of other numbers, or where some are refused."""
        rows = checked_rows(values, self.dimensions)
        return [code.reshape(rows.shape) for code in self.coordinate.encode(rows.ravel())]

    def placed(self, codes: Sequence[Ints], coins: Coins) -> Ints:
        return self.coordinate.placed(codes, coins)

    def place(self, values: Answers, coins: Coins) -> Ints:
        rows = checked_rows(values, self.dimensions)
        return self.coordinate.place(rows.ravel(), coins).reshape(rows.shape)

    def outside(self, values: Answers) -> int:
        """How many numbers in these vectors lie outside the range: what `clip` would move."""
        return self.coordinate.outside(checked_rows(values, self.dimensions).ravel())


@dataclass(frozen=True)
class UnitVectors(Domain[Sequence[float], Floats]):
    """Vectors of length one. Others are refused: divide each by its length, or normalize it in another way.

    There are too many of them to list, so certificates cannot go through them.

    >>> UnitVectors(2).index([[3 / 5, 4 / 5]])
    array([[0.6, 0.8]])
    """

    dimensions: int
    kind = "unit-vectors"

    def __post_init__(self) -> None:
        check_dimensions(self.dimensions)
        if self.dimensions < 2:
            raise InvalidParameter("Vectors of length one need at least two dimensions.")

    @property
    def labels(self) -> Sequence[int]:  # type: ignore[override]
        return range(self.dimensions)

    @property
    def size(self) -> int:
        return 1 << 53 * (self.dimensions - 1)  # about as many as floats can distinguish

    def answer(self, index: int) -> tuple[float, ...]:
        """One of the 2 d that lie on an axis."""
        place = index % (2 * self.dimensions)
        return tuple(float((-1) ** (place % 2)) if axis == place // 2 else 0.0 for axis in range(self.dimensions))

    @property
    def inputs(self) -> None:
        """Directions are for encoders: see `encoded`."""
        return None

    def index(self, values: Answers) -> Floats:
        return self.divided(values, np.float64)

    def divided(self, values: Answers, kind: DTypeLike) -> NDArray[Any]:
        """The vectors divided by their lengths, as numbers of this kind."""
        from deniable.kernels.lengths import unit_rows  # not before there are vectors

        rows = _rows_of(values, self.dimensions)
        found, right = unit_rows(rows.astype(np.float64, copy=False), 1e-2, kind)  # room for numbers of half precision
        if not right:
            checked_rows(rows, self.dimensions)
            raise OutsideDomain("A vector does not have length one. Divide it by its norm before it is randomized.")
        return found


def checked_rows(values: Answers, width: int) -> NDArray[Any]:
    """Finite numbers, `width` of them in each row."""
    rows = _rows_of(values, width)
    if not np.isfinite(rows).all():
        raise OutsideDomain("A vector holds values that are not finite numbers. Remove or replace them first.")
    return rows


def _rows_of(values: Answers, width: int) -> NDArray[Any]:
    """Numbers, `width` of them in each row."""
    try:
        rows = np.asarray(values)
    except ValueError:  # lists of different lengths
        rows = np.empty(0, object)
    if rows.ndim != 2 or rows.shape[1] != width or rows.dtype.kind not in "iuf":
        raise OutsideDomain(
            f"An answer is not a vector of {width} numbers. Give one row of {width} numbers for each answer."
        )
    return rows


def plain_rows(values: Answers, width: int) -> Floats | None:
    """The same array if it is a plain one of rows of this width in double precision, whatever it holds; else None."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 2 and values.shape[1] == width:
        return cast(Floats, values)
    return None


def rows_at_once(dimensions: int) -> int:
    """How many vectors are randomized at a time, so that their numbers stay in the processor's cache."""
    return max(1 << 6, min(1 << 15, (1 << 18) // dimensions))


def check_dimensions(dimensions: int) -> None:
    """Refuse vectors without coordinates, or with too many."""
    if isinstance(dimensions, bool) or not isinstance(dimensions, int) or not 1 <= dimensions <= MOST_DIMENSIONS:
        raise InvalidParameter(f"Vectors have 1 to {MOST_DIMENSIONS} dimensions.")


def check_unit_vectors(domain: object) -> None:
    """Refuse another domain than that of vectors of length one."""
    if not isinstance(domain, UnitVectors):
        raise InvalidParameter("This mechanism is for vectors of length one. Its domain must be UnitVectors(dimensions).")
