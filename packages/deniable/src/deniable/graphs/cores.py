"""How many people are in the k-core: the largest group in which everybody knows at least k of the others.

Its size has no unbiased estimate, but it can be enclosed. Everybody reports a noisy number of neighbours: who has fewer than
k is in no k-core, which gives an upper end. Then people leave in rounds: whoever finds fewer neighbours among those who are
left than a threshold, with noise on the threshold once and on the number in each round, leaves and says so. Who leaves, and
when, is all that is published, and it costs the same however many rounds there are (the sparse vector technique for counts
that only fall; Lyu, Su, Li 2017). If nobody leaves in the last round, everybody who is left has at least k neighbours among
them, since the noise is of bounded size, so that they are in the k-core: a lower end.
"""

import math
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Bools, Ints, Progress
from deniable.core import Coins, checked_coins, checked_epsilon
from deniable.errors import InvalidParameter
from deniable.graphs.graph import Graph
from deniable.graphs.honest import CONFIDENCE
from deniable.mechanisms.sparse.noisy_count import NoisyCount

DEGREES = 0.3  # of the budget, for the upper end
ROUNDS = 40


@dataclass(frozen=True)
class CoreEstimate:
    """Ends that hold the number of people in the k-core with 95 % confidence, both from what was published."""

    k: int
    low: float
    high: float
    people: int
    rounds: int

    @property
    def value(self) -> float:
        """The middle between the ends; it is no better a guess than any other number between them."""
        return (self.low + self.high) / 2

    @property
    def clear(self) -> bool:
        """Whether the ends are no farther from each other than their middle is from none, or there can be nobody."""
        return self.high == 0 or self.high - self.low <= self.value

    def __str__(self) -> str:
        between = f"between {self.low:,.0f} and {self.high:,.0f} (95 % interval)"
        if self.high == 0:
            return f"nobody is in the {self.k}-core"
        if self.clear:
            return f"{between[0].upper()}{between[1:]} people are in the {self.k}-core"
        return f"too noisy to say how many people are in the {self.k}-core: {between}"


def estimate_core(
    graph: Graph, k: int, epsilon: float, coins: Coins | None = None, progress: Progress | None = None
) -> CoreEstimate:
    """Simulate it on a graph: epsilon bounds what is learnt about any one edge, which is in the numbers of both its people.

    >>> from deniable.core.coins import SeededCoins
    >>> friends = Graph.of([(i, j) for i in range(300) for j in range(i)], 400)  # and 100 people who know nobody
    >>> found = estimate_core(friends, 150, epsilon=4.0, coins=SeededCoins(1))
    >>> found.low <= exact_core(friends, 150) <= found.high, found.clear
    (True, True)
    """
    checked_epsilon(epsilon)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InvalidParameter("k is a whole number of neighbours, 1 or more.")
    coins, size, doubt = checked_coins(coins), graph.vertices, (1 - CONFIDENCE) / 2
    first, later = NoisyCount(DEGREES * epsilon / 2), NoisyCount((1 - DEGREES) * epsilon / 4)
    everybody = np.ones(size, np.bool_)
    degrees = _inside(graph, everybody)
    high = int((degrees + first.noise(size, coins) >= k - largest(first, doubt / size)).sum())
    # Who is left may owe it to a low threshold or, in the round in which nobody left, which may be any, to a high number.
    wanted = k + largest(later, doubt / (2 * size)) + largest(later, doubt / (2 * size * ROUNDS)) + later.noise(size, coins)
    left, rounds = everybody, 0
    while left.any() and rounds < ROUNDS:
        rounds += 1
        stays = left & (_inside(graph, left) + later.noise(size, coins) >= wanted)
        if progress is not None:
            progress(rounds / ROUNDS)
        if (stays == left).all():
            break
        left = stays
    else:
        left = np.zeros(size, np.bool_)  # still leaving: nothing is sure of those who are left
    high = 0 if high <= k else high  # a core of k has more than k people
    low = int(left.sum()) if left.sum() > k else 0
    return CoreEstimate(k, float(min(low, high)), float(high), size, rounds)


def largest(noise: NoisyCount, doubt: float) -> int:
    """A size that the noise exceeds, to one side, with no more than this probability.

    >>> noise = NoisyCount(1.0)
    >>> b = largest(noise, 0.001)
    >>> tail = float(noise.odds) ** -(b + 1) / (1 + 1 / float(noise.odds))  # of b + 1 or more
    >>> tail <= 0.001 < tail * float(noise.odds)
    True
    """
    ratio = 1 / float(noise.odds)
    return max(0, math.ceil(math.log(doubt * (1 + ratio)) / math.log(ratio)) - 1)


def _inside(graph: Graph, chosen: Bools) -> Ints:
    """How many chosen neighbours each person has."""
    size = graph.vertices
    up = np.bincount(graph.owners, chosen[graph.lower].astype(np.float64), size)
    down = np.bincount(graph.lower, chosen[graph.owners].astype(np.float64), size)
    return np.asarray(up + down).astype(np.int64)


def exact_core(graph: Graph, k: int) -> int:
    """How many people are in the k-core.

    >>> exact_core(Graph.of([(0, 1), (1, 2), (2, 0), (2, 3)]), 2)
    3
    """
    left = np.ones(graph.vertices, np.bool_)
    while True:
        stays = left & (_inside(graph, left) >= k)
        if (stays == left).all():
            return int(left.sum())
        left = stays
