"""The first round: everybody's lower neighbours as randomized response, plain or compressed, and what it takes to send."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from deniable.arrays import Bools, Bytes, Ints, Words
from deniable.core import Coins, PackedBits
from deniable.errors import InvalidParameter
from deniable.graphs.graph import Graph
from deniable.kernels import coder, draws
from deniable.mechanisms.sparse import codes
from deniable.mechanisms.sparse.chunks import best_load, first_place
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.encoder import labels_for
from deniable.mechanisms.sparse.index_law import mixed_index_law
from deniable.mechanisms.sparse.noisy_count import NoisyCount

MOST_VERTICES = 1 << 17  # the matrix of all pairs must fit into memory
BLOCK = 1 << 10
WORK = 5.0  # of the encoder: among thousands of lists some are crowded


@dataclass(frozen=True, eq=False)
class NoisyGraph:
    """Row i, bit j < i says whether i answered that it is joined to j; `bits` is what all answers take together."""

    coordinate: CoordinateResponse
    rows: PackedBits
    bits: int

    @classmethod
    def of(cls, graph: Graph, coordinate: CoordinateResponse, bits: int = 0) -> "NoisyGraph":
        """A graph taken as answers, as in an example with known noise."""
        return cls(coordinate, PackedBits(packed_rows(graph), graph.vertices), bits)

    def answers(self, low: Ints, high: Ints) -> Bools:
        """What was answered for pairs low < high."""
        return (self.rows.bytes[high, low >> 3] >> (low & 7) & 1).astype(np.bool_)

    @cached_property
    def both_ways(self) -> Words:
        """All answers as a symmetric matrix of bits, in rows of words."""
        packed = self.rows.bytes
        full = packed.copy()
        size = len(packed)
        for start in range(0, size, BLOCK):
            turned = transposed(packed[start : start + BLOCK, : start // 8 + BLOCK // 8])[:size]
            full[: len(turned), start // 8 : start // 8 + turned.shape[1]] |= turned
        return np.ascontiguousarray(full).view(np.uint64)


def transposed(rows: Bytes) -> Bytes:
    """The same bits with rows as columns, in squares of eight by eight (Warren, Hacker's Delight, 7-3)."""
    height = -(-len(rows) // 8)
    filled = np.zeros((8 * height, rows.shape[1]), np.uint8)
    filled[: len(rows)] = rows
    squares = np.ascontiguousarray(filled.reshape(height, 8, -1).transpose(0, 2, 1)).view(np.uint64)[:, :, 0]
    for by, mask in ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0)):
        swapped = (squares ^ (squares >> np.uint64(by))) & np.uint64(mask)
        squares ^= swapped ^ (swapped << np.uint64(by))
    turned = squares[:, :, None].view(np.uint8)  # of square (r, c), byte j: the bits of column 8 c + j
    return np.ascontiguousarray(turned.transpose(1, 2, 0)).reshape(8 * rows.shape[1], height)


