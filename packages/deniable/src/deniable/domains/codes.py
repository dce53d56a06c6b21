"""Vectors of numbers as a sign bit and magnitude bits, cut off and not rounded: the code of BitRand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Answers, Domain, Input
from deniable.domains.features import check_dimensions, checked_rows, plain_rows
from deniable.errors import InvalidParameter, OutsideDomain

MOST_BITS = 40


@dataclass(frozen=True)
class SignMagnitude(Domain[Sequence[float], Ints]):
    """Vectors of `dimensions` numbers of `bits` bits: a sign, then magnitude bits of weight 2^(whole - i), i = 1, 2, ...

    The first bit is one for numbers from 0 (and -0.0) on. Magnitudes are cut off toward zero at the last bit, and those
    too large for the code become the largest it has (saturation); `outside` counts them. `clip=False` refuses them.
    Codes are whole numbers with the sign as the highest bit.

    >>> SignMagnitude(1, bits=10, whole=5).bits_of([[5.3125]])[0, 0].tolist()
    [1, 0, 0, 1, 0, 1, 0, 1, 0, 1]
    """

    dimensions: int
    bits: int
    whole: int = 0
    clip: bool = True
    kind = "sign-magnitude"
    signed: ClassVar[bool] = True  # the highest bit of a code is the sign of the others

    def __post_init__(self) -> None:
        check_dimensions(self.dimensions)
        counts = (self.bits, self.whole)
        if any(isinstance(count, bool) or not isinstance(count, int) for count in counts) or not 1 <= self.bits <= MOST_BITS:
            raise InvalidParameter(f"A code has 1 to {MOST_BITS} bits: a sign bit followed by magnitude bits.")
        if not -MOST_BITS <= self.whole <= MOST_BITS:
            raise InvalidParameter(
                f"A code has at most {MOST_BITS} bits before the point, and at most as many zeros after it."
            )

    @property
    def codes(self) -> int:
        """How many codes a number can have."""
        return 1 << self.bits

    @property
    def unit(self) -> float:
        """The weight of the last bit."""
        return float(2.0 ** (self.whole - self.bits + 1))

    @property
    def largest(self) -> float:
        """The largest number that the code has, 2^whole less the weight of the last bit."""
        return ((1 << self.bits - 1) - 1) * self.unit

    @property
    def labels(self) -> Sequence[int]:  # type: ignore[override]
        return range(self.dimensions)

    @property
    def size(self) -> int:
        return 1 << self.bits * self.dimensions

    @property
    def factors(self) -> Sequence[int]:
        """Every bit is free."""
        return [2] * (self.bits * self.dimensions)

    def answer(self, index: int) -> tuple[float, ...]:
        """Numbers with the codes that the digits of `index` are; half a unit below zero for the sign bit alone missing."""
        width = self.bits * self.dimensions
        digits = np.frombuffer(index.to_bytes((width + 7) // 8, "little"), np.uint8)
        bits = np.unpackbits(digits, bitorder="little", count=width).reshape(self.dimensions, self.bits)
        codes = bits.astype(np.int64) @ (1 << np.arange(self.bits))
        decoded = self.decode(codes)
        return tuple(np.where((codes == 0) & (decoded == 0), -self.unit / 2, decoded).tolist())

    @property
    def inputs(self) -> Sequence[Input]:
        return (Input("codes", 0, self.codes - 1, self.dimensions),)

    def encode(self, values: Answers) -> Sequence[Ints]:
        """The codes of all numbers, in an array as narrow as they are."""
        if self.clip and (floats := plain_rows(values, self.dimensions)) is not None:
            from deniable.kernels.vectors import sign_magnitude  # which few questions need

            codes = sign_magnitude(floats, self.unit, self.bits)
            if codes is not None:
                return (cast(Ints, codes),)
        return super().encode(values)  # other numbers, or some that are refused

    def index(self, values: Answers) -> Ints:
        rows = checked_rows(values, self.dimensions).astype(np.float64, copy=False)
        magnitude, most = np.floor(np.abs(rows) / self.unit), (1 << self.bits - 1) - 1
        if not self.clip and (magnitude > most).any():
            raise OutsideDomain(
                f"A number does not fit into {self.bits} bits with {self.whole} before the point: at most {self.largest:g} "
                "does. Give the code more bits before the point, or pass clip=True to clip such numbers."
            )
        sign = (rows >= 0).astype(np.int64) << self.bits - 1  # -0.0 counts as zero
        return np.minimum(magnitude, most).astype(np.int64) + sign

    def outside(self, values: Answers) -> int:
        """How many numbers are too large for the code: what is cut to the largest."""
        return int((np.abs(checked_rows(values, self.dimensions)) >= self.largest + self.unit).sum())

    def bits_of(self, values: Answers) -> Ints:
        """The bits of each number, the sign first, in a last axis of their own."""
        return self.index(values)[..., None] >> np.arange(self.bits)[::-1] & 1

    def wrapped(self, values: Answers) -> Ints:
        """The codes that the published rule gives: magnitudes modulo 2^whole, so that numbers too large come out small."""
        rows = checked_rows(values, self.dimensions).astype(np.float64, copy=False)
        magnitude = np.floor(np.abs(rows) / self.unit) % (1 << self.bits - 1)
        return magnitude.astype(np.int64) + ((rows >= 0).astype(np.int64) << self.bits - 1)

    def decode(self, codes: Ints) -> Floats:
        """The number behind each code."""
        magnitude = (codes & (1 << self.bits - 1) - 1) * self.unit
        return np.where(codes >> self.bits - 1 & 1, magnitude, -magnitude)
