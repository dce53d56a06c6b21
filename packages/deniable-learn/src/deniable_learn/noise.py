"""Exact noise for a curator who sees all data: two-sided geometric numbers, and choices by the exponential mechanism."""

from fractions import Fraction

import numpy as np

from deniable.arrays import Ints
from deniable.core.coins import Coins
from deniable.core.odds import odds_below, rounded_down
from deniable.errors import InvalidParameter

FARTHEST = 1 << 40


def step_odds(epsilon: float, sensitivity: int) -> Fraction:
    """The exact odds of one step, so many of which stay within the budget."""
    if sensitivity < 1:
        raise InvalidParameter("The sensitivity must be a whole number, at least 1.")
    return odds_below(rounded_down(Fraction(epsilon) / sensitivity))


def geometric_law(step: Fraction, number: int) -> Fraction:
    """P(k) = (odds - 1) / (odds + 1) odds^-|k|: the discrete Laplace law, whose ratio between neighbours is `step`."""
    return (step - 1) / (step + 1) * (1 / step) ** abs(number)


def geometric(step: Fraction, size: int, coins: Coins) -> Ints:
    """Numbers with the law `geometric_law`, drawn exactly (Ghosh, Roughgarden, Sundararajan 2009).

    The difference of two numbers of tosses until the first tail, each heads with probability 1 / odds, has that law.
    """
    return waiting(1 / step, size, coins) - waiting(1 / step, size, coins)


def waiting(heads: Fraction, size: int, coins: Coins) -> Ints:
    """How many heads come before the first tail, exactly.

    The binary digits of such a number are independent: digit i is one with probability h / (1 + h), h = heads^(2^i). So
    numbers below 2^b take b tosses, and whether 2^b more are to be added is one more toss of heads^(2^b), again and again.
    """
    if not 0 < heads < 1:
        raise InvalidParameter("The probability of heads must be between 0 and 1.")
    digits = max(1, min(12, int(-1 / np.log(float(heads))).bit_length()))
    out, power = np.zeros(size, np.int64), heads
    for digit in range(digits):
        out += coins.toss(power / (1 + power), size).astype(np.int64) << digit
        power = power * power
    left = np.arange(size)
    while len(left) and (left := left[coins.toss(power, len(left))]).size:
        out[left] += 1 << digits
        if out.max() > FARTHEST:
            raise InvalidParameter("This budget is too small: its noise cannot be represented.")
    return out


def choice_law(scores: Ints, step: Fraction) -> list[Fraction]:
    """The exponential mechanism: probabilities proportional to step^score, exactly.

    If one person changes no score by more than s, no probability changes by more than step^(2 s) (McSherry, Talwar 2007).
    """
    best = int(scores.max())
    weights = [(1 / step) ** (best - int(score)) for score in scores]
    total = sum(weights)
    return [weight / total for weight in weights]


def choose(scores: Ints, step: Fraction, coins: Coins) -> int:
    """One place with the law `choice_law`: any, kept with probability step^(score - best), else drawn again."""
    below = (scores.max() - scores).tolist()
    while True:
        place = int(coins.below(len(below), 1)[0])
        if coins.toss(_power(step, int(below[place])), 1)[0]:
            return place


def _power(step: Fraction, times: int) -> Fraction:
    """step^-times. Fractions of this kind are in lowest terms as they are, so that no division is needed."""
    return (1 / step) ** times
