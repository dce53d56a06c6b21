"""The rivals of Fig. 6 as the authors' public programs run them, so that their part in the claimed factors is seen.

Three things differ from what the papers describe. The search for where ARROne cuts its counts compares a probability with
itself, so that it never cuts and the noise is scaled to the whole noisy degree and a margin of 150. The downloads of ARROne
and GroupRR are formulas with natural logarithms, and that of ARROne counts all n^2 pairs for everybody, where a sixth of
them is sent. The noise of compressed response is scaled with e^x of the second round's budget in place of the response's.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from deniable.arrays import Floats
from deniable.core.coins import Coins
from deniable.graphs import Graph, Split, noise
from deniable.graphs.response import plain_response
from deniable.graphs.triangles import second_round
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.index_law import mixed_index_law
from research.rivals.asymmetric import Asymmetric, asymmetric_response, triangles_of
from research.rivals.grouped import grouped_round

MARGIN = 150.0
GAMMA = 4.0  # tails of the noise of GroupRR: beta = eps / gamma, and 4 gamma / eps times the sensitivity
Run = tuple[float, float, float]  # estimate, bits as they count them, variance


@dataclass(frozen=True, eq=False)
class AsProgrammed:
    """The three methods on one graph, with the shares of the budget that the programs have."""

    graph: Graph
    split: Split

    @cached_property
    def neighbours(self) -> Floats:
        """All of them, above and below: the programs release the noisy degree at both ends of an edge."""
        upper = np.bincount(self.graph.lower, minlength=self.graph.vertices)
        return (self.graph.degrees + upper).astype(np.float64)

    def noisy(self, coins: Coins) -> Floats:
        """Noisy degrees with the margin."""
        scales = np.full(self.graph.vertices, 1 / self.split.for_degrees)
        return np.maximum(self.neighbours + noise.laplace(scales, coins) + MARGIN, 0.0)

    def asymmetric(self, both: float, coins: Coins) -> Run:
        """ARROne without a cut."""
        response = Asymmetric(self.split.for_response, math.sqrt(both))
        order = np.argsort(coins.public(1 << 62, self.graph.vertices), kind="stable")
        graph, noisy = self.graph.renumbered(order), self.noisy(coins)
        _, found = triangles_of(graph, asymmetric_response(graph, response, coins), response, np.inf)
        scales = noisy / self.split.for_second_round / (both * (1 - response.rho))
        size = self.graph.vertices
        nats = both * response.rho**2 * size**2 * math.log(size)
        return found + float(noise.laplace(scales, coins).sum()), nats, 2 * float((scales**2).sum())

    def grouped(self, saving: float, coins: Coins) -> Run:
        """GroupRR with a central sample, its noise and its download by their formulas."""
        seen, eps = grouped_round(self.graph, self.split, saving, coins), self.split.for_second_round
        scales = noise.smooth_sensitivity(seen.local, seen.step, eps / GAMMA) * 4 * GAMMA / eps
        size, s = self.graph.vertices, math.ceil(saving ** (1 / 3))
        forwarded = min(1.0, s * s / saving)
        nats = size**2 * math.log(size / s) / s / (2 + s * math.expm1(self.split.for_response)) * forwarded
        estimate = float((seen.counts + noise.smooth(scales, coins, 3)).sum())
        return estimate, nats, float((scales**2).sum())

    def compressed(self, coins: Coins, alpha: float = 2.0, beta: float = 2.0) -> Run:
        """Compressed response: the whole variance, and the paper's cost of its labels by their exact law."""
        coordinate = CoordinateResponse.quantised(self.split.for_response / (2 * alpha))
        eps, degrees = self.split.for_second_round, self.graph.degrees
        scales = self.noisy(coins) / eps / math.tanh(eps / 2)
        chunks = np.maximum(1, np.ceil(beta * coordinate.epsilon * degrees))
        cost = chunk_cost(coordinate, alpha, float(degrees.sum() / chunks.sum()))
        answered = plain_response(self.graph, coordinate.epsilon, coins)  # of the same law as the compressed one
        found = second_round(self.graph, answered, with_local=False).counts(answered.coordinate)
        estimate = float((found + noise.laplace(scales, coins)).sum())
        return (
            estimate,
            float(chunks.sum()) * cost,
            2 * float((scales**2).sum()) + coordinate.noise * self.graph.shared_pairs(),
        )


@lru_cache(maxsize=8)
def chunk_cost(coordinate: CoordinateResponse, alpha: float, load: float) -> float:
    """E[log2 K] + log2(1 + E[log2 K]) + 2, what the paper counts for a chunk."""
    mean = mixed_index_law(coordinate, alpha, load).mean_log()
    return mean + math.log2(1 + mean) + 2
