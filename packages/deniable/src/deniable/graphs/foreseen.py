"""The split of a budget that should give the smallest error, worked out from public numbers only."""

import math
from collections.abc import Callable

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.graphs import noise
from deniable.graphs.budget import DEGREES, Split
from deniable.mechanisms.sparse.noisy_count import NoisyCount

RESPONSES = np.arange(20, 80, 2) / 100
WIDENINGS = np.arange(10, 65, 5) / 100


def foreseen_split(noisy: Ints, epsilon: float, per_edge: Callable[[float], float], degrees: float = DEGREES) -> Split:
    """The split with the smallest foreseen variance, given the noisy numbers of lower neighbours of all vertices.

    These numbers are public by then: they were paid for with the share `degrees`. `per_edge` is what one possible edge's
    response has left of what the response costs, 1 / (2 alpha) of it where it is compressed.
    """
    values, often = np.unique(np.maximum(noisy, 0), return_counts=True)
    shared = foreseen_shared_pairs(noisy, NoisyCount(degrees * epsilon))
    own = values * (max(float(noisy.sum()), 1.0) / max(float(values @ often), 1.0))  # cutting at zero has raised the sum
    splits = [Split(epsilon, degrees, float(r), float(w)) for r in RESPONSES if r + degrees < 1 for w in WIDENINGS]
    return min(splits, key=lambda split: foreseen_variance(split, per_edge(split.for_response), own, often, shared))


def foreseen_shared_pairs(noisy: Ints, noisy_count: NoisyCount) -> float:
    """`Graph.shared_pairs` of a graph with these degrees and no other structure, numbered at random.

    With W pairs of lower neighbours in all and M edges, the degrees D have the sum 2 M, and D (D - 1) has 6 W: of three
    vertices each is the last in a third of all orders. Without structure (Chung and Lu 2002) the c (c - 1) of pairs with c
    common neighbours sum to (6 W / 2 M)^4 / 2, and two of four vertices are the last ones in a sixth of all orders.
    """
    spread = noisy_count.deviation**2
    edges = max(float(noisy.sum()), 1.0)
    pairs = max((float((noisy.astype(np.float64) ** 2).sum()) - len(noisy) * spread - edges) / 2, 1.0)
    return pairs + (3 * pairs / edges) ** 4 / 12


def foreseen_variance(split: Split, per_edge: float, degrees: Floats, often: Ints, shared: float) -> float:
    """The variance of both rounds: F times the shared pairs, and the squared scales of the noise, of `often` vertices each.

    A count of d answers departs from its mean by up to sqrt(2 d ln n) standard deviations among n vertices.
    """
    each = 1 / (4 * math.sinh(per_edge / 2) ** 2)  # F, the variance of one unbiased answer
    step = 1 / -math.expm1(-per_edge)
    local = np.minimum(np.sqrt(2 * math.log(max(int(often.sum()), 2)) * degrees * each), degrees * step)
    scales = noise.smooth_scales(local, step, split.for_second_round, split.widening)
    return each * shared + float(often @ scales**2)
