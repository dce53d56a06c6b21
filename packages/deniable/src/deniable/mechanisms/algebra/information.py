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
