"""The shape of a bound, and the choice between the compiled one and the plain one."""

from functools import cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from benchmarks.effort import Work

Values = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]
Short = npt.NDArray[np.uint16]


class Bound(Protocol):
    """Each method sets up its buffers and gives back the work to be timed; bits are packed, report by report."""

    @property
    def name(self) -> str: ...
    def direct_perturb(self, values: Values, size: int) -> Work: ...
    def direct_count(self, reports: npt.NDArray[np.uint16], size: int) -> Work: ...
    def unary_perturb(self, values: Values, size: int, variant: str) -> Work: ...
    def subset_perturb(self, values: Values, size: int) -> Work: ...
    def hadamard_perturb(self, values: Values, order: int) -> Work: ...
    def design_perturb(self, values: Values, offsets: npt.NDArray[np.uint16], k: int) -> Work: ...
    def hashing_perturb(self, values: Values, prime: int, buckets: int) -> Work: ...
    def wheel_perturb(self, values: Values, prime: int, arc: int) -> Work: ...
    def interval_count(self, step: Short, start: Short, width: Short, prime: int, size: int) -> Work: ...
    def column_sums(self, bits: Bits, size: int) -> Work: ...


@cache
def fastest_available() -> Bound:
    """C loops where there is a compiler, NumPy where there is none."""
    from benchmarks.bounds.compiled import Compiled
    from benchmarks.bounds.plain import Plain

    return Compiled.build() or Plain()
