"""The best law under metric privacy: a linear program, exactly for few answers, by columns for more; and its bound."""

from contextlib import suppress

import numpy as np

from deniable.arrays import Floats, Ints, Progress
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.algebra.distances import spanner
from deniable.mechanisms.algebra.interior import Mixture, mixture
from deniable.mechanisms.algebra.metric_bound import metric_bound, proved
from deniable.mechanisms.algebra.metric_columns import Columns

EXACT = 64  # answers up to which all pairs are constraints; the program has their square in variables
FARTHEST = (30.0, 20.0, 10.0)  # the largest limit, near the solver's tolerance; the next one is tried where it fails
DILATION = 1.2  # of the spanner whose edges are the first constraints
BROKEN = 1e-7  # by how much a pair may break its limit before it becomes a constraint
NEIGHBOURS = 6  # of each answer, whose columns are joined with its own
ROUNDS = 12  # of joining columns
FEWER = 2e-3  # the share by which a round must lower the loss for another to be worth its time
ROUGH = 1e-4  # how near to the best mixture those are that only tell which columns to join


def best_channel(losses: Floats, limits: Floats, prior: Floats, progress: Progress | None = None) -> tuple[float, Floats]:
    """An expected loss that no law can beat, proved in whole numbers, and a channel: an optimal one up to EXACT answers.

    `progress` is called with the share that is done.
    """
    columns, constant = Columns(losses, limits, prior), prior @ losses
    if not constant.min() > 0:  # everybody has the same answer, or some at the same place
        return 0.0, np.tile(np.arange(len(losses)) == constant.argmin(), (len(losses), 1)).astype(np.float64)
    if len(losses) <= EXACT:
        prices, channel = optimal_channel(losses, limits, prior)
        near = np.vstack([np.ones(len(losses)), columns.gains])
        found = columns.priced(prices, np.arange(len(losses)), near, 0.0)
        return max(0.0, proved(columns, prices, (each.flow for each in found))), channel
    rays, joined = joined_rays(columns)
    if progress is not None:
        progress(0.2)
    bound, more = metric_bound(columns, rays, joined.cost, progress and (lambda share: progress(0.2 + 0.7 * share)))
    return bound, channel_of(columns, np.vstack([rays, more]))


