"""What is published about places where a map was asked for: the shares of its cells, and where most people are in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Floats
from deniable.core import Mechanism
from deniable.survey.kinds.kind import Published
from deniable.survey.kinds.summary import Shares, linear_shares

if TYPE_CHECKING:
    from deniable.mechanisms.distributions.heat_map import HeatMap

MOST = 8  # rows and columns of a published map
NAMED = 3  # cells that are described in words


def is_map(mechanism: Mechanism) -> bool:
    """Whether the reports of a mechanism give a map."""
    return hasattr(type(mechanism), "plane")


@dataclass(frozen=True, eq=False)
class MapSummary(Published):
    """The shares of the cells of a grid, neighbours together where there are more than 8 in a row, or of each place."""

    found: "HeatMap"

    @property
    def parts(self) -> Sequence[Shares]:
        """The cells."""
        return [self.cells]

    @cached_property
    def cells(self) -> Shares:
        """The cells row by row, from the south and the west, each with an interval of its own."""
        plane = self.found.plane
        if not plane.full:
            return linear_shares(self.found, [str(label) for label in self.found.labels], np.eye(plane.size))
        rows, columns = (min(size, MOST) for size in plane.shape)
        tile = plane.tile((rows, columns))
        sides = [
            ranges([*edges_of(axis.points)[_firsts(axis.size, parts)], edges_of(axis.points)[-1]])
            for axis, parts in zip(plane.axes, (rows, columns), strict=True)
        ]
        labels = [f"{first}, {second}" for first, second in product(*sides)]
        return linear_shares(self.found, labels, np.equal.outer(np.arange(rows * columns), tile).astype(np.float64))

    def sentences(self, confidence: float) -> list[str]:
        """The cells with most people, with their intervals; those that may be empty are not named."""
        shares = self.cells
        low, high = shares.interval(confidence)
        clear = [place for place in np.argsort(-shares.values)[:NAMED] if low[place] > 0]
        if not clear:
            return ["So far no cell of the map stands out from the noise."]
        named = [
            f"{shares.labels[place]} ({_percent(shares.values[place])}; interval {_percent(low[place])} to "
            f"{_percent(high[place])})"
            for place in clear
        ]
        return [f"Most people are in: {'; '.join(named)}."]


def _firsts(size: int, parts: int) -> list[int]:
    """The first place of each part, if so many are cut into so many parts."""
    tile = np.arange(size) * parts // size
    return np.unique(tile, return_index=True)[1].tolist()


def edges_of(centres: Floats) -> Floats:
    """The edges of equal cells with these centres, rounded to a hundred millionth of a degree.

    >>> edges_of(np.array([0.5, 1.5, 2.5])).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    half = (centres[1] - centres[0]) / 2
    return np.round(np.append(centres - half, centres[-1] + half), 8)


def ranges(edges: Sequence[float] | Floats) -> list[str]:
    """The cells between these edges, in words."""
    return [f"{low:.7g} to {high:.7g}" for low, high in pairwise(edges)]


def _percent(share: float) -> str:
    return f"{100 * max(share, 0.0):.1f} %"
