"""Triangles by grouped randomized response (GroupRR with a central sample; Hillebrand et al. 2023).

The possible neighbours of a vertex are hashed into bins of s. Of each bin one member is drawn, and whether it is an edge is
answered with eps' = ln(1 + s (e^eps - 1)), which costs eps, since the member is the right one once in s times. The server
forwards each bin with probability rho.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins, checked_coins
from deniable.graphs import noise
from deniable.graphs.budget import Split
from deniable.graphs.graph import Graph
from deniable.graphs.smooth_noise import SmoothNoise
from deniable.mechanisms.sparse.noisy_count import NoisyCount

FREEDOM = 3  # tails of 1 / x^4 as published, which suit these few large answers best


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


@dataclass(frozen=True, eq=False)
class GroupedRound:
    """What each vertex finds in the answers that were forwarded: its count, and how much one neighbour may change it."""

    counts: Floats
    local: Floats
    step: float
    bits: float

    def scales(self, split: Split) -> Floats:
        """The noise of the second round, by smooth sensitivity."""
        return noise.smooth_scales(self.local, self.step, split.for_second_round, split.widening, FREEDOM)

    def least_variance(self, epsilon: float, tails: Sequence[float]) -> float:
        """The variance of the second round with the noise of ours instead, by the best of these tails."""
        noises = (SmoothNoise(epsilon, tail) for tail in tails)
        return min(float(((each.sensitivities(self.local, self.step) * each.deviation) ** 2).sum()) for each in noises)


def count_triangles_grouped(
    graph: Graph, split: Split, saving: float, coins: Coins | None = None
) -> tuple[float, float, float]:
    """Both rounds with bins of ceil(saving^(1/3)), forwarded with probability s^2 / saving: (estimate, bits, variance)."""
    coins = checked_coins(coins)
    seen = grouped_round(graph, split, saving, coins)
    scales = seen.scales(split)
    noisy = noise.rounded(seen.counts + noise.smooth(scales, coins, FREEDOM))
    return float(noisy.sum()), seen.bits, float((scales**2).sum())


def grouped_round(graph: Graph, split: Split, saving: float, coins: Coins, order: Ints | None = None) -> GroupedRound:
    """The first round, and what each vertex then works out by itself; only answers of yes are kept in memory.

    Vertices are in this public order, in which each counts its triangles with those before it; by default in a random one.
    """
    if order is None:
        order = np.argsort(coins.public(1 << 62, graph.vertices), kind="stable")
    graph = graph.renumbered(order)
    size, s = graph.vertices, math.ceil(saving ** (1 / 3))
    forwarded = min(1.0, s * s / saving)
    prime = _prime_from(size)
    response = Grouped(split.for_response, s, -(-prime // s))
    noisy = np.maximum(graph.degrees + NoisyCount(split.for_degrees).noise(size, coins), 1.0)
    a, b = response.unbiased(noisy, forwarded)
    rows = _answers(graph, response, prime, forwarded, coins)
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    low = np.concatenate(rows)
    high = np.repeat(np.arange(size), np.diff(starts))
    by_low = np.argsort(low, kind="stable")
    ends, above = np.searchsorted(low[by_low], np.arange(size + 1)), high[by_low]
    below = np.concatenate([graph.below(vertex) for vertex in range(size)])
    offsets = np.concatenate([[0], np.cumsum(graph.degrees)])
    counts, local = _changes(offsets, below, starts, low, ends, above, a, b)
    return GroupedRound(counts, local, float(np.maximum(a - b, b).max()), response.bits(size, forwarded))


@njit(cache=True)
def _changes(offsets, below, starts, low, ends, above, a, b):  # type: ignore[no-untyped-def]
    """The count of each vertex, and how much a neighbour more or less may change it at most.

    Of v and each of its neighbours the upper one has answered: all take off its b, and those of yes add its a.
    """
    size = offsets.shape[0] - 1
    counts, local, change = np.zeros(size), np.zeros(size), np.empty(size)
    for vertex in range(size):
        mine = below[offsets[vertex] : offsets[vertex + 1]]
        if mine.shape[0] == 0:
            continue
        rest, passed, place = b[mine].sum(), 0, 0  # b of the neighbours after u, and how many come before it
        for u in range(vertex):
            here = place < mine.shape[0] and mine[place] == u
            if here:
                rest -= b[u]
                place += 1
            change[u] = -rest - passed * b[u]
            passed += here
        for each in mine:
            for i in range(ends[each], ends[each + 1]):
                if above[i] < vertex:
                    change[above[i]] += a[above[i]]
            for i in range(starts[each], starts[each + 1]):
                change[low[i]] += a[each]
        counts[vertex] = change[mine].sum() / 2
        local[vertex] = np.abs(change[:vertex]).max()
    return counts, local


def _answers(graph: Graph, response: Grouped, prime: int, forwarded: float, coins: Coins) -> list[Ints]:
    """For each vertex, which of those below it fall into a bin that answered yes and was forwarded."""
    size, bins = graph.vertices, response.bins
    slope, shift = 1 + coins.public(prime - 1, size), coins.public(prime, size)
    chance, rows = 1 / (1 + math.exp(response.boosted)), []
    for vertex in range(size):
        sent = np.flatnonzero(noise.uniforms(bins, coins) < forwarded)
        place = (slope[vertex] * graph.below(vertex) + shift[vertex]) % prime % bins
        held = np.bincount(place, minlength=bins)[sent]
        drawn = noise.uniforms(len(sent), coins) * response.bin_size < held
        yes = sent[drawn ^ (noise.uniforms(len(sent), coins) < chance)]
        hashed = (yes[:, None] + bins * np.arange(response.bin_size)).ravel()
        members = (hashed[hashed < prime] - shift[vertex]) % prime * pow(int(slope[vertex]), -1, prime) % prime
        rows.append(np.sort(members[members < vertex]))
    return rows


def _prime_from(number: int) -> int:
    """The smallest prime that is at least this."""
    prime = max(number, 2)
    while any(prime % factor == 0 for factor in range(2, math.isqrt(prime) + 1)):
        prime += 1
    return prime
