"""How far an estimate is from the truth, where the truth is known: in experiments."""

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.errors import InvalidParameter


def _both(truth: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    first, second = np.asarray(truth, np.float64), np.asarray(values, np.float64)
    if first.ndim != 1 or first.shape != second.shape or not first.size:
        raise InvalidParameter("The truth and the estimate must be two lists of numbers of the same length.")
    return first, second


def mse(truth: ArrayLike, values: ArrayLike) -> float:
    """The mean squared error over all values.

    >>> mse([0.5, 0.5], [0.5, 0.3])
    0.020000000000000004
    """
    first, second = _both(truth, values)
    return float(np.mean((first - second) ** 2))


def mae(truth: ArrayLike, values: ArrayLike) -> float:
    """The mean absolute error over all values.

    >>> mae([0.5, 0.5], [0.5, 0.3])
    0.1
    """
    first, second = _both(truth, values)
    return float(np.mean(np.abs(first - second)))


def _top(numbers: Floats, count: int) -> Ints:
    if not 1 <= count <= len(numbers):
        raise InvalidParameter(f"Of {len(numbers)} values, 1 to {len(numbers)} can be the top ones.")
    return np.argsort(-numbers, kind="stable")[:count]


def top_f1(truth: ArrayLike, values: ArrayLike, count: int) -> float:
    """How many of the `count` largest values are found among the `count` largest estimates: F1, here also the precision.

    >>> top_f1([4, 3, 2, 1], [4, 1, 3, 2], 2)
    0.5
    """
    first, second = _both(truth, values)
    return len(set(_top(first, count).tolist()) & set(_top(second, count).tolist())) / count


def top_ndcg(truth: ArrayLike, values: ArrayLike, count: int) -> float:
    """How well the `count` largest estimates are ranked: normalised discounted cumulative gain, with the truth as gain.

    >>> top_ndcg([4, 3, 2, 1], [4, 3, 2, 1], 2)
    1.0
    """
    first, second = _both(truth, values)
    weights = 1 / np.log2(np.arange(2, count + 2))
    best = float(first[_top(first, count)] @ weights)
    if best <= 0:
        raise InvalidParameter("The largest true values are all 0, so there is nothing to rank.")
    return float(first[_top(second, count)] @ weights) / best
