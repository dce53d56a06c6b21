"""Ratings: 0 for "not rated", a for a / 2 stars."""

import numpy as np
from numpy.typing import ArrayLike

from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse


def ratings_of(reported: ArrayLike, coordinate: CoordinateResponse) -> tuple[float, float]:
    """Of the responses of all people for one item: (unbiased number of raters, unbiased sum of their stars)."""
    z = np.asarray(reported)
    raters = float((1 - coordinate.indicator(z, 0)).sum())
    stars = sum(value / 2 * float(coordinate.indicator(z, value).sum()) for value in range(1, coordinate.values))
    return raters, stars
