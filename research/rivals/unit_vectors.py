"""Published reports on vectors of length one: their exact errors, and the bits that they take beside a public seed.

An error is the mean of |z - x|^2 for one person, where z is the report decoded without bias and x has length one. All of
them are invariant under rotations, or begin with one, so that it is the same for every x.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import gammaln, ndtr

import deniable as dn
from deniable.arrays import Floats

COORDINATE = 16  # bits, in which `PrivUnit` reports a number
LONGEST = 16  # coordinates of a word that are tried
ROUNDS, LEVELS, SEED = 150, 12, 7  # of the search for Kashin coefficients


@dataclass(frozen=True)
class Cost:
    """The error of one report, and its bits."""

    error: float
    bits: int


def priv_unit(d: int, epsilon: float) -> Cost:
    """PrivUnit with the best cap (Bhowmick et al. 2018; Asi, Feldman, Talwar 2022): no unbiased report has less error."""
    return Cost(dn.PrivUnit(dn.UnitVectors(d), epsilon).length ** -2 - 1, COORDINATE * d)


def priv_unit_g(d: int, epsilon: float) -> Cost:
    """PrivUnitG with the best cap: a normal vector whose coordinate along x is beyond a threshold or not (Asi et al. 2022).

    In units of 1 / sqrt(d), with q the share beyond the threshold t and p = q odds / (q odds + 1 - q), the mean along x is
    f (p / q - (1 - p) / (1 - q)) with the normal density f at t, and the mean square 1 + t times as much.
    """
    t = np.linspace(0, 8, 80_001)
    q, f = ndtr(-t), np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)
    p = q * math.exp(epsilon) / (q * math.expm1(epsilon) + 1)
    gain = f * (p / q - (1 - p) / (1 - q))
    return Cost(float(np.min((1 + t * gain + d - 1) / gain**2)) - 1, COORDINATE * d)


def proj_unit(d: int, k: int, epsilon: float) -> Cost:
    """ProjUnit: PrivUnit after a public random projection onto k dimensions (Asi, Feldman, Nelson, Nguyen, Talwar 2023).

    The length r of the projection is lost; its mean is known, so that the error is that of k dimensions over (E r)^2.
    """
    logs = (math.lgamma((n + 1) / 2) - math.lgamma(n / 2) for n in (k, d))
    length = math.exp(next(logs) - next(logs))
    return Cost((priv_unit(k, epsilon).error + 1) / length**2 - 1, COORDINATE * k)


def half_spaces(d: int, epsilon: float) -> Cost:
    """PrivHS: on which side of a random plane x is, in the best number of rounds (Duchi, Jordan, Wainwright 2013)."""
    along = math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / math.sqrt(math.pi)
    costs = (Cost((1 / (along * math.tanh(epsilon / k / 2)) ** 2 - 1) / k, k) for k in range(1, 33))
    return min(costs, key=lambda cost: cost.error)


def simplex(d: int, epsilon: float, codes: int) -> Cost:
    """A corner of a public random simplex, the nearest ones `odds` times as likely (RRSC; Isik et al. 2023); codes <= d.

    The corners are at sqrt(M / (M - 1)) times the difference of M coordinates of a rotated x from their mean.
    """
    near, odds = np.arange(1, codes), math.exp(epsilon)
    longest = _largest_normals(codes)[:-1] * math.sqrt(codes / (codes - 1)) / _mean_length(d)
    lengths = (odds - 1) * longest / (near * odds + codes - near)
    return Cost(float(lengths.max()) ** -2 - 1, math.ceil(math.log2(codes)))


def _mean_length(d: int) -> float:
    """Of a vector of so many normal numbers."""
    return math.sqrt(2) * math.exp(math.lgamma((d + 1) / 2) - math.lgamma(d / 2))


@lru_cache(maxsize=16)
def _largest_normals(count: int) -> Floats:
    """The mean sums of the largest, of the two largest, ... of so many normal numbers."""
    grid = (np.arange(8_000) + 0.5) / 400 - 10
    above, below = (np.log(np.maximum(ndtr(sign * grid), 1e-300)) for sign in (-1, 1))
    j = np.arange(1, count + 1)[:, None]
    logs = gammaln(count + 1) - gammaln(j) - gammaln(count - j + 1) + (j - 1) * above + (count - j) * below - grid**2 / 2
    return np.asarray(np.cumsum(np.exp(logs) @ grid) / 400 / math.sqrt(2 * math.pi))


def sampled_kashin(d: int, epsilon: float) -> Cost:
    """SQKR: k of 2 d Kashin coefficients, each as one of two numbers, as a word of k bits (Chen, Kairouz, Ozgur 2020).

    With D coefficients a of at most c and F = (odds + 2^k - 1) / (odds - 1), the mean square of the decoded vector is
    (D / k)^2 (k c^2 F^2 d / D + F k (k - 1) / (D (D - 1)) (1 - |a|^2 d / D)), by one sign of a word and by two of them. The
    best k is taken. c and a are those of a random direction, found by projections.
    """
    coefficients, odds = kashin(d), math.exp(epsilon)
    count, most, squares = len(coefficients), float(np.abs(coefficients).max()), float((coefficients**2).sum())

    def cost(k: int) -> Cost:
        factor = (odds + 2**k - 1) / (odds - 1)
        alone = k * (most * factor) ** 2 * d / count
        pairs = factor * k * (k - 1) / (count * (count - 1)) * (1 - squares * d / count)
        return Cost((count / k) ** 2 * (alone + pairs) - 1, k)

    return min((cost(k) for k in range(1, LONGEST + 1)), key=lambda cost: cost.error)


def random_frame(d: int) -> "tuple[Floats, Frame]":
    """A random direction, and a frame for it."""
    draws = np.random.default_rng(SEED)
    x = draws.normal(size=d)
    return x / math.sqrt(float(x @ x)), Frame(2 * d, draws)


@lru_cache(maxsize=8)
def kashin(d: int) -> Floats:
    """Coefficients of a random direction in a tight frame of 2 d vectors, d a power of two, the largest as small as can be.

    The frame is the first d rows of a rotation by two Hadamard transforms with random signs. Coefficients of a given size
    are looked for by projections in turn onto the box and onto those that make the direction; the size by bisection.
    """
    x, frame = random_frame(d)
    best, low, high = frame.adjoint(x), 1 / math.sqrt(2 * d), float(np.abs(frame.adjoint(x)).max())
    for _ in range(LEVELS):
        level = (low + high) / 2
        found = best.copy()
        for _ in range(ROUNDS):
            found = np.clip(found, -level, level)
            found += frame.adjoint(x - frame.made(found))
        if np.abs(found).max() <= level * 1.002:
            best, high = found, level
        else:
            low = level
    return best


class Frame:
    """The first half of the rows of a Hadamard transform after random signs: a tight frame."""

    def __init__(self, size: int, draws: np.random.Generator) -> None:
        self.size, self.signs = size, draws.choice([-1.0, 1.0], (2, size))

    def adjoint(self, x: Floats) -> Floats:
        """The smallest coefficients of a vector."""
        wide = np.concatenate([x, np.zeros(self.size - len(x))])
        return np.asarray(_hadamard(_hadamard(wide * self.signs[0]) * self.signs[1]))

    def made(self, coefficients: Floats) -> Floats:
        """The vector that coefficients make."""
        wide = _hadamard(_hadamard(coefficients) * self.signs[1]) * self.signs[0]
        return np.asarray(wide[: self.size // 2])


def _hadamard(vector: Floats) -> Floats:
    found, half = vector.reshape(-1), 1
    while half < len(found):
        pairs = found.reshape(-1, 2, half)
        found = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return np.asarray(found / math.sqrt(len(found)))


def recursive_hadamard(d: int, epsilon: float) -> Cost:
    """RHR, for vectors of which one coordinate is 1 and all others are 0 (Chen, Kairouz, Ozgur 2020).

    A public row of a Hadamard matrix for d / B coordinates gives a sign; it and the number of the block of B are randomized
    as one of 2 B words. The decoded vector has the mean square (d / B) ((odds + 2 B - 1) / (odds - 1))^2; the best B is
    taken.
    """
    odds = math.exp(epsilon)
    costs = (
        Cost(d / blocks * ((odds + 2 * blocks - 1) / (odds - 1)) ** 2 - 1, 1 + int(math.log2(blocks)))
        for blocks in (1 << bits for bits in range(int(math.log2(d)) + 1))
    )
    return min(costs, key=lambda cost: cost.error)
