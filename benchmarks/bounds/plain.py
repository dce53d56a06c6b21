"""The bounds in NumPy, for machines without a C compiler."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.bounds import law
from benchmarks.bounds.bound import Bits, Values
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

    def column_sums(self, bits: Bits, size: int) -> Work:
        rows = bits.reshape(-1, size // 8)

        def work() -> npt.NDArray[np.int64]:
            counts = np.zeros(size, np.int64)
            for start in range(0, len(rows), ROWS):
                unpacked = np.unpackbits(rows[start : start + ROWS], axis=1, bitorder="little")
                counts += unpacked.sum(axis=0, dtype=np.int64)
            return counts

        return work
