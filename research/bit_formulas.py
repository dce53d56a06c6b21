"""BitRand as published: its flip probabilities, what its theorems promise, and the exact errors of its reports."""

import math

import numpy as np

from deniable.domains.codes import SignMagnitude
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.bit_budgets import published_alpha, sensitivities
from deniable.mechanisms.vectors.bitrand import BitRand


def published_flips(features: int, bits: int, epsilon: float) -> list[float]:
    """BitRand's flip probabilities, t / (1 + t) with t = alpha e^(epsilon i / l); some are above 1/2 from epsilon 1 on."""
    alpha = published_alpha(features, bits, epsilon)
    return [1 - 1 / (1 + alpha * math.exp(epsilon * i / bits)) for i in range(bits)]


def best_possible_epsilon(features: int, bits: int, epsilon: float) -> float:
    """The smallest true epsilon that any alpha gives BitRand's flips: r epsilon floor(l^2 / 4) / l."""
    return features * epsilon * (bits * bits // 4) / bits


def published_error_bound(features: int, bits: int, whole: int, epsilon: float) -> float:
    """BitRand's Theorem 4: the sum of flip probability times sensitivity, which bounds the mean absolute error."""
    flips = published_flips(features, bits, epsilon)
    return math.fsum(flip * size for flip, size in zip(flips, sensitivities(bits, whole), strict=True))


def sign_magnitude_errors(mechanism: BitRand, number: float) -> dict[str, float]:
    """The exact error of one report on one number of a code, over all its flips: read as it is, and made unbiased.

    `bias`, `mae` and `mse` are of the code read as if nothing had been flipped; `mean` and `variance` of the unbiased way.
    """
    domain = mechanism.domain
    if not isinstance(domain, SignMagnitude) or domain.bits > 20:
        raise InvalidParameter("These errors are known only for sign-and-magnitude numbers of up to 20 bits.")
    alone = SignMagnitude(1, domain.bits, domain.whole, domain.clip)
    true = alone.bits_of([[number]])[0, 0]
    codes = np.arange(1 << domain.bits)
    bits = codes[:, None] >> np.arange(domain.bits)[::-1] & 1
    ones, zeros = (np.array([float(c) for c in chances[: domain.bits]]) for chances in (mechanism.ones, mechanism.zeros))
    one = np.where(true, ones, zeros)
    chances = np.where(bits, one, 1 - one).prod(axis=1)
    plain = alone.decode(codes)
    first = mechanism._known[:, 0]  # of the first number
    known = np.where(first == 0, np.inf, first)
    unbiased = (bits - zeros) / known
    values = (2 * unbiased[:, 0] - 1) * (unbiased @ mechanism._weights)
    mean = float(chances @ values)
    return {
        "bias": float(chances @ plain) - number,
        "mae": float(chances @ np.abs(plain - number)),
        "mse": float(chances @ (plain - number) ** 2),
        "mean": mean,
        "variance": float(chances @ (values - mean) ** 2),
    }


def latent_published_epsilon(features: int, bits: int, epsilon: float, alpha: float) -> float:
    """What BitRand's Theorem 5 says LATENT costs: (1 + a) (1 + a e^x) / (a (1 + e^x)) epsilon, x = epsilon / (r l)."""
    e = math.exp(epsilon / (features * bits))
    return (1 + alpha) * (1 + alpha * e) / (alpha * (1 + e)) * epsilon


def ome_published_epsilon(features: int, bits: int, epsilon: float, alpha: float) -> float:
    """What BitRand's Theorem 6 says OME costs, with the sign as printed: below zero where alpha is large."""
    e, count, cube = math.exp(epsilon / (features * bits)), features * bits, alpha**3
    first = alpha / (1 + alpha) * (alpha * e / (1 + alpha * e)) + 1 / (1 + alpha * e) / (1 + alpha)
    second = 1 / (1 + cube) * (alpha * e / (1 + alpha * e)) + 1 / (1 + alpha * e) * cube / (1 + cube)
    return (count / first - count / second) * math.log(alpha) + epsilon / (2 * first) + epsilon / (2 * second)
