"""Access tokens of a survey: what each allows, its name, and how long it is valid. Only hashes are kept."""

import hashlib
from dataclasses import dataclass
from typing import Literal

Role = Literal["submit", "batch", "results"]
ROLES: tuple[Role, ...] = ("submit", "batch", "results")
SERVER = ""  # in the place of a survey's id: a results token of the whole server, which opens its metrics and nothing else


@dataclass(frozen=True)
class Token:
    """What is stored of a token. Times are in seconds since 1970; `expires` and `revoked` are None if it is neither."""

    role: Role
    name: str
    hash: bytes
    made: int
    expires: int | None = None
    revoked: int | None = None

    @property
    def id(self) -> str:
        """Eight hexadecimal digits that name the token in lists and in the log."""
        return self.hash.hex()[:8]

    def valid(self, now: float) -> bool:
        """Whether it opens anything at this time."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    def status(self, now: float) -> str:
        """Valid, expired or revoked."""
        return "revoked" if self.revoked is not None else "valid" if self.valid(now) else "expired"


def hash_of(token: str) -> bytes:
    """What is kept of a token. It has 256 random bits, so it needs no salt and no slow hash."""
    return hashlib.sha256(token.encode()).digest()
