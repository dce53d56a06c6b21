"""The best law under metric privacy: a linear program, exactly for few answers, from a family of columns for more."""

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.algebra.distances import spanner

EXACT = 64  # answers up to which all pairs are constraints; the program has their square in variables
DILATION = 1.2  # of the spanner whose edges are the first constraints
BROKEN = 1e-7  # by how much a pair may break its limit before it becomes a constraint
NEIGHBOURS = 6  # of each answer, whose columns are joined with its own
ROUNDS = 4  # of joining columns
FEWER = 1e-4  # the share by which a round must lower the loss for another to be worth its time


def best_channel(losses: Floats, limits: Floats, prior: Floats) -> tuple[float, Floats]:
    """A lower bound of the expected loss (0 if none is known), and a channel: an optimal one up to EXACT answers."""
    if len(losses) <= EXACT:
        return optimal_channel(losses, limits, prior)
    return 0.0, joined_channel(losses, limits, prior)


def optimal_channel(losses: Floats, limits: Floats, prior: Floats) -> tuple[float, Floats]:
    """The smallest expected loss with P[x, z] <= e^limits[x, x'] P[x', z] for all pairs, and a channel that has it.

    Bordenabe, Chatzikokolakis, Palamidessi 2014 tighten the limits by the dilation of a spanner and keep them on its edges
    only. Here the edges keep the limits themselves, which allows too much; pairs that the solution breaks become constraints
    until there are none, so the result is the optimum over all pairs. The bound is the dual value of the last program.
    """
    size, growth = len(losses), np.exp(np.minimum(limits, 600.0))
    first, second = spanner(limits, DILATION)
    rows, others = np.tile(np.concatenate([first, second]), size), np.tile(np.concatenate([second, first]), size)
    columns = np.repeat(np.arange(size), 2 * len(first))
    cost = (prior[:, None] * losses).T.ravel()  # variables are ordered by column
    sums = np.tile(np.eye(size), size)
    while True:
        count = np.arange(len(rows))
        values = np.concatenate([np.ones(len(rows)), -growth[rows, others]])
        places = np.tile(count, 2), np.concatenate([columns * size + rows, columns * size + others])
        bound, solution = _solved(cost, sums, (values, places, len(rows)))
        channel = np.maximum(solution.reshape(size, size).T, 0)
        broken = [_broken(column, growth) for column in channel.T]
        if not any(len(a) for a, _ in broken):
            return bound, channel
        rows = np.concatenate([rows, *(a for a, _ in broken)])
        others = np.concatenate([others, *(b for _, b in broken)])
        columns = np.concatenate([columns, *(np.full(len(a), z) for z, (a, _) in enumerate(broken))])


def _broken(column: Floats, growth: Floats) -> tuple[Ints, Ints]:
    """The pairs whose limit one column breaks, the worst ones."""
    excess = column[:, None] - growth * column[None, :]
    rows, others = np.nonzero(excess > BROKEN)
    worst = np.argsort(-excess[rows, others], kind="stable")[: 4 * len(column)]
    return rows[worst], others[worst]


def joined_channel(losses: Floats, limits: Floats, prior: Floats) -> Floats:
    """A channel with a small expected loss, for any number of answers: the best mixture of columns from a family.

    A column keeps the limits if it is exp(-limits from an answer), stops falling at some distance, or is the larger of two
    such. Each column is released as the answer that is best for it, and weights that make all rows sum to one are a linear
    program with as many constraints as answers. Columns of answers near each other are joined where its dual prices say
    that this lowers the loss.
    """
    size = len(losses)
    single, order = np.exp(-limits), np.sort(limits, axis=1)
    capped = [np.exp(-np.minimum(limits, order[:, [min(rank, size - 1)]])) for rank in (6, 16, 40, size // 4)]
    rays = np.vstack([np.ones((1, size)), single, *capped])
    near = np.argsort(limits, axis=1, kind="stable")[:, 1 : 1 + NEIGHBOURS]
    pairs = np.stack([np.repeat(np.arange(size), near.shape[1]), near.ravel()], axis=1)
    first, second = np.unique(np.sort(pairs, axis=1), axis=0).T
    rays = np.vstack([rays, np.maximum(single[first], single[second])])
    best, paid = np.inf, prior[:, None] * losses
    for _ in range(ROUNDS):
        priced = rays @ paid
        value, weights, prices = _mixture(priced.min(axis=1), rays)
        used = np.flatnonzero(weights > 1e-12)
        channel = np.zeros((size, size))
        np.add.at(channel.T, priced[used].argmin(axis=1), rays[used] * weights[used, None])
        if value > best * (1 - FEWER):
            break
        best, peaks = value, rays[used].argmax(axis=1)
        offers = np.vstack([np.maximum(rays[used], single[places]) for places in near[peaks].T])
        gain = (offers @ paid).min(axis=1) - offers @ prices
        chosen = np.argsort(gain, kind="stable")[: 2 * size]
        rays = np.vstack([rays[used], single, offers[chosen[gain[chosen] < 0]]])
    return channel


def _mixture(cost: Floats, rays: Floats) -> tuple[float, Floats, Floats]:
    """The cheapest weights with which the rays add up to one everywhere, their cost, and the prices of the answers."""
    found = _linprog(cost, A_eq=rays.T, b_eq=np.ones(rays.shape[1]))
    return float(found.fun), found.x, found.eqlin.marginals


def _solved(cost: Floats, sums: Floats, limits: tuple[Floats, tuple[Ints, Ints], int]) -> tuple[float, Floats]:
    """The value of the program, by its dual prices, and its solution."""
    from scipy.sparse import csr_array

    values, places, count = limits
    upper = csr_array((values, places), shape=(count, len(cost)))
    found = _linprog(cost, A_eq=csr_array(sums), b_eq=np.ones(len(sums)), A_ub=upper, b_ub=np.zeros(count))
    return float(found.eqlin.marginals.sum()), found.x


def _linprog(cost: Floats, **constraints: object):  # type: ignore[no-untyped-def]
    """Solved by HiGHS (Huangfu, Hall 2018) through SciPy."""
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise MissingExtra("The best law", "stats") from None
    method = "highs-ipm" if "A_ub" in constraints else "highs"
    found = linprog(cost, method=method, options={"primal_feasibility_tolerance": 1e-9}, **constraints)
    if found.status != 0:
        raise InvalidParameter(f"The linear program was not solved: {found.message}")
    return found
