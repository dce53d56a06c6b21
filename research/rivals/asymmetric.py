"""Triangles by asymmetric randomized response with fewer noisy edges to download (ARROne; Imola, Murakami, Chaudhuri 2022).

An edge is answered with probability mu, a pair that is none with mu rho, rho = e^-eps. Vertex i downloads the noisy edge (j,
k), j < k < i, only if (k, i) is noisy too; t_ij counts those with j and k its neighbours, cut at kappa_i.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats
from deniable.core.bits import PackedBits
from deniable.core.coins import Coins, checked_coins
from deniable.core.odds import odds_below
from deniable.graphs import noise
from deniable.graphs.budget import Split
from deniable.graphs.graph import Graph
from deniable.graphs.response import BLOCK, NoisyGraph, cut_rows, packed_rows
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.noisy_count import NoisyCount

MISS = 1e-6  # how rarely the cut should bite


@dataclass(frozen=True)
class Asymmetric:
    """The response: mu for an edge, mu rho for none."""

    epsilon: float
    mu: float

    @property
    def rho(self) -> float:
        """e^-epsilon."""
        return math.exp(-self.epsilon)

    @property
    def both(self) -> float:
        """mu^2: the probability that both noisy edges of a triangle are there."""
        return self.mu**2

    def download_edges(self, vertices: int) -> float:
        """The mean number of noisy edges that a vertex downloads, edges themselves neglected: (mu rho)^2 i (i - 1) / 2."""
        pairs = vertices * (vertices - 1) * (vertices - 2) / 6  # the sum of i (i - 1) / 2
        return (self.mu * self.rho) ** 2 * pairs / vertices

    def download_bits(self, vertices: int) -> float:
        """The same in bits: the rows of downloaded vertices k, each at the entropy of its answers.

        A vertex needs row k, of k answers, if (k, i) is noisy: with probability mu rho. The sum of k over k < i, over all i.
        """
        chance = self.mu * self.rho
        entropy = -chance * math.log2(chance) - (1 - chance) * math.log2(1 - chance)
        pairs = vertices * (vertices - 1) * (vertices - 2) / 6
        return chance * entropy * pairs / vertices


def triangles_of(graph: Graph, answered: NoisyGraph, response: Asymmetric, cut: ArrayLike) -> tuple[Floats, float]:
    """What each vertex finds, sum over j of min(t_ij, cut_i) less its mean without triangles; and the estimate."""
    size = graph.vertices
    pair = np.zeros(graph.edges)  # t_ij of the edge (j, i)
    codes = graph.owners * size + graph.lower
    for i, j, k in graph.wedges():
        seen = answered.answers(j, k) & answered.answers(k, i)
        np.add.at(pair, np.searchsorted(codes, i[seen] * size + j[seen]), 1.0)
    limit = np.broadcast_to(np.asarray(cut, np.float64), (size,))
    found = np.bincount(graph.owners, np.minimum(pair, limit[graph.owners]), minlength=size)
    corrected = found - response.both * response.rho * graph.wedge_counts
    return corrected, float(corrected.sum() / (response.both * (1 - response.rho)))


def chernoff_cut(noisy_degree: float, both: float, miss: float = MISS) -> float:
    """The smallest l mu^2 d, l = 1, 2, ..., that a count of d chances of mu^2 hardly ever exceeds; else d.

    By Chernoff's bound exp(-d KL(l mu^2 || mu^2)).
    """
    level = 1
    while level * both < 1:
        share = level * both
        divergence = share * math.log(share / both) + (1 - share) * math.log((1 - share) / (1 - both))
        if math.exp(-noisy_degree * divergence) <= miss:
            return share * noisy_degree
        level += 1
    return noisy_degree


def count_triangles_asymmetric(
    graph: Graph, split: Split, both: float, margin: float = 0.0, coins: Coins | None = None
) -> tuple[float, float, float]:
    """Both rounds: (estimate, mean download in bits, variance of the second round).

    The cut keeps to kappa what one edge changes except with probability `MISS`: this promises (epsilon, delta), not epsilon.
    """
    coins = checked_coins(coins)
    response = Asymmetric(split.for_response, math.sqrt(both))
    noisy_count = NoisyCount(split.for_degrees)
    order = np.argsort(coins.public(1 << 62, graph.vertices), kind="stable")
    graph = graph.renumbered(order)
    noisy = graph.degrees + noisy_count.noise(graph.vertices, coins) + margin
    answered = asymmetric_response(graph, response, coins)
    kappa = cuts(noisy, both)
    corrected, _ = triangles_of(graph, answered, response, kappa)
    scales, unit = kappa / split.for_second_round, both * (1 - response.rho)
    estimate = noise.rounded((corrected + noise.laplace(scales, coins)) / unit).sum()
    return float(estimate), response.download_bits(graph.vertices), second_variance(kappa, split, response)


def cuts(noisy: ArrayLike, both: float) -> Floats:
    """Where the counts of vertices with these noisy degrees are cut."""
    values, which = np.unique(np.maximum(np.asarray(noisy, np.float64), 1), return_inverse=True)
    return np.array([max(1.0, chernoff_cut(degree, both)) for degree in values.tolist()])[which]


def second_variance(kappa: Floats, split: Split, response: Asymmetric) -> float:
    """The variance that the second round adds to the estimate: it follows from the cuts alone."""
    unit = response.both * (1 - response.rho)
    return 2 * float(((kappa / split.for_second_round / unit) ** 2).sum())


def asymmetric_response(graph: Graph, response: Asymmetric, coins: Coins) -> NoisyGraph:
    """Every pair answers on its own: mu is taken as a whole number of 2^-32, and mu rho from exact odds."""
    mu = Fraction(round(response.mu * 2**32), 2**32)
    rows, size = packed_rows(graph), graph.vertices
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        width = (stop + 63) // 64 * 8
        part = rows[start:stop, :width]
        # One toss of mu for both, and one of rho for those that are none.
        rest = coins.toss_packed(1 / odds_below(response.epsilon), stop - start, 8 * width).bytes
        part[:] = coins.toss_packed(mu, stop - start, 8 * width).bytes & (part | rest)
    cut_rows(rows)
    return NoisyGraph(CoordinateResponse.of(response.epsilon), PackedBits(rows, size), 0)
