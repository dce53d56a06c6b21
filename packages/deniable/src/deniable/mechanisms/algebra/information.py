"""How much a report can say about shares."""

import math
from fractions import Fraction


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
