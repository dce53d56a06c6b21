"""Weights with which columns add up to one everywhere at the smallest cost: a dense linear program, by an interior path.

The simplex algorithm takes many minutes for a thousand dense rows. Here each step solves one system of as many equations as
there are rows (Mehrotra 1992). Stopped early, the prices are far from every corner, as column generation wants them.
"""

from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats
from deniable.errors import InvalidParameter

STEPS = 60  # far more than a path takes
INSIDE = 0.995  # the share of the way to the border that a step takes


@dataclass(frozen=True)
class Mixture:
    """Weights of the columns, the prices of the rows, and what the weights cost."""

    weights: Floats
    prices: Floats
    cost: float


def mixture(rows: Floats, sums: Floats, costs: Floats, close: float = 1e-6, kept: float = 1e-9) -> Mixture:
    """The cheapest weights with which rows @ weights are the sums. Costs are not negative.

    They are so close to the smallest cost, as a share of it, and rows miss their sums by at most `kept`.

    >>> found = mixture(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), np.ones(2), np.array([1.0, 1.0, 1.5]))
    >>> round(found.cost, 5), found.weights.round(5).tolist()
    (1.5, [0.0, 0.0, 1.0])
    """
    scale = float(costs.max()) or 1.0
    cost, count = costs / scale, len(costs)
    x, s, y = np.full(count, 1 / float(rows.sum(axis=1).max())), np.maximum(cost, 1e-2), np.zeros(len(sums))
    found: Mixture | None = None
    for _ in range(STEPS):
        short, off = sums - rows @ x, cost - y @ rows - s
        value = float(cost @ x)
        done = abs(value - float(sums @ y)) <= close * value
        if np.abs(short).max() <= kept:
            found = Mixture(x, y * scale, value * scale)  # later steps may lose the sums to rounding
            if done and np.abs(off).max() <= close:
                break
        ratio, mean = x / s, float(x @ s) / count
        normal = (rows * ratio) @ rows.T
        normal[np.diag_indices(len(sums))] += 1e-14 * np.trace(normal) / len(sums)
        try:
            root = np.asarray(np.linalg.cholesky(normal), np.float64)
        except np.linalg.LinAlgError:
            break  # the last digits are reached
        aim = -x * s
        for _ in range(2):  # straight ahead first, then towards the middle as far as that helped
            right = short + rows @ (ratio * off - aim / s)
            price = _solved(root, right)
            price = price + _solved(root, right - normal @ price)  # what rounding took
            slack = off - price @ rows
            weight = aim / s - ratio * slack
            far = _reach(x, weight), _reach(s, slack)
            ahead = float((x + far[0] * weight) @ (s + far[1] * slack)) / count
            aim = mean * (ahead / mean) ** 3 - x * s - weight * slack
        x, y, s = x + INSIDE * far[0] * weight, y + INSIDE * far[1] * price, s + INSIDE * far[1] * slack
    if found is None:
        raise InvalidParameter("The linear program was not solved: no weights with these sums were found.")
    return found


def _solved(root: Floats, right: Floats) -> Floats:
    """The solution for a matrix whose lower Cholesky factor is the root."""
    from scipy.linalg import solve_triangular

    half = solve_triangular(root, right, lower=True, check_finite=False)
    return np.asarray(solve_triangular(root, half, lower=True, trans=1, check_finite=False))


def _reach(point: Floats, step: Floats) -> float:
    """The share of a step, up to 1, that leads to the border."""
    down = step < 0
    return min(1.0, float((-point[down] / step[down]).min())) if down.any() else 1.0
