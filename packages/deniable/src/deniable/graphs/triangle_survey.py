"""The number of triangles in three rounds, with an error bar that anybody may see.

Noisy numbers of neighbours put the people in order and divide the budget. Then everybody reports a noisy list of neighbours,
downloads all of them, and reports a noisy count of the triangles whose other two people come before them in the order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Bools, Floats, Ints, Progress
from deniable.core import Coins, checked_coins, checked_epsilon
from deniable.graphs import noise
from deniable.graphs.evidence import Evidence, looked_at
from deniable.graphs.graph import Graph
from deniable.graphs.honest import HonestCount
from deniable.graphs.hubs import Download, step
from deniable.graphs.listed import Listed, answered
from deniable.graphs.outlook import Outlook
from deniable.graphs.ownership import Circle
from deniable.graphs.passes import seen
from deniable.graphs.plan import DEGREES, Plan, planned
from deniable.graphs.running import Meter, Run, in_turn
from deniable.mechanisms.sparse.index_law import checked_alpha
from deniable.mechanisms.sparse.noisy_count import NoisyCount


@dataclass(frozen=True)
class TriangleEstimate(HonestCount):
    """A number of triangles, how many bits everybody had to download, and how the budget was divided."""

    bits: int
    plan: Plan


def estimate_triangles(
    graph: Graph,
    epsilon: float,
    alpha: float = 1.5,
    hubs: int | None = None,
    coins: Coins | None = None,
    *,
    run: Run = in_turn,
    progress: Progress | None = None,
) -> TriangleEstimate:
    """Simulate all rounds on a graph: epsilon bounds what is learnt about any one edge (edge local privacy).

    Answers about pairs of the first `hubs` people in the order are sent in plain, all others compressed with `alpha`; by
    default as many are hubs as fit into a part of the download. The standard error is worked out from the reports.

    `run` does the work, by default in this process: `deniable.aggregate.graphs.count_triangles` has engines. `progress` is
    called with the share that is done.

    >>> from deniable.core.coins import SeededCoins
    >>> friends = Graph.of([(i, j) for i in range(60) for j in range(i)])
    >>> found = estimate_triangles(friends, epsilon=4.0, coins=SeededCoins(1))
    >>> found.low <= friends.triangles() <= found.high
    True
    """
    checked_epsilon(epsilon)
    checked_alpha(alpha)
    coins, meter = checked_coins(coins), Meter(progress)
    graph = graph.renumbered(np.argsort(coins.public(1 << 62, graph.vertices), kind="stable"))  # a public circle
    size, degrees = graph.vertices, NoisyCount(DEGREES * epsilon)
    noisy = Circle(size).numbers(graph) + degrees.noise(size, coins)
    rank = ranks(noisy)
    outlook = Outlook(np.sort(noisy)[::-1], degrees)
    plan = planned(outlook, epsilon, alpha, degrees.epsilon, hubs)
    listed = answered(graph, rank, noisy, plan.hubs, plan.between.response, plan.lists, coins, run, meter)
    ordered = graph.renumbered(rank)
    del graph
    found = seen(ordered, listed, run, meter)
    counts = with_noise(np.arange(size), found.counts(ordered, listed), found.local, plan, coins)
    count = Evidence(counts, first_answers(listed)).triangles(plan, outlook)
    meter.add(1.0)
    return TriangleEstimate(count.raw, count.standard_error, count.most, count.what, listed.bits, plan)


def first_answers(listed: Listed) -> Bools:
    """What was answered about the first people in the order and everybody, a row for each."""
    everybody, one = np.arange(len(listed.rank)), np.zeros(1, np.int64)
    out = np.zeros((looked_at(len(everybody)), len(everybody)), np.bool_)
    for place, person in enumerate(listed.person[: len(out)].tolist()):
        out[place] = listed.block(everybody, everybody, person, one)[listed.person, 0]
        out[place, place] = False
    return out


def ranks(noisy: Ints) -> Ints:
    """The place of each person in the order: the largest noisy number first, and of equal ones the first."""
    out = np.empty(len(noisy), np.int64)
    out[np.argsort(-noisy, kind="stable")] = np.arange(len(noisy))
    return out


def noisy_counts(places: Ints, above: Sequence[Ints], download: Download, plan: Plan, coins: Coins) -> Floats:
    """What the people at these places of the order report, who have these neighbours above them, in whole 1/64."""
    counts, local = np.zeros(len(places)), np.zeros(len(places))
    for number, (place, mine) in enumerate(zip(places.tolist(), above, strict=True)):
        if len(mine):
            counts[number], local[number] = download.count(place, mine)
    return with_noise(places, counts, local, plan, coins)


def with_noise(places: Ints, counts: Floats, local: Floats, plan: Plan, coins: Coins) -> Floats:
    """These counts as they are reported: with noise for their local sensitivities, in whole 1/64."""
    out = counts.copy()
    for tier, chosen in ((plan.between, places < plan.hubs), (plan.other, places >= plan.hubs)):
        if chosen.any():
            one = step(int(places[chosen][0]), plan.hubs, plan.plain, plan.lists.coordinate)
            out[chosen] += tier.noise.draw(tier.noise.sensitivities(local[chosen], one), coins)
    return noise.rounded(out)
