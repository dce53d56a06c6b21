"""What compressed randomized response costs, and what is left for each coordinate."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

from deniable.core import SMALLEST_EPSILON
from deniable.errors import InvalidParameter

_DIGITS = 80


def response_epsilon(total: float, alpha: float, sparsity: float) -> float:
    """The budget of one coordinate's response: (total - sparsity) / (2 alpha).

    >>> response_epsilon(1.0, 2.0, 0.0)
    0.25
    """
    left = (total - sparsity) / (2 * alpha)
    if not left >= SMALLEST_EPSILON:
        raise InvalidParameter(
            "The budget leaves nothing for the response itself: it gets 1 / (2 alpha) of what the noisy sparsity leaves of "
            "epsilon. Raise epsilon, or lower alpha or the share."
        )
    return left


def represented_odds(odds: Fraction, alpha: float) -> Fraction:
    """odds^(2 alpha): what Poisson private representation makes of a channel with these odds; rounded up.

    For any shared draws and times, changing one coordinate moves each weight (r / T)^alpha, and so both a numerator and the
    sum that it is divided by, by at most odds^alpha (Liu, Chen, Ozgur, Li 2024). The bound is approached: it is tight.
    """
    exponent = 2 * Fraction(alpha)
    if exponent.denominator == 1:
        return odds**exponent.numerator
    with localcontext(Context(prec=_DIGITS)):
        logarithm = (Decimal(odds.numerator) / Decimal(odds.denominator)).ln()
        power = (logarithm * Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
        return Fraction(power * (1 + Decimal(10) ** (8 - _DIGITS)))
