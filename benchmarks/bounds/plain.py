"""The bounds in NumPy, for machines without a C compiler."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.bounds import law
from benchmarks.bounds.bound import Bits, Short, Values
from benchmarks.effort import Work

ROWS = 4096  # reports unpacked at a time


@dataclass(frozen=True)
class Plain:
    """Random numbers come from NumPy's default generator, which is no secure one."""

    name: str = "NumPy"

    def direct_perturb(self, values: Values, size: int) -> Work:
        keep, quota = law.direct(size)
        generator = np.random.default_rng()

        def work() -> npt.NDArray[np.uint64]:
            words = generator.integers(0, 2**64, len(values), np.uint64)
            lies = (words - np.uint64(keep)) // np.uint64(quota)
            truth = values.astype(np.uint64)
            lies += lies >= truth
            return np.where(words < keep, truth, lies)

        return work

    def direct_count(self, reports: npt.NDArray[np.uint16], size: int) -> Work:
        return lambda: np.bincount(reports, minlength=size)

    def unary_perturb(self, values: Values, size: int, variant: str) -> Work:
        true, other = (heads / law.ONE for heads in law.unary(variant))
        generator = np.random.default_rng()

        def rows() -> Iterator[Bits]:
            for start in range(0, len(values), ROWS):
                truth = values[start : start + ROWS]
                bits = generator.random((len(truth), size)) < other
                bits[np.arange(len(truth)), truth] = generator.random(len(truth)) < true
                yield np.packbits(bits, axis=1, bitorder="little")

        return lambda: np.concatenate(list(rows())).ravel()

    def subset_perturb(self, values: Values, size: int) -> Work:
        members, truth = law.subset(size)
        generator = np.random.default_rng()

        def rows() -> Iterator[Bits]:
            for start in range(0, len(values), ROWS):
                own = values[start : start + ROWS]
                keys = generator.random((len(own), size))
                # keys lie between 0 and 1: the true value comes before all others, or after
                out = generator.random(len(own)) >= truth / law.ONE
                keys[np.arange(len(own)), own] = np.where(out, 2, -1)
                bits = np.zeros(keys.shape, np.bool_)
                np.put_along_axis(bits, np.argpartition(keys, members - 1)[:, :members], True, axis=1)
                yield np.packbits(bits, axis=1, bitorder="little")

        return lambda: np.concatenate(list(rows())).ravel()

    def hadamard_perturb(self, values: Values, order: int) -> Work:
        heads = law.hadamard() / law.ONE
        generator = np.random.default_rng()

        def work() -> Values:
            row, column = values + 1, generator.integers(0, order, len(values))
            odd = np.bitwise_count(row & column) & 1
            return column ^ (row & -row) * (odd == (generator.random(len(values)) < heads))

        return work

    def design_perturb(self, values: Values, offsets: npt.NDArray[np.uint16], k: int) -> Work:
        heads = law.design(len(offsets), k) / law.ONE
        generator = np.random.default_rng()

        def work() -> Values:
            inside, outside = generator.integers(0, k, len(values)), generator.integers(k, len(offsets), len(values))
            index = np.where(generator.random(len(values)) < heads, inside, outside)
            return (values + offsets[index]) % len(offsets)

        return work

    def hashing_perturb(self, values: Values, prime: int, buckets: int) -> Work:
        heads = law.design(buckets, 1) / law.ONE
        generator = np.random.default_rng()

        def work() -> tuple[Values, Values, Values]:
            a, b = generator.integers(0, prime - 1, len(values)), generator.integers(0, prime, len(values))
            bucket = ((a + 1) * values + b) % prime * buckets // prime
            lies = generator.integers(1, buckets, len(values)) * (generator.random(len(values)) >= heads)
            return a, b, (bucket + lies) % buckets

        return work

    def wheel_perturb(self, values: Values, prime: int, arc: int) -> Work:
        heads = law.design(prime, arc) / law.ONE
        generator = np.random.default_rng()

        def work() -> tuple[Values, Values]:
            a = generator.integers(0, prime - 1, len(values))
            inside, outside = generator.integers(0, arc, len(values)), generator.integers(arc, prime, len(values))
            offset = np.where(generator.random(len(values)) < heads, inside, outside)
            return a, ((a + 1) * values + offset) % prime

        return work

    def interval_count(self, step: Short, start: Short, width: Short, prime: int, size: int) -> Work:
        def work() -> npt.NDArray[np.int64]:
            counts = np.zeros(size, np.int64)
            for first in range(0, len(step), ROWS):
                part = slice(first, first + ROWS)
                here = start[part].astype(np.int64)
                for x in range(size):
                    counts[x] += np.count_nonzero(here < width[part])
                    here = (here + step[part]) % prime
            return counts

        return work

    def column_sums(self, bits: Bits, size: int) -> Work:
        rows = bits.reshape(-1, size // 8)

        def work() -> npt.NDArray[np.int64]:
            counts = np.zeros(size, np.int64)
            for start in range(0, len(rows), ROWS):
                unpacked = np.unpackbits(rows[start : start + ROWS], axis=1, bitorder="little")
                counts += unpacked.sum(axis=0, dtype=np.int64)
            return counts

        return work
