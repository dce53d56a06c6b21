"""The bits of BitRand and of its rivals: how often each is flipped, what that costs, and what it does to a number."""

import math
from collections.abc import Callable

import numpy as np

from deniable.mechanisms import mean_formulas as formulas
from deniable.mechanisms.bit_budgets import published_flips, sensitivities, water_filled
from deniable.mechanisms.bitrand import BitRand, sign_magnitude_errors

FEATURES, BITS, WHOLE = 1000, 10, 5  # as in the paper's figures
LARGEST = 31.9375  # what sign, five whole and four binary places can hold
BUDGETS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0)
NUMBERS = np.linspace(-1, 1, 201)  # over which errors are averaged, in units of the range
LATENT, OME = 7.0, 1.0  # the alpha that the paper takes for each


def chances(name: str, features: int, bits: int, epsilon: float, alpha: float = 0.0) -> tuple[list[float], list[float]]:
    """How often a one and how often a zero is reported as one, bit by bit; in floats, for any number of bits.

    `BitRand` has the same in exact fractions, for up to 40 bits and budgets that can be split.
    """
    match name:
        case "f-RR":
            zeros = published_flips(features, bits, epsilon)
        case "not bit-aware":  # Theorem 2 with the exponents left out
            even = math.sqrt((epsilon + features * bits) / (2 * features * bits))
            zeros = [even / (1 + even)] * bits
        case "LATENT" | "OME":
            a = alpha or (LATENT if name == "LATENT" else OME)
            zeros = [1 / (1 + a * math.exp(epsilon / (features * bits)))] * bits
            if name == "LATENT":
                return [1 / (1 + a)] * bits, zeros
            return [a / (1 + a) if i % 2 == 0 else 1 / (1 + a**3) for i in range(bits)], zeros
        case _:
            budgets = water_filled(sensitivities(bits, bits // 2), epsilon / features).epsilons
            zeros = (1 / (1 + np.exp(budgets))).tolist()
    return [1 - zero for zero in zeros], zeros


def flips(name: str, features: int, bits: int, epsilon: float) -> list[float]:
    """How often each bit is flipped, on average over ones and zeros."""
    return [(1 - one + zero) / 2 for one, zero in zip(*chances(name, features, bits, epsilon), strict=True)]


def true_epsilon(name: str, features: int, bits: int, epsilon: float, alpha: float = 0.0) -> float:
    """What all bits of all features together cost: the losses of independent bits add up."""
    losses = (
        max(abs(math.log(one / zero)), abs(math.log((1 - one) / (1 - zero))))
        for one, zero in zip(*chances(name, features, bits, epsilon, alpha), strict=True)
    )
    return features * math.fsum(losses)


def bound(name: str, features: int, bits: int, whole: int, epsilon: float) -> float:
    """Theorem 4: the sum of flip probability times sensitivity."""
    return math.fsum(
        flip * size for flip, size in zip(flips(name, features, bits, epsilon), sensitivities(bits, whole), strict=True)
    )


def exact_error(epsilon: float) -> float:
    """The exact mean absolute error of f-RR, over numbers that are uniform on its range."""
    made = BitRand.as_published(FEATURES, BITS, epsilon, WHOLE)
    return float(np.mean([sign_magnitude_errors(made, x * LARGEST)["mae"] for x in NUMBERS[::8]]))


def _three(epsilon: float, x: float) -> float:
    law = formulas.three_outputs(epsilon, x)
    return law["p_minus"] * abs(-law["C"] - x) + law["p_zero"] * abs(x) + law["p_plus"] * abs(law["C"] - x)


def _hybrid(epsilon: float, x: float) -> float:
    share = formulas.hybrid(epsilon, x)["alpha"]
    first = formulas.piecewise(epsilon, x)["mae"] if share else 0.0
    return share * first + (1 - share) * formulas.duchi(epsilon, x)["mae"]


RIVALS: dict[str, Callable[[float, float], float]] = {
    "Duchi": lambda epsilon, x: formulas.duchi(epsilon, x)["mae"],
    "Piecewise": lambda epsilon, x: formulas.piecewise(epsilon, x)["mae"],
    "Hybrid": _hybrid,
    "Three-Outputs": _three,
    "PM-SUB": lambda epsilon, x: formulas.suboptimal(epsilon, x)["mae"],
    "Laplace": lambda epsilon, x: formulas.laplace(epsilon)["mae"],
    "Gaussian": lambda epsilon, x: formulas.gaussian_scale(epsilon, 1e-5) * math.sqrt(2 / math.pi),
}


def rival_error(name: str, features: int, epsilon: float) -> float:
    """The mean absolute error of one feature at epsilon / r, over uniform numbers on the range."""
    numbers = NUMBERS if name != "Gaussian" else NUMBERS[:1]
    return LARGEST * float(np.mean([RIVALS[name](epsilon / features, float(x)) for x in numbers]))


def kinds(bits: int) -> dict[str, int]:
    """The bits that the figures show, by their place; half of the bits are whole ones."""
    whole = bits // 2
    return {
        "sign bit": 0,
        "highest integer bit": 1,
        "lowest integer bit": whole,
        "highest fraction bit": min(whole + 1, bits - 1),
        "lowest fraction bit": bits - 1,
    }
