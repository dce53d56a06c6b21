"""Triangles by grouped randomized response (GroupRR with a central sample; Hillebrand et al. 2023).

The possible neighbours of a vertex are hashed into bins of s. Of each bin one member is drawn, and whether it is an edge is
answered with eps' = ln(1 + s (e^eps - 1)), which costs eps, since the member is the right one once in s times. The server
forwards each bin with probability rho.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.core.coins import Coins, checked_coins
from deniable.graphs import noise
from deniable.graphs.budget import Split
from deniable.graphs.graph import Graph
from deniable.sparse.sparsity import NoisyCount

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Grouped:
    """The response for bins of `bin_size`, `bins` of them."""

    epsilon: float
    bin_size: int
    bins: int

    @property
    def boosted(self) -> float:
        """eps' = ln(1 + s (e^eps - 1))."""
        return math.log1p(self.bin_size * math.expm1(self.epsilon))

    def answers(self, ones: Floats | float) -> tuple[Floats, Floats]:
        """The probability that a bin answers yes: where the pair is an edge and where it is not, among so many edges."""
        s, cells, odds = self.bin_size, self.bin_size * self.bins - 1, math.exp(self.boosted)
        ones = np.asarray(ones, np.float64)
        edge = (1 + (s - 1) * (ones - 1) / cells) / s
        none = (s - 1) / s * ones / cells
        return (odds * edge + 1 - edge) / (1 + odds), (odds * none + 1 - none) / (1 + odds)

    def unbiased(self, ones: Floats | float, forwarded: float = 1.0) -> tuple[Floats, Floats]:
        """(a, b): a [bin answered yes and was forwarded] - b is right on average."""
        edge, none = self.answers(ones)
        return 1 / (forwarded * (edge - none)), none / (edge - none)

    def bits(self, vertices: int, forwarded: float) -> float:
        """What everybody downloads: all bins that are forwarded, at the entropy of an answer."""
        share = 1 / (1 + math.exp(self.boosted))
        entropy = -share * math.log2(share) - (1 - share) * math.log2(1 - share)
        return vertices * self.bins * entropy * forwarded


def count_triangles_grouped(
    graph: Graph, split: Split, saving: float, coins: Coins | None = None
) -> tuple[float, float, float]:
    """Both rounds with bins of ceil(saving^(1/3)), forwarded with probability s^2 / saving: (estimate, bits, variance).

    The second round has noise by smooth sensitivity. Needs the matrix of all pairs in memory.
    """
    coins = checked_coins(coins)
    order = np.argsort(coins.public(1 << 62, graph.vertices), kind="stable")
    graph = graph.renumbered(order)
    size, s = graph.vertices, math.ceil(saving ** (1 / 3))
    forwarded = min(1.0, s * s / saving)
    prime = _prime_from(size)
    response = Grouped(split.for_response, s, -(-prime // s))
    noisy = np.maximum(graph.degrees + NoisyCount(split.for_degrees).noise(size, coins), 1.0)
    a, b = response.unbiased(noisy, forwarded)
    matrix = _answers(graph, response, prime, forwarded, coins)
    matrix *= a[:, None].astype(np.float32)
    matrix -= b[:, None].astype(np.float32)
    matrix[np.triu_indices(size)] = 0
    matrix += matrix.T
    counts, local = np.zeros(size), np.zeros(size)
    for vertex in np.flatnonzero(graph.degrees).tolist():
        mine = graph.below(vertex)
        change = matrix[mine, :vertex].sum(axis=0, dtype=np.float64)
        counts[vertex], local[vertex] = change[mine].sum() / 2, np.abs(change).max()
    beta = noise.BETA * split.for_second_round
    step = float(np.maximum(a - b, b).max())
    scales = noise.smooth_sensitivity(local, step, beta) * noise.smooth_scale(split.for_second_round, beta)
    told = noise.rounded(counts + noise.smooth(scales, coins))
    return float(told.sum()), response.bits(size, forwarded), float((scales**2).sum())


def _answers(graph: Graph, response: Grouped, prime: int, forwarded: float, coins: Coins) -> NDArray[np.float32]:
    """Of row k, column v: whether the bin that v falls into for k answered yes and was forwarded."""
    size = graph.vertices
    slope, shift = 1 + coins.public(prime - 1, size), coins.public(prime, size)
    matrix = np.empty((size, size), np.float32)
    chance = 1 / (1 + math.exp(response.boosted))
    for vertex in range(size):
        place = (slope[vertex] * np.arange(size) + shift[vertex]) % prime % response.bins
        held = np.bincount(place[graph.below(vertex)], minlength=response.bins)
        drawn = noise.uniforms(response.bins, coins) * response.bin_size < held
        lie = noise.uniforms(response.bins, coins) < chance
        sent = noise.uniforms(response.bins, coins) < forwarded
        matrix[vertex] = ((drawn ^ lie) & sent)[place]
    return matrix


def _prime_from(number: int) -> int:
    """The smallest prime that is at least this."""
    prime = max(number, 2)
    while any(prime % factor == 0 for factor in range(2, math.isqrt(prime) + 1)):
        prime += 1
    return prime
