"""Places in regions, as the location figures divide them: by the first levels of their map tiles."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.domains import quadkey
from deniable.domains.quadkey import LEVELS
from research.data.folder import Data
from research.data.places import Places, places

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

    The paper states how many regions it has and how large the smallest and the largest are, and that places of a region have
    a common prefix. Places of the authors' program are divided by its rule, `by_prefix`. On other places the number of
    regions and the smallest size are met on purpose.
    """
    count, wanted, smallest, _ = COUNTS[name]
    found = places(data, name, seed, max(60, round(count * share)))
    if found.authors:
        return Regions(name, found, by_prefix(found.points, smallest))
    least, keys = max(2, round(smallest * share)), quadkey(found.points)
    for parts in range(wanted, 8 * wanted):
        region = _joined(found.points, _split(keys, parts), least)
        if region.max() + 1 >= wanted:
            break
    return Regions(name, found, region)


def by_prefix(points: NDArray[np.float64], least: int) -> Ints:
    """The rule of the authors' program: the smallest tile around a place with so many; one within another is dropped."""
    keys = quadkey(points)
    tiles = [keys >> 2 * (LEVELS - level) for level in range(LEVELS + 1)]
    deepest = np.zeros(len(keys), np.int64)
    for level, own in enumerate(tiles):
        _, place, count = np.unique(own, return_inverse=True, return_counts=True)
        deepest[count[place] >= least] = level
    region = np.full(len(keys), -1, np.int64)
    number = 0
    for level, own in enumerate(tiles):  # the coarsest first
        for tile in np.unique(own[(deepest == level) & (region < 0)]):
            region[(own == tile) & (region < 0)] = number
            number += 1
    return region


def _split(keys: Ints, count: int) -> list[Ints]:
    """At least so many tiles, the fullest having been split first."""
    parts: list[tuple[int, Ints]] = [(0, np.arange(len(keys)))]  # level and members
    while len(parts) < count:
        parts.sort(key=lambda part: -len(part[1]))
        full = next((place for place, part in enumerate(parts) if part[0] < LEVELS and len(part[1]) > 1), None)
        if full is None:
            break
        level, members = parts.pop(full)
        tile = keys[members] >> 2 * (LEVELS - level - 1)
        parts += [(level + 1, members[tile == each]) for each in np.unique(tile)]
    return [members for _, members in parts]


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
