"""What a device sends: the survey's fingerprint, an id that is counted once, and the reports on the questions.

    offset  size  field
         0     4  "DNSV"
         4     2  version of this format, 1
         6     2  length of the token, 0 without one
         8    16  fingerprint of the survey
        24    16  id, random: a message is counted once, however often it arrives
        40     8  which questions: bit i is set if question i is answered
        48     4  period of the survey in which it was made; 0 if the survey has none
        52     4  number of reports
        56     -  for each of these questions, in order, the reports packed by its mechanism's layout, in whole bytes;
                  reports of variable length begin with how long they are
         -     -  a token, if the survey is for invited people only
      last     4  CRC-32 of everything before it

Numbers are little-endian. A body is one or more messages, one after the other.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from deniable.errors import InvalidReport, SurveyMismatch

_HEADER = struct.Struct("<4sHH16s16sQII")
_MAGIC, _VERSION, _CHECKSUM = b"DNSV", 1, struct.Struct("<I")
HEADER = _HEADER.size
SMALLEST = HEADER + _CHECKSUM.size
ID_BYTES = 16
MOST_TOKEN = 1024  # bytes
MEDIA_TYPE = "application/vnd.deniable.reports"


class Header(NamedTuple):
    """All of a message that is known before the answers are: its id, which questions it is on, and when it was made."""

    id: bytes
    part: int
    period: int


class Message(NamedTuple):
    """One message, read but not yet checked against the laws of its questions."""

    id: bytes
    part: int
    period: int
    reports: int
    payload: bytes
    token: bytes = b""

    @classmethod
    def of(cls, header: Header, reports: int, payload: bytes) -> "Message":
        """The message with this header and these reports."""
        return cls(header.id, header.part, header.period, reports, payload)


def encode(fingerprint: bytes, message: Message) -> bytes:
    """The bytes of a message."""
    about = fingerprint, message.id, message.part, message.period, message.reports
    body = _HEADER.pack(_MAGIC, _VERSION, len(message.token), *about) + message.payload + message.token
    return body + _CHECKSUM.pack(zlib.crc32(body))


def with_token(message: bytes, token: bytes) -> bytes:
    """A message that was made without a token, with this one."""
    body = message[:6] + len(token).to_bytes(2, "little") + message[8 : -_CHECKSUM.size] + token
    return body + _CHECKSUM.pack(zlib.crc32(body))


Size = Callable[[int, int, bytes, int], int]


def decode(body: bytes, fingerprint: bytes, size: Size) -> list[Message]:
    """The messages in a body; `size(part, reports, body, start)` is the length of the payload that begins there.

    It refuses a part that is not asked.
    """
    return list(messages(body, fingerprint, size))


def messages(body: bytes, fingerprint: bytes, size: Size) -> Iterator[Message]:
    """The same, one by one: those before a damaged one are returned before it is refused."""
    start = 0
    while True:
        if len(body) - start < SMALLEST:
            raise InvalidReport("The message was cut off: it is too short. Send it again.")
        magic, version, extra, made_for, identity, part, period, reports = _HEADER.unpack_from(body, start)
        if magic != _MAGIC or version != _VERSION or extra > MOST_TOKEN:
            raise InvalidReport("The message is not in a format that this release reads.")
        if made_for != fingerprint:
            raise SurveyMismatch(
                f"This report was made for survey {made_for.hex()[:8]}, not for {fingerprint.hex()[:8]}. "
                "Fetch the survey again."
            )
        if not reports:
            raise InvalidReport("A message must hold at least one report.")
        end = start + HEADER + size(part, reports, body, start + HEADER)
        stop = end + extra
        if stop + _CHECKSUM.size > len(body):
            raise InvalidReport("The message was cut off. Send it again.")
        whole = body[start:stop]
        if zlib.crc32(whole) != _CHECKSUM.unpack_from(body, stop)[0]:
            raise InvalidReport("The message is damaged: its checksum is wrong. Send it again.")
        yield Message(identity, part, period, reports, body[start + HEADER : end], body[end:stop])
        start = stop + _CHECKSUM.size
        if start == len(body):
            return
