"""The bits of BitRand and of its rivals: how often each is flipped, what that costs, and what it does to a number."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from deniable.domains import SignMagnitude
from deniable.mechanisms.algebra.bit_budgets import ome_ones, sensitivities, water_filled
from deniable.mechanisms.algebra.mean_formulas import gaussian_scale
from deniable.mechanisms.vectors.bitrand import BitRand
from research import mean_formulas as formulas
from research.bit_formulas import published_flips, sign_magnitude_errors

FEATURES, BITS, WHOLE = 1000, 10, 5  # as in the paper's figures
LARGEST = SignMagnitude(1, BITS, WHOLE).largest  # what sign, five whole and four binary places can hold
BUDGETS = (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0)
NUMBERS = np.linspace(-1, 1, 201)  # over which errors are averaged, in units of the range
LATENT, OME = 7.0, 1.0  # the alpha that the paper takes for each
ROUNDS = 20  # of a search in which each gains several digits


def chances(name: str, features: int, bits: int, epsilon: float, alpha: float = 0.0) -> tuple[list[float], list[float]]:
    """How often a one and how often a zero is reported as one, bit by bit; in floats, for any number of bits.

    By OME with an odd number of bits, those of two neighbouring features: see `ome_ones`.

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
            ones = [1 / (1 + a)] * bits if name == "LATENT" else list(ome_ones(features, bits, a))
            return ones, [1 / (1 + a * math.exp(epsilon / (features * bits)))] * len(ones)
        case _:
            budgets = water_filled(sensitivities(bits, bits // 2), epsilon / features).epsilons
            zeros = (1 / (1 + np.exp(budgets))).tolist()
    return [1 - zero for zero in zeros], zeros


def corrected(name: str, features: int, bits: int, epsilon: float) -> float:
    """The epsilon that the paper gives LATENT or OME: that at which its theorems say that they cost epsilon."""
    if name not in ("LATENT", "OME"):
        return epsilon
    own = epsilon
    for _ in range(ROUNDS):
        own *= epsilon / claimed_epsilon(name, features, bits, own)
    return own


def flips(name: str, features: int, bits: int, epsilon: float) -> list[float]:
    """How often each bit is flipped, on average over ones and zeros; by LATENT and OME as the paper corrects them."""
    ones, zeros = chances(name, features, bits, corrected(name, features, bits, epsilon))
    return [(1 - one + zero) / 2 for one, zero in zip(ones, zeros, strict=True)]


def true_epsilon(name: str, features: int, bits: int, epsilon: float, alpha: float = 0.0) -> float:
    """What all bits of all features together cost: the losses of independent bits add up."""
    losses = [
        max(abs(math.log(one / zero)), abs(math.log((1 - one) / (1 - zero))))
        for one, zero in zip(*chances(name, features, bits, epsilon, alpha), strict=True)
    ]
    return _over_all(losses, features, bits)


def _over_all(numbers: Sequence[float], features: int, bits: int) -> float:
    """The sum over all bits of all features, from one number for each bit of one feature, or of two that take turns."""
    blocks = [numbers[start : start + bits] for start in range(0, len(numbers), bits)]
    return math.fsum(-(-(features - place) // len(blocks)) * math.fsum(block) for place, block in enumerate(blocks))


def claimed_epsilon(name: str, features: int, bits: int, epsilon: float, alpha: float = 0.0) -> float:
    """What the method of Theorems 5 and 6 says that a channel costs: the sum over all bits of ln(odds ratio) / E.

    The odds ratio is P(1|1) P(0|0) / (P(1|0) P(0|1)), and E = P(1|1) P(0|0) + P(1|0) P(0|1), by which the paper divides
    since two reports of the bit differ so often (Eqs. 28 to 36). It is no privacy loss, and may be below zero.
    """
    parts = []
    for one, zero in zip(*chances(name, features, bits, epsilon, alpha), strict=True):
        ratio = math.log(one) - math.log1p(-one) + math.log1p(-zero) - math.log(zero)
        parts.append(ratio / (one * (1 - zero) + zero * (1 - one)))
    return _over_all(parts, features, bits)


def t_test(first: ArrayLike, second: ArrayLike) -> float:
    """Student's test of two samples with equal variances, two-tailed: how likely means so far apart are if it is chance.

    With t = sqrt(n) tan(a) the tail of the law is the integral of cos^(n - 1) from a to a right angle.
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    n = len(a) + len(b) - 2
    pooled = (((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / n
    t = abs(a.mean() - b.mean()) / math.sqrt(pooled * (1 / len(a) + 1 / len(b)))
    start = math.atan(t / math.sqrt(n))
    nodes, weights = np.polynomial.legendre.leggauss(200)
    half = (math.pi / 2 - start) / 2
    scale = math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2)) / math.sqrt(math.pi)
    return float(2 * scale * half * (weights @ np.cos(start + half * (1 + nodes)) ** (n - 1)))


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
    "Gaussian": lambda epsilon, x: gaussian_scale(epsilon, 1e-5) * math.sqrt(2 / math.pi),
}


def rival_error(name: str, features: int, epsilon: float) -> float:
    """The mean absolute error of one feature at epsilon / r, over uniform numbers on the range."""
    numbers = NUMBERS if name != "Gaussian" else NUMBERS[:1]
    return LARGEST * float(np.mean([RIVALS[name](epsilon / features, float(x)) for x in numbers]))


def p_of_bounds() -> float:
    """The test of f-RR's bounds against those of all rivals, at the budgets from 1 on."""
    budgets = [epsilon for epsilon in BUDGETS if epsilon >= 1]
    ours = [bound("f-RR", FEATURES, BITS, WHOLE, epsilon) for epsilon in budgets]
    others = [
        bound(name, FEATURES, BITS, WHOLE, epsilon) for name in ("not bit-aware", "LATENT", "OME") for epsilon in budgets
    ]
    return t_test(ours, others + [rival_error(name, FEATURES, epsilon) for name in RIVALS for epsilon in budgets])


def p_of_flips(times: int = 1) -> float:
    """The test of f-RR's flips against LATENT's, over all bits at epsilon 0.1, 1 and 2, each listed so many times."""
    ours, latent = ([flip for e in (0.1, 1.0, 2.0) for flip in flips(n, FEATURES, BITS, e)] for n in ("f-RR", "LATENT"))
    return t_test(ours * times, latent * times)


def p_of_first_bits() -> float:
    """The test of the means over the first bits of f-RR against those of OME, at epsilon 1 and 2."""
    places = np.arange(1, BITS + 1)
    ours, ome = (
        np.concatenate([np.cumsum(flips(name, FEATURES, BITS, e)) / places for e in (1.0, 2.0)]) for name in ("f-RR", "OME")
    )
    return t_test(ours, ome)


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
