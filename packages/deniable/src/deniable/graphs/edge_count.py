"""The number of edges in one round: everybody reports how many of their edges they own, with noise."""

import math

import numpy as np

from deniable.core import Coins, checked_coins, checked_epsilon
from deniable.graphs.graph import Graph
from deniable.graphs.honest import HonestCount
from deniable.graphs.ownership import Circle
from deniable.mechanisms.sparse.noisy_count import NoisyCount


def estimate_edges(graph: Graph, epsilon: float, coins: Coins | None = None) -> HonestCount:
    """Simulate it on a graph: epsilon bounds what is learnt about any one edge, which is in one number only.

    Each number has exact two-sided geometric noise, so that the standard error depends on the people and epsilon alone.

    >>> from deniable.core.coins import SeededCoins
    >>> found = estimate_edges(Graph.of([(i, i + 1) for i in range(9_999)]), epsilon=1.0, coins=SeededCoins(1))
    >>> found.low <= 9_999 <= found.high, round(found.standard_error)
    (True, 139)
    """
    checked_epsilon(epsilon)
    coins, count, people = checked_coins(coins), NoisyCount(epsilon), graph.vertices
    owned = np.bincount(Circle(people).owned(graph)[0], minlength=people)
    raw = float((owned + count.noise(people, coins)).sum())
    return HonestCount(raw, count.deviation * math.sqrt(people), math.comb(people, 2), "edges")
