"""Pairs within lists of neighbours: how many of them are joined, truly or as it was answered.

List i is members[offsets[i]:offsets[i + 1]], in ascending order.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from deniable.arrays import Bytes, Ints, Words
from deniable.kernels.draws import draw_bits
from deniable.kernels.plain import compiled_in

PAIRS = 1 << 20  # listed at a time


class DrawnLists(NamedTuple):
    """What people in a circle of so many answered, as labels of shared draws.

    Person i answers for the next size[i] of the circle, in chunks[i] labels from base[i] on, under a key of their own.
    """

    people: int
    size: Ints
    chunks: Ints
    base: Ints
    labels: Words
    keys: Words
    threshold: int

    def of(self, position: Ints) -> "DrawnLists":
        """Those of the people at these positions."""
        own = self.size[position], self.chunks[position], self.base[position]
        return DrawnLists(self.people, *own, self.labels, self.keys[position], self.threshold)


def pairs_within(offsets: Ints, members: Ints, most: int = PAIRS) -> Iterator[tuple[Ints, Ints, Ints]]:
    """All pairs of members of a list, the smaller one first, after the number of the list: about so many at a time."""
    degrees = np.diff(offsets)
    lists = np.repeat(np.arange(len(degrees)), degrees)
    place = np.arange(len(members)) - offsets[lists]  # so many of the same list come before
    until = np.cumsum(place)
    start = 0
    while start < len(members):
        before = until[start] - place[start]
        stop = max(start + 1, int(np.searchsorted(until, before + most, side="right")))
        some = np.arange(start, stop)
        upper = np.repeat(some, place[some])
        first = np.arange(len(upper)) - np.repeat(np.cumsum(place[some]) - place[some], place[some])
        yield lists[upper], members[offsets[lists[upper]] + first], members[upper]
        start = stop


@compiled_in("lists_compiled", lambda offsets, members: members.size * 16)
def closed_pairs(offsets: Ints, members: Ints) -> int:
    """How many pairs within lists are joined, list i being the neighbours of vertex i before it: the triangles."""
    size = len(offsets) - 1
    codes = np.repeat(np.arange(size), np.diff(offsets)) * size + members
    found = 0
    for _, low, high in pairs_within(offsets, members):
        asked = high * size + low
        found += int((codes[np.minimum(np.searchsorted(codes, asked), len(codes) - 1)] == asked).sum())
    return found


@compiled_in("lists_compiled", lambda offsets, members, *_: members.size * 64)
def pair_ones(offsets: Ints, members: Ints, hubs: int, plain: Bytes, position: Ints, drawn: DrawnLists) -> Ints:
    """For each list how many pairs of its members were answered with one: pairs of hubs, and others.

    Members below `hubs` are hubs, about whose pairs the rows of bits in `plain` say what was answered. Member m stands at
    position[m] in the circle.
    """
    people, size, chunks, base, labels, keys, threshold = drawn
    ones = np.zeros((len(offsets) - 1, 2), np.int64)
    for number, low, high in pairs_within(offsets, members):
        inside = high < hubs
        j, k = low[inside], high[inside]
        said = plain[k, j >> 3] >> (j & 7).astype(np.uint8) & 1
        ones[:, 0] += np.bincount(number[inside][said > 0], minlength=len(ones))
        a, b = position[low[~inside]], position[high[~inside]]
        ahead = (b - a) % people
        first = (2 * ahead < people) | ((2 * ahead == people) & (a < b))
        owner, place = np.where(first, a, b), np.where(first, ahead, people - ahead) - 1
        there = chunks[owner] > 0
        owner, place, number = owner[there], place[there], number[~inside][there]
        chunk = place * chunks[owner] // size[owner]
        said = draw_bits(
            place.astype(np.uint64), chunk.astype(np.uint64), labels[base[owner] + chunk], keys[owner], threshold
        )
        ones[:, 1] += np.bincount(number[said > 0], minlength=len(ones))
    return ones
