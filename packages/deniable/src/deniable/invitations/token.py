"""A token: the right to have one report counted in one survey, signed by an issuer who has never seen it.

    offset  size  field
         0     1  number of the key in the survey's list, from 0
         1    32  random bytes
        33   256  RSA-PSS signature of the random bytes, "deniable invitation 1", a zero byte and the survey's fingerprint

What is signed says nothing about the answers: a token fits any report of the survey, once.
"""

import hashlib
import secrets
from dataclasses import dataclass

from deniable.errors import InvalidReport
from deniable.invitations.blind_rsa import BITS, PublicKey

PREFIX_BYTES = 32
SIGNATURE_BYTES = BITS // 8
TOKEN_BYTES = 1 + PREFIX_BYTES + SIGNATURE_BYTES
NONCE_BYTES = 16
_CONTEXT = b"deniable invitation 1\0"


@dataclass(frozen=True)
class Token:
    """A token, read but not yet verified."""

    key: int
    prefix: bytes
    signature: bytes

    def __repr__(self) -> str:  # it is worth one report
        return "Token(...)"

    @classmethod
    def from_bytes(cls, data: bytes) -> "Token":
        """The token in these bytes."""
        if len(data) != TOKEN_BYTES:
            raise InvalidReport(f"A token has {TOKEN_BYTES} bytes. Send it as the issuer's signature was finalized.")
        return cls(data[0], data[1 : 1 + PREFIX_BYTES], data[1 + PREFIX_BYTES :])

    def to_bytes(self) -> bytes:
        """The token as a message carries it."""
        return bytes([self.key]) + self.prefix + self.signature

    @property
    def nonce(self) -> bytes:
        """What the collector remembers of a spent token; it is the same however the token was signed."""
        return hashlib.sha256(self.prefix).digest()[:NONCE_BYTES]

    def valid(self, key: PublicKey, fingerprint: bytes) -> bool:
        """Whether this key signed it for this survey."""
        return key.verifies(signed_message(self.prefix, fingerprint), self.signature)


def fresh_prefix() -> bytes:
    """The random bytes of a new token: the prefix that the randomized variant of RFC 9474 puts before a message."""
    return secrets.token_bytes(PREFIX_BYTES)


def signed_message(prefix: bytes, fingerprint: bytes) -> bytes:
    """What the issuer signs without seeing it."""
    return prefix + _CONTEXT + fingerprint
