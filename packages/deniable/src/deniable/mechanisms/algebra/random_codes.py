"""Choosing one of some public random reports: how often the one that is chosen favours the true answer.

Of N reports that are drawn independently, each favours an answer with probability s. Those that do are put first, and a
place of this order is drawn, the first `near` of which are `odds` times as likely as the others. With K favouring reports,
one of them is chosen with probability (odds min(K, near) + max(K - near, 0)) / (near odds + N - near); K is binomial.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np


@lru_cache(maxsize=256)
def favoured(share: Fraction, codes: int, near: int, odds: Fraction) -> Fraction:
    """How often the chosen report favours the answer, an exact fraction.

    >>> favoured(Fraction(1, 2), 2, 1, Fraction(3)), favoured(Fraction(1, 2), 1, 1, Fraction(3))
    (Fraction(5, 8), Fraction(1, 2))
    """
    ones, zeros = share.numerator, share.denominator - share.numerator
    more, one = odds.numerator, odds.denominator
    total, power, ways = 0, 1, 1  # in whole numbers, by Horner's rule: fractions with thousands of digits are slow
    for count in range(codes, 0, -1):
        first = min(count, near)
        total = total * ones + ways * (more * first + one * (count - first)) * power
        power, ways = power * zeros, ways * count // (codes - count + 1)
    return Fraction(total * ones, share.denominator**codes * (near * more + (codes - near) * one))


@lru_cache(maxsize=256)
def best_near(share: Fraction, codes: int, odds: Fraction) -> int:
    """How many near places make a favouring report likeliest."""
    counts, float_odds = np.arange(codes + 1), float(odds)
    law = np.array([_binomial(codes, int(k), float(share)) for k in counts])
    at_least = np.cumsum(law[::-1])[::-1]
    firsts = np.cumsum(at_least[1:])  # the mean of min(K, near), for near = 1, 2, ...
    near = np.arange(1, codes)
    named = ((float_odds - 1) * firsts[:-1] + codes * float(share)) / (near * float_odds + codes - near)
    return int(np.argmax(named)) + 1


def _binomial(n: int, k: int, chance: float) -> float:
    logs = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(logs + k * math.log(chance) + (n - k) * math.log1p(-chance))
