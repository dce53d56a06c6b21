"""From labels back to coordinates: any one of them, whole vectors, or only those that are one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Bytes, Ints, Ints32, Words
from deniable.core import PackedBits
from deniable.kernels import draws
from deniable.mechanisms.sparse.chunks import chunk_of, first_place
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse

TOGETHER = 1 << 21  # bits decoded at a time: they stay in the processor's cache


@dataclass(frozen=True, eq=False)
class Decoder:
    """Reports of vectors of `size` permuted places: counts[i] labels each, under its key; with none, a vector of its own."""

    coordinate: CoordinateResponse
    size: int
    keys: Words
    counts: Ints
    labels: Ints
    whole: Callable[[int], Ints]  # the values of report i, where it holds them all

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def _base(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.counts)])

    def at(self, report: Ints, place: Ints) -> Bytes:
        """The value of one permuted place of one report, for each pair."""
        drawn = self.counts[report] > 0
        out = np.zeros(len(report), np.uint8)
        if drawn.all():
            out = self._drawn(report, place)
        elif drawn.any():
            out[drawn] = self._drawn(report[drawn], place[drawn])
        for each in np.unique(report[~drawn]):
            mine = report == each
            out[mine] = self.whole(int(each))[place[mine]]
        return out

    def _drawn(self, report: Ints, place: Ints) -> Bytes:
        chunk = chunk_of(place, self.size, self.counts[report])
        label = self.labels[self._base[report] + chunk].astype(np.uint64)
        arguments = (place.astype(np.uint64), chunk.astype(np.uint64), label, self.keys[report], self.coordinate.threshold)
        if self.coordinate.values == 2:
            return draws.draw_bits(*arguments)
        return draws.draw_values(*arguments, self.coordinate.values)

    def packed(self, start: int = 0, stop: int | None = None) -> PackedBits:
        """Rows of bits, one for each place, of the reports from `start` to `stop`; only for two values."""
        stop = len(self) if stop is None else stop
        counts = self.counts[start:stop]
        rows = np.zeros((len(counts), (self.size + 63) // 64 * 2), np.uint32)
        own = np.repeat(np.arange(len(counts)), counts)
        chunk = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        first = first_place(chunk, self.size, counts[own])
        last = first_place(chunk + 1, self.size, counts[own])
        labels = self.labels[self._base[start] : self._base[stop]].astype(np.uint64)
        keys = self.keys[start:stop][own]
        draws.draw_rows(rows, own, first, last, chunk.astype(np.uint64), labels, keys, self.coordinate.threshold)
        for each in np.flatnonzero(counts == 0):
            bits = np.packbits(self.whole(start + int(each)).astype(np.bool_), bitorder="little")
            rows[each].view(np.uint8)[: len(bits)] = bits
        return PackedBits(rows.view(np.uint8), self.size)

    def values(self, report: int) -> Bytes:
        """All values of one report, by permuted place."""
        if self.counts[report] == 0:
            return self.whole(report).astype(np.uint8)
        if self.coordinate.values == 2:
            return self.packed(report, report + 1).unpack()[0].view(np.uint8)
        return self.at(np.full(self.size, report), np.arange(self.size))

    def ones(self, names: Ints32) -> list[Ints32]:
        """Of each report names[y] for the permuted places y that are not the reference; `names` fills whole words of 64."""
        if self.coordinate.values != 2:
            return [names[np.flatnonzero(self.values(report))] for report in range(len(self))]
        found, step = [], max(1, TOGETHER // self.size)
        for start in range(0, len(self), step):
            rows = self.packed(start, min(start + step, len(self))).bytes
            found += [draws.take_ones(row.view(np.uint32), names) for row in rows]
        return found
