"""Cycles of four: people a, b, c, d who know each other in a ring; and between people and items, two people with two items.

Everybody answers every pair that they answer for once, by plain randomized response. The unbiased answers are independent
and have one variance v, so that a sum of products of four different ones is right on average. Let f be that sum, a
polynomial in the answers, and V1 to V4 the parts of its variance that 1 to 4 answers together bring. By Efron and Stein,

    v times the sum of (df/dx)^2 over all answers x   has the mean   V1 + 2 V2 + 3 V3 + 4 V4,

and V2 to V4 are sums over what a cycle lacks, in closed form: of wedges, pairs of edges, edges, and of nothing. With the
unbiased counts of these, the variance has an unbiased estimate from the answers alone.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Bytes, Floats, Progress
from deniable.core import Coins, checked_coins, checked_epsilon
from deniable.errors import InvalidParameter
from deniable.graphs.graph import Graph
from deniable.graphs.honest import HonestCount
from deniable.graphs.hubs import unbiased
from deniable.graphs.response import plain_response
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse

MOST_PEOPLE = 1 << 13  # all pairs are answered, and two matrices of them must fit into memory
ROWS = 512  # worked out at a time


@dataclass(frozen=True)
class _Found:
    """The sum over products of four answers, and v times the sum of squares of its derivatives; and what a cycle is made of.

    `edges`, and pairs of edges: `wedges` share a person, those of `across` an item, and those `apart` nobody.
    """

    cycles: float
    slopes: float
    edges: float
    wedges: float
    across: float
    apart: float


Levels = tuple[float, float, float]  # the parts of the variance that 2, 3 and 4 answers bring


def _variance(found: _Found, levels: Levels) -> float:
    """The unbiased estimate of the variance."""
    second, third, fourth = levels
    return found.slopes - second - 2 * third - 3 * fourth


def _counted(found: _Found, levels: Levels, most: int, what: str) -> HonestCount:
    """The count with its standard error; a part of a variance is never negative, though its estimate may be."""
    least = sum(max(each, 0.0) for each in levels)
    return HonestCount(found.cycles, math.sqrt(max(_variance(found, levels), least, 1.0)), most, what)


def estimate_cycles(
    graph: Graph, epsilon: float, coins: Coins | None = None, progress: Progress | None = None
) -> HonestCount:
    """Simulate it on a graph: epsilon bounds what is learnt about any one edge, which one of its two people answers for.

    >>> from deniable.core.coins import SeededCoins
    >>> friends = Graph.of([(i, j) for i in range(40) for j in range(i)])
    >>> found = estimate_cycles(friends, epsilon=4.0, coins=SeededCoins(1))
    >>> found.low <= exact_cycles(friends) <= found.high, found.clear
    (True, True)
    """
    checked_epsilon(epsilon)
    size = graph.vertices
    if size > MOST_PEOPLE:
        raise InvalidParameter(f"Cycles are counted among at most {MOST_PEOPLE:,} people. Use a part of the graph.")
    noisy = plain_response(graph, epsilon, checked_coins(coins))
    answers, v = _symmetric(noisy.rows.bytes, size, noisy.coordinate), noisy.coordinate.noise
    found = _rings(answers, v, progress)
    return _counted(found, _ring_levels(found, size, v), 3 * math.comb(size, 4), "cycles of four")


def _ring_levels(found: _Found, n: int, v: float) -> Levels:
    """Two answers are next to each other, and lack a common neighbour of two people, or lie opposite, and lack two edges."""
    next_to = (n - 4) * (4 * found.cycles + found.wedges) + found.wedges
    second = v**2 * (next_to + 2 * found.apart + 2 * found.cycles)
    return second, v**3 * found.edges * (n - 2) * (n - 3), v**4 * 3 * math.comb(n, 4)


def _symmetric(rows: Bytes, size: int, response: CoordinateResponse) -> Floats:
    bits = np.unpackbits(rows, axis=1, count=size, bitorder="little").astype(np.float64)
    answers = np.tril(unbiased(bits, 1, response), -1)
    answers += answers.T
    return np.asarray(answers)


def _rings(answers: Floats, v: float, progress: Progress | None) -> _Found:
    """Of all people: P[a, b] is how many paths of three steps lead from a to b, which is what a cycle with (a, b) lacks."""
    size = len(answers)
    squares = (answers**2).sum(axis=1)
    two = answers @ answers
    cycles = slopes = 0.0
    for start in range(0, size, ROWS):
        own = answers[start : start + ROWS]
        paths = own @ two - own * (squares[start : start + ROWS, None] + squares[None, :]) + own**3
        paths[np.arange(len(own)), start + np.arange(len(own))] = 0.0
        cycles += float((own * paths).sum())
        slopes += float((paths**2).sum())
        if progress is not None:
            progress(min(1.0, (start + ROWS) / size))
    edges, wedges, own_pairs = float(answers.sum()) / 2, float(two.sum() - squares.sum()) / 2, float(squares.sum()) / 2
    return _Found(cycles / 8, v * slopes / 2, edges, wedges, 0.0, (edges**2 - own_pairs) / 2 - wedges)


def exact_cycles(graph: Graph) -> int:
    """How many cycles of four there are.

    >>> exact_cycles(Graph.of([(0, 1), (1, 2), (2, 3), (3, 0)]))
    1
    """
    joined = np.zeros((graph.vertices, graph.vertices), np.float64)
    joined[graph.owners, graph.lower] = joined[graph.lower, graph.owners] = 1.0
    common = joined @ joined
    np.fill_diagonal(common, 0.0)
    return round(float((common * (common - 1)).sum()) / 8)


def estimate_butterflies(
    links: ArrayLike, people: int, items: int, epsilon: float, coins: Coins | None = None, progress: Progress | None = None
) -> HonestCount:
    """The same between people and items: how often two people have two items in common.

    `links` are pairs of a person and an item, numbered from 0. Each person answers for every item.

    >>> from deniable.core.coins import SeededCoins
    >>> everything = [(person, item) for person in range(60) for item in range(30)]
    >>> found = estimate_butterflies(everything, 60, 30, epsilon=2.0, coins=SeededCoins(1))
    >>> found.low <= math.comb(60, 2) * math.comb(30, 2) <= found.high
    True
    """
    checked_epsilon(epsilon)
    truth, coins = _matrix(links, people, items), checked_coins(coins)
    response = CoordinateResponse.of(epsilon)
    lies = coins.toss_packed(response.q, people, items).unpack()
    found = _butterflies(unbiased((truth ^ lies).astype(np.float64), 1, response), response.noise, progress)
    levels = _butterfly_levels(found, people, items, response.noise)
    most = math.comb(people, 2) * math.comb(items, 2)
    return _counted(found, levels, most, "pairs of people with a pair of items in common")


def _butterfly_levels(found: _Found, people: int, items: int, v: float) -> Levels:
    """Two answers are of one person, of one item, or of neither, and lack what the other person or item has."""
    alike = (people - 2) * (2 * found.cycles + found.wedges) + found.wedges
    across = (items - 2) * (2 * found.cycles + found.across) + found.across
    whole = math.comb(people, 2) * math.comb(items, 2)
    return v**2 * (alike + across + found.apart), v**3 * found.edges * (people - 1) * (items - 1), v**4 * whole


def _matrix(links: ArrayLike, people: int, items: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    pairs = np.asarray(links)
    if pairs.ndim != 2 or pairs.shape[1:] != (2,) or pairs.dtype.kind not in "iu" or people < 1 or items < 1:
        raise InvalidParameter("Links are pairs of whole numbers, a person and an item; at least one is needed.")
    if len(pairs) and (pairs.min() < 0 or (pairs >= [people, items]).any()):
        raise InvalidParameter(f"People are numbered from 0 to {people - 1}, and items from 0 to {items - 1}.")
    if max(people, items) > MOST_PEOPLE:
        raise InvalidParameter(f"Cycles are counted among at most {MOST_PEOPLE:,} people and items. Use a part of them.")
    truth = np.zeros((people, items), np.bool_)
    truth[pairs[:, 0], pairs[:, 1]] = True
    return truth


def _butterflies(answers: Floats, v: float, progress: Progress | None) -> _Found:
    """Of people and items."""
    common = answers @ answers.T
    columns = (answers**2).sum(axis=0)
    cycles = slopes = 0.0
    for start in range(0, len(answers), ROWS):
        own = answers[start : start + ROWS]
        mine = (own**2).sum(axis=1)
        paths = common[start : start + ROWS] @ answers - own * (mine[:, None] + columns[None, :]) + own**3
        cycles += float((own * paths).sum())
        slopes += float((paths**2).sum())
        if progress is not None:
            progress(min(1.0, (start + ROWS) / len(answers)))
    wedges, across = (float((answers.sum(axis=axis) ** 2).sum() - columns.sum()) / 2 for axis in (1, 0))
    edges = float(answers.sum())
    return _Found(cycles / 4, v * slopes, edges, wedges, across, (edges**2 - float(columns.sum())) / 2 - wedges - across)


def exact_butterflies(links: ArrayLike, people: int, items: int) -> int:
    """How often two people have two items in common."""
    truth = _matrix(links, people, items).astype(np.float64)
    common = truth @ truth.T
    np.fill_diagonal(common, 0.0)
    return round(float((common * (common - 1)).sum()) / 4)
