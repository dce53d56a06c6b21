"""The bound of compressed response: a C loop from coordinates to messages, with the draws and codes of our own law.

It starts where ours does, with lists of whole numbers, and reads them with the quickest that Python has for that.
"""

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, c_double, c_int64, c_size_t, c_uint64, c_void_p
from struct import pack
from typing import Any

import numpy as np
import numpy.typing as npt

import deniable as dn
from benchmarks.bounds.bound import fastest_available
from benchmarks.bounds.compiled import Compiled
from benchmarks.bounds.keystream import WORDS, Keystream
from benchmarks.effort import Work
from deniable.mechanisms.sparse.codes import sums
from deniable.mechanisms.sparse.encoder import series_of

ONE = 1 << 64


class Law(ctypes.Structure):
    """`law_t` of chunks_perturb.c."""

    _fields_ = (
        *((name, c_uint64) for name in ("threshold", "size", "left", "right")),
        ("rounds", c_uint64 * 6),
        ("series", c_double * 20),
        ("factors", POINTER(c_double)),
        ("most", c_int64),
        ("sums", POINTER(c_int64)),
        ("digits", POINTER(c_uint64)),
        *((name, c_uint64) for name in ("binary", "margin", "least")),
        ("load", c_double),
    )


class State(ctypes.Structure):
    """`state_t` of chunks_perturb.c."""

    _fields_ = tuple((name, c_uint64) for name in ("vector", "chunk", "key", "chunks"))


class ChunksPerturb:
    """The C loop with its memory, for a batch of vectors with two values each and alpha = 2."""

    def __init__(self, mechanism: dn.Compressed, answers: Sequence[list[int]], library: Any) -> None:
        assert mechanism.alpha == 2 and mechanism.domain.values == 2 and mechanism.noisy_count is not None
        noise, coordinate, permutation = mechanism.noisy_count, mechanism.coordinate, mechanism.permutation
        most = max(map(len, answers))
        with np.errstate(over="ignore"):  # infinite: a draw that is never sent
            factors = np.exp(-np.log(float(coordinate.odds)) * np.arange(-most, most + 1))
        kept = factors, sums(mechanism.weights or ())
        digits = np.array([int(chance * ONE) for chance in noise.digits[:-1]], np.uint64)
        self._kept = *kept, digits
        self._law = Law(
            *(coordinate.threshold, mechanism.domain.size, *permutation.cells),
            (c_uint64 * 6)(*permutation.round_keys.tolist()),
            (c_double * 20)(*series_of(2.0).tolist()),
            kept[0].ctypes.data_as(POINTER(c_double)),
            most,
            kept[1].ctypes.data_as(POINTER(c_int64)),
            digits.ctypes.data_as(POINTER(c_uint64)),
            *(len(digits), *noise.room(coordinate.epsilon), mechanism.load),
        )
        chunks = mechanism.domain.size
        self._loop, self._stream, self._answers = library.chunks_perturb, Keystream(), answers
        self._room = [np.empty(size, kind) for size, kind in self._sizes(most, chunks)]
        self.keys, self.lengths = np.empty(len(answers), np.uint64), np.empty(len(answers), np.uint64)
        self.messages = np.empty((len(answers), 8 * chunks), np.uint8)
        self._waits = np.empty(WORDS)

    def _sizes(self, most: int, chunks: int) -> list[tuple[int, npt.DTypeLike]]:
        return [(most, np.uint64), (most, np.uint32), (most, np.uint64), (chunks + 1, np.uint32), (chunks, np.uint64)]

    def work(self) -> object:
        """Encode all vectors."""
        state, done = State(), 0
        places = np.frombuffer(b"".join([pack(f"{len(each)}q", *each) for each in self._answers]), np.int64)
        offsets = np.cumsum([0, *map(len, self._answers)])
        while not done:
            self._stream.refill()
            done = self._loop(
                *(_at(self._stream.words), _at(self._waits), c_size_t(WORDS)),
                *(_at(places), _at(offsets), c_size_t(len(offsets) - 1)),
                *(ctypes.byref(self._law), ctypes.byref(state)),
                *map(_at, self._room),
                *(_at(self.keys), _at(self.messages), c_size_t(self.messages.shape[1]), _at(self.lengths)),
            )
        assert done == 1
        return self.messages

    def reports(self) -> list[tuple[int, bytes]]:
        """The key and the message of each vector."""
        rows = zip(self.keys.tolist(), self.messages, self.lengths.tolist(), strict=True)
        return [(key, row[: int(length)].tobytes()) for key, row, length in rows]


def chunks_perturb(mechanism: dn.Compressed, answers: Sequence[list[int]]) -> Work | None:
    """Sparse vectors to messages; None where there is no compiler."""
    hardware = fastest_available()
    return ChunksPerturb(mechanism, answers, hardware.library).work if isinstance(hardware, Compiled) else None


def _at(array: npt.NDArray[Any]) -> c_void_p:
    return c_void_p(array.ctypes.data)
