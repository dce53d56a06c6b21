"""Bipartite randomized response, its rivals and the optimum, on lines, points and loss matrices."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.core.odds import log_up
from deniable.domains.metric import Metric
from deniable.mechanisms.algebra.split import row_split
from deniable.mechanisms.releases.release_channel import exponential_scale, one_sum
from tests.golden.kinds.registry import kind

Inputs = Mapping[str, Any]


def row_splits(metric: Metric, odds: Fraction) -> list[int]:
    """The best number of near answers for each row on its own."""
    return [row_split(row, odds) for _, rows in metric.blocks() for row in rows]


def line(inputs: Inputs) -> dn.Ordered:
    return dn.Ordered(range(1, inputs["N"] + 1))


@kind("row_m")
def row_m(inputs: Inputs) -> object:
    """Algorithm 1 on one row: the split, and the expected loss of that row."""
    losses, odds = np.sort(np.array(inputs["losses"], np.float64)), dn.odds_below(inputs["eps"])
    near = row_split(inputs["losses"], odds)
    weights = np.where(np.arange(len(losses)) < near, float(odds), 1.0)
    return {"m": near, "Q": float(weights @ losses / weights.sum())}


@kind("line_m")
def line_m(inputs: Inputs) -> object:
    mechanism = dn.Bipartite(line(inputs), inputs["eps"])
    if inputs["N"] > 100:  # entries of large lines have the number alone
        return {"m": mechanism.near}
    rows = row_splits(line(inputs), mechanism.odds)
    assert min(rows) == mechanism.near
    middle = (inputs["N"] - 1) // 2
    return {"m": mechanism.near, "m_first_row": rows[0], "m_middle_row": rows[middle]}


@kind("row_q")
def row_q(inputs: Inputs) -> object:
    return float(dn.Bipartite(line(inputs), inputs["eps"], near=inputs["m"]).row_losses()[inputs["k"] - 1])


@kind("qg_line")
def qg_line(inputs: Inputs) -> object:
    domain, epsilon = line(inputs), inputs["eps"]
    smallest, best = dn.Bipartite(domain, epsilon), dn.Bipartite(domain, epsilon, "mean")
    return {
        "grr": dn.Bipartite(domain, epsilon, near=1).expected_loss(),
        "brr": smallest.expected_loss(),
        "m": smallest.near,
        "best_m": best.near,
        "best_brr": best.expected_loss(),
    }


def optimum(domain: dn.Ordered, epsilon: float, prior: list[float] | None) -> float:
    """Of the linear programme, of its exact repair, and of the dynamic programme: all three must agree."""
    found = dn.compare_releases(domain, epsilon, prior)["optimal"].expected
    coarse = dn.Coarsened(domain, epsilon, prior=prior).expected_loss(prior)
    repaired = dn.ReleaseChannel.optimal(domain, epsilon, prior).expected_loss(prior)
    assert abs(coarse - found) < 1e-7 and abs(repaired - found) < 1e-7
    return coarse


@kind("ldp_optimum_line")
def ldp_optimum_line(inputs: Inputs) -> object:
    return optimum(line(inputs), inputs["eps"], None)


@kind("ldp_optimum_prior")
def ldp_optimum_prior(inputs: Inputs) -> object:
    return optimum(line(inputs), inputs["eps"], inputs["prior"])


@kind("best_m_prior")
def best_m_prior(inputs: Inputs) -> object:
    best = dn.Bipartite(line(inputs), inputs["eps"], "mean", prior=inputs["prior"])
    return {"m": best.near, "Q": best.expected_loss(inputs["prior"])}


@kind("channel_line")
def channel_line(inputs: Inputs) -> object:
    assert inputs["tie_rule"] == "lower index first"
    return dn.Bipartite(line(inputs), inputs["eps"], near=inputs["m"]).matrix.tolist()


@kind("channel_rank")
def channel_rank(inputs: Inputs) -> object:
    mechanism = dn.Bipartite(line(inputs), inputs["eps"], near=inputs["m"])
    assert mechanism.rank == np.linalg.matrix_rank(mechanism.matrix)
    return mechanism.rank


@kind("bad_ties_eps")
def bad_ties_eps(inputs: Inputs) -> object:
    """What it would cost to take all answers that are as near as the last one: rows then have different sums."""
    domain, odds = line(inputs), dn.odds_below(inputs["eps"])
    losses = domain.losses(np.arange(domain.size))
    near = losses <= np.sort(losses, axis=1)[:, inputs["m"] - 1, None]
    rows = [[odds.numerator if each else odds.denominator for each in row] for row in near.tolist()]
    worst = dn.FiniteChannel(domain, inputs["eps"], one_sum(rows)).loss()
    assert worst.odds is not None
    return log_up(worst.odds)


@kind("points_2d")
def points_2d(inputs: Inputs) -> object:
    domain = dn.Points(inputs["points"])
    smallest, best = dn.Bipartite(domain, inputs["eps"]), dn.Bipartite(domain, inputs["eps"], "mean")
    return {
        "m": smallest.near,
        "m_rows": row_splits(domain, smallest.odds),
        "Q": smallest.expected_loss(),
        "best_m": best.near,
        "best_Q": best.expected_loss(),
    }


def _splits(domain: Metric, epsilon: float) -> dict[str, object]:
    mechanism = dn.Bipartite(domain, epsilon)
    return {"m": mechanism.near, "m_rows": row_splits(domain, mechanism.odds)}


@kind("matrix_m")
def matrix_m(inputs: Inputs) -> object:
    return _splits(dn.LossMatrix(inputs["loss"]), inputs["eps"])


@kind("tanimoto_m")
def tanimoto_m(inputs: Inputs) -> object:
    domain = dn.Points(np.arange(1, inputs["N"] + 1), "tanimoto")
    utility = 1 - dn.Bipartite(domain, inputs["eps"]).expected_loss()
    return _splits(domain, inputs["eps"]) | {"mean_utility": utility}


@kind("exponential_line")
def exponential_line(inputs: Inputs) -> object:
    domain, epsilon = line(inputs), inputs["eps"]
    half, tight = (dn.ReleaseChannel.exponential(domain, epsilon, tight) for tight in (False, True))
    return {
        "q_half": half.expected_loss(),
        "eps_half": half.loss().epsilon(),
        "theta_tight": exponential_scale(domain, epsilon, tight=True),
        "q_tight": tight.expected_loss(),
    }


@kind("staircase_fixed")
def staircase_fixed(inputs: Inputs) -> object:
    sizes = inputs["group_sizes"]
    mechanism = dn.Staircase(dn.Ordered(range(sum(sizes))), inputs["eps"], sizes)
    assert dn.certify(mechanism).loss.odds == mechanism.odds
    return [float(chance) for chance in mechanism.chances()]


@kind("staircase_prefix_eps")
def staircase_prefix_eps(inputs: Inputs) -> object:
    """Rings "itself", "same cell" and "elsewhere" as losses 0, 1 and 2."""
    cells = np.array(inputs["cells"])
    losses = np.where(cells[:, None] == cells, 1, 2) * (1 - np.eye(len(cells)))
    published = dn.ReleaseChannel.staircase_as_published(dn.LossMatrix(losses), inputs["eps"], [0, 1])
    return dn.certify(published).loss.epsilon()


@kind("interval")
def interval(inputs: Inputs) -> object:
    """Algorithm 4: the nearest of N points, then the window of that point."""
    domain = dn.Interval(inputs["a"], inputs["b"], steps=inputs["N"] - 1)
    mechanism = dn.Bipartite(domain, inputs["eps"])
    nearest = int(np.flatnonzero(domain.points == domain.nearest([inputs["x"]])[0])[0])
    chances = mechanism.matrix[nearest]
    return {
        "nearest": nearest + 1,
        "m": mechanism.near,
        "mean": float(chances @ domain.points),
        "mean_abs_error": float(chances @ np.abs(domain.points - inputs["x"])),
    }


@kind("ratio_large_N")
def ratio_large_n(inputs: Inputs) -> object:
    mechanism = dn.Bipartite(line(inputs), inputs["eps"])
    direct = dn.Bipartite(line(inputs), inputs["eps"], near=1)
    return {"m": mechanism.near, "ratio": mechanism.expected_loss() / direct.expected_loss()}
