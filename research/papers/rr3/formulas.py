"""The formulas of the paper as they are printed, and the same from the exact channels. N x variance is for people drawn."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from deniable import EqualWeight, KeySampling, ThreeState
from deniable.domains import Categories, KeyValue
from deniable.mechanisms.key_value.three_design import Point, variance

STEP = 1e-5  # of a derivative


def eq27(n: int, p: float, share: float) -> float:
    """Eq. 27 as printed: N x variance of EWRR_n."""
    return (1 - p + (n * p - 1) * share) * (p - (n * p - 1) * share) / (n * p - 1) ** 2


def exact_ewrr(n: int, p: float, share: float) -> float:
    """The same from the mechanism, for one person."""
    made = EqualWeight(Categories(range(n)), Fraction(str(p)))
    truth = [share] + [(1 - share) / (n - 1)] * (n - 1)
    return float(made.predict(truth, 1).for_population().standard_error[0] ** 2)


def dagger(p1: float | Fraction, p2: float | Fraction) -> Point:
    """The chances of RR3-dagger."""
    first, second = Fraction(p1), Fraction(p2)
    return first, (1 + second) / 2, 2 * second / (1 + second)


def degree_variance(p1: float | Fraction, p2: float | Fraction, share: float) -> float:
    """N x variance of pi_0 under RR3-dagger, by the library."""
    return variance("degree", dagger(p1, p2), (share, (1 - share) / 2, (1 - share) / 2))


def eq29(p1: float, p2: float, share: float) -> float:
    """Eq. 29 as printed: the same."""
    slope = 2 * p1 + p2 - 1
    return (1 - p2**2 + 2 * p2 * slope * share - slope**2 * share**2) / slope**2


def eq40(p1: float, p2: float, share: float) -> tuple[float, float]:
    """Eqs. 40a and 40b as printed: N x the derivatives of this variance by p1 and by p2."""
    slope = 2 * p1 + p2 - 1
    first = -4 * (1 - p2**2) - 4 * p2 * slope * share
    second = -2 * (1 - p2**2) - (2 * p2 + (1 - 4 * p1) * share) * slope
    return first / slope**3, second / slope**3


def eq42(p1: float, share: float) -> float:
    """Eq. 42 as printed: N x the derivative by p1 where p2 = 1/3."""
    slope = 2 * p1 - 2 / 3
    return (4 / 3 * p1 * slope * share - 4 * (8 / 9 + 2 / 3 * slope * share)) / slope**3


def exact_slopes(p1: float, p2: float, share: float) -> tuple[float, float]:
    """The derivatives of N x variance by p1 and p2, from the library's variance."""
    first = degree_variance(p1 + STEP, p2, share) - degree_variance(p1 - STEP, p2, share)
    second = degree_variance(p1, p2 + STEP, share) - degree_variance(p1, p2 - STEP, share)
    return first / (2 * STEP), second / (2 * STEP)


def eq41(power: int) -> float:
    """The constants of Eq. 41, from the library's variance at p2 = 1/3: times (2 p1 - 2/3)^2, at pi_0 = 0, and its slope."""
    third, p1 = Fraction(1, 3), Fraction(3, 4)
    slope = 2 * float(p1) - 2 / 3
    none = degree_variance(p1, third, 0.0) * slope**2
    if power == 0:
        return none
    return ((degree_variance(p1, third, 1.0) + 1) * slope**2 - none) / slope


def lost(law: Callable[[Fraction], Point], what: str, low: float, high: float) -> float:
    """Where reports stop to depend on the degree or on the weight, read off the exact channel, by halving."""

    def slope(at: float) -> Fraction:
        none, up, _ = ThreeState(*law(Fraction(at)), 100.0, claimed=True).channel
        return none[0] - up[0] if what == "degree" else up[1] - up[2]

    start = slope(low)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) * start > 0 else (low, middle)
    return high


def best_fake(key: float = 1.0, value: float = 0.5) -> float:
    """The mean of fake weights for which LPP costs least, among 201 of them, by the exact loss."""
    domain = KeyValue(["key"], -1, 1, 1)
    means = np.linspace(-1, 1, 201)
    losses = [KeySampling.privkv(domain, key, value, fake=float(mean)).loss().epsilon() for mean in means]
    return float(means[int(np.argmin(losses))])


def largest(allowed: Callable[[float], float], epsilon: float, low: float, high: float) -> float:
    """The largest number whose exact loss is within epsilon, by halving; the loss grows."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if allowed(middle) <= epsilon else (low, middle)
    return low


def equal_loss(n: int, p: float) -> float:
    """The exact loss of EWRR_n, from the mechanism's own matrix."""
    chances = np.asarray(EqualWeight(Categories(range(n)), Fraction(p)).matrix, np.float64)
    return math.log(float((chances.max(axis=0) / chances.min(axis=0)).max()))
