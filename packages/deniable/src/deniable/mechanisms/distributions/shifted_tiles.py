"""Tiles of all widths on a map, which begin at different places from level to level."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Ints
from deniable.core import Domain
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.hierarchy import WHOLE
from deniable.mechanisms.distributions.level_mix import mixed_shares
from deniable.mechanisms.distributions.plane import plane_of
from deniable.mechanisms.distributions.tiles import Tiles

Cut = tuple[int, int]  # the width of the parts of an axis, and by how much the first is shorter
MOST_CUTS = 18  # of an axis that are tried
MOST_PLACES = 128  # for which levels are mixed, which takes a fraction of a second


@dataclass(frozen=True)
class ShiftedTiles(Tiles):
    """Draw a level with these weights, and report the tile of the answer at that level with the whole budget.

    A level [w, s, v, t] cuts the first axis into parts of w places, of which the first has s fewer, and the second into
    parts of v places, of which the first has t fewer. So the tiles of one level begin where those of others do not, and a
    rectangle is nearly a union of tiles at some level, wherever it lies. Otherwise as `Tiles`. The map is full: every pair
    of coordinates is an answer.
    """

    domain: Domain
    epsilon: float
    levels: Sequence[Sequence[int]]
    weights: Sequence[int]
    wire = "shifted-tiles-1"

    def _check(self, level: Sequence[int]) -> None:
        if not self.plane.full:
            raise InvalidParameter("Shifted tiles need a map on which every pair of coordinates is an answer. Use Tiles.")
        cuts = zip(level[::2], level[1::2], self.plane.shape, strict=False)
        good = len(level) == 4 and all(1 <= width <= size and 0 <= shift < width for width, shift, size in cuts)
        if not good or self._tiles(level) < 2:
            raise InvalidParameter(
                "A level of shifted tiles is a width and a shift for the first axis, then both for the second. A width is "
                "from 1 to the number of places, a shift from 0 to less than the width, and there are at least two tiles."
            )

    @classmethod
    def mixed(cls, domain: Domain, epsilon: float) -> "ShiftedTiles":
        """Levels of many widths, each shifted by nothing and by half, as often as all rectangles need them.

        The weights are about the best for the mean variance of all rectangles, if all answers are equally common
        (`mixed_shares`).
        """
        plane = plane_of(domain)
        if not plane.full or plane.size > MOST_PLACES:
            raise InvalidParameter(f"Shifted tiles are mixed for full maps of at most {MOST_PLACES} places.")
        first, second = (cuts(size) for size in plane.shape)
        whole = ((plane.shape[0], 0), (plane.shape[1], 0))
        levels = [(*one, *other) for one in first for other in second if (one, other) != whole]
        levels = [*(level for level in levels if level != (1, 0, 1, 0)), (1, 0, 1, 0)]  # the last distinguishes all answers
        shares = mixed_shares(plane.rectangles, [cls.of(domain, epsilon, [level]).information for level in levels])
        kept = {level: max(1, round(WHOLE * share)) for level, share in zip(levels, shares, strict=True) if share > 0}
        return cls(domain, epsilon, list(kept), list(kept.values()))

    def _tiles(self, level: Sequence[int]) -> int:
        rows, columns = self.plane.shape
        return parts(rows, level[0], level[1]) * parts(columns, level[2], level[3])

    def _tile(self, level: Sequence[int]) -> Ints:
        first, second = self.plane.places
        columns = parts(self.plane.shape[1], level[2], level[3])
        return np.asarray((first + level[1]) // level[0] * columns + (second + level[3]) // level[2])


def parts(size: int, width: int, shift: int) -> int:
    """Into how many parts so many places are cut.

    >>> parts(8, 3, 0), parts(8, 3, 2), parts(8, 8, 4)
    (3, 4, 2)
    """
    return (size - 1 + shift) // width + 1


def cuts(size: int) -> list[Cut]:
    """The cuts of an axis that are tried: all widths or, for long axes, some of them, unshifted and shifted by half.

    >>> cuts(4)
    [(1, 0), (2, 0), (2, 1), (3, 0), (4, 0)]
    """
    widths = sorted({round(size ** (step / (MOST_CUTS // 2 - 1))) for step in range(MOST_CUTS // 2)})
    if 2 * size <= MOST_CUTS:
        widths = list(range(1, size + 1))
    different: dict[tuple[int, ...], Cut] = {}
    for width in widths:
        for shift in (0, width // 2):
            different.setdefault(tuple((place + shift) // width for place in range(size)), (width, shift))
    return list(different.values())
