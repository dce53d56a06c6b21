"""The lists of neighbours as answers: plain between hubs, whose pairs most counts rest on, and compressed for all others."""

from dataclasses import dataclass

import numpy as np

from deniable.arrays import Bytes, Floats, Ints, Words
from deniable.core import Coins
from deniable.graphs.graph import Graph
from deniable.graphs.outlook import largest_answer
from deniable.graphs.ownership import Circle
from deniable.graphs.response import BLOCK, NoisyGraph, plain_response, transposed
from deniable.kernels import column_sums
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse


@dataclass(frozen=True, eq=False)
class Download:
    """What everybody downloads: a symmetric matrix of answered bits in the order of the people, the hubs first.

    `between` is the response of a pair of hubs, `other` that of any other pair; `bits` is what all answers take.
    """

    words: Words
    hubs: int
    between: CoordinateResponse
    other: CoordinateResponse
    bits: int

    def rows(self, places: Ints) -> Words:
        """The answers about the people at these places."""
        return self.words[places]

    def sums(self, place: int, mine: Ints) -> tuple[Floats, Floats]:
        """The sum of the unbiased answers of each person above for my neighbours, who are above too; and those of mine.

        Nobody is joined to themselves, and no answer is there for it.
        """
        width = (place + 63) // 64
        split = int(np.searchsorted(mine, self.hubs))
        to_hubs = column_sums(self.rows(mine[:split])[:, :width])[:place]
        to_others = column_sums(self.rows(mine[split:])[:, :width])[:place]
        out = unbiased(to_hubs + to_others, len(mine), self.other)
        inner = min(self.hubs, place)
        plain = unbiased(to_hubs[:inner], split, self.between)
        out[:inner] = plain + unbiased(to_others[:inner], len(mine) - split, self.other)
        out[mine[:split]] -= unbiased(np.zeros(split), 1, self.between)
        out[mine[split:]] -= unbiased(np.zeros(len(mine) - split), 1, self.other)
        return out, out[mine]

    def count(self, place: int, mine: Ints) -> tuple[float, float]:
        """The unbiased number of triangles of the person at a place with neighbours above; its local sensitivity."""
        everybody, own = self.sums(place, mine)
        return float(own.sum()) / 2, float(np.abs(everybody).max(initial=0.0))

    def step(self, place: int) -> float:
        """By how much one edge can change the local sensitivity: by one answer."""
        return step(place, self.hubs, self.between, self.other)


def step(place: int, hubs: int, between: CoordinateResponse, other: CoordinateResponse) -> float:
    """By how much one edge can change the local sensitivity of the person at a place: by one answer."""
    return largest_answer(between) if place < hubs else widest(between, other)


def widest(between: CoordinateResponse, other: CoordinateResponse) -> float:
    """The largest size of any unbiased answer."""
    return max(largest_answer(between), largest_answer(other))


def unbiased(ones: Floats | Ints, answers: int, response: CoordinateResponse) -> Floats:
    """The sum of so many unbiased answers, of which these many are ones."""
    q = float(response.q)
    return np.asarray((ones - q * answers) / (1 - 2 * q))


def plain_between(graph: Graph, rank: Ints, hubs: int, epsilon: float, coins: Coins) -> NoisyGraph:
    """The answers about all pairs of hubs."""
    pairs = np.stack([rank[graph.owners], rank[graph.lower]], axis=1)
    return plain_response(Graph.of(pairs[(pairs < hubs).all(axis=1)], hubs), epsilon, coins)


def put_into(packed: Bytes, answers: Bytes, hubs: int) -> None:
    """Write the answers about pairs of hubs over the first rows and columns."""
    whole, rest = divmod(hubs, 8)
    packed[:hubs, :whole] = answers[:, :whole]
    if rest:
        mask = np.uint8((1 << rest) - 1)
        packed[:hubs, whole] = (packed[:hubs, whole] & ~mask) | (answers[:, whole] & mask)


def put_in_order(packed: Bytes, rows: Bytes, circle: Circle, rank: Ints) -> None:
    """Write the answers as a symmetric matrix of packed bits whose rows and columns are in the order of the ranks."""
    size, sizes = circle.people, circle.sizes
    person = np.argsort(rank)
    line = np.zeros(2 * size, np.uint8)
    for number in range(size):
        line[:] = 0
        reach = int(sizes[number])
        line[number + 1 : number + 1 + reach] = np.unpackbits(rows[number], count=reach, bitorder="little")
        around = line[:size] | line[size:]
        filled = np.packbits(around[person], bitorder="little")
        packed[rank[number], : len(filled)] = filled
    for start in range(0, size, BLOCK):
        turned = transposed(packed[start : start + BLOCK])[:size]
        packed[:, start // 8 : start // 8 + turned.shape[1]] |= turned
