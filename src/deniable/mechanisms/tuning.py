"""The total error of a pure protocol, and the parameter that makes it smallest."""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Real = TypeVar("Real", Fraction, NDArray[np.float64])


def total_error(values: int, p: Real, q: Real) -> Real:
    """n times the sum of all variances; the shares do not matter, since they sum to one.

    >>> total_error(2, Fraction(3, 4), Fraction(1, 4))
    Fraction(3, 2)
    """
    return values * q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q)


def lowest(choices: range, error: Callable[[int], Fraction]) -> int:
    """The choice with the smallest error, found by bisection: only for an error that falls and then rises.

    >>> lowest(range(1, 100), lambda size: Fraction((size - 30) ** 2))
    30
    """
    low, high = choices[0], choices[-1]
    while low < high:
        middle = (low + high) // 2
        if error(middle) <= error(middle + 1):
            high = middle
        else:
            low = middle + 1
    return low


def is_whole(number: object) -> bool:
    """Whether a parameter is a whole number; a truth value is none."""
    return isinstance(number, int | np.integer) and not isinstance(number, bool)
