"""Reports of variable length: a public key that says which shared draws a report uses, and a string of bytes.

A packed batch: its length in bytes after this number (8 bytes), the keys (8 bytes each), the lengths of the strings (4
bytes each), then the strings one after the other. Numbers are little-endian.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deniable.arrays import Bytes
from deniable.core.layout import Column, Columns, Layout
from deniable.errors import InvalidReport, NotCertifiable


@dataclass(frozen=True)
class Variable:
    """A string of at most `most` bytes; a column of them is an array of bytes objects."""

    name: str
    most: int

    @property
    def bits(self) -> int:
        return 8 * self.most

    def empty(self, size: int) -> Column:
        return np.full(size, b"", object)

    def check(self, column: Column) -> None:
        if column.dtype != object or column.ndim != 1 or not all(type(each) is bytes for each in column):
            raise InvalidReport(f"Field {self.name!r} must be a column of byte strings.")
        if any(len(each) > self.most for each in column):
            raise InvalidReport(f"Field {self.name!r} of a report is longer than {self.most} bytes. The report is refused.")


@dataclass(frozen=True)
class Key:
    """64 public bits that name the shared draws of a report."""

    name: str
    bits: ClassVar[int] = 64

    def empty(self, size: int) -> Column:
        return np.zeros(size, np.uint64)

    def check(self, column: Column) -> None:
        if column.dtype != np.uint64 or column.ndim != 1:
            raise InvalidReport(f"Field {self.name!r} must be a column of uint64.")


@dataclass(frozen=True)
class VariableLayout(Layout):
    """A key and a string of bytes for each report; the wire calls the string `message`.

    >>> layout = VariableLayout.of(most=9)
    >>> columns = {"key": np.array([1, 2], np.uint64), "message": np.array([b"ab", b""], object)}
    >>> data = layout.pack(columns)
    >>> len(data), layout.unpack(data, 2)["message"]
    (34, array([b'ab', b''], dtype=object))
    """

    fields: tuple[Any, ...]
    prefix: ClassVar[int] = 8

    @classmethod
    def of(cls, most: int) -> "VariableLayout":
        """The layout for strings of at most so many bytes."""
        return cls((Key("key"), Variable("message", most)))

    def rows(self, columns: Columns) -> Bytes:
        raise NotCertifiable("Reports of variable length cannot be listed, so their law cannot be enumerated.")

    def columns(self, rows: Bytes) -> Columns:
        raise NotCertifiable("Reports of variable length cannot be listed, so their law cannot be enumerated.")

    def length(self, size: int, prefix: bytes) -> int:
        """The length that the batch states; never less than so many reports need."""
        return self.prefix + max(int.from_bytes(prefix[: self.prefix], "little"), 12 * size)

    def pack(self, columns: Columns) -> bytes:
        messages = columns["message"].tolist()
        lengths = np.array([len(each) for each in messages], "<u4")
        body = columns["key"].astype("<u8").tobytes() + lengths.tobytes() + b"".join(messages)
        return len(body).to_bytes(self.prefix, "little") + body

    def joined(self, batches: Sequence[bytes], size: int) -> Columns:
        """The reports of many batches of one report each; refuses them all if the length of one is wrong."""
        head = self.prefix + 12
        if any(len(each) < head for each in batches):
            raise _wrong_length()
        heads = np.frombuffer(b"".join(each[:head] for each in batches), np.uint8).reshape(-1, head)
        stated, keys = (np.ascontiguousarray(heads[:, place : place + 8]).view("<u8")[:, 0] for place in (0, self.prefix))
        lengths = np.ascontiguousarray(heads[:, -4:]).view("<u4")[:, 0]
        found = np.array([len(each) - head for each in batches], np.uint64)
        if (stated != found + np.uint64(12)).any() or (lengths != found).any():
            raise _wrong_length()
        messages = np.full(len(batches), b"", object)
        messages[:] = [each[head:] for each in batches]
        columns = {"key": keys.astype(np.uint64), "message": messages}
        self.check(columns)
        return columns

    def unpack(self, data: bytes | memoryview, size: int) -> Columns:
        """The `size` reports in these bytes; refuses missing or left-over bytes before anything is made of them."""
        body = memoryview(data)[self.prefix :]
        if len(data) < self.prefix + 12 * size or int.from_bytes(data[: self.prefix], "little") != len(body):
            raise _wrong_length()
        keys = np.frombuffer(body[: 8 * size], "<u8").astype(np.uint64)
        ends = np.cumsum(np.frombuffer(body[8 * size : 12 * size], "<u4"), dtype=np.int64)
        texts = body[12 * size :]
        if (int(ends[-1]) if size else 0) != len(texts):
            raise InvalidReport(
                "The lengths of the reports do not add up to that of the batch. It is refused whole; send it again."
            )
        messages = np.full(size, b"", object)
        begin = 0
        for place, end in enumerate(ends.tolist()):
            messages[place], begin = bytes(texts[begin:end]), end
        columns = {"key": keys, "message": messages}
        self.check(columns)
        return columns


def _wrong_length() -> InvalidReport:
    return InvalidReport("The batch is shorter or longer than it states. It is refused whole; send or copy it again.")
