"""How far a string of a given share gets in the search: the scores of false prefixes and of a true one, level by level.

Scores are in standard errors. At each level the score of a prefix grows by r min(z, c r), where z is normal with mean t r,
r is the root of the level's share of the people, t the share of the string in standard errors of all people, and c the cap.
False prefixes have t = 0. The search keeps the best prefixes of each level; what is below them is lost.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from deniable.arrays import Floats

_LOW, _HIGH, _STEP = -10.0, 36.0, 0.05
_GRID = np.arange(_LOW, _HIGH, _STEP)


def cap_of(bits: int) -> float:
    """What all levels together add to a score at most, in standard errors: beyond what any of 2^bits strings has by chance.

    >>> round(cap_of(64), 1)
    12.0
    """
    return 1.274 * math.sqrt(2 * math.log(2) * bits)


def tail(z: float) -> float:
    """The probability that a standard normal exceeds z."""
    return 0.5 * math.erfc(z / math.sqrt(2))


@lru_cache(maxsize=4096)
def _step(mean: float, root: float, cap: float) -> tuple[int, Floats]:
    """The law of what one level adds, on the grid: its first place relative to zero, and its probabilities."""
    high = min(math.ceil(root * (mean * root + 8.0) / _STEP), math.floor(cap * root * root / _STEP))
    low = min(math.floor(root * (mean * root - 8.0) / _STEP), high)
    edges = (np.arange(low, high + 2) - 0.5) * _STEP / root - mean * root
    below = np.array([tail(-edge) for edge in edges.tolist()])
    chances = np.diff(below)
    chances[-1] += 1 - below[-1]  # what is beyond the cap
    return low, chances


def _grown(density: Floats, mean: float, root: float, cap: float) -> Floats:
    low, chances = _step(round(mean, 3), root, cap)
    whole = np.convolve(density, chances)
    found = np.zeros(len(density))
    start = max(0, -low)
    piece = whole[start : start + len(density) - max(0, low)]
    found[max(0, low) : max(0, low) + len(piece)] = piece
    found[0] += whole[:start].sum()
    return found


def _origin() -> Floats:
    density = np.zeros(len(_GRID))
    density[round(-_LOW / _STEP)] = 1.0
    return density


def floors(bits: Sequence[int], roots: Sequence[float], most: int, last: int) -> list[float]:
    """The scores below which prefixes are lost, level by level, if hardly any string is frequent.

    The search keeps `most` prefixes at each level and `last` strings at the end.
    """
    density, before, cap = _origin(), 0, cap_of(bits[-1])
    found: list[float] = []
    for own, root in zip(bits, roots, strict=True):
        kept = last if len(found) == len(bits) - 1 else most
        density = _grown(density, 0.0, root, cap) * 2.0 ** (own - before)
        above = np.cumsum(density[::-1])[::-1]
        place = int(np.searchsorted(-above, -float(kept)))  # the first with fewer above
        found.append(float(_GRID[min(place, len(_GRID) - 1)]) if above[0] > kept else -math.inf)
        if above[0] > kept:
            density[:place] = 0.0
        before = own
    return found


def survival(roots: Sequence[float], lost: Sequence[float], strength: float, bits: int) -> float:
    """The probability that a string of this strength, its share in standard errors, is never below what is lost.

    `bits`: those of the longest prefix.
    """
    density, cap = _origin(), cap_of(bits)
    for root, floor in zip(roots, lost, strict=True):
        density = _grown(density, strength, root, cap)
        if floor > -math.inf:
            density[: int(np.searchsorted(_GRID, floor))] = 0.0
    return float(min(density.sum(), 1.0))
