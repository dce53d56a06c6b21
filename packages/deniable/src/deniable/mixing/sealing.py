"""Sealed messages: only the collector can read what a device sends through a relay, and all of them look alike.

A message is filled up with zeros to one length for the whole survey and encrypted for the collector by HPKE (RFC 9180, base
mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM), with the survey's fingerprint as the info. The relay gets

    offset  size  field
         0    16  ticket: the first bytes of SHA-256("deniable mix ticket" and the id of the message)
        16    32  the encapsulated key
        48     -  the ciphertext of the message's length (4 bytes, little-endian), the message and zeros; and its tag

and passes on everything but the ticket, by which it recognizes a message that is sent again. Ids are random, so a ticket
discloses nothing to whoever does not see the message.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter, InvalidReport
from deniable.survey import Survey
from deniable.survey.message import HEADER, ID_BYTES

FORMAT, KEY_FORMAT = "deniable-mix-1", "deniable-mix-key-1"
MEDIA_TYPE = "application/vnd.deniable.sealed"
TICKET_BYTES = 16
AROUND = 32 + 16  # bytes of the encapsulated key and of the tag
LENGTH_BYTES = 4
MOST_SIZE = 1 << 16
FEWEST, MOST_PEOPLE = 2, 10_000  # the collector takes no more in one request
MOST_BYTES = 8 << 20  # of a batch, for the same reason
DELTA = 1e-9  # the probability with which the smaller loss may fail, unless the terms say another
_ID = slice(24, 24 + ID_BYTES)  # where a message has its id
_RELAY = re.compile(r"(https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?)(?:/[A-Za-z0-9._~-]+)*/?")


def _suite() -> Any:
    try:
        from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
    except ImportError:
        raise InvalidParameter("Mixing needs HPKE, which this release of cryptography lacks. Install a newer one.") from None
    return Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


@dataclass(frozen=True)
class Terms:
    """What a device and a relay need to know: which survey, where the relay is, the collector's key, and how many are mixed.

    `people` is the smallest number of messages that the relay passes on together, `size` the bytes to which they are filled
    up, and `delta` the probability with which the smaller loss may fail.
    """

    survey: str
    relay: str
    key: str
    people: int
    size: int
    delta: float = DELTA

    def __post_init__(self) -> None:
        if not _RELAY.fullmatch(self.relay):
            raise InvalidParameter(
                "The address of a relay begins with http:// or https:// and a lower-case host, such as https://mix.example, "
                "and has no user name, query or fragment."
            )
        if self.people * self.length > MOST_BYTES:
            most = MOST_BYTES // self.length
            raise InvalidParameter(
                f"Messages of this survey are so long that a collector takes at most {most:,} in one request. Choose fewer."
            )
        if not 0 < self.delta < 1:
            raise InvalidParameter("delta must be a number between 0 and 1.")
        if not FEWEST <= self.people <= MOST_PEOPLE:
            raise InvalidParameter(f"A relay mixes from {FEWEST} to {MOST_PEOPLE:,} people at a time.")
        if not HEADER < self.size <= MOST_SIZE or len(_hex(self.key)) != 32 or len(_hex(self.survey)) != 16:
            raise InvalidParameter("The terms of mixing are damaged. Ask whoever runs the survey for the file.")

    @property
    def length(self) -> int:
        """How many bytes a sealed message has, without its ticket."""
        return self.size + AROUND

    @property
    def fingerprint(self) -> str:
        """128 bits that name all by which an operator could tell people apart, for them to compare. `delta` is not sent."""
        parts = ("deniable mix terms 1", self.survey, self.relay, self.key, str(self.people), str(self.size))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]

    @property
    def origin(self) -> str:
        """The scheme, host and port of the relay."""
        found = _RELAY.fullmatch(self.relay)
        assert found is not None
        return found[1]

    @property
    def media_type(self) -> str:
        """How a device announces a sealed message: it names the terms, and a relay with others refuses it."""
        return f"{MEDIA_TYPE}; terms={self.fingerprint}"

    def data(self) -> dict[str, object]:
        """As plain data, for JSON."""
        return {"format": FORMAT, **asdict(self)}

    def save(self, path: Path) -> None:
        """Write them as JSON."""
        path.write_text(json.dumps(self.data(), indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "Terms":
        """Read what `save` wrote."""
        fields = {"survey": str, "relay": str, "key": str, "people": int, "size": int}
        return cls(**_read(path, FORMAT, fields, {"delta": float}))

    def check(self, survey: Survey) -> None:
        """Refuse another survey, and one whose messages differ in more than the answers of people who were mixed."""
        if survey.fingerprint != self.survey:
            raise InvalidParameter("These terms of mixing are for another survey, or for an earlier state of this one.")
        check_mixable(survey)

    def seal(self, message: bytes) -> bytes:
        """The message for the relay: its ticket, and what only the collector can read."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

        if len(message) + LENGTH_BYTES > self.size:
            raise InvalidReport("The message is longer than the terms of mixing allow. Make new terms with a larger size.")
        filled = (len(message).to_bytes(LENGTH_BYTES, "little") + message).ljust(self.size, b"\0")
        key = X25519PublicKey.from_public_bytes(_hex(self.key))
        return ticket_of(message) + bytes(_suite().encrypt(filled, key, _info(self.survey)))


