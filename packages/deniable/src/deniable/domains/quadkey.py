"""Quad-keys: places as tiles of a map that is cut into four, again and again; near places often share the first cuts."""

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Ints
from deniable.errors import InvalidParameter

LEVELS = 23  # tiles of about five metres at the equator
_EDGE = 85.05112878  # the latitude at which the square map ends


def quadkey(places: ArrayLike, levels: int = LEVELS) -> Ints:
    """The map tile of each place (latitude, longitude), as a number of two bits a level, the coarsest level first.

    Two places whose keys agree in the first 2 k bits lie in the same tile of level k. Near places may still lie on two
    sides of a coarse cut, so the number of levels they share is a rough measure of nearness.

    >>> [np.base_repr(key, 4) for key in quadkey([[48.8584, 2.2945], [48.8738, 2.2950]], 14)]
    ['12022001101200', '12022001101022']
    """
    degrees = np.asarray(places, np.float64)
    if degrees.ndim != 2 or degrees.shape[1] != 2 or not np.isfinite(degrees).all():
        raise InvalidParameter("Places are rows of latitude and longitude in degrees.")
    if not 1 <= levels <= 31:
        raise InvalidParameter("levels must be from 1 to 31.")
    sine = np.sin(np.radians(np.clip(degrees[:, 0], -_EDGE, _EDGE)))
    across = (degrees[:, 1] + 180) / 360
    down = 0.5 - np.log((1 + sine) / (1 - sine)) / (4 * np.pi)
    column, row = (np.clip(np.floor(part * 2**levels), 0, 2**levels - 1).astype(np.int64) for part in (across, down))
    key = np.zeros(len(degrees), np.int64)
    for level in range(levels - 1, -1, -1):
        key = key << 2 | (row >> level & 1) << 1 | (column >> level & 1)
    return key
