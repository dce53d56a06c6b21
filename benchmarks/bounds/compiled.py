"""The bounds as C loops, compiled for this very machine when they are asked for."""

import ctypes
import shutil
import subprocess
from ctypes import c_size_t, c_uint, c_uint16, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from benchmarks.bounds import law
from benchmarks.bounds.bound import Bits, Short, Values
from benchmarks.bounds.keystream import WORDS, Keystream
from benchmarks.effort import Work

GROUP = 64 * 64  # bits that `unary_noise` fills together
SOURCES = sorted(Path(__file__).parent.glob("*.c"))


@dataclass(frozen=True)
class Compiled:
    """Random words come from AES-CTR, and the time to make them is counted."""

    library: ctypes.CDLL
    name: str = "C loop"

    @classmethod
    def build(cls) -> Self | None:
        """None where there is no compiler, or none that knows this machine."""
        compiler = shutil.which("cc")
        if compiler is None:
            return None
        with TemporaryDirectory() as folder:
            target = Path(folder) / "bounds.so"
            flags = ["-O3", "-march=native", "-fno-trapping-math", "-shared", "-fPIC", "-o", str(target)]
            command = [compiler, *flags, *map(str, SOURCES)]
            if subprocess.run(command, check=False, capture_output=True).returncode:
                return None
            return cls(ctypes.CDLL(str(target)))

    def direct_perturb(self, values: Values, size: int) -> Work:
        keep, quota = law.direct(size)
        shift = quota.bit_length() - 1
        constants = c_uint64(keep), c_uint64(quota), c_uint64(2 ** (64 + shift) // quota), c_uint(shift)
        return _word_each(self.library.direct_perturb, values, constants)

    def direct_count(self, reports: npt.NDArray[np.uint16], size: int) -> Work:
        counts = np.empty(size, np.uint64)
        kernel = self.library.direct_count

        def work() -> npt.NDArray[np.uint64]:
            tables = np.zeros(4 * size, np.uint32)
            kernel(_at(reports), c_size_t(len(reports)), _at(tables), c_size_t(size), _at(counts))
            return counts

        return work

    def unary_perturb(self, values: Values, size: int, variant: str) -> Work:
        true, other = law.unary(variant)
        bits, stream = np.empty(-(-len(values) * size // GROUP) * GROUP // 64, np.uint64), Keystream()
        truth, words = self.library.unary_truth, _at(stream.words)

        def work() -> Bits:
            self.fill(stream, other, bits)
            for start in range(0, len(values), WORDS):
                stream.refill()
                n = min(WORDS, len(values) - start)
                truth(words, _at(values), _at(bits), *map(c_size_t, (start, n, size)), c_uint64(true))
            return bits.view(np.uint8)[: len(values) * size // 8]

        return work

    def fill(self, stream: Keystream, heads: int, bits: npt.NDArray[np.uint64]) -> None:
        """Fill an array of whole groups with bits that are one with probability heads / 2^64."""
        filled, words = 0, GROUP // 64
        kernel = self.library.unary_noise
        kernel.restype = c_size_t
        while filled * words < len(bits):
            stream.refill()
            left = c_size_t(len(bits) // words - filled)
            filled += kernel(_at(stream.words), c_size_t(WORDS), c_uint64(heads), _at(bits, filled * words), left)

    def subset_perturb(self, values: Values, size: int) -> Work:
        members, truth = law.subset(size)
        bits = np.empty(len(values) * size // 8, np.uint8)
        stream = Keystream()
        kernel, words = self.library.subset_perturb, _at(stream.words)
        kernel.restype = c_size_t
        constants = c_uint32(size), c_uint32(members), c_uint64(truth)

        def work() -> Bits:
            done = 0
            while done < len(values):
                stream.refill()
                left = c_size_t(len(values) - done)
                target = _at(bits, done * size // 8)
                done += kernel(words, c_size_t(2 * WORDS), _at(values, done), target, left, *constants)
            return bits

        return work

    def hadamard_perturb(self, values: Values, order: int) -> Work:
        constants = c_uint32(order), c_uint32(law.hadamard() >> 32)
        return _word_each(self.library.hadamard_perturb, values, constants)

    def design_perturb(self, values: Values, offsets: npt.NDArray[np.uint16], k: int) -> Work:
        heads = law.design(len(offsets), k) >> 32
        constants = offsets, c_uint32(k), c_uint32(len(offsets)), c_uint32(heads)
        return _word_each(self.library.design_perturb, values, constants)

    def hashing_perturb(self, values: Values, prime: int, buckets: int) -> Work:
        constants = c_uint32(prime), c_uint32(buckets), c_uint32(law.design(buckets, 1) >> 32)
        return _two_words_each(self.library.hashing_perturb, values, 3, constants)

    def wheel_perturb(self, values: Values, prime: int, arc: int) -> Work:
        constants = c_uint32(prime), c_uint32(arc), c_uint32(law.design(prime, arc) >> 32)
        return _two_words_each(self.library.wheel_perturb, values, 2, constants)

    def interval_count(self, step: Short, start: Short, width: Short, prime: int, size: int) -> Work:
        kernel, n = self.library.interval_count, c_size_t(len(step))

        def work() -> npt.NDArray[np.uint64]:
            counts = np.zeros(size, np.uint64)
            kernel(_at(step), _at(start), _at(width), n, c_uint16(prime), _at(counts), c_size_t(size))
            return counts

        return work

    def column_sums(self, bits: Bits, size: int) -> Work:
        width = -(-size // 256)
        # small reports stand several to a row, and their columns are folded afterwards
        whole = np.pad(bits, (0, -len(bits) % (32 * width)))
        rows = len(whole) // (32 * width)
        kernel = self.library.column_sums

        def work() -> object:
            counts = np.zeros(256 * width, np.uint64)
            kernel(_at(whole), c_size_t(rows), c_size_t(width), _at(counts))
            return counts.reshape(-1, size).sum(axis=0)

        return work


def _word_each(kernel: Any, values: Values, constants: tuple[object, ...]) -> Work:
    """Reports of 16 bits, each from one random word and its value; constants may be arrays."""
    reports = np.empty(len(values), np.uint16)
    stream = Keystream()
    words = _at(stream.words)

    def work() -> npt.NDArray[np.uint16]:
        settings = [_at(each) if isinstance(each, np.ndarray) else each for each in constants]
        for start in range(0, len(values), WORDS):
            stream.refill()
            n = min(WORDS, len(values) - start)
            kernel(words, _at(values, start), _at(reports, start), c_size_t(n), *settings)
        return reports

    return work


def _two_words_each(kernel: Any, values: Values, columns: int, constants: tuple[object, ...]) -> Work:
    """Reports of several columns of 16 bits, each from two random words and its value."""
    reports = np.empty((columns, len(values)), np.uint16)
    stream = Keystream()
    words = _at(stream.words)

    def work() -> Short:
        for start in range(0, len(values), WORDS // 2):
            stream.refill()
            n = min(WORDS // 2, len(values) - start)
            kernel(words, _at(values, start), *(_at(column, start) for column in reports), c_size_t(n), *constants)
        return reports

    return work


def _at(array: npt.NDArray[Any], start: int = 0) -> c_void_p:
    return c_void_p(array.ctypes.data + start * array.itemsize)