@dataclass(frozen=True)
class Opener:
    """What the collector needs to read sealed messages: its private key."""

    survey: str
    private: str
    size: int

    def __post_init__(self) -> None:
        if not HEADER < self.size <= MOST_SIZE or len(_hex(self.private)) != 32 or len(_hex(self.survey)) != 16:
            raise InvalidParameter("The key of the collector for mixing is damaged. Restore the file from a backup.")

    def __repr__(self) -> str:
        return f"Opener(survey={self.survey!r})"

    @property
    def length(self) -> int:
        """How many bytes a sealed message has."""
        return self.size + AROUND

    @classmethod
    def load(cls, path: Path) -> "Opener":
        """Read what `text` says."""
        return cls(**_read(path, KEY_FORMAT, {"survey": str, "private": str, "size": int}))

    @property
    def key(self) -> str:
        """The public key that belongs to the private one."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        return X25519PrivateKey.from_private_bytes(_hex(self.private)).public_key().public_bytes_raw().hex()

    @property
    def text(self) -> str:
        """As JSON, for a file that only its owner can read."""
        return json.dumps({"format": KEY_FORMAT, **asdict(self)}, indent=2) + "\n"

    def messages(self, body: bytes) -> Iterator[bytes | None]:
        """The messages in a body of sealed ones, one after the other; None for each that cannot be read."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        key = X25519PrivateKey.from_private_bytes(_hex(self.private))
        suite, info = _suite(), _info(self.survey)
        for start in range(0, len(body), self.length):
            try:
                filled = bytes(suite.decrypt(body[start : start + self.length], key, info))
            except (InvalidTag, ValueError):
                yield None
                continue
            length = int.from_bytes(filled[:LENGTH_BYTES], "little")
            whole = length + LENGTH_BYTES <= len(filled) and not any(filled[LENGTH_BYTES + length :])
            yield filled[LENGTH_BYTES : LENGTH_BYTES + length] if whole else None


def make_terms(survey: Survey, relay: str, people: int, size: int, delta: float = DELTA) -> tuple[Terms, Opener]:
    """New keys: the terms for everybody, and what only the collector may know."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    check_mixable(survey)
    _suite()
    private = X25519PrivateKey.generate()
    public = private.public_key().public_bytes_raw().hex()
    secret = private.private_bytes_raw().hex()
    return Terms(survey.fingerprint, relay, public, people, size, delta), Opener(survey.fingerprint, secret, size)


def check_mixable(survey: Survey) -> None:
    """Refuse surveys whose messages show more than the report: a period, a round, a token."""
    if survey.window is not None or survey.rounds is not None or survey.invitations is not None:
        raise InvalidParameter(
            "Messages of a survey with a window, rounds or invitations show when or by whom they were made, so mixing hides "
            "people only among others with the same. Such surveys cannot be mixed yet."
        )


def ticket_of(message: bytes) -> bytes:
    """By what a relay recognizes a message that is sent again."""
    return hashlib.sha256(b"deniable mix ticket" + message[_ID]).digest()[:TICKET_BYTES]


def _info(survey: str) -> bytes:
    return b"deniable mix 1 " + _hex(survey)


def _hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _read(path: Path, form: str, fields: dict[str, type], optional: dict[str, type] | None = None) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        wanted = fields | {name: kind for name, kind in (optional or {}).items() if name in data}
        found = {name: data[name] for name in wanted if type(data[name]) is wanted[name]}
        if data["format"] == form and len(found) == len(wanted):
            return found
    except OSError as error:
        raise InvalidParameter(f"The file {path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError):
        pass
    raise InvalidParameter(f"The file {path} was not written by deniable mix keys, or is damaged.")
