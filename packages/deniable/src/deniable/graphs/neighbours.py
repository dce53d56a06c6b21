"""Common neighbours of two people: one has the other's noisy list and their own."""

from dataclasses import dataclass

import numpy as np

from deniable.core import Coins, checked_coins
from deniable.domains import SparseVector
from deniable.errors import InvalidParameter
from deniable.graphs import noise
from deniable.graphs.graph import Graph
from deniable.graphs.honest import HonestCount
from deniable.graphs.outlook import largest_answer
from deniable.mechanisms.sparse.common import common_with
from deniable.mechanisms.sparse.compressed import Compressed
from deniable.mechanisms.sparse.noisy_count import NoisyCount

COUNTED = 0.2  # the share of the first person's budget for a noisy length of their list, from which the error is known


@dataclass(frozen=True)
class CommonNeighbours(HonestCount):
    """A number of common neighbours, with an error bar that may be shown, and the bits that were sent."""

    bits: int

    @property
    def estimate(self) -> float:
        """The unbiased number, which may be an impossible one; `value` is what may be shown."""
        return self.raw

    @property
    def variance(self) -> float:
        """The square of the standard error."""
        return self.standard_error**2


def common_neighbours(
    graph: Graph,
    first: int,
    second: int,
    epsilon: float,
    alpha: float = 1.5,
    coins: Coins | None = None,
) -> CommonNeighbours:
    """Simulate it: `second` sends a compressed response of their list with the budget, `first` reports the count.

    The count is the sum over v in the list of `first` of the unbiased answers for v, plus Laplace noise of scale (1 - q) /
    ((1 - 2 q) eps2): one neighbour more or less moves it by at most that. Its variance grows with the length of that list,
    which is private: `first` reports it with noise for a fifth of the budget, and the standard error is worked out from
    there, as for an empty list where the noisy length is below none. Each of the two spends epsilon on each entry of their
    own list; the edge between the two of them, if there is one, is in both lists.
    """
    for vertex in (first, second):
        if not 0 <= vertex < graph.vertices:
            raise InvalidParameter(f"Vertices are numbered from 0 to {graph.vertices - 1}.")
    if first == second:
        raise InvalidParameter("Two different people are needed.")
    coins = checked_coins(coins)
    mechanism = Compressed(SparseVector(graph.vertices), epsilon, alpha)
    report = mechanism.perturb([graph.neighbours(second)], coins)
    mine = graph.neighbours(first)
    own = np.zeros(graph.vertices, np.bool_)
    own[mine] = True
    answers = np.zeros(graph.vertices, np.uint8)
    answers[own] = mechanism.value(report, mine)[0]
    sum_of_answers, _ = common_with(own, answers, mechanism.coordinate)
    length = NoisyCount(COUNTED * epsilon)
    noisy = len(mine) + int(length.noise(1, coins)[0])
    long = length.likely(noisy) if noisy >= 0 else 0.0
    scale = largest_answer(mechanism.coordinate) / (epsilon - length.epsilon)
    reported = noise.rounded(np.array([sum_of_answers]) + noise.laplace(np.array([scale]), coins))
    variance = min(long, graph.vertices) * mechanism.coordinate.noise + 2 * scale**2
    most = max(graph.vertices - 2, 0)
    return CommonNeighbours(float(reported[0]), variance**0.5, most, "common neighbours", int(mechanism.bits(report)[0]))
