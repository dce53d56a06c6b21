"""Packed files: messages of the wire one after the other, so that a file may be larger than memory."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from deniable.core import Mechanism, Reports, packing
from deniable.errors import InvalidReport


def write_packed(path: Path, mechanism: Mechanism, batches: Iterable[Reports]) -> None:
    """One message for each batch."""
    with path.open("wb") as file:
        for reports in batches:
            file.write(mechanism.pack(reports))


def read_packed(path: Path, mechanism: Mechanism) -> Iterator[Reports]:
    """The reports of each message."""
    with path.open("rb") as file:
        yield from read_messages(file, os.fstat(file.fileno()).st_size, str(path), mechanism)


def read_messages(file: BinaryIO, left: int, name: str, mechanism: Mechanism) -> Iterator[Reports]:
    """The reports of each message in the `left` bytes from here on; `name` is for errors."""
    if left == 0:
        raise InvalidReport(f"The file {name} is empty. Copy or send it again.")
    while left:
        header = file.read(packing.HEADER + mechanism.layout.prefix)
        length = packing.length(header, mechanism.fingerprint, mechanism.layout)
        if length > left:
            raise InvalidReport(f"The file {name} is cut off: it ends inside a batch of reports. Copy or send it again.")
        yield mechanism.unpack(header + file.read(length - len(header)))
        left -= length
