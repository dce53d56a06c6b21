"""Noise for the second round: Laplace's, and Student's for smooth sensitivity.

It is made of floating-point numbers of 53 bits, so that its promise is that of the theorem for real numbers; reports are
rounded to whole 1/64, which takes away what the last bits could reveal.
"""

import math

import numpy as np

from deniable.arrays import Floats
from deniable.core import Coins
from deniable.errors import InvalidParameter
from deniable.mechanisms.sparse.encoder import stream

FREEDOM = 5  # degrees of Student's noise: the fewest with a fourth moment, so that errors measured in runs mean something


def uniforms(size: int, coins: Coins) -> Floats:
    """Numbers strictly between 0 and 1."""
    words = stream(coins).draw(8 * size).view("<u8") >> np.uint64(11)
    return np.asarray((words.astype(np.float64) + 0.5) * 2.0**-53)


def laplace(scales: Floats, coins: Coins) -> Floats:
    """Laplace noise of these scales."""
    side = uniforms(len(scales), coins) - 0.5
    return -np.sign(side) * np.log1p(-2 * np.abs(side)) * scales


def smooth(scales: Floats, coins: Coins, freedom: int = FREEDOM) -> Floats:
    """Student's noise with so many degrees of freedom, of variance one, times the scales (drawn as in Bailey 1994)."""
    radius = np.sqrt(freedom * np.expm1(-2 / freedom * np.log(uniforms(len(scales), coins))))
    drawn = radius * np.cos(2 * math.pi * uniforms(len(scales), coins))
    return drawn * math.sqrt((freedom - 2) / freedom) * scales


def rounded(numbers: Floats) -> Floats:
    """These numbers, rounded to whole 1/64."""
    return np.rint(numbers * 64) / 64


def smooth_sensitivity(local: Floats, step: float, beta: float) -> Floats:
    """max over t = 0, 1, 2, ... of e^(-beta t) (local + t step): no neighbour's is smaller by more than e^-beta.

    >>> float(smooth_sensitivity(np.array([700.0]), 6.07, 0.03)[0])
    700.0
    """
    best = np.maximum(0.0, 1 / beta - local / step)
    around = [np.floor(best), np.floor(best) + 1]
    return np.maximum.reduce([local, *(np.exp(-beta * t) * (local + t * step) for t in around)])


def smooth_scale(epsilon: float, beta: float, freedom: int = FREEDOM) -> float:
    """The standard deviation for sensitivity one: (d + 1) / (2 sqrt(d - 2)) / (epsilon - d beta), d degrees of freedom.

    The logarithm of the density, -(d + 1) / 2 ln(1 + x^2 / d), falls by (d + 1) / (2 sqrt d) at most where x moves by one,
    and changes by d at most where the width changes by a factor of e: a move and a change of width by e^beta together cost
    epsilon. Nissim, Raskhodnikova, Smith (2007) take tails of 1 / x^4, whose fourth moment is infinite; Bun and Steinke
    (2019) Student's.
    """
    if not 0 < freedom * beta < epsilon:
        raise InvalidParameter(
            f"The widening takes a part of the second round's budget: beta lies between 0 and epsilon / {freedom}."
        )
    return (freedom + 1) / (2 * math.sqrt(freedom - 2)) / (epsilon - freedom * beta)


def smooth_scales(local: Floats, step: float, epsilon: float, widening: float, freedom: int = FREEDOM) -> Floats:
    """The standard deviations of the noise for these local sensitivities; `widening` is the share that pays for e^beta."""
    beta = widening * epsilon / freedom
    return smooth_sensitivity(local, step, beta) * smooth_scale(epsilon, beta, freedom)