def optimal_channel(losses: Floats, limits: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """The channel with the smallest expected loss with P[x, z] <= e^limits[x, x'] P[x', z] for all pairs, and its prices.

    Bordenabe, Chatzikokolakis, Palamidessi 2014 tighten the limits by the dilation of a spanner and keep them on its edges
    only. Here the edges keep the limits themselves, which allows too much; pairs that the solution breaks become constraints
    until there are none, so the result is the optimum over all pairs. The prices of the answers are the dual solution
    of the last program; they sum to the smallest expected loss. Limits beyond the farthest count as it: pairs keep more.
    """
    for farthest in FARTHEST[:-1]:
        with suppress(InvalidParameter):
            return _optimum(losses, limits, prior, farthest)
    return _optimum(losses, limits, prior, FARTHEST[-1])


def _optimum(losses: Floats, limits: Floats, prior: Floats, farthest: float) -> tuple[Floats, Floats]:
    size, growth = len(losses), np.exp(np.minimum(limits, farthest))
    first, second = spanner(limits, DILATION)
    rows, others = np.tile(np.concatenate([first, second]), size), np.tile(np.concatenate([second, first]), size)
    columns = np.repeat(np.arange(size), 2 * len(first))
    cost = (prior[:, None] * losses).T.ravel()  # variables are ordered by column
    sums = np.tile(np.eye(size), size)
    while True:
        count = np.arange(len(rows))
        values = np.concatenate([np.ones(len(rows)), -growth[rows, others]])
        places = np.tile(count, 2), np.concatenate([columns * size + rows, columns * size + others])
        prices, solution = _solved(cost, sums, (values, places, len(rows)))
        channel = np.maximum(solution.reshape(size, size).T, 0)
        broken = [_broken(column, growth) for column in channel.T]
        if not any(len(a) for a, _ in broken):
            return prices, channel
        rows = np.concatenate([rows, *(a for a, _ in broken)])
        others = np.concatenate([others, *(b for _, b in broken)])
        columns = np.concatenate([columns, *(np.full(len(a), z) for z, (a, _) in enumerate(broken))])


def _broken(column: Floats, growth: Floats) -> tuple[Ints, Ints]:
    """The pairs whose limit one column breaks, the worst ones."""
    excess = column[:, None] - growth * column[None, :]
    rows, others = np.nonzero(excess > BROKEN)
    worst = np.argsort(-excess[rows, others], kind="stable")[: 4 * len(column)]
    return rows[worst], others[worst]


def joined_rays(columns: Columns) -> tuple[Floats, Mixture]:
    """Columns whose best mixture has a small expected loss, for any number of answers, and that mixture.

    A column keeps the limits if it is exp(-limits from an answer), stops falling at some distance, or is the larger of two
    such. Each column is released as the answer that is best for it, and weights that make all rows sum to one are a linear
    program with as many constraints as answers. Columns of answers near each other are joined where its dual prices say
    that this lowers the loss.
    """
    size, limits, single = columns.size, columns.limits, columns.gains
    order = np.sort(limits, axis=1)
    capped = [np.exp(-np.minimum(limits, order[:, [min(rank, size - 1)]])) for rank in (6, 16, 40, size // 4)]
    near = np.argsort(limits, axis=1, kind="stable")[:, 1 : 1 + NEIGHBOURS]
    pairs = np.stack([np.repeat(np.arange(size), near.shape[1]), near.ravel()], axis=1)
    first, second = np.unique(np.sort(pairs, axis=1), axis=0).T
    rays = np.vstack([np.ones((1, size)), single, *capped, np.maximum(single[first], single[second])])
    found = mixed(columns, rays, ROUGH)
    for _ in range(1, ROUNDS):
        used = np.flatnonzero(found.weights > 1e-6 * found.weights.max())
        peaks = rays[used].argmax(axis=1)
        offers = np.vstack([np.maximum(rays[used], single[places]) for places in near[peaks].T])
        gain = (offers @ columns.paid).min(axis=1) - offers @ found.prices
        chosen = np.argsort(gain, kind="stable")[: 2 * size]
        grown = np.vstack([np.ones((1, size)), single, rays[used], offers[chosen[gain[chosen] < 0]]])
        before, rays, found = found.cost, grown, mixed(columns, grown, ROUGH)
        if found.cost > before * (1 - FEWER):
            break
    return rays, found


def mixed(columns: Columns, rays: Floats, close: float = 1e-6) -> Mixture:
    """The cheapest mixture of columns whose rows sum to one."""
    rows, sums, costs = rays.T, np.ones(columns.size), (rays @ columns.paid).min(axis=1)
    try:
        return mixture(rows, sums, costs, close)
    except (
        InvalidParameter
    ):  # hardly any weights have these sums, so that no path is inside; the simplex algorithm needs none
        found = _linprog(costs, method="highs", A_eq=rows, b_eq=sums)
        return Mixture(np.asarray(found.x), np.asarray(found.eqlin.marginals), float(found.fun))


def channel_of(columns: Columns, rays: Floats) -> Floats:
    """The cheapest mixture as a channel: each column is released as the answer that is best for it."""
    released = (rays @ columns.paid).argmin(axis=1)
    channel = np.zeros((columns.size, columns.size))
    np.add.at(channel.T, released, rays * mixed(columns, rays).weights[:, None])
    return channel


def _solved(cost: Floats, sums: Floats, limits: tuple[Floats, tuple[Ints, Ints], int]) -> tuple[Floats, Floats]:
    """The dual prices of the program, and its solution."""
    from scipy.sparse import csr_array

    values, places, count = limits
    upper = csr_array((values, places), shape=(count, len(cost)))
    program = {"A_eq": csr_array(sums), "b_eq": np.ones(len(sums)), "A_ub": upper, "b_ub": np.zeros(count)}
    try:
        found = _linprog(cost, **program)
    except InvalidParameter:  # the simplex algorithm may get further
        found = _linprog(cost, method="highs-ds", **program)
    return np.asarray(found.eqlin.marginals), np.asarray(found.x)


def _linprog(cost: Floats, method: str = "highs-ipm", **constraints: object):  # type: ignore[no-untyped-def]
    """Solved by HiGHS (Huangfu, Hall 2018) through SciPy."""
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise MissingExtra("The best law", "stats") from None
    found = linprog(cost, method=method, options={"primal_feasibility_tolerance": 1e-9}, **constraints)
    if found.status != 0:
        raise InvalidParameter(f"The linear program was not solved: {found.message}")
    return found
