"""Where the answers of a domain lie on a map: a column of the first and of the second coordinate for each."""

from dataclasses import dataclass
from functools import cached_property, singledispatch

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Domain
from deniable.domains.points import Points
from deniable.domains.product import Product
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.fitting import Penalty, differences
from deniable.mechanisms.distributions.grid import Grid, grid_of
from deniable.mechanisms.distributions.workload import Workload


@dataclass(frozen=True, eq=False)
class Plane:
    """Two grids, and for each answer its place on either of them."""

    axes: tuple[Grid, Grid]
    places: tuple[Ints, Ints]

    @property
    def shape(self) -> tuple[int, int]:
        """How many places there are on either axis."""
        return self.axes[0].size, self.axes[1].size

    @property
    def size(self) -> int:
        return len(self.places[0])

    @property
    def full(self) -> bool:
        """Whether every pair of places is an answer, in order."""
        return self.size == self.shape[0] * self.shape[1]

    def tile(self, shape: tuple[int, int]) -> Ints:
        """The tile of each answer, if the axes are cut into so many parts."""
        first, second = (
            place * parts // axis.size for place, parts, axis in zip(self.places, shape, self.axes, strict=True)
        )
        return first * shape[1] + second

    def between(self, first: tuple[float, float], second: tuple[float, float]) -> Floats:
        """Which part of each answer lies in a rectangle, ends included, from 0 to 1."""
        rows, columns = (axis.between(*ends) for axis, ends in zip(self.axes, (first, second), strict=True))
        return np.asarray(rows[self.places[0]] * columns[self.places[1]])

    @cached_property
    def rectangles(self) -> Workload:
        """The shares of all rectangles."""
        each = [Workload.ranges(axis.size) for axis in self.axes]
        products = [own.gram[np.ix_(place, place)] for own, place in zip(each, self.places, strict=True)]
        return Workload(products[0] * products[1], "the shares of all rectangles", each[0].questions * each[1].questions)

    @cached_property
    def penalty(self) -> Penalty:
        """The integral of the squares of the second derivatives of the density, on a square of side one."""
        if not self.full:
            return Penalty(np.zeros((self.size, self.size)), self.size)
        first, second = ([differences(size, order, False) for order in range(3)] for size in self.shape)
        orders = ((2, 0, 1), (1, 1, 2), (0, 2, 1))  # with how often each mixed derivative occurs
        total = sum(times * np.kron(first[own], second[other]) for own, other, times in orders)
        return Penalty(np.asarray(total * float(self.size) ** 3), 3)


@singledispatch
def plane_of(domain: Domain) -> Plane:
    """Where the answers lie on a map; a new domain of places registers its own."""
    raise InvalidParameter(
        "A map needs answers with two coordinates: Product of two Intervals, such as Product([Interval(0, 1, steps=31), "
        "Interval(0, 1, steps=31)]), or Points with two coordinates each."
    )


@plane_of.register
def _(domain: Product) -> Plane:
    if len(domain.parts) != 2:
        raise InvalidParameter("A map has two coordinates: a Product of two Intervals, or of two Ordered.")
    first, second = (grid_of(part) for part in domain.parts)
    every = np.arange(domain.size)
    return Plane((first, second), (every // second.size, every % second.size))


@plane_of.register
def _(domain: Points) -> Plane:
    rows = np.asarray(domain.points, np.float64) if isinstance(domain.points, np.ndarray) else np.empty((0, 0))
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise InvalidParameter("A map needs points with two coordinates each.")
    axes = [np.unique(column, return_inverse=True) for column in rows.T]
    if min(len(points) for points, _ in axes) < 2:
        raise InvalidParameter("All points lie on one line. Ask for the distribution of the coordinate that differs.")
    first, second = (Grid(points, tuple(points.tolist()), atoms=True) for points, _ in axes)
    return Plane((first, second), (axes[0][1].astype(np.int64), axes[1][1].astype(np.int64)))
