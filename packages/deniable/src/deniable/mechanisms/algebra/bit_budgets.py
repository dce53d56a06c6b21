"""How to split a budget among the bits of a number, and what the published split of BitRand comes to.

Bit i kept by randomized response with epsilon_i is flipped with probability 1 / (1 + e^epsilon_i); the budgets add up.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np

from deniable.arrays import Floats
from deniable.core import checked_epsilon
from deniable.errors import InvalidParameter

ROUNDS = 80  # of bisection: more than a float has digits
MOST_OFFSET_BITS = 12

Number = TypeVar("Number", float, Fraction)


def ome_ones(features: int, bits: int, alpha: Number) -> tuple[Number, ...]:
    """How often OME reports a one as one: a / (1 + a) at even places and 1 / (1 + a^3) at odd ones.

    Places are counted over all bits of all features (BitRand, Eq. 33). With an odd number of bits, odd features begin at an
    odd place: then the bits of two neighbouring features are returned, otherwise those of one, which all are like.
    """
    count = 2 * bits if bits % 2 and features > 1 else bits
    return tuple(alpha / (1 + alpha) if place % 2 == 0 else 1 / (1 + alpha**3) for place in range(count))


@dataclass(frozen=True, eq=False)
class BitBudgets:
    """The epsilon of each bit, and the error that they minimise."""

    epsilons: Floats
    error: float


def water_filled(sizes: Sequence[float], budget: float) -> BitBudgets:
    """The smallest sum of sizes[i] / (1 + e^epsilon_i): the bound on the error that BitRand states, at a true budget.

    Where a bit gets something, flip (1 - flip) is inversely proportional to its size; bits too small for that get nothing.

    >>> water_filled([4.0, 1.0], 1.0).epsilons.tolist()
    [1.0, 0.0]
    """
    weights = _checked(sizes, budget)
    small = weights.max() / weights

    def budgets(largest: float) -> Floats:
        """All budgets, given that of the largest bit: 1 - tanh^2(epsilon_i / 2) is proportional to 1 / size."""
        inside = 1 - small / math.cosh(largest / 2) ** 2
        rest = np.sqrt(np.maximum(inside, 0))
        # For large budgets 1 - rest is too small for a float beside 1, so its logarithm is taken of what is left instead.
        left = small / math.cosh(largest / 2) ** 2 / (1 + rest)
        found = np.where(inside > 0, np.log1p(rest) - np.log(np.minimum(left, 1)), 0.0)
        return np.where(small == 1, largest, found)

    low, high = 0.0, float(budget)
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if budgets(middle).sum() > budget else (middle, high)
    epsilons = budgets(low)
    return BitBudgets(epsilons, float((weights / (1 + np.exp(epsilons))).sum()))


def least_variance(weights: Sequence[float], budget: float) -> BitBudgets:
    """The smallest variance of a sum of unbiased bits, sum of w_i^2 e_i / (e_i - 1)^2 with e_i = e^epsilon_i.

    At the best split w_i^2 e_i (e_i + 1) / (e_i - 1)^3 is the same for all bits: a cubic in e_i - 1 with one positive root.

    >>> least_variance([1.0, 1.0], 2.0).epsilons.round(12).tolist()
    [1.0, 1.0]
    """
    squares = _checked(weights, budget) ** 2

    def budgets(multiplier: float) -> Floats:
        # With v = 1 / (e_i - 1) the cubic is 2 v^3 + 3 v^2 + v = multiplier / w_i^2, which rises; Newton's steps from above.
        goal = multiplier / squares
        v = np.minimum(np.cbrt(goal / 2), goal)  # above the root, since 2 v^3 and v alone reach the goal there
        for _ in range(ROUNDS):
            after = v - (v * (v + 1) * (2 * v + 1) - goal) / (6 * v * (v + 1) + 1)
            if (v - after <= 1e-15 * v).all():
                break
            v = after
        return np.log1p(1 / v)

    low, high = -300.0, 300.0  # the logarithm of the multiplier; the larger it is, the smaller the budgets
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if budgets(math.exp(middle)).sum() > budget else (low, middle)
    epsilons = budgets(math.exp(high))
    return BitBudgets(epsilons, float((squares / (4 * np.sinh(epsilons / 2) ** 2)).sum()))


def _checked(weights: Sequence[float], budget: float) -> Floats:
    found = np.asarray(weights, np.float64)
    if found.ndim != 1 or len(found) == 0 or not (np.isfinite(found).all() and (found > 0).all()):
        raise InvalidParameter("Every bit needs a positive weight.")
    if not 0 < budget <= 1000:
        raise InvalidParameter("The budget of a number must be positive, and at most 1000.")
    return found


def offset_weights(bits: int) -> Floats:
    """What each bit of a number in offset binary is worth on [-1, 1], the highest first; they sum to 2."""
    if not 1 <= bits <= 40:
        raise InvalidParameter("A number in offset binary has 1 to 40 bits.")
    return 2.0 ** np.arange(bits, 0, -1) / (2**bits - 1)


def offset_variance(bits: int, epsilon: float) -> dict[str, float]:
    """The variance of a number in [-1, 1] sent in offset binary: of the bits, at worst, and for uniform numbers."""
    noise, step = least_variance(offset_weights(bits).tolist(), epsilon).error, 2 / (2**bits - 1)
    return {"noise": noise, "worst": noise + step**2 / 4, "average_uniform_x": noise + step**2 / 6}


def best_offset_bits(epsilon: float) -> int:
    """The number of bits with the smallest worst-case variance; up to epsilon 2 it is one, Duchi's mechanism.

    >>> [best_offset_bits(epsilon) for epsilon in (1.0, 3.0, 8.0)]
    [1, 2, 3]
    """
    checked_epsilon(epsilon)
    best = offset_variance(1, epsilon)["worst"]
    for bits in range(2, MOST_OFFSET_BITS + 1):  # it falls and then rises
        variance = offset_variance(bits, epsilon)["worst"]
        if variance >= best:
            return bits - 1
        best = variance
    return MOST_OFFSET_BITS


def published_alpha(features: int, bits: int, epsilon: float) -> float:
    """The largest alpha of BitRand's Theorem 2, sqrt((epsilon + r l) / (2 r sum over i of e^(2 epsilon i / l)))."""
    total = math.fsum(math.exp(2 * epsilon * i / bits) for i in range(bits))
    return math.sqrt((epsilon + features * bits) / (2 * features * total))


def sensitivities(bits: int, whole: int) -> list[float]:
    """How far a flip of each bit moves a number in sign and magnitude at most, rounded up to powers of two as published."""
    return [2.0 ** (whole + 1), *(2.0 ** (whole - i) for i in range(1, bits))]
