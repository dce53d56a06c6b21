"""The error of keys with values that no mechanism with an unbiased estimate can beat, if it rounds values to an end first.

There are d keys; each person has a key with probability f, and its value, 0 on a range from -1 to 1, is rounded to an end by
a coin. A report is decoded as numbers whose means are, for each key, whether a person has it, and its end, or 0. Let x be
these 2 d numbers less their means, and Y what is decoded, less the same. As for vectors (`vector_bounds`), with weights w
for the first d and the last d numbers,

    E[w x . Y] = E[w x . x] <= sqrt(E|Y|^2) g        where |E[r(x) w x]| <= g for all r of mean 1 and ratios up to the odds

so that E|Y|^2 >= (E[w x . x] / g)^2, of which d f (1 - f) is no noise but who has which key.

Where d f is at most 1, people have one key or none, and g is found by trying all extreme r: a keys of which both ends have
the odds, b keys of which one end has them, and those without a key, or not. Else people have d f keys on average, drawn
without regard to each other, and g^2 is at most the largest variance of w x in any direction times that of r, at most
(odds - 1)^2 / (4 odds).
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from deniable.arrays import Floats
from deniable.core import checked_epsilon

MOST = 2048  # keys for which all extreme reports are tried
ROUNDING = 1e-9  # relatively: many times what floats can be off
ROUNDS = 40  # of the search for the weights


def key_value_bound(keys: int, share: Fraction, epsilon: float, n: int, values: bool = True) -> float | None:
    """The standard error, root mean square over keys and over frequency and weight, or of frequencies alone.

    >>> round(key_value_bound(20, Fraction(1, 20), 1.0, 100), 4)
    0.2642
    """
    if keys > MOST:
        return None
    least = _least_noise(keys, share, checked_epsilon(epsilon), values) * (1 - ROUNDING)
    return math.sqrt(least / (n * keys * (2 if values else 1))) if least > 0 else None


@lru_cache(maxsize=128)
def _least_noise(keys: int, share: Fraction, epsilon: float, values: bool) -> float:
    """n times the variances of all keys, added up, at least."""
    odds, f = math.nextafter(math.exp(epsilon), math.inf), float(share)
    moments = keys * f * (1 - f), keys * f  # E[x . x] of the first and of the last numbers
    if keys * share <= 1:
        first, last = _extreme(keys, f, odds)
    else:
        most = (odds - 1) ** 2 / (4 * odds)
        spread = f * (1 - f) * keys / max(keys - 1, 1), f  # the largest variances, for sets of d f keys
        first, last = np.array([most * spread[0], 0.0]), np.array([0.0, most * spread[1]])  # either may be the larger one

    def reached(weight: float) -> float:
        return float((moments[0] + weight * moments[1]) ** 2 / (first + weight**2 * last).max())

    if not values:
        return reached(0.0) - moments[0]
    low, high = -6.0, 6.0  # of the logarithm of the weight; any weight proves something
    for _ in range(ROUNDS):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (low, right) if reached(math.exp(left)) > reached(math.exp(right)) else (left, high)
    return reached(math.exp((low + high) / 2)) - moments[0]


def _extreme(keys: int, f: float, odds: float) -> tuple[Floats, Floats]:
    """For all extreme r, the squared length of E[r x] in the first numbers, and in the last."""
    both, one = (each.ravel() for each in np.meshgrid(np.arange(keys + 1), np.arange(keys + 1), indexing="ij"))
    both, one = both[both + one <= keys], one[both + one <= keys]
    more, squares = odds - 1, []
    for nobody in (0.0, 1.0):
        mean = 1 + more * (f * both + f * one / 2 + (1 - keys * f) * nobody)
        each = [(level / mean - 1) ** 2 for level in (odds, (odds + 1) / 2, 1.0)]
        first = f * f * (both * each[0] + one * each[1] + (keys - both - one) * each[2])
        squares.append((first, f * f * one * (more / (2 * mean)) ** 2))
    return np.concatenate([first for first, _ in squares]), np.concatenate([last for _, last in squares])
