"""Noise for the second round: Laplace's, and the one of smooth sensitivity.

It is made of floating-point numbers of 53 bits, so that its promise is that of the theorem for real numbers; what is told is
rounded to whole 1/64, which takes away what the last bits could tell.
"""

import math

import numpy as np
from numpy.typing import NDArray

from deniable.core.coins import Coins
from deniable.errors import InvalidParameter
from deniable.sparse.encoder import stream

Floats = NDArray[np.float64]

STEEPEST = 3**0.75  # how fast the logarithm of 1 / (1 + x^4) can fall
WIDENING = 3.0  # how much it can change for each unit of the logarithm of its scale
BETA = 1 / 6  # beta as a share of the budget: half of it then pays for the widening


def uniforms(size: int, coins: Coins) -> Floats:
    """Numbers strictly between 0 and 1."""
    words = stream(coins).draw(8 * size).view("<u8") >> np.uint64(11)
    return np.asarray((words.astype(np.float64) + 0.5) * 2.0**-53)


def laplace(scales: Floats, coins: Coins) -> Floats:
    """Laplace noise of these scales."""
    side = uniforms(len(scales), coins) - 0.5
    return -np.sign(side) * np.log1p(-2 * np.abs(side)) * scales


def smooth(scales: Floats, coins: Coins) -> Floats:
    """Noise with density proportional to 1 / (1 + x^4), of variance one, times the scales."""
    out, left = np.empty(len(scales)), np.arange(len(scales))
    while left.size:  # from Cauchy's: (1 + x^2) / (1 + x^4) is at most (1 + sqrt 2) / 2
        x = np.tan(math.pi * (uniforms(len(left), coins) - 0.5))
        good = uniforms(len(left), coins) * (1 + math.sqrt(2)) / 2 <= (1 + x * x) / (1 + x**4)
        out[left[good]] = x[good]
        left = left[~good]
    return out * scales


def rounded(told: Floats) -> Floats:
    """What is told, to whole 1/64."""
    return np.rint(told * 64) / 64


def smooth_sensitivity(local: Floats, step: float, beta: float) -> Floats:
    """max over t = 0, 1, 2, ... of e^(-beta t) (local + t step): no neighbour's is smaller by more than e^-beta.

    >>> float(smooth_sensitivity(np.array([700.0]), 6.07, 0.03)[0])
    700.0
    """
    best = np.maximum(0.0, 1 / beta - local / step)
    around = [np.floor(best), np.floor(best) + 1]
    return np.maximum.reduce([local, *(np.exp(-beta * t) * (local + t * step) for t in around)])


def smooth_scale(epsilon: float, beta: float) -> float:
    """The scale for sensitivity one: 3^(3/4) / (epsilon - 3 beta).

    Moving the density 1 / (1 + x^4) by S costs 3^(3/4) S / scale, widening it by e^beta costs 3 beta, and the two together
    epsilon; Nissim, Raskhodnikova, Smith (2007) bound the same more roughly, by 10 / epsilon with beta = epsilon / 10.
    """
    if not 0 < WIDENING * beta < epsilon:
        raise InvalidParameter(
            "The widening takes a part of the second round's budget: beta lies between 0 and a third of it."
        )
    return STEEPEST / (epsilon - WIDENING * beta)
