"""Exact odds from an epsilon, and back: the only place where a float becomes a probability, rounded toward privacy."""

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from numbers import Real

from deniable.errors import InvalidParameter

SMALLEST_EPSILON = 1e-6
LARGEST_EPSILON = 100.0
_DIGITS = 80
# The fraction may lose this share of epsilon, a few units in the last place of a float, to get small integers.
_SHARE = Fraction(1, 10**15)


def checked_epsilon(epsilon: float) -> float:
    """The epsilon as a float, refused if it is not a sensible privacy budget.

    >>> checked_epsilon(1)
    1.0
    """
    real = isinstance(epsilon, Real) and not isinstance(epsilon, bool)
    if not real or not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise InvalidParameter(
            f"Epsilon must be a number from {SMALLEST_EPSILON:f} to {LARGEST_EPSILON:g}; this one is not. "
            "Use 0.1 to 1 for strong privacy, up to about 4 for moderate privacy."
        )
    return float(epsilon)


@lru_cache(maxsize=1024)
def odds_below(epsilon: float) -> Fraction:
    """The simplest fraction at most e^epsilon that loses no more than 1e-15 of epsilon.

    >>> odds_below(1.0)
    Fraction(99402293, 36568060)
    >>> odds_below(math.log(3))
    Fraction(3, 1)
    """
    exact = Fraction(checked_epsilon(epsilon))
    return simplest_between(_exp(exact * (1 - _SHARE), up=True), _exp(exact, up=False))


@lru_cache(maxsize=1024)
def log_up(odds: Fraction) -> float:
    """The smallest float that is at least ln(odds).

    >>> log_up(Fraction(3)) >= math.log(3)
    True
    """
    if odds == 1:
        return 0.0
    with localcontext(Context(prec=_DIGITS)):
        # Each step is correctly rounded; the margin covers the error that the quotient passes on to the logarithm.
        logarithm = (Decimal(odds.numerator) / Decimal(odds.denominator)).ln()
        margin = Decimal(10) ** (5 - _DIGITS) * max(Decimal(1), abs(logarithm))
        return rounded_up(Fraction(logarithm + margin))


def rounded_up(number: Fraction) -> float:
    """The smallest float that is at least `number`."""
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def rounded_down(number: Fraction) -> float:
    """The largest float that is at most `number`."""
    return -rounded_up(-number)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest denominator in [low, high], both positive.

    >>> simplest_between(Fraction(314, 100), Fraction(315, 100))
    Fraction(22, 7)
    """
    a, b, c, d = low.numerator, low.denominator, high.numerator, high.denominator  # the ends, a / b and c / d
    p, q, last_p, last_q = 1, 0, 0, 1  # convergents of the continued fraction that both ends begin with
    while (whole := -(-a // b)) * d > c:
        floor = whole - 1  # both ends lie strictly between floor and floor + 1
        p, q, last_p, last_q = floor * p + last_p, floor * q + last_q, p, q
        a, b, c, d = d, c - floor * d, b, a - floor * b
    return Fraction(whole * p + last_p, whole * q + last_q)


def exp_below(exponent: Fraction) -> Fraction:
    """A fraction at most e^exponent, good to about 70 digits.

    >>> 2.718281828 < exp_below(Fraction(1)) < 2.718281829
    True
    """
    return _exp(exponent, up=False)


def _exp(exponent: Fraction, *, up: bool) -> Fraction:
    """A bound of e^exponent, above or below, good to about 70 digits."""
    with localcontext(Context(prec=_DIGITS)):
        power = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
        margin = power * Decimal(10) ** (5 - _DIGITS)  # the quotient's rounding is magnified by at most the exponent, 100
        return Fraction(power + margin if up else power - margin)


def check_probability(probability: Fraction) -> None:
    """Refuse what is not an exact fraction in [0, 1]: floats never decide a coin."""
    if not isinstance(probability, Fraction) or not 0 <= probability.numerator <= probability.denominator:
        raise InvalidParameter("A probability must be a Fraction from 0 to 1, for example Fraction(3, 4).")
