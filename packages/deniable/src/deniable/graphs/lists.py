"""The lists of neighbours of people in a circle, as labels of shared draws; and from labels back to answers."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Bools, Bytes, Ints, Words
from deniable.core import Coins
from deniable.graphs.ownership import Circle
from deniable.graphs.response import CompressedLists
from deniable.kernels import coder, draws
from deniable.mechanisms.sparse import codes
from deniable.mechanisms.sparse.chunks import chunk_of, first_place
from deniable.mechanisms.sparse.encoder import labels_for


@dataclass(frozen=True, eq=False)
class CircleLists:
    """How each person reports about those they answer for, given everybody's noisy number of neighbours and public key."""

    circle: Circle
    lists: CompressedLists
    noisy: Ints
    keys: Words
    silent: Bools | None = None  # who reports nothing at all

    @cached_property
    def sizes(self) -> Ints:
        """For how many others each person answers."""
        return self.circle.sizes

    @cached_property
    def chunks(self) -> Ints:
        """How many labels each person reports."""
        found = np.minimum(np.maximum(self.lists.wanted(self.noisy, self.sizes), 1), self.sizes)
        return found if self.silent is None else np.where(self.silent, 0, found)

    @cached_property
    def base(self) -> Ints:
        """Where the labels of each person begin, those of all people being one after the other; last, how many there are."""
        return np.concatenate([[0], np.cumsum(self.chunks)])

    def labels(self, people: Ints, offsets: Ints, places: Ints, coins: Coins) -> Ints:
        """What these people report; person i is joined to the places[offsets[i]:offsets[i + 1]] of those ahead."""
        inner, ones = self.lists.coordinate, np.ones_like(places)
        chunks, keys = self.chunks[people], self.keys[people]
        return labels_for(inner, self.lists.alpha, places, ones, offsets, self.sizes[people], chunks, keys, coins)

    def bits(self, people: Ints, labels: Ints) -> int:
        """What the labels of these people take to send."""
        edges = np.concatenate([[0], np.cumsum(self.chunks[people])])
        return int(coder.code_labels(labels, edges, True, codes.sums(self.lists.weights))[2].sum())

    def rows(self, people: Ints, labels: Ints) -> Bytes:
        """The answers in these labels: a row of bits for every person of the circle, empty where there are none."""
        rows = np.zeros((self.circle.people, (self.circle.people // 2 + 63) // 64 * 2), np.uint32)
        self._draw(rows, people, people, labels)
        return rows.view(np.uint8)

    def row(self, person: int, labels: Ints) -> Bytes:
        """The answers of one person as a row of bits, from everybody's labels."""
        row, who = np.zeros((1, (self.circle.people // 2 + 63) // 64 * 2), np.uint32), np.array([person])
        self._draw(row, np.zeros(1, np.int64), who, labels[self.base[person] : self.base[person + 1]])
        return row.view(np.uint8)[0]

    def _draw(self, rows: np.ndarray[tuple[int, int], np.dtype[np.uint32]], into: Ints, people: Ints, labels: Ints) -> None:
        """Write the answers of these people into these rows."""
        chunks = self.chunks[people]
        own, at = np.repeat(people, chunks), np.repeat(into, chunks)
        chunk = np.arange(len(own)) - np.repeat(np.cumsum(chunks) - chunks, chunks)
        first = first_place(chunk, self.sizes[own], self.chunks[own])
        last = first_place(chunk + 1, self.sizes[own], self.chunks[own])
        whole = labels.astype(np.uint64), self.keys[own], self.lists.coordinate.threshold
        draws.draw_rows(rows, at, first, last, chunk.astype(np.uint64), *whole)

    def about(self, person: int, labels: Ints) -> tuple[Ints, Bytes]:
        """Those who answer for a person, and what they answer, from everybody's labels."""
        behind = (person - 1 - np.arange(self.circle.people // 2)) % self.circle.people
        owners = behind[self.circle.owners(behind, np.full(len(behind), person)) == behind]
        owners = owners[(owners != person) & (self.chunks[owners] > 0)]
        place = self.circle.places(owners, np.full(len(owners), person))
        chunk = chunk_of(place, self.sizes[owners], self.chunks[owners])
        label = labels[self.base[owners] + chunk].astype(np.uint64)
        inner = self.lists.coordinate.threshold
        return owners, draws.draw_bits(place.astype(np.uint64), chunk.astype(np.uint64), label, self.keys[owners], inner)
