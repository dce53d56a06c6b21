"""Tails of the chi-square distribution, central and not; SciPy is not needed for them."""

import math
from statistics import NormalDist

NORMAL = NormalDist()
_SMALL = 1e-300


def chi_square_tail(value: float, degrees: float) -> float:
    """The probability that a chi-square variable exceeds this value.

    >>> round(chi_square_tail(3.841458820694124, 1), 12), round(chi_square_tail(12.5, 4.5), 6)
    (0.05, 0.020327)
    """
    if value <= 0:
        return 1.0
    a, x = degrees / 2, value / 2
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:  # the series of the lower tail
        term = total = 1 / a
        place = a
        while term > total * 1e-17:
            place += 1
            term *= x / place
            total += term
        return max(0.0, 1 - total * scale)
    b, c = x + 1 - a, 1 / _SMALL  # the continued fraction of the upper one, by Lentz's method
    d = h = 1 / b
    for step in range(1, 10_000):
        factor = step * (a - step)
        b += 2
        d = 1 / _nonzero(factor * d + b)
        c = _nonzero(b + factor / c)
        h *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return h * scale


def _nonzero(value: float) -> float:
    return value if abs(value) > _SMALL else _SMALL


def chi_square_limit(level: float, degrees: float) -> float:
    """The value that a chi-square variable exceeds with this probability.

    >>> round(chi_square_limit(0.05, 9), 6)
    16.918978
    """
    low, high = 0.0, degrees + 10
    while chi_square_tail(high, degrees) > level:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if chi_square_tail(middle, degrees) > level else (low, middle)
    return (low + high) / 2


def noncentral_tail(value: float, degrees: float, centre: float) -> float:
    """The same if the variable is not central: a mixture of central ones whose degrees grow by two.

    >>> round(noncentral_tail(chi_square_limit(0.05, 1), 1, 7.848861), 4)
    0.8
    """
    half, total, weight_left = centre / 2, 0.0, 1.0
    start = int(half)
    for places in (range(start, start + 10_000), range(start - 1, -1, -1)):
        for place in places:
            weight = math.exp(place * math.log(half) - half - math.lgamma(place + 1)) if half > 0 else float(place == 0)
            total += weight * chi_square_tail(value, degrees + 2 * place)
            weight_left -= weight
            if weight < 1e-14:
                break
    return min(1.0, total)


def two_sided(z: float) -> float:
    """The probability of a standard normal variable at least as far from 0."""
    return math.erfc(abs(z) / math.sqrt(2))
