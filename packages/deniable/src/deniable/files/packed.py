"""Packed files: messages of the wire one after the other, so that a file may be larger than memory."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from deniable.core import Mechanism, Reports, packing
from deniable.errors import InvalidReport
from deniable.files.compression import compression, damage, decompressed, written

PIECE = 1 << 24  # bytes that are read together


def write_packed(path: Path, mechanism: Mechanism, batches: Iterable[Reports], how: str = "") -> None:
    """One message for each batch, compressed if `how` says so."""
    with written(path, how) as file:
        for reports in batches:
            file.write(mechanism.pack(reports))


def read_packed(path: Path, mechanism: Mechanism) -> Iterator[Reports]:
    """The reports of each message."""
    how = compression(path)
    with path.open("rb") as file, damage(path, how, InvalidReport):
        size = None if how else os.fstat(file.fileno()).st_size
        yield from read_messages(decompressed(file, how), size, str(path), mechanism)


def read_messages(file: BinaryIO, left: int | None, name: str, mechanism: Mechanism) -> Iterator[Reports]:
    """The reports of each message from here on, in `left` bytes or as many as come; `name` is for errors."""
    first = True
    while left != 0 and (header := file.read(packing.HEADER + mechanism.layout.prefix)):
        first, length = False, packing.length(header, mechanism.fingerprint, mechanism.layout)
        body = b"" if left is not None and length > left else _read(file, length - len(header))
        if len(header) + len(body) < length:
            raise InvalidReport(f"The file {name} is cut off: it ends inside a batch of reports. Copy or send it again.")
        yield mechanism.unpack(header + body)
        left = None if left is None else left - length
    if first:
        raise InvalidReport(f"The file {name} is empty. Copy or send it again.")


def _read(file: BinaryIO, length: int) -> bytes:
    """So many bytes, or what there is; a damaged header that asks for very many reserves no room for them."""
    parts = []
    while length > 0 and (part := file.read(min(length, PIECE))):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
