"""Common neighbours of two people: one has the other's noisy list and their own."""

from dataclasses import dataclass

import numpy as np

from deniable.core import Coins, checked_coins
from deniable.domains import SparseVector
from deniable.errors import InvalidParameter
from deniable.graphs import noise
from deniable.graphs.graph import Graph
from deniable.mechanisms.sparse.common import common_with
from deniable.mechanisms.sparse.compressed import Compressed


@dataclass(frozen=True)
class CommonNeighbours:
    """An unbiased number of common neighbours, its exact variance for this list, and the bits that were sent."""

    estimate: float
    variance: float
    bits: int


def common_neighbours(
    graph: Graph,
    first: int,
    second: int,
    epsilon: float,
    alpha: float = 1.5,
    coins: Coins | None = None,
) -> CommonNeighbours:
    """Simulate it: `second` sends a compressed response of their list with the budget, `first` reports the count.

        The sum over v in the list of `first` of the unbiased answers for v, plus Laplace noise of scale (1 - q) / ((1 - 2 q)
        eps2): one neighbour more or less moves it by at most that. Each of the two spends epsilon on each entry of their own
        list; the edge between the
    two of them, if there is one, is in both lists.
    """
    for vertex in (first, second):
        if not 0 <= vertex < graph.vertices:
            raise InvalidParameter(f"Vertices are numbered from 0 to {graph.vertices - 1}.")
    if first == second:
        raise InvalidParameter("Two different people are needed.")
    coins = checked_coins(coins)
    mechanism = Compressed(SparseVector(graph.vertices), epsilon, alpha)
    report = mechanism.perturb([graph.neighbours(second)], coins)
    own = np.zeros(graph.vertices, np.bool_)
    own[graph.neighbours(first)] = True
    answers = np.zeros(graph.vertices, np.uint8)
    answers[own] = mechanism.value(report, np.flatnonzero(own))[0]
    estimate, variance = common_with(own, answers, mechanism.coordinate)
    q = float(mechanism.coordinate.q)
    scale = (1 - q) / (1 - 2 * q) / epsilon
    reported = noise.rounded(np.array([estimate]) + noise.laplace(np.array([scale]), coins))
    return CommonNeighbours(float(reported[0]), variance + 2 * scale**2, int(mechanism.bits(report)[0]))
