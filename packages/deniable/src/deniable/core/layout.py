"""A report's bits: which fields it has, how wide they are, and how a batch of them is packed without a gap.

A report is its fields one after the other, lowest bit first; a batch is its reports one after the other; the last byte is
filled with zeros. So n reports of b bits take (n b + 7) // 8 bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bytes
from deniable.core.bits import PackedBits
from deniable.errors import InvalidReport

Column = NDArray[np.unsignedinteger]
Columns = Mapping[str, Column]
Drawn = Mapping[str, NDArray[np.integer | np.bool_]]  # columns as they are drawn, before they have the types of the layout

_STEP = 1 << 13  # reports unpacked at a time, a multiple of eight so that every step ends on a whole byte


@dataclass(frozen=True)
class Number:
    """A whole number from 0 to `below` - 1."""

    name: str
    below: int

    @property
    def bits(self) -> int:
        return (self.below - 1).bit_length()

    def spec(self) -> dict[str, object]:
        """The field as plain data."""
        return {"name": self.name, "below": self.below}

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger]:
        """The smallest unsigned integer that holds it."""
        return np.min_scalar_type(self.below - 1)

    def empty(self, size: int) -> Column:
        return np.empty(size, self.dtype)

    def rows(self, column: Column) -> Bytes:
        wide = column.astype("<u8").view(np.uint8).reshape(-1, 8)
        return wide[:, : (self.bits + 7) // 8]

    def column(self, rows: Bytes) -> Column:
        wide = np.zeros((len(rows), 8), np.uint8)
        wide[:, : rows.shape[1]] = rows
        return wide.view("<u8")[:, 0].astype(self.dtype)

    def check(self, column: Column) -> None:
        if column.dtype != self.dtype or column.ndim != 1:
            raise InvalidReport(f"Field {self.name!r} must be a column of {self.dtype.name}.")
        if len(column) and int(column.max()) >= self.below:
            raise InvalidReport(f"Field {self.name!r} of a report is not below {self.below}. The report is refused.")


@dataclass(frozen=True)
class Flags:
    """`bits` yes-or-no cells, packed; with `ones`, exactly that many are set in every report."""

    name: str
    bits: int
    ones: int | None = None

    def spec(self) -> dict[str, object]:
        """The field as plain data."""
        return {"name": self.name, "bits": self.bits, **({} if self.ones is None else {"ones": self.ones})}

    def empty(self, size: int) -> Column:
        return np.empty((size, (self.bits + 7) // 8), np.uint8)

    def rows(self, column: Column) -> Bytes:
        return column.astype(np.uint8, copy=False)

    def column(self, rows: Bytes) -> Column:
        return np.ascontiguousarray(rows)

    def check(self, column: Column) -> None:
        if column.dtype != np.uint8 or column.ndim != 2 or column.shape[1] != (self.bits + 7) // 8:
            raise InvalidReport(f"Field {self.name!r} must be rows of {(self.bits + 7) // 8} packed bytes.")
        if self.bits % 8 and len(column) and int(column[:, -1].max()) >> self.bits % 8:
            raise InvalidReport(f"Field {self.name!r} of a report has a bit set beyond its {self.bits} cells.")
        if self.ones is not None and np.any(PackedBits(column, self.bits).row_sums() != self.ones):
            raise InvalidReport(f"Field {self.name!r} of a report does not have exactly {self.ones} cells set.")


@dataclass(frozen=True)
class Layout:
    """The fields of a report. This is the whole wire format of a mechanism.

    >>> layout = Layout((Number("value", 5),))
    >>> layout.pack({"value": np.array([4, 0, 1], np.uint8)}).hex()
    '4400'
    >>> layout.unpack(bytes.fromhex("4400"), 3)["value"]
    array([4, 0, 1], dtype=uint8)
    """

    fields: tuple[Number | Flags, ...]
    prefix: ClassVar[int] = 0  # bytes at the beginning of a batch that give its length

    def spec(self) -> list[dict[str, object]]:
        """The fields as plain data."""
        return [field.spec() for field in self.fields]

    beside: ClassVar[bool] = False  # whether a report that discloses an answer may have other fields that are not 0

    @property
    def opens(self) -> tuple[str, int] | None:
        """The field that discloses an answer, and from which value on; None: no report does."""
        return None

    @cached_property
    def bits(self) -> int:
        """The size of one report."""
        return sum(field.bits for field in self.fields)

    @cached_property
    def _whole_bytes(self) -> bool:
        """Whether every field begins on a whole byte, so that nothing has to be shifted."""
        return all(field.bits % 8 == 0 for field in self.fields[:-1])

    def check(self, columns: Columns) -> int:
        """How many reports these columns hold; refuses columns that no device can have sent."""
        if list(columns) != [field.name for field in self.fields]:
            wanted = ", ".join(repr(field.name) for field in self.fields)
            raise InvalidReport(f"A batch of these reports has the columns {wanted} and no others.")
        sizes = {len(column) for column in columns.values()}
        if len(sizes) != 1:
            raise InvalidReport("The columns of a batch differ in length: every report needs every field.")
        for field in self.fields:
            field.check(columns[field.name])
        return sizes.pop()

    def length(self, size: int, prefix: bytes) -> int:
        """How many bytes `size` reports take, whose first `self.prefix` bytes are these."""
        return (size * self.bits + 7) // 8

    def rows(self, columns: Columns) -> Bytes:
        """Each report on its own, as a row of bytes."""
        if len(self.fields) == 1:
            return self.fields[0].rows(columns[self.fields[0].name])
        if self._whole_bytes:
            return np.concatenate([field.rows(columns[field.name]) for field in self.fields], axis=1)
        bits = [
            np.unpackbits(field.rows(columns[field.name]), axis=1, bitorder="little", count=field.bits)
            for field in self.fields
        ]
        return np.packbits(np.concatenate(bits, axis=1), axis=1, bitorder="little")

    def columns(self, rows: Bytes) -> Columns:
        """The inverse of `rows`; the result is checked."""
        if len(self.fields) == 1:
            columns = {self.fields[0].name: self.fields[0].column(rows)}
        elif self._whole_bytes:
            ends = np.cumsum([(field.bits + 7) // 8 for field in self.fields])
            parts = np.split(rows, ends[:-1], axis=1)
            columns = {field.name: field.column(part) for field, part in zip(self.fields, parts, strict=True)}
        else:
            bits = np.unpackbits(rows, axis=1, bitorder="little", count=self.bits)
            edges = np.cumsum([0, *(field.bits for field in self.fields)])
            columns = {
                field.name: field.column(np.packbits(bits[:, start:stop], axis=1, bitorder="little"))
                for field, start, stop in zip(self.fields, edges[:-1], edges[1:], strict=True)
            }
        self.check(columns)
        return columns

    def pack(self, columns: Columns) -> bytes:
        """A batch as bytes, to the bit."""
        rows = self.rows(columns)
        if self.bits % 8 == 0:
            return rows.tobytes()
        parts = []
        for start in range(0, len(rows), _STEP):
            bits = np.unpackbits(rows[start : start + _STEP], axis=1, bitorder="little", count=self.bits)
            parts.append(np.packbits(bits, bitorder="little").tobytes())
        return b"".join(parts)

    def joined(self, batches: Sequence[bytes], size: int) -> Columns:
        """The `size` reports in these bytes, each in whole bytes of its own; refuses stray bits and impossible values."""
        rows = np.frombuffer(b"".join(batches), np.uint8).reshape(size, -1)
        if self.bits % 8 and (rows[:, -1] >> self.bits % 8).any():
            raise InvalidReport("The padding bits of the last byte are not zero. The report is refused.")
        return self.columns(rows)

    def unpack(self, data: bytes | memoryview, size: int) -> Columns:
        """The `size` reports in these bytes; refuses missing or left-over bytes, stray bits and impossible values."""
        wanted = (size * self.bits + 7) // 8
        if len(data) != wanted:
            what = "are missing" if len(data) < wanted else "are left over"
            raise InvalidReport(
                f"{size} reports of {self.bits} bits take {wanted} bytes; got {len(data)}, so bytes {what}. "
                "The batch is refused whole; send or copy it again."
            )
        packed = np.frombuffer(data, np.uint8)
        if self.bits % 8 == 0:
            return self.columns(packed.reshape(size, self.bits // 8))
        rows = np.empty((size, (self.bits + 7) // 8), np.uint8)
        for start in range(0, size, _STEP):
            count = min(_STEP, size - start)
            part = packed[start * self.bits // 8 : ((start + count) * self.bits + 7) // 8]
            bits = np.unpackbits(part, bitorder="little")
            if bits[count * self.bits :].any():
                raise InvalidReport("The padding bits of the last byte are not zero. The batch is refused.")
            packed_rows = bits[: count * self.bits].reshape(count, self.bits)
            rows[start : start + count] = np.packbits(packed_rows, axis=1, bitorder="little")
        return self.columns(rows)
