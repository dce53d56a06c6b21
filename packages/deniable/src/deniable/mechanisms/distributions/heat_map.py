"""What is published about places: the shares of rectangles, and a map of them, with errors that hold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, cast

import numpy as np

from deniable.arrays import Floats
from deniable.core import Estimate
from deniable.core.showing import axes_for
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.distribution import FittedShares, Histogram, Value, within_one
from deniable.mechanisms.distributions.plane import Plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Tiling(Histogram):
    """Shares of rectangles that cover a map, row by row: `values.reshape(bins)` is the map."""

    bins: tuple[int, int] = (1, 1)
    first_edges: Floats = field(default_factory=lambda: np.zeros(0))
    second_edges: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class HeatMap(FittedShares):
    """The distribution of places among the n people who reported.

    `values` are the shares of all answers that fit the reports best, never negative. Intervals belong to the unbiased linear
    estimate, `raw`, whose covariance is exact; they assume nothing about the map.
    """

    plane: Plane = field(repr=False)
    labels: tuple[object, ...] = field(repr=False)
    n: int
    values: Floats = field(repr=False)
    raw: Floats = field(repr=False)
    covary: Callable[[], Floats] = field(repr=False)

    def share(self, first: tuple[float, float], second: tuple[float, float]) -> Value:
        """The share of people in a rectangle: from and to of the first coordinate, and of the second."""
        return within_one(self.linear(self.plane.between(first, second)))

    def histogram(self, bins: tuple[int, int] = (8, 8)) -> Tiling:
        """The shares of so many rectangles, along the first coordinate and along the second, with their covariance."""
        if not all(1 <= many <= size for many, size in zip(bins, self.plane.shape, strict=True)):
            raise InvalidParameter(f"A map of {self.plane.shape} places has at most that many bins.")
        edges, parts = [], []
        for many, axis, place in zip(bins, self.plane.axes, self.plane.places, strict=True):
            ends = np.linspace(axis.points[0], axis.points[-1], many + 1)
            below = np.array([axis.below(end) for end in ends])
            below[0] = 0
            edges.append(ends)
            parts.append(np.diff(below, axis=0)[:, place])
        rows = (parts[0][:, None, :] * parts[1][None, :, :]).reshape(-1, len(self.values))
        labels = [
            f"{edges[0][i]:g} to {edges[0][i + 1]:g}, {edges[1][j]:g} to {edges[1][j + 1]:g}"
            for i, j in product(range(bins[0]), range(bins[1]))
        ]

        def covary() -> Floats:
            return rows @ self.covariance @ rows.T

        variance = np.maximum(np.einsum("ij,jk,ik->i", rows, self.covariance, rows, optimize=True), 0)
        return Tiling(
            labels, rows @ self.values, variance, self.n, covary, raw=rows @ self.raw, bins=(bins[0], bins[1]),
            first_edges=edges[0], second_edges=edges[1],
        )  # fmt: skip

    def estimate(self) -> Estimate:
        """The unbiased shares of all answers, with their exact variances."""
        return Estimate(cast(tuple[str, ...], self.labels), self.raw, self.covariance.diagonal(), self.n, self.covary)

    def plot(self, bins: tuple[int, int] = (32, 32), ax: "Axes | None" = None) -> "Axes":
        """The fitted shares as a heat map, the first coordinate upwards, as latitudes are."""
        first, second = (min(many, size) for many, size in zip(bins, self.plane.shape, strict=True))
        shown, ax = self.histogram((first, second)), axes_for(ax, 5, 4.2)
        cells = ax.pcolormesh(shown.second_edges, shown.first_edges, 100 * shown.values.reshape(shown.bins), cmap="Blues")
        ax.figure.colorbar(cells, ax=ax, label=f"% of {self.n:,} people")
        return ax
