"""Places in regions, as the location figures divide them: by the first levels of their map tiles."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.domains import quadkey
from deniable.domains.quadkey import LEVELS
from deniable.papers.data import Data
from deniable.papers.places import Places, places

Ints = NDArray[np.int64]

COUNTS = {"Gowalla": (1000, 13, 7, 235), "FourSquare": (3000, 14, 64, 278)}  # places, regions, smallest, largest, as stated


@dataclass(frozen=True, eq=False)
class Regions:
    """Places and the region of each."""

    name: str
    places: Places
    region: Ints

    @property
    def sizes(self) -> Ints:
        """How many places each region has."""
        return np.bincount(self.region)

    def members(self, number: int) -> Ints:
        """The places of a region."""
        return np.flatnonzero(self.region == number)


def divided(data: Data, name: str, seed: int, share: float = 1.0) -> Regions:
    """Tiles are split, the fullest first, until there are as many regions as stated; small ones join their neighbours.

    The paper tells how many regions it has and how large the smallest and the largest are, not how it divides.
    """
    count, wanted, smallest, _ = COUNTS[name]
    found = places(data, name, seed, max(60, round(count * share)))
    least = max(2, round(smallest * share))
    keys = quadkey(found.points)
    parts: list[tuple[int, Ints]] = [(0, np.arange(len(keys)))]  # level and members
    while len(parts) < wanted:
        parts.sort(key=lambda part: -len(part[1]))
        split = next((place for place, part in enumerate(parts) if part[0] < LEVELS and len(part[1]) > 1), None)
        if split is None:
            break
        level, members = parts.pop(split)
        tile = keys[members] >> 2 * (LEVELS - level - 1)
        parts += [(level + 1, members[tile == each]) for each in np.unique(tile)]
    return Regions(name, found, _joined(found.points, [part for _, part in parts], least))


def _joined(points: NDArray[np.float64], parts: list[Ints], least: int) -> Ints:
    parts = list(parts)
    while len(parts) > 1 and min(map(len, parts)) < least:
        small = min(range(len(parts)), key=lambda place: len(parts[place]))
        members = parts.pop(small)
        centres = np.array([points[part].mean(axis=0) for part in parts])
        nearest = int(((centres - points[members].mean(axis=0)) ** 2).sum(axis=1).argmin())
        parts[nearest] = np.concatenate([parts[nearest], members])
    region = np.zeros(len(points), np.int64)
    for number, part in enumerate(parts):
        region[part] = number
    return region
