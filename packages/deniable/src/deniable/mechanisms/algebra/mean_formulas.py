"""What mechanisms for a mean need to know of their published forms, on all of [-1, 1] and without a grid.

What runs here are finite channels on a grid, which tend to these as the grid gets finer. E = e^epsilon and
h = e^(epsilon / 2). Everything else about the published forms is in research/mean_formulas.py.
"""

import math

from deniable.core import checked_epsilon
from deniable.errors import InvalidParameter

HYBRID_FROM = 0.6093524930273093  # the epsilon from which on the hybrid beats Duchi's mechanism


def duchi_scale(epsilon: float) -> float:
    """C = (E + 1) / (E - 1) = coth(epsilon / 2)."""
    return 1 / math.tanh(epsilon / 2)


def duchi(epsilon: float, x: float) -> float:
    """The variance of Duchi's mechanism (Duchi, Jordan, Wainwright 2013)."""
    c = duchi_scale(epsilon)
    return c * c - x * x


def piecewise(epsilon: float, x: float) -> float:
    """The variance of the piecewise mechanism (Wang et al. 2019)."""
    h = math.exp(epsilon / 2)
    return x * x / (h - 1) + (h + 3) / (3 * (h - 1) ** 2)


def suboptimal_end(epsilon: float) -> float:
    """The largest report of PM-SUB, A = (E + t) (t + 1) / (t (E - 1)) with t = e^(epsilon / 3)."""
    e, t = math.exp(epsilon), math.exp(epsilon / 3)
    return (e + t) * (t + 1) / (t * (e - 1))


def suboptimal(epsilon: float, x: float) -> float:
    """The variance of PM-SUB (Zhao et al. 2020)."""
    e, t = math.exp(epsilon), math.exp(epsilon / 3)
    return (t + 1) * x * x / (e - 1) + (t + e) * ((t + 1) ** 3 + e - 1) / (3 * t * t * (e - 1) ** 2)


def hybrid_share(epsilon: float) -> float:
    """alpha, how often the hybrid takes the piecewise mechanism: never up to epsilon 0.609 (Wang et al. 2019)."""
    return 1 - math.exp(-epsilon / 2) if epsilon > HYBRID_FROM else 0.0


def hybrid(epsilon: float, x: float) -> float:
    """The variance of the piecewise mechanism with probability alpha, else of Duchi's."""
    alpha = hybrid_share(epsilon)
    return alpha * piecewise(epsilon, x) + (1 - alpha) * duchi(epsilon, x) if alpha else duchi(epsilon, x)


def three_outputs_share(epsilon: float) -> float:
    """The best a = P(0 | x = 0) of the three-output mechanism (Zhao et al. 2020; checked by direct minimization).

    0 up to epsilon = ln 2; E / (E + 2) from E = (3 + sqrt 65) / 2 on; between them a root of a cubic.
    """
    e = math.exp(epsilon)
    if epsilon <= math.log(2):
        return 0.0
    if e >= (3 + math.sqrt(65)) / 2:
        return e / (e + 2)
    d0 = e**4 + 14 * e**3 + 50 * e**2 - 2 * e + 25
    d1 = -2 * e**6 - 42 * e**5 - 270 * e**4 - 404 * e**3 - 918 * e**2 + 30 * e - 250
    angle = math.pi / 3 + math.acos(-d1 / (2 * d0**1.5)) / 3
    return -(-e * e - 4 * e - 5 + 2 * math.sqrt(d0) * math.cos(angle)) / 6


def three_outputs_law(epsilon: float, x: float) -> tuple[float, float, float, float]:
    """C, and the probabilities of -C, 0 and C; they are linear in |x| on either side of 0."""
    e, a = math.exp(epsilon), three_outputs_share(epsilon)
    c = e * (e + 1) / ((e - 1) * (e - a))
    zero = a * (1 - abs(x) * (1 - 1 / e))
    toward = (1 - a) / 2 + ((e - a) / (e + 1) - (1 - a) / 2) * abs(x)
    away = 1 - zero - toward
    return (c, away, zero, toward) if x >= 0 else (c, toward, zero, away)


def three_outputs(epsilon: float, x: float) -> float:
    """The variance of three outputs (Zhao et al. 2020)."""
    c, _, zero, _ = three_outputs_law(epsilon, x)
    return c * c * (1 - zero) - x * x


def gaussian_scale(epsilon: float, delta: float, width: float = 2.0) -> float:
    """The smallest standard deviation for (epsilon, delta) privacy of numbers that differ by up to `width`.

    A reference only: a Gaussian promises nothing with certainty, and no pure epsilon. Balle and Wang 2018: the
    smallest s with F(w/2s - s epsilon/w) - e^epsilon F(-w/2s - s epsilon/w) <= delta, F the normal distribution.

    >>> round(gaussian_scale(1.0, 1e-5), 3)
    7.461
    """
    checked_epsilon(epsilon)
    if not 0 < delta < 1:
        raise InvalidParameter("Delta must lie between 0 and 1, for example 1e-5.")

    def normal(z: float) -> float:
        return math.erfc(-z / math.sqrt(2)) / 2

    def lost(scale: float) -> float:
        a, b = width / (2 * scale), scale * epsilon / width
        tail = normal(-a - b)
        return normal(a - b) - (math.exp(epsilon + math.log(tail)) if tail > 0 else 0.0)

    low, high = 1e-6 * width, width
    while lost(high) > delta:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if lost(middle) > delta else (low, middle)
    return high
