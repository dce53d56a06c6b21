"""Packed files: messages of the wire one after the other, so that a file may be larger than memory."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from deniable.core.mechanism import Mechanism
from deniable.core.reports import Reports
from deniable.errors import InvalidReport, SurveyMismatch

_START = b"DNBL\1\0\0\0"  # the letters, the version and the zero that a header begins with
_HEADER, _CHECKSUM = 32, 4


def write_packed(path: Path, mechanism: Mechanism, batches: Iterable[Reports]) -> None:
    """One message for each batch."""
    with path.open("wb") as file:
        for reports in batches:
            file.write(mechanism.pack(reports))


def read_packed(path: Path, mechanism: Mechanism) -> Iterator[Reports]:
    """The reports of each message."""
    with path.open("rb") as file:
        left = os.fstat(file.fileno()).st_size
        if left == 0:
            raise InvalidReport(f"The file {path} is empty; it was cut off. Copy or send it again.")
        while left:
            header = file.read(_HEADER)
            length = _length(header, mechanism)
            if length > left:
                raise InvalidReport(f"The file {path} ends within a message: it was cut off. Copy or send it again.")
            yield mechanism.unpack(header + file.read(length - len(header)))
            left -= length


def _length(header: bytes, mechanism: Mechanism) -> int:
    """How long the message with this header is; the shortest there can be for a header that `unpack` will refuse."""
    if len(header) < _HEADER or not header.startswith(_START):
        return _HEADER + _CHECKSUM
    made_by = header[8:24].hex()
    if made_by != mechanism.fingerprint:  # and then the length of its reports is not known
        raise SurveyMismatch(
            f"These reports were made by mechanism {made_by[:8]}, not by {mechanism.fingerprint[:8]}. "
            "Read them with the question and privacy parameters they were made with."
        )
    count = int.from_bytes(header[24:32], "little")
    return _HEADER + (count * mechanism.layout.bits + 7) // 8 + _CHECKSUM
