"""The total error of a pure protocol, and the parameter that makes it smallest."""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np

from deniable.arrays import Floats

Real = TypeVar("Real", Fraction, Floats)


def total_error(values: int, p: Real, q: Real) -> Real:
    """n times the sum of all variances; the shares do not matter, since they sum to one.

    >>> total_error(2, Fraction(3, 4), Fraction(1, 4))
    Fraction(3, 2)
    """
    return values * q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q)


def hidden_share(p: Real, odds: Real, blank_support: Real, idle: Real | int = 0) -> Real:
    """How often somebody whose answer is open must send a blank report instead of disclosing it.

    A blank that supports some value is as rare as it may be, 1 / odds of what it is under that value; so is one that
    supports none, which is idle. Less would betray who has a sensitive value.
    """
    return p / (odds * blank_support) * (1 - idle * (1 - 1 / odds))


def open_error(values: int, p: Real, q: Real, odds: Real, hidden: Real, open_share: Real) -> Real:
    """As `total_error`, where these are only the sensitive values and `open_share` of all people have an open one.

    An open value is disclosed with probability z = 1 - hidden, and supports each sensitive value with u = p / odds.

    >>> open_error(2, Fraction(3, 4), Fraction(1, 4), Fraction(3), Fraction(1, 2), Fraction(0))
    Fraction(3, 2)
    """
    z, u = 1 - hidden, p / odds
    own = (1 - open_share) * q * (1 - q) + open_share * (u + (q - u) ** 2 / z - q * q)
    return (1 - open_share) * (1 - p - q) / (p - q) + values * own / (p - q) ** 2 + open_share * hidden / z


def lowest(choices: range, error: Callable[[int], Fraction | float]) -> int:
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
