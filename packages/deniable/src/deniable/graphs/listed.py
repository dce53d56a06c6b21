"""Everybody's lists as reported, for any number of people: answers are drawn where they are needed, never all at once.

Encoding is done in blocks of people, each with coins of its own, so that the answers are the same wherever it runs.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from deniable.arrays import Bytes, Ints, Words
from deniable.core import Coins
from deniable.graphs.graph import Graph
from deniable.graphs.hubs import Download, plain_between, put_in_order, put_into
from deniable.graphs.lists import CircleLists
from deniable.graphs.ownership import Circle
from deniable.graphs.response import CompressedLists
from deniable.graphs.running import Meter, Run, coins_for, in_turn, seeds
from deniable.kernels.blocks import fill_block
from deniable.kernels.lists import DrawnLists, pair_ones
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse

PEOPLE = 1 << 14  # who encode their lists in one job


@dataclass(frozen=True, eq=False)
class Listed:
    """What is published after the second round: all labels by place in the circle, and the plain answers between hubs.

    `rank` is each person's place in the order, of which the first `hubs` are the hubs; `plain` are rows of bits, symmetric.
    """

    code: CircleLists
    labels: Ints
    rank: Ints
    hubs: int
    plain: Bytes
    between: CoordinateResponse
    bits: int

    @property
    def other(self) -> CoordinateResponse:
        """The response of any pair that is not one of hubs."""
        return self.code.lists.coordinate

    @cached_property
    def person(self) -> Ints:
        """Who is at each place of the order."""
        return np.argsort(self.rank)

    def matrix(self) -> Download:
        """All answers as a matrix of bits: for graphs that are small enough."""
        size = self.code.circle.people
        packed = np.zeros((size, (size + 63) // 64 * 8), np.uint8)
        rows = self.code.rows(np.flatnonzero(self.code.chunks), self.labels)
        put_in_order(packed, rows, self.code.circle, self.rank)
        if self.hubs:
            put_into(packed, self.plain, self.hubs)
        return Download(packed.view(np.uint64), self.hubs, self.between, self.other, self.bits)

    @cached_property
    def _drawn(self) -> DrawnLists:
        labels = self.labels.astype(np.uint64) if len(self.labels) else np.zeros(1, np.uint64)
        code, threshold = self.code, self.other.threshold
        return DrawnLists(code.circle.people, code.sizes, code.chunks, code.base, labels, code.keys, threshold)

    def ones(self, offsets: Ints, above: Ints) -> Ints:
        """How many ones were answered about pairs of each of some lists of places: between hubs, and of other pairs."""
        return pair_ones(offsets, above, self.hubs, self.plain, self.person, self._drawn)

    def block(self, position: Ints, rows: Ints, low: int, slot: Ints) -> Words:
        """The answers about the people position[low], position[low + 1], ..., in a row of bits for each position[rows]."""
        places = self.rank[position]
        out = np.zeros((len(rows), (len(slot) + 63) // 64), np.uint64)
        if len(self.labels):
            fill_block(out, rows, position, low, slot, self._drawn.of(position))
        among = np.flatnonzero(places[rows] < self.hubs)
        at = places[rows][among]
        for column, bit in zip(places[low : low + len(slot)].tolist(), slot.tolist(), strict=True):
            if column < self.hubs:
                said = (self.plain[column, at >> 3] >> (at & 7).astype(np.uint8) & 1).astype(np.uint64)
                shift = np.uint64(bit & 63)
                out[among, bit >> 6] = (out[among, bit >> 6] & ~(np.uint64(1) << shift)) | said << shift
        return out


def answered(
    graph: Graph,
    rank: Ints,
    noisy: Ints,
    hubs: int,
    between_epsilon: float,
    lists: CompressedLists,
    coins: Coins,
    run: Run = in_turn,
    progress: Meter | None = None,
) -> Listed:
    """Everybody's report of the second round. `rank` is each person's public place, the first `hubs` places are the hubs'.

    Each person reports the list of the others for whom they answer, except that hubs report about hubs in plain.
    """
    size, everybody_is = graph.vertices, hubs >= graph.vertices
    silent = np.full(size, True) if everybody_is else None
    code = CircleLists(Circle(size), lists, noisy, coins.public(1 << 62, size).astype(np.uint64), silent)
    labels, bits = _encoded(code, graph, rank, hubs, coins, run, progress or Meter())
    plain = np.zeros((0, 0), np.uint8)
    if hubs:
        between = plain_between(graph, rank, hubs, between_epsilon, coins)
        plain = between.both_ways.view(np.uint8)
        bits += between.bits
    return Listed(code, labels, rank, hubs, plain, CoordinateResponse.of(between_epsilon), bits)


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of some people, who follow each other in the circle: a job."""

    first: int
    offsets: Ints
    places: Ints
    seed: bytes


def _encoded(
    code: CircleLists, graph: Graph, rank: Ints, hubs: int, coins: Coins, run: Run, progress: Meter
) -> tuple[Ints, int]:
    """The labels of all people, one after the other, and what they take to send."""
    size, labels, bits = code.circle.people, np.empty(int(code.base[-1]), np.int64), 0
    if not len(labels):
        return labels, 0
    codes, starts = code.circle.codes(graph), range(0, size, PEOPLE)
    ends = np.searchsorted(codes, [size * min(start, size) for start in range(0, size + PEOPLE, PEOPLE)])
    jobs = list[Lists]()
    for start, seed, (first, last) in zip(starts, seeds(coins, len(starts)), pairwise(ends.tolist()), strict=True):
        owner, other, place = code.circle.decoded(codes[first:last])
        listed = (rank[owner] >= hubs) | (rank[other] >= hubs)
        many = np.bincount(owner[listed] - start, minlength=min(PEOPLE, size - start))
        jobs.append(Lists(start, np.concatenate([[0], np.cumsum(many)]), place[listed], seed))
    del codes
    for results in run(encode, code, jobs, _joined):
        for start, part, taken in results:
            labels[code.base[start] : code.base[min(start + PEOPLE, size)]] = part
            bits += taken
            progress.add(0.3 / len(jobs))
    return labels, bits


Encoded = tuple[tuple[int, Ints, int], ...]


def encode(code: CircleLists, job: Lists) -> Encoded:
    """The labels that some people report, and the bits that these take."""
    people = np.arange(job.first, job.first + len(job.offsets) - 1)
    labels = code.labels(people, job.offsets, job.places, coins_for(job.seed))
    return ((job.first, labels, code.bits(people, labels)),)


def _joined(first: Encoded, second: Encoded) -> Encoded:
    return first + second
