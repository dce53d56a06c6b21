"""The lists of neighbours as answers: plain between hubs, whose pairs most counts rest on, and compressed for all others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bytes, Floats, Ints
from deniable.core import Coins
from deniable.errors import InvalidParameter
from deniable.graphs.graph import Graph
from deniable.graphs.lists import CircleLists
from deniable.graphs.outlook import largest_answer
from deniable.graphs.ownership import Circle
from deniable.graphs.response import BLOCK, MOST_VERTICES, CompressedLists, NoisyGraph, plain_response, transposed
from deniable.kernels import column_sums
from deniable.mechanisms.sparse.coordinate import CoordinateResponse


@dataclass(frozen=True, eq=False)
class Download:
    """What everybody downloads: a symmetric matrix of answered bits in the order of the people, the hubs first.

    `between` is the response of a pair of hubs, `other` that of any other pair; `bits` is what all answers take.
    """

    words: NDArray[np.uint64]
    hubs: int
    between: CoordinateResponse
    other: CoordinateResponse
    bits: int

    def rows(self, places: Ints) -> NDArray[np.uint64]:
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
        return largest_answer(self.between if place < self.hubs else self.other)


def unbiased(ones: Floats | Ints, answers: int, response: CoordinateResponse) -> Floats:
    """The sum of so many unbiased answers, of which these many are ones."""
    q = float(response.q)
    return np.asarray((ones - q * answers) / (1 - 2 * q))


def answered(
    graph: Graph, rank: Ints, noisy: Ints, hubs: int, between_epsilon: float, lists: CompressedLists, coins: Coins
) -> Download:
    """Everybody's report of the first round. `rank` is each person's public place, the first `hubs` places are the hubs'.

    Each person reports the list of the others for whom they answer, except that hubs report about hubs in plain.
    """
    circle, size, bits = Circle(graph.vertices), graph.vertices, 0
    if size > MOST_VERTICES:
        raise InvalidParameter(f"At most {MOST_VERTICES:,} vertices can be handled at a time. Use a part of the graph.")
    packed = np.zeros((size, (size + 63) // 64 * 8), np.uint8)
    if hubs < size:
        owner, other, place = circle.owned(graph)
        listed = (rank[owner] >= hubs) | (rank[other] >= hubs)
        rows, bits = _compressed(circle, owner[listed], place[listed], noisy, lists, coins)
        put_in_order(packed, rows, circle, rank)
    if hubs:
        plain = _plain(graph, rank, hubs, between_epsilon, coins)
        put_into(packed, plain.both_ways.view(np.uint8), hubs)
        bits += plain.bits
    between = CoordinateResponse.of(between_epsilon)
    return Download(packed.view(np.uint64), hubs, between, lists.coordinate, bits)


def _plain(graph: Graph, rank: Ints, hubs: int, epsilon: float, coins: Coins) -> NoisyGraph:
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


def _compressed(
    circle: Circle, owner: Ints, place: Ints, noisy: Ints, lists: CompressedLists, coins: Coins
) -> tuple[Bytes, int]:
    """The answers of all lists, in rows of bits by the owners' own places, and what they take."""
    code = CircleLists(circle, lists, noisy, coins.public(1 << 62, circle.people).astype(np.uint64))
    sent = np.flatnonzero(code.chunks)
    if not sent.size:
        return code.rows(sent, np.empty(0, np.int64)), 0
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=circle.people)[sent])])
    labels = code.labels(sent, offsets, place, coins)
    return code.rows(sent, labels), code.bits(sent, labels)


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
