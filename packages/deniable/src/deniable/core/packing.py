"""A packed batch of reports: a header that names the mechanism, the reports, and a checksum.

    offset  size  field
         0     4  "DNBL"
         4     2  version of this format, 1
         6     2  zero
         8    16  fingerprint of the mechanism
        24     8  number of reports
        32     -  the reports, packed by the mechanism's layout
      last     4  CRC-32 of everything before it

Numbers are little-endian. A batch is read whole or refused whole.
"""

import struct
import zlib

from deniable.core.layout import Layout
from deniable.core.reports import Reports
from deniable.errors import InvalidReport, SurveyMismatch

_HEADER = struct.Struct("<4sHH16sQ")
_MAGIC, _VERSION, _CHECKSUM = b"DNBL", 1, 4
HEADER = _HEADER.size


def encode(reports: Reports) -> bytes:
    """These reports, packed."""
    header = _HEADER.pack(_MAGIC, _VERSION, 0, bytes.fromhex(reports.fingerprint), len(reports))
    body = header + reports.pack()
    return body + struct.pack("<I", zlib.crc32(body))


def length(header: bytes, fingerprint: str, layout: Layout) -> int:
    """The length of the batch with this header; the smallest possible length where `decode` will refuse it."""
    if len(header) < HEADER + layout.prefix:
        return HEADER + layout.prefix + _CHECKSUM
    magic, version, zero, made_by, size = _HEADER.unpack_from(header)
    if (magic, version, zero) != (_MAGIC, _VERSION, 0):
        return HEADER + _CHECKSUM
    if made_by.hex() != fingerprint:  # and then the length of its reports is not known
        raise _mismatch(made_by.hex(), fingerprint)
    return int(HEADER + layout.length(size, header[HEADER:]) + _CHECKSUM)


def _mismatch(made_by: str, fingerprint: str) -> SurveyMismatch:
    return SurveyMismatch(
        f"These reports were made by mechanism {made_by[:8]}, not by {fingerprint[:8]}. "
        "Read them with the question and privacy parameters they were made with."
    )


def decode(packed: bytes, fingerprint: str, layout: Layout) -> Reports:
    """The reports in a packed batch of the mechanism with this fingerprint."""
    if len(packed) < HEADER + _CHECKSUM:
        raise InvalidReport("The packed reports are cut off: they are shorter than their header. Copy or send them again.")
    magic, version, zero, made_by, size = _HEADER.unpack_from(packed)
    if magic != _MAGIC:
        raise InvalidReport("These are not packed reports: they do not begin with 'DNBL'.")
    if version != _VERSION or zero != 0:
        raise InvalidReport(
            f"The packed reports have format {version}; this release reads format {_VERSION}. Update deniable."
        )
    if zlib.crc32(packed[:-4]) != struct.unpack("<I", packed[-4:])[0]:
        raise InvalidReport(
            "The packed reports are damaged, cut off or too long: their checksum is wrong. Copy or send them again."
        )
    if made_by.hex() != fingerprint:
        raise _mismatch(made_by.hex(), fingerprint)
    return Reports(fingerprint, layout, layout.unpack(memoryview(packed)[HEADER:-_CHECKSUM], size))
