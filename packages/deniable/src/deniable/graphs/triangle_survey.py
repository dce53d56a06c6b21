"""The number of triangles in three rounds, with an error bar that anybody may see.

Noisy numbers of neighbours put the people in order and divide the budget. Then everybody reports a noisy list of neighbours,
downloads all of them, and reports a noisy count of the triangles whose other two people come before them in the order.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Coins, checked_coins, checked_epsilon
from deniable.graphs import noise
from deniable.graphs.graph import Graph
from deniable.graphs.honest import HonestCount
from deniable.graphs.hubs import Download, answered
from deniable.graphs.outlook import Outlook
from deniable.graphs.ownership import Circle
from deniable.graphs.plan import DEGREES, Plan, planned
from deniable.mechanisms.sparse.index_law import checked_alpha
from deniable.mechanisms.sparse.sparsity import NoisyCount


@dataclass(frozen=True)
class TriangleEstimate(HonestCount):
    """A number of triangles, how many bits everybody had to download, and how the budget was divided."""

    bits: int
    plan: Plan


def estimate_triangles(
    graph: Graph, epsilon: float, alpha: float = 1.5, hubs: int | None = None, coins: Coins | None = None
) -> TriangleEstimate:
    """Simulate all rounds on a graph: epsilon bounds what is learnt about any one edge (edge local privacy).

    Answers about pairs of the first `hubs` people in the order are sent in plain, all others compressed with `alpha`; by
    default as many are hubs as fit into a part of the download. The standard error is worked out from the reports.

    >>> from deniable.core.coins import SeededCoins
    >>> friends = Graph.of([(i, j) for i in range(60) for j in range(i)])
    >>> found = estimate_triangles(friends, epsilon=4.0, coins=SeededCoins(1))
    >>> found.low <= friends.triangles() <= found.high
    True
    """
    checked_epsilon(epsilon)
    checked_alpha(alpha)
    coins = checked_coins(coins)
    graph = graph.renumbered(np.argsort(coins.public(1 << 62, graph.vertices), kind="stable"))  # a public circle
    size, degrees = graph.vertices, NoisyCount(DEGREES * epsilon)
    noisy = np.bincount(Circle(size).owned(graph)[0], minlength=size) + degrees.noise(size, coins)
    rank = ranks(noisy)
    outlook = Outlook(np.sort(noisy)[::-1], degrees)
    plan = planned(outlook, epsilon, alpha, degrees.epsilon, hubs)
    download = answered(graph, rank, noisy, plan.hubs, plan.between.response, plan.lists, coins)
    raw = float(count_reports(graph.renumbered(rank), download, plan, coins).sum())
    found = triangles_found(raw, plan, outlook, size)
    return TriangleEstimate(raw, found.standard_error, found.most, found.what, download.bits, plan)


def ranks(noisy: Ints) -> Ints:
    """The place of each person in the order: the largest noisy number first, and of equal ones the first."""
    out = np.empty(len(noisy), np.int64)
    out[np.argsort(-noisy, kind="stable")] = np.arange(len(noisy))
    return out


def count_reports(ordered: Graph, download: Download, plan: Plan, coins: Coins) -> Floats:
    """What each person reports in the last round, in the order; each needs the download and their own list alone."""
    places = np.arange(ordered.vertices)
    return noisy_counts(places, [ordered.below(place) for place in places.tolist()], download, plan, coins)


def noisy_counts(places: Ints, above: Sequence[Ints], download: Download, plan: Plan, coins: Coins) -> Floats:
    """What the people at these places of the order report, who have these neighbours above them, in whole 1/64."""
    counts, local = np.zeros(len(places)), np.zeros(len(places))
    for number, (place, mine) in enumerate(zip(places.tolist(), above, strict=True)):
        if len(mine):
            counts[number], local[number] = download.count(place, mine)
    for tier, chosen in ((plan.between, places < plan.hubs), (plan.other, places >= plan.hubs)):
        if chosen.any():
            scales = tier.noise.sensitivities(local[chosen], download.step(int(places[chosen][0])))
            counts[chosen] += tier.noise.draw(scales, coins)
    return noise.rounded(counts)


def triangles_found(raw: float, plan: Plan, outlook: Outlook, people: int) -> HonestCount:
    """The sum of all counts, with its standard error as the noisy numbers of neighbours and the sum itself have it."""
    surely = max(raw - math.sqrt(plan.variance(outlook)), 0.0)  # triangles that are not just noise
    return HonestCount(raw, math.sqrt(plan.variance(outlook, surely)), math.comb(people, 3), "triangles")
