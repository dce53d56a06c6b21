"""Bit-packed rows: row i, bit j lives in byte j // 8 of the row, lowest bit first; unused bits are zero."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import kernels
from deniable.arrays import Bools, Bytes, Ints


@dataclass(frozen=True, eq=False)
class PackedBits:
    """`rows` rows of `width` bits, in an array of bytes of shape (rows, bytes a row)."""

    bytes: Bytes
    width: int

    @classmethod
    def pack(cls, bits: Bools) -> "PackedBits":
        """Pack an array of truth values, one row each.

        >>> PackedBits.pack(np.array([[True, False, True]])).bytes
        array([[5]], dtype=uint8)
        """
        return cls(np.packbits(bits, axis=1, bitorder="little"), bits.shape[1])

    def unpack(self) -> Bools:
        """All bits as truth values: eight times the memory."""
        return np.unpackbits(self.bytes, axis=1, bitorder="little", count=self.width).view(np.bool_)

    def __len__(self) -> int:
        return len(self.bytes)

    def __and__(self, other: "PackedBits") -> "PackedBits":
        return PackedBits(self.bytes & other.bytes, self.width)

    def __or__(self, other: "PackedBits") -> "PackedBits":
        return PackedBits(self.bytes | other.bytes, self.width)

    def __xor__(self, other: "PackedBits") -> "PackedBits":
        return PackedBits(self.bytes ^ other.bytes, self.width)

    def __invert__(self) -> "PackedBits":
        turned = ~self.bytes
        if self.width % 8:
            turned[:, -1] &= (1 << self.width % 8) - 1
        return PackedBits(turned, self.width)

    def bit(self, column: ArrayLike) -> Bools:
        """One bit of each row: the same column for all, or one column a row."""
        return kernels.get_bits(self.bytes, self._columns(column))

    def _columns(self, column: ArrayLike) -> Ints:
        """One column a row."""
        columns = np.asarray(column, np.int64)
        return columns if columns.ndim else np.full(len(self), columns)

    def with_bit(self, column: ArrayLike, value: Bools) -> "PackedBits":
        """The same rows with one bit of each replaced."""
        return PackedBits(self.bytes.copy(), self.width).put(column, value)

    def put(self, column: ArrayLike, value: Bools) -> "PackedBits":
        """Replace one bit of each row, in place."""
        kernels.put_bits(self.bytes, self._columns(column), value.astype(np.bool_, copy=False))
        return self

    def move(self, source: ArrayLike, target: ArrayLike, value: Bools) -> "PackedBits":
        """Copy one bit of each row to another column and put a value where it was, in place."""
        columns = self._columns(source), self._columns(target)
        kernels.move_bits(self.bytes, *columns, value.astype(np.bool_, copy=False))
        return self

    def exchanged(self, first: ArrayLike, second: ArrayLike) -> "PackedBits":
        """The same rows with two bits of each exchanged."""
        return PackedBits(self.bytes.copy(), self.width).swap(first, second)

    def swap(self, first: ArrayLike, second: ArrayLike) -> "PackedBits":
        """Exchange two bits of each row, in place."""
        return self.move(second, first, self.bit(first))

    def turned(self, which: Bools) -> "PackedBits":
        """The same rows with every bit turned over in those that `which` names."""
        full = np.full(self.bytes.shape[1], 255, np.uint8)
        if self.width % 8:
            full[-1] = (1 << self.width % 8) - 1
        if self.bytes.shape[1] % 8 == 0 and self.bytes.flags.c_contiguous:  # an eighth of the steps
            flipped = self.bytes.view(np.uint64) ^ full.view(np.uint64) * which[:, None]
            return PackedBits(flipped.view(np.uint8), self.width)
        return PackedBits(self.bytes ^ full * which[:, None], self.width)

    def widened(self, width: int) -> "PackedBits":
        """The same rows with room for `width` bits; the new ones are zero."""
        missing = (width + 7) // 8 - self.bytes.shape[1]
        return PackedBits(np.pad(self.bytes, ((0, 0), (0, missing))) if missing else self.bytes, width)

    def row_sums(self) -> Ints:
        """How many bits of each row are one."""
        whole_words = self.bytes.shape[1] % 8 == 0 and self.bytes.flags.c_contiguous
        units = self.bytes.view(np.uint64) if whole_words else self.bytes
        return np.bitwise_count(units).sum(axis=1, dtype=np.int64)

    def column_sums(self) -> Ints:
        """How many rows have each bit set, without unpacking."""
        rows, row_bytes = self.bytes.shape
        # Several rows side by side make a whole number of 64-bit words, and enough of them to keep the loop busy.
        group = 8 // math.gcd(row_bytes, 8)
        while group * row_bytes < 128:
            group *= 2
        whole = rows // group * group
        words = np.ascontiguousarray(self.bytes[:whole]).reshape(-1, group * row_bytes).view(np.uint64)
        sums = kernels.column_sums(words).reshape(group, row_bytes * 8).sum(axis=0)
        sums += np.unpackbits(self.bytes[whole:], axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
        return sums[: self.width]


def distinct_rows(rows: Bytes) -> tuple[Ints, Ints]:
    """The position of one example of each distinct row, in sorted order, and for every row which of them it equals."""
    width = rows.shape[1]
    if width <= 8:  # whole words sort many times faster than strings of bytes
        keys: NDArray[np.generic] = np.pad(rows, ((0, 0), (8 - width, 0))).view(">u8")[:, 0].astype(np.uint64)
    else:
        keys = np.ascontiguousarray(rows).view(np.dtype((np.void, width)))[:, 0]
    _, example, which = np.unique(keys, return_index=True, return_inverse=True)
    return example.astype(np.int64), which.astype(np.int64)
