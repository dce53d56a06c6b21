"""How much a report can say about shares."""

import math
from fractions import Fraction

import numpy as np

from deniable.arrays import Floats

UNITS = 2**20  # into which shares are divided to add them up


def most_information(size: int, odds: Fraction) -> Fraction:
    """The largest trace of what a report says about equally common answers, less what is known.

    With r the probability of a report under an answer over its mean, the sum of (r - 1)^2 is convex: it is largest where k
    answers have the odds and the others do not, for one of the whole k next to d / (odds + 1). It is at most
    d (odds - 1)^2 / (4 odds).

    >>> most_information(4, Fraction(3)), most_information(5, Fraction(3)) < 5 * Fraction(4, 12)
    (Fraction(4, 3), True)
    """
    best = size / (odds + 1)  # if k could be any number; the sum falls on both sides
    sizes = {min(max(k, 1), size - 1) for k in (math.floor(best), math.ceil(best))}
    return max(size * k * (size - k) * ((odds - 1) / (size - k + k * odds)) ** 2 for k in sizes)


def most_of_one(size: int, odds: Fraction) -> Fraction:
    """The most that a report says about one contrast of equally common answers: d ((odds - 1) / (odds + 1))^2.

    Proof. With X drawn evenly and u a contrast with squares that sum to 1, the report says d^2 E[u(X) u(X')] about it, where
    X' is drawn from what the report leaves likely. That is d times at most the second eigenvalue of the steps from X to the
    report and back to X', which is at most the largest distance in variation between two first steps times that between two
    second ones. The first is at most t = (odds - 1) / (odds + 1), because ratios are at most the odds. So is the second: on
    a set of answers whose odds are a, what two reports leave likely are at most a odds / (1 + a odds) and at least
    a / (a + odds), which differ most for a = 1, by t.

    >>> most_of_one(2, Fraction(3)) == most_information(2, Fraction(3))  # of two answers, there is one contrast
    True
    """
    return size * ((odds - 1) / (odds + 1)) ** 2


def most_variance(shares: Floats, odds: float) -> float:
    """The largest variance, for answers drawn with these shares, of the probability of a report over its mean.

    The same as `most_information` over d, for any shares: the odds go to a set of answers. If its share is q, the variance
    is q (1 - q) (odds - 1)^2 / (1 + q (odds - 1))^2, which rises up to q = 1 / (odds + 1) and falls from there. So the sets
    on both sides next to it count. Shares are rounded down to units, and their sums are below those of the shares by less
    than a unit for each.

    >>> round(most_variance(np.full(5, 0.2), 3.0), 4), round(float(most_information(5, Fraction(3)) / 5), 4)
    (0.3265, 0.3265)
    """
    best, reached = 1 / (odds + 1), 1
    for share in (shares * UNITS).astype(np.int64).tolist():
        reached |= reached << share  # bit s says that some set has s units
    place = math.floor(best * UNITS)
    below = (reached & ((1 << (place + 1)) - 1)).bit_length() - 1
    above = reached >> (place + 1)
    sides = [min(best, (below + len(shares)) / UNITS)]
    if above:
        sides.append(max(best, (place + (above & -above).bit_length()) / UNITS))
    return max(q * (1 - q) * ((odds - 1) / (1 + q * (odds - 1))) ** 2 for q in sides)


def least_sum(values: Floats, room: float, most: float) -> float:
    """The least sum of squared values, each over a number of at most `most`, if these numbers sum to at most `room`.

    Values fall. The numbers are proportional to them where that is not too large.

    >>> least_sum(np.array([2.0, 1.0]), 3.0, 9.0), least_sum(np.array([2.0, 1.0]), 3.0, 1.0)
    (3.0, 5.0)
    """
    full = 0  # how many numbers are as large as can be
    while full < len(values) and room * values[full] > most * values[full:].sum():
        room, full = room - most, full + 1
    rest = float(values[full:].sum())
    return float((values[:full] ** 2).sum()) / most + (rest**2 / room if rest else 0.0)


def singular_values(products: Floats) -> Floats:
    """Those of a matrix with these products of columns, the largest first, rounded down by what eigenvalues may be off."""
    found = np.linalg.eigvalsh(products)[::-1]
    return np.sqrt(np.maximum(found - len(found) * np.finfo(np.float64).eps * abs(found[0]), 0))
