"""The formulas of the paper as they are printed, to be held against the exact channels. E = e^epsilon, x = e^(epsilon/2)."""

import math

import numpy as np

from deniable import Bipartite
from deniable.arrays import Floats
from deniable.domains import Ordered

# Fig. 3: the sorted losses of the true answers 1 to 7, columns 1 to 12, as printed.
FIGURE3 = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
    (1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    (1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9),
    (1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8),
    (1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7),
    (1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6),
    (1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6),
)


def sorted_losses(size: int, truth: int) -> Floats:
    """The losses of all answers for a true one from 1, in increasing order, as `Bipartite` sees them."""
    return np.sort(Ordered(range(1, size + 1)).losses(np.array([truth - 1]))[0])


def near_share(epsilon: float) -> float:
    """Theorem 1: m / N for many points."""
    return 1 / (math.exp(epsilon / 2) + 1)


def row_ratios(epsilon: float) -> tuple[float, float]:
    """Theorem 2: the largest and the smallest ratio of the loss of one true answer to that of direct response."""
    x = math.exp(epsilon / 2)
    return 2 / (x + 1), x - (x - 1) / (x + 1) * (math.sqrt(x * x + 2 * x + 2) + 1)


def mean_ratio(epsilon: float) -> float:
    """Theorem 3: the ratio of the mean losses for many points."""
    x = math.exp(epsilon / 2)
    return (7 * x + 9) / (4 * (x + 1) ** 2)


def row_loss(size: int, near: int, epsilon: float, place: int) -> float:
    """Appendix A.1: the loss of the true answer `place` + 1, for odd numbers of points and of near ones."""
    odds, half = math.exp(epsilon), (near - 1) / 2
    far = (size - place) * (size - place - 1) / 2
    if 2 * place >= near - 1:
        here = half * (half + 1)
        rest = far + place * (place + 1) / 2 - half * (half + 1)
    else:
        other = (near - 1 - place) * (near - place) / 2
        here, rest = other + place * (place + 1) / 2, far - other
    return (here * odds + rest) / (size + (odds - 1) * near)


def equation20(size: int, near: int, epsilon: float) -> tuple[float, float]:
    """The two lines of Eq. (20), the sum of the losses of all true answers, for odd numbers of points and of near ones."""
    odds, c, square = math.exp(epsilon), near / size, size**2
    cubes, below = (odds - 1) * c**3 + 3 * (odds - 1) * c**2, 12 * ((odds - 1) * c + 1)
    return (
        (cubes - 3 * odds + 4) / below * square - 1 / 12,
        (cubes * square - (odds - 1) * c - 3 * odds - 1 + 4 * square) / below,
    )


def bounds(size: int, epsilon: float) -> tuple[float, float]:
    """The proof of Theorem 1: the bound of Eq. (15) on the root of the end row, and that on the root of the middle row."""
    odds, x = math.exp(epsilon), math.exp(epsilon / 2)
    return (size * x - size) / (odds - 1), (x * (size - 1) - (size - odds + 1)) / (odds - 1)


def crossing(size: int = 11) -> float:
    """The epsilon from which the second of these bounds is the larger one, found by halving."""
    low, high = 0.01, 5.0
    for _ in range(60):
        middle = (low + high) / 2
        end, inner = bounds(size, middle)
        low, high = (middle, high) if inner < end else (low, middle)
    return high


def exact_limits(epsilon: float, size: int) -> tuple[float, float, float, float]:
    """What `near_share`, `row_ratios` and `mean_ratio` are limits of, from the mechanisms on so many points."""
    line = Ordered(range(1, size + 1))
    made, direct = Bipartite(line, epsilon), Bipartite(line, epsilon, near=1).row_losses()
    losses = made.row_losses()
    ratios = losses / direct
    return made.near / size, float(ratios.max()), float(ratios.min()), float(losses.sum() / direct.sum())
