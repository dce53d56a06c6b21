"""The best channels for linear questions by brute force, for few answers: what bounds are compared with."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog, minimize

from deniable.arrays import Floats

ROUNDS = 1500
FLOOR = 1e-5  # of weights, over their mean: J keeps an inverse where questions need none of some directions


def best_mean_square(gram: Floats, odds: float) -> tuple[float, float]:
    """A range that holds the smallest sum of variances of linear questions that any channel with these odds has, for n = 1.

    Answers are equally common, and some group of exchanges that turns any answer into any other leaves the questions as they
    are, so that columns may be mixed freely. Every extreme column has the odds for a set of answers; over all sets, the
    weights that make the trace of G J^-1 least are found by multiplicative steps (Silvey, Titterington, Torsney 1978), and
    what they prove is below the optimum: the trace is convex and of degree -1.
    """
    size = len(gram)
    held = np.array(list(itertools.product([0.0, 1.0], repeat=size)))[1:-1]
    columns = 1 + (odds - 1) * held
    columns /= columns.mean(axis=1, keepdims=True)
    weights = np.full(len(columns), 1 / len(columns))
    centred = gram - gram.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)  # the sum of all shares is known
    least, most = 0.0, math.inf
    for _ in range(ROUNDS):
        inverse = np.linalg.inv((columns * weights[:, None]).T @ columns)
        total = float(np.trace(centred @ inverse))
        slopes = np.einsum("yi,ij,yj->y", columns @ inverse, centred, columns @ inverse)
        least, most = max(least, total**2 / float(slopes.max())), min(most, total)
        weights = np.maximum(weights * np.sqrt(np.maximum(slopes, 0)), FLOOR / len(weights))
        weights /= weights.sum()
    return least, most


def best_expected_noise(gram: Floats, odds: float, shares: Floats) -> float:
    """The least sum of variances that reports add to linear questions, for n = 1 and people with these shares.

    Over all extreme columns, whose weights are such that rows sum to one; so no channel of the search is below the optimum.
    """
    held = np.array(list(itertools.product([0.0, 1.0], repeat=len(shares))))[1:-1]
    columns = 1 + (odds - 1) * held
    columns /= (columns @ shares)[:, None]

    def noise(weights: Floats) -> tuple[float, Floats]:
        inverse = np.linalg.inv((columns * weights[:, None]).T @ columns + 1e-12 * np.eye(len(shares)))
        turned = columns @ inverse
        return float(np.trace(gram @ inverse)), -np.einsum("yi,ij,yj->y", turned, gram, turned)

    random = np.random.default_rng(0)
    corners = [linprog(random.random(len(held)), A_eq=columns.T, b_eq=np.ones(len(shares))).x for _ in range(20)]
    whole = {"type": "eq", "fun": lambda weights: columns.T @ weights - 1, "jac": lambda _: columns.T}
    start, between = np.mean(corners, axis=0), [(0, None)] * len(held)
    options = {"maxiter": 1000, "ftol": 1e-12}
    found = minimize(noise, start, jac=True, bounds=between, constraints=[whole], method="SLSQP", options=options)
    return float(found.fun - gram.diagonal() @ shares)


def table_gram(sizes: Sequence[int], tables: Sequence[Sequence[int]]) -> tuple[Floats, int]:
    """The products of the columns of all cells of these tables over all combinations, and how many cells there are."""
    combinations = list(itertools.product(*map(range, sizes)))
    rows = [
        [float(all(each[place] == value for place, value in zip(table, cell, strict=True))) for each in combinations]
        for table in tables
        for cell in itertools.product(*(range(sizes[place]) for place in table))
    ]
    matrix = np.array(rows)
    return matrix.T @ matrix, len(rows)
