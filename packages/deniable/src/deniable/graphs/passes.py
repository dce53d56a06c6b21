"""The last round for everybody: what each person counts on the published answers, in blocks that fit into little memory.

By how much one edge can change a count is the largest sum of answers that anybody has for the neighbours of that person. It
takes answers about all pairs of people, which are drawn for a block of columns at a time. Whoever has few neighbours takes
the largest change that is possible for so many: among thousands of people somebody has nearly that, so that it is hardly
more, and nothing but the answers about pairs of their own neighbours is needed. So does everybody but the first in the
order, in graphs of more than 131,072 people.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.graphs.graph import Graph
from deniable.graphs.hubs import unbiased, widest
from deniable.graphs.listed import Listed
from deniable.graphs.outlook import exact_places, few_neighbours, largest_answer, taken_as_largest
from deniable.graphs.running import Meter, Run, in_turn
from deniable.kernels.blocks import block_sums
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse

COLUMNS = 1 << 11  # of a block
PAIRS = 1 << 22  # of neighbours in one job


@dataclass(frozen=True, eq=False)
class Seen:
    """What everybody saw, in order: ones between hubs and in other answers, and the sum that one edge can change at most."""

    between: Ints
    other: Ints
    local: Floats

    def counts(self, ordered: Graph, listed: Listed) -> Floats:
        """The unbiased number of triangles of each person."""
        hubs = np.bincount(ordered.owners[ordered.lower < listed.hubs], minlength=ordered.vertices)
        inside = hubs * (hubs - 1) // 2
        outside = ordered.wedge_counts - inside
        return each_unbiased(self.between, inside, listed.between) + each_unbiased(self.other, outside, listed.other)


def each_unbiased(ones: Ints, answers: Ints, response: CoordinateResponse) -> Floats:
    """For each person the sum of so many unbiased answers, of which these many are ones."""
    return unbiased(ones - float(response.q) * answers, 0, response)


def seen(ordered: Graph, listed: Listed, run: Run = in_turn, progress: Meter | None = None) -> Seen:
    """What everybody sees; the graph is numbered in the order."""
    meter, size, degrees = progress or Meter(), ordered.vertices, ordered.degrees
    works_out = (np.arange(size) < exact_places(size)) & (degrees > few_neighbours(size))
    ones, local = np.zeros((size, 2), np.int64), 1.0 * taken_as_largest(degrees, np.arange(size), size)
    local[: listed.hubs] *= largest_answer(listed.between)
    local[listed.hubs :] *= widest(listed.between, listed.other)
    people = np.flatnonzero(works_out)
    if len(people):
        blocks = _blocks(ordered, listed, people)
        for found in run(look, blocks, blocks.jobs, Sums.__add__):
            ones[people] += found.ones
            local[people] = np.maximum(local[people], found.best)
            meter.add(found.jobs * 0.4 / len(blocks.jobs))
        ones[people] //= 2  # each pair of neighbours is counted at both of its ends
    pairs = _lists(ordered, np.flatnonzero(~works_out & (degrees > 1)))
    for parts in run(pair_up, listed, pairs, _joined):
        for who, part in parts:
            ones[who] = part
            meter.add(0.3 / len(pairs))
    return Seen(ones[:, 0], ones[:, 1], local)


@dataclass(frozen=True, eq=False)
class Blocks:
    """People with their neighbours before them in the order, by rows of a block: what all jobs share.

    The columns of blocks are those at `position` in the circle, and their rows are position[rows].
    """

    listed: Listed
    people: Ints
    position: Ints
    rows: Ints
    offsets: Ints
    members: Ints
    splits: Ints

    @property
    def jobs(self) -> list[tuple[int, int]]:
        """From which to which position the columns of each block are."""
        top = len(self.position)
        return [(low, min(low + COLUMNS, top)) for low in range(0, top, COLUMNS)]


def _blocks(ordered: Graph, listed: Listed, people: Ints) -> Blocks:
    offsets, above = _chosen(ordered, people)
    position = np.flatnonzero(listed.rank < people[-1])
    places = listed.rank[position]
    needed = np.zeros(len(position), np.bool_)
    needed[above] = True
    rows = np.flatnonzero(needed[places])
    row = np.full(len(position), -1)
    row[places[rows]] = np.arange(len(rows))
    hubs = np.concatenate([[0], np.cumsum(above < listed.hubs)])
    return Blocks(listed, people, position, rows, offsets, row[above], np.diff(hubs[offsets]))


def _chosen(ordered: Graph, people: Ints) -> tuple[Ints, Ints]:
    """The lists of some people, one after the other, and where each begins."""
    kept = np.zeros(ordered.vertices, np.bool_)
    kept[people] = True
    offsets = np.concatenate([[0], np.cumsum(ordered.degrees[people])])
    return offsets, ordered.lower[np.repeat(kept, ordered.degrees)]


@dataclass(frozen=True, eq=False)
class Sums:
    """The largest sums and the ones of some blocks, for all people who work them out."""

    best: Floats
    ones: Ints
    jobs: int

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(np.maximum(self.best, other.best), self.ones + other.ones, self.jobs + other.jobs)


def look(blocks: Blocks, job: tuple[int, int]) -> Sums:
    """What people see in the answers about some others, of whom each looks at those before them in the order."""
    (low, high), listed = job, blocks.listed
    places = listed.rank[blocks.position[low:high]]
    slot = np.empty(high - low, np.int64)
    slot[np.argsort(places)] = np.arange(high - low)
    words = listed.block(blocks.position, blocks.rows, low, slot)
    bit = np.full(len(blocks.position), -1)
    bit[low:high] = slot
    reach = np.searchsorted(np.sort(places), blocks.people)
    hubs = int((places < listed.hubs).sum())
    laws = [(float(law.q), float(1 - 2 * law.q)) for law in (listed.between, listed.other)]
    lists = blocks.offsets, blocks.members, blocks.splits
    return Sums(*block_sums(words, *lists, reach, hubs, bit[blocks.rows], *laws), 1)


def _lists(ordered: Graph, people: Ints) -> list[tuple[Ints, Ints, Ints]]:
    """The lists of some people, in parts with not too many pairs: who they are, where each list begins, and all lists."""
    offsets, above = _chosen(ordered, people)
    cuts, many = [0], np.cumsum(ordered.wedge_counts[people])
    while cuts[-1] < len(people):
        before = int(many[cuts[-1] - 1]) if cuts[-1] else 0
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(many, before + PAIRS, side="right"))))
    return [(people[a:b], offsets[a : b + 1] - offsets[a], above[offsets[a] : offsets[b]]) for a, b in pairwise(cuts)]


Pairs = tuple[tuple[Ints, Ints], ...]


def pair_up(listed: Listed, job: tuple[Ints, Ints, Ints]) -> Pairs:
    """Ones among the answers about pairs of neighbours: between hubs, and of other pairs."""
    who, offsets, above = job
    return ((who, listed.ones(offsets, above)),)


def _joined(first: Pairs, second: Pairs) -> Pairs:
    return first + second
