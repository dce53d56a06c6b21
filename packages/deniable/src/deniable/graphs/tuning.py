"""The best split of a budget, for a graph that is public and like the private one."""

from deniable.core import Coins, checked_coins
from deniable.graphs.budget import Split
from deniable.graphs.graph import Graph
from deniable.graphs.triangles import count_triangles

SHARES = [(degrees, response) for degrees in (0.05, 0.08, 0.12) for response in (0.35, 0.42, 0.48, 0.54, 0.62)]


def best_split(example: Graph, epsilon: float, alpha: float = 1.5, coins: Coins | None = None) -> Split:
    """The split with the smallest variance on an example, such as a synthetic graph or one of an earlier year.

    Never ask it about the private graph itself: the answer would reveal something of it that no budget pays for.
    """
    coins, shared = checked_coins(coins), example.shared_pairs()
    best, smallest = Split(epsilon), float("inf")
    for shares in SHARES:
        split = Split(epsilon, *shares)
        found = count_triangles(example, split, alpha, coins=coins)
        variance = found.second_variance + found.response_variance(shared)
        if variance < smallest:
            best, smallest = split, variance
    return best
