"""Bounds of vectors of length one: C loops that randomize and sum them, with the directions and chances of our own laws."""

from ctypes import c_double, c_size_t, c_uint32, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt

import deniable as dn
from benchmarks.bounds.bound import fastest_available
from benchmarks.bounds.compiled import Compiled
from benchmarks.bounds.keystream import WORDS, Keystream
from benchmarks.effort import Work

Floats = npt.NDArray[np.float64]
SIDE = 16  # people side by side in gradient_perturb.c


class CodesPerturb:
    """From vectors to their mean by `UnitCodes` of one round; their dimensions are a multiple of 16."""

    def __init__(self, mechanism: dn.UnitCodes, rows: Floats, library: Any) -> None:
        assert mechanism.rounds == 1 and mechanism.domain.dimensions % 16 == 0 and mechanism.codes % 8 == 0
        self._mechanism, self._rows, self._loop, self._stream = mechanism, rows, library.codes_perturb, Keystream()
        self.seeds, self.codes = np.empty(len(rows), np.uint64), np.empty(len(rows), np.uint16)

    def work(self) -> Floats:
        """Randomize all vectors, and estimate their mean."""
        mechanism, n, width = self._mechanism, len(self._rows), self._rows.shape[1]
        sums = np.zeros(width)
        constants = [c_uint32(each) for each in (width, mechanism.codes, mechanism.near, inside(mechanism))]
        for start in range(0, n, WORDS // 2):
            self._stream.refill()
            given = _at(self._stream.words), _at(self._rows[start:]), _at(self.seeds[start:]), _at(self.codes[start:])
            wrong = self._loop(*given, c_size_t(min(WORDS // 2, n - start)), _at(sums), *constants)
            assert not wrong
        return np.asarray((sums / n / (1 << 24) - 1) / mechanism.length)


def inside(mechanism: dn.UnitCodes) -> int:
    """How many of 2^32 words name one of the near directions."""
    weight = mechanism.near * float(mechanism.part.odds)
    return int(weight / (weight + mechanism.codes - mechanism.near) * (1 << 32))


def codes_perturb(mechanism: dn.UnitCodes, rows: Floats) -> Work | None:
    """Vectors to their mean; None where there is no compiler."""
    hardware = fastest_available()
    return CodesPerturb(mechanism, rows, hardware.library).work if isinstance(hardware, Compiled) else None


def _at(array: npt.NDArray[Any]) -> c_void_p:
    return c_void_p(array.ctypes.data)


class GradientPerturb:
    """A round of softmax regression on reports of `UnitAxes`: from features and labels to the mean gradient."""

    def __init__(
        self, mechanism: dn.UnitAxes, rows: Floats, labels: npt.NDArray[np.int64], classes: int, library: Any
    ) -> None:
        assert mechanism.rounds == 1 and mechanism.padded <= 1024 and rows.shape[1] < 64
        self._mechanism, self._rows, self._labels, self._classes = mechanism, np.ascontiguousarray(rows), labels, classes
        self._loop, self._stream = library.gradient_perturb, Keystream()
        self._people = -(-len(rows) // SIDE) * SIDE
        self.seeds, self.codes = np.empty(self._people, np.uint64), np.empty(self._people, np.uint16)

    def work(self) -> Floats:
        """The mean gradient at weights of zero. The last few people are counted again to make up sixteen."""
        mechanism, (n, inputs) = self._mechanism, self._rows.shape
        weights, low, high = np.zeros((self._classes, inputs + 1)), np.full(inputs, -1.0), np.full(inputs, 1.0)
        sums, who = np.zeros(mechanism.domain.dimensions), np.minimum(np.arange(self._people), n - 1).astype(np.uint32)
        shape = inputs, self._classes, mechanism.padded, mechanism.near, inside(mechanism)
        for start in range(0, self._people, WORDS // 2):
            self._stream.refill()
            self._loop(
                *(_at(self._stream.words), _at(self._rows), _at(self._labels), _at(who[start:])),
                *(c_size_t(min(WORDS // 2, self._people - start)), _at(weights), _at(low), _at(high), c_double(1.0)),
                *(*map(c_uint32, shape), _at(self.seeds[start:]), _at(self.codes[start:]), c_double(1 << 24), _at(sums)),
            )
        return np.asarray((sums / self._people / (1 << 24) - 1) / mechanism.length)[: weights.size]


def gradient_perturb(mechanism: dn.UnitAxes, rows: Floats, labels: npt.NDArray[np.int64], classes: int) -> Work | None:
    """A round of learning; None where there is no compiler."""
    hardware = fastest_available()
    if not isinstance(hardware, Compiled):
        return None
    return GradientPerturb(mechanism, rows, labels, classes, hardware.library).work
