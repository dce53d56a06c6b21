"""Balanced chunks: places 0 to n - 1 in m parts, none of them empty for m up to n."""

import math

import numpy as np

from deniable.arrays import Ints
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse

WORK = 7.0  # draws looked at for each coordinate that differs: a few milliseconds for a thousand


def chunk_of(places: Ints, size: Ints | int, chunks: Ints | int) -> Ints:
    """floor(y m / n)."""
    return places * chunks // size


def first_place(chunk: Ints, size: Ints | int, chunks: Ints | int) -> Ints:
    """ceil(j n / m): where a chunk begins, and the one before it ends.

    >>> first_place(np.arange(8), 10, 7).tolist()
    [0, 2, 3, 5, 6, 8, 9, 10]
    """
    return -(-chunk * size // chunks)


def chunk_numbers(counts: Ints, margin: int, load: float, least: int, size: Ints | int) -> Ints:
    """ceil((count + margin) / load) chunks for so many differing coordinates, within `least` and one for each place."""
    wanted = np.ceil((np.maximum(counts, 0) + margin) / load).astype(np.int64)
    return np.minimum(np.maximum(wanted, least), np.maximum(size, 1))


def best_load(coordinate: CoordinateResponse, work: float = WORK) -> float:
    """The largest mean number of differing coordinates in a chunk for which the encoder stays quick.

    A chunk with load l takes about e^(l (odds - 1)) draws, so a coordinate e^(l (odds - 1)) / l; never less than at the load
    1 / (odds - 1), where that is smallest.
    """
    growth = float(coordinate.odds) - 1
    low = 1 / growth
    high = low
    while math.exp(high * growth) / high <= work:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if math.exp(middle * growth) / middle <= work:
            low = middle
        else:
            high = middle
    return float(f"{low:.4g}")