def packed_rows(graph: Graph) -> Bytes:
    """The lower neighbours as rows of bits, a whole number of words each."""
    if graph.vertices > MOST_VERTICES:
        raise InvalidParameter(f"At most {MOST_VERTICES:,} vertices can be handled at a time. Use a part of the graph.")
    rows = np.zeros((graph.vertices, (graph.vertices + 63) // 64 * 8), np.uint8)
    np.bitwise_or.at(rows, (graph.owners, graph.lower >> 3), np.uint8(1) << (graph.lower & 7).astype(np.uint8))
    return rows


def plain_response(graph: Graph, epsilon: float, coins: Coins) -> NoisyGraph:
    """Every possible lower neighbour answers on its own: n (n - 1) / 2 bits, at their entropy."""
    coordinate, rows, size = CoordinateResponse.of(epsilon), packed_rows(graph), graph.vertices
    for start in range(0, size, BLOCK):
        stop = min(start + BLOCK, size)
        width = (stop + 63) // 64 * 8
        lies = coins.toss_packed(coordinate.q, stop - start, 8 * width).bytes
        rows[start:stop, :width] ^= lies
    cut_rows(rows)
    return NoisyGraph(coordinate, PackedBits(rows, size), math.ceil(size * (size - 1) / 2 * coordinate.entropy()))


def cut_rows(rows: Bytes) -> None:
    """Clear all that is not below the row's own number."""
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        keep = np.arange(part.shape[1] * 8)[None, :] < np.arange(start, start + len(part))[:, None]
        part &= np.packbits(keep, axis=1, bitorder="little")


@dataclass(frozen=True)
class CompressedLists:
    """How lists of lower neighbours are reported: vertex i has a vector of i coordinates, all in one public order."""

    epsilon: float  # of the response as a whole, 2 alpha eps
    alpha: float
    noisy_count: NoisyCount

    @cached_property
    def coordinate(self) -> CoordinateResponse:
        """The response of one possible edge."""
        return CoordinateResponse.quantised(self.epsilon / (2 * self.alpha))

    @cached_property
    def load(self) -> float:
        """Neighbours in a chunk, on average."""
        return best_load(self.coordinate, WORK)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Of the code; most lists are short, so that chunks hold about half of what they could."""
        return _weights(self.coordinate, self.alpha, self.load / 2)

    def wanted(self, noisy: Ints, sizes: Ints) -> Ints:
        """How many chunks keep the encoder quick, from the noisy lengths of the lists."""
        return self.noisy_count.chunks(noisy, self.coordinate.epsilon, self.load, sizes)

    def chunks(self, noisy: Ints, sizes: Ints) -> Ints:
        """How many chunks each list is reported in, from its noisy length; none where plain response is shorter."""
        wanted = self.wanted(noisy, sizes)
        plain = wanted * codes.mean_bits(self.weights) >= sizes * self.coordinate.entropy()
        return np.where(plain, 0, wanted)


@lru_cache(maxsize=64)
def _weights(coordinate: CoordinateResponse, alpha: float, load: float) -> tuple[int, ...]:
    return codes.model_weights(mixed_index_law(coordinate, alpha, load))


def compressed_response(graph: Graph, lists: CompressedLists, noisy: Ints, coins: Coins) -> NoisyGraph:
    """The same response as the plain one, reported in a few bits for each neighbour; noisy are the noisy lengths.

    Vertices should be numbered at random, so that neighbours do not crowd. Messages are as those of `Compressed`: the
    number of labels, then labels; or, without labels, the answers themselves.
    """
    coordinate, size = lists.coordinate, graph.vertices
    sizes = np.arange(size)
    chunks = lists.chunks(noisy, sizes)
    sent = np.flatnonzero(chunks)
    keys = coins.public(1 << 62, size).astype(np.uint64)
    rows = np.zeros((size, (size + 63) // 64 * 2), np.uint32)
    bits = 0
    if sent.size:
        degrees = graph.degrees[sent]
        kept = np.repeat(chunks > 0, graph.degrees)
        offsets = np.concatenate([[0], np.cumsum(degrees)])
        places = graph.lower[kept]
        ones = np.ones_like(places)
        labels = labels_for(coordinate, lists.alpha, places, ones, offsets, sizes[sent], chunks[sent], keys[sent], coins)
        edges = np.concatenate([[0], np.cumsum(chunks[sent])])
        bits += int(coder.code_labels(labels, edges, True, codes.sums(lists.weights))[2].sum())
        own = np.repeat(sent, chunks[sent])
        chunk = np.arange(len(own)) - np.repeat(edges[:-1], chunks[sent])
        first, last = first_place(chunk, own, chunks[own]), first_place(chunk + 1, own, chunks[own])
        whole = labels.astype(np.uint64), keys[own], coordinate.threshold
        draws.draw_rows(rows, own, first, last, chunk.astype(np.uint64), *whole)
    packed = rows.view(np.uint8)
    plain = np.flatnonzero(chunks == 0)
    if plain.size:
        lies = coins.toss_packed(coordinate.q, len(plain), 8 * packed.shape[1]).bytes
        keep = np.arange(8 * packed.shape[1])[None, :] < plain[:, None]
        packed[plain] = (packed_rows(graph)[plain] ^ lies) & np.packbits(keep, axis=1, bitorder="little")
        # The entropy, a bit for the header and two to end each message.
        bits += math.ceil(float(plain.sum()) * coordinate.entropy()) + 3 * len(plain)
    return NoisyGraph(coordinate, PackedBits(packed, size), bits)
