"""Triangles in two rounds: noisy lists first, then everybody counts their own triangles on the noisy graph.

Imola, Murakami, Chaudhuri (2021). With j < k < i, vertex i sees t_i noisy edges between its s_i pairs of lower neighbours;
(t_i - q s_i) / (1 - 2 q) is right on average, and is reported with noise.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deniable import kernels
from deniable.arrays import Floats, Ints
from deniable.core import Coins, checked_coins
from deniable.errors import InvalidParameter
from deniable.graphs import noise
from deniable.graphs.budget import Split
from deniable.graphs.foreseen import foreseen_split
from deniable.graphs.graph import Graph
from deniable.graphs.outlook import largest_answer
from deniable.graphs.response import CompressedLists, NoisyGraph, compressed_response, plain_response
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.index_law import checked_alpha
from deniable.mechanisms.sparse.noisy_count import NoisyCount

Method = Literal["compressed", "plain"]
Second = Literal["smooth", "laplace"]


@dataclass(frozen=True)
class TriangleCount:
    """An unbiased number of triangles, how many bits everybody had to download, and the variance of the second round."""

    estimate: float
    bits: int
    second_variance: float
    coordinate: CoordinateResponse
    split: Split

    def response_variance(self, shared_pairs: int) -> float:
        """The exact variance of the first round: F times the sum of c^2 over all pairs (`Graph.shared_pairs`)."""
        return self.coordinate.noise * shared_pairs


@dataclass(frozen=True)
class SecondRound:
    """What each vertex sees of the noisy graph: pairs of lower neighbours, noisy edges between them, the worst change."""

    pairs: Ints
    noisy: Ints
    local: Floats

    def counts(self, coordinate: CoordinateResponse) -> Floats:
        """The unbiased number of triangles of each vertex."""
        q = float(coordinate.q)
        return (self.noisy - q * self.pairs) / (1 - 2 * q)


def count_triangles(
    graph: Graph,
    epsilon: float | Split,
    alpha: float = 1.5,
    method: Method = "compressed",
    second: Second = "smooth",
    coins: Coins | None = None,
) -> TriangleCount:
    """Simulate both rounds on a graph: epsilon bounds what is learnt about any one edge (edge local privacy).

    `method` plain spends 2 alpha times as much on the response, for n / 2 bits a vertex. `second` is the noise of the second
    round: by smooth sensitivity, or Laplace's with lists cut to their noisy length, which needs more of it. Where no split
    is given, the noisy degrees decide it (`foreseen_split`), so that nothing is fitted to what is private.
    """
    split = epsilon if isinstance(epsilon, Split) else Split(epsilon)
    coins = checked_coins(coins)
    if method not in ("compressed", "plain") or second not in ("smooth", "laplace"):
        raise InvalidParameter('method must be "compressed" or "plain", and second "smooth" or "laplace".')
    order = np.argsort(coins.public(1 << 62, graph.vertices), kind="stable")  # in public: it spreads neighbours over chunks
    graph = graph.renumbered(order)
    noisy_count = NoisyCount(split.for_degrees)
    noisy = graph.degrees + noisy_count.noise(graph.vertices, coins)
    costs = 2 * checked_alpha(alpha) if method == "compressed" else 1.0
    if second == "smooth" and not isinstance(epsilon, Split):
        split = foreseen_split(noisy, epsilon, lambda response: response / costs)
    if method == "compressed":
        lists = CompressedLists(split.for_response, alpha, noisy_count)
        answered = compressed_response(graph, lists, noisy, coins)
    else:
        answered = plain_response(graph, split.for_response, coins)
    if second == "laplace":
        margin = 3 / noisy_count.epsilon
        most = np.maximum(np.ceil(noisy + margin), 1).astype(np.int64)
        seen = second_round(cut_to(graph, most), answered, with_local=False)
        scales = laplace_scale(most, answered.coordinate, split.for_second_round)
        reported = noise.rounded(seen.counts(answered.coordinate) + noise.laplace(scales, coins))
        variance = 2 * float((scales**2).sum())
    else:
        seen = second_round(graph, answered)
        step = largest_answer(answered.coordinate)
        scales = noise.smooth_scales(seen.local, step, split.for_second_round, split.widening)
        reported = noise.rounded(seen.counts(answered.coordinate) + noise.smooth(scales, coins))
        variance = float((scales**2).sum())
    return TriangleCount(float(reported.sum()), answered.bits, variance, answered.coordinate, split)


def second_round(graph: Graph, answered: NoisyGraph, with_local: bool = True) -> SecondRound:
    """What each vertex works out by itself.

    With c_v the number of its lower neighbours that v is joined to in the noisy graph: every noisy edge between two of them
    is counted at both ends, and a change of neighbour v changes the count by (c_v - q (others)) / (1 - 2 q).
    """
    words, q = answered.both_ways, float(answered.coordinate.q)
    noisy, local = np.zeros(graph.vertices, np.int64), np.zeros(graph.vertices)
    for vertex in np.flatnonzero(graph.degrees).tolist():
        mine = graph.below(vertex)
        joined = kernels.column_sums(words[mine, : (vertex + 63) // 64])[:vertex]
        own, middle = joined[mine], q * len(mine)
        noisy[vertex] = int(own.sum()) // 2
        if with_local:
            most = max(int(joined.max()), int(own.max()) + q)  # a vertex is not joined to itself: q less is expected
            joined[mine] = vertex
            least = min(int(joined.min()), int(own.min()) + q)
            local[vertex] = max(most - middle, middle - least) / (1 - 2 * q)
    return SecondRound(graph.wedge_counts, noisy, local)


def cut_to(graph: Graph, most: Ints) -> Graph:
    """The graph whose vertices keep at most so many lower neighbours, the first by number."""
    place = np.arange(graph.edges) - graph.offsets[graph.owners]
    kept = place < most[graph.owners]
    return Graph.of(np.stack([graph.owners[kept], graph.lower[kept]], axis=1), graph.vertices)


def laplace_scale(most: Ints, coordinate: CoordinateResponse, epsilon: float) -> Floats:
    """(D - 1) / ((1 - 2 q) epsilon) for lists cut to D.

    One edge more or less adds, removes or swaps one neighbour of a cut list, and then the answers for it and each of the D -
    1 others change by at most one.
    """
    return (np.asarray(most, np.float64) - 1) / float(1 - 2 * coordinate.q) / epsilon
