"""The smallest loss that any mechanism with these odds can have: a linear program."""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats
from deniable.domains.metric import Metric, checked_prior
from deniable.errors import InvalidParameter, MissingExtra

LARGEST = 64  # answers: the programme has their square in variables


def optimal_channel(
    metric: Metric, odds: Fraction, prior: ArrayLike | None = None, worst: bool = False
) -> tuple[float, Floats]:
    """The smallest expected loss under the prior, or with `worst` for the worst answer, and a channel that has it.

    A channel keeps the odds if each column lies between some t_y and odds t_y. With P[x, y] = t_y + u[x, y] the variables
    are t and u, u <= (odds - 1) t, and the rows sum to one. Solved by HiGHS (Huangfu, Hall 2018) through SciPy.
    """
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, eye_array, hstack, kron, vstack
    except ImportError:
        raise MissingExtra("The best channel", "stats") from None
    size, shares = metric.size, checked_prior(prior, metric.size)
    if size > LARGEST:
        raise InvalidParameter(f"The best channel is computed for at most {LARGEST} answers. Use Coarsened for more.")
    losses = metric.losses(np.arange(size))
    ones, each = np.ones((size, 1)), eye_array(size)
    sums = hstack([np.ones((size, size)), kron(each, ones.T)])  # row x: sum of t + sum of u[x, .]
    limits = hstack([kron(ones, -(float(odds) - 1) * each), eye_array(size * size)])  # u[x, y] - (odds - 1) t_y <= 0
    if worst:
        paid = hstack([csr_array(losses), csr_array(kron(each, ones.T) * losses.ravel())])
        cost = np.zeros(size + size * size + 1)
        cost[-1] = 1
        bound = csr_array(-ones)
        upper = vstack([hstack([limits, csr_array((size * size, 1))]), hstack([paid, bound])])
        sums = hstack([sums, csr_array((size, 1))])
        limit = np.zeros(size * size + size)
    else:
        cost = np.concatenate([shares @ losses, (shares[:, None] * losses).ravel()])
        upper, limit = limits, np.zeros(size * size)
    found = linprog(cost, A_ub=csr_array(upper), b_ub=limit, A_eq=csr_array(sums), b_eq=np.ones(size), method="highs")
    if found.status != 0:
        raise InvalidParameter(f"The linear program was not solved: {found.message}")
    base, extra = found.x[:size], found.x[size : size + size * size].reshape(size, size)
    channel = np.maximum(base + extra, 0)
    return float(found.fun), channel / channel.sum(axis=1, keepdims=True)
