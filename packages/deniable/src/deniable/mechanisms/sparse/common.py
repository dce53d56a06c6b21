"""How many items two people have in common, from their responses."""

import numpy as np
from numpy.typing import ArrayLike

from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse


def common_with(own: ArrayLike, reported: ArrayLike, coordinate: CoordinateResponse) -> tuple[float, float]:
    """From one person's own set (as truth values) and another's responses: (unbiased estimate, its exact variance).

    The sum of the unbiased indicators over one's own items; the variance is F for each of them, F = q (1 - q) / (1 - 2 q)^2.
    It depends on one's own set: keep it, or add noise before publishing it.
    """
    mine = np.asarray(own, np.bool_)
    return float(coordinate.indicator(reported, 1)[mine].sum()), float(mine.sum()) * coordinate.noise


def common_between(
    first: ArrayLike, second: ArrayLike, coordinate: CoordinateResponse, first_size: float, second_size: float
) -> tuple[float, float]:
    """From the responses of both: (unbiased estimate, its exact variance for sets of these true sizes).

    The sum of the products of the indicators; n F^2 + F (d1 + d2).
    """
    both = coordinate.indicator(first, 1) * coordinate.indicator(second, 1)
    noise = coordinate.noise
    return float(both.sum()), len(both) * noise**2 + noise * (first_size + second_size)
