"""Who may submit and who may read: tokens, of which only hashes are kept, and a limit on requests."""

import asyncio
import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Literal

from deniable.collector.store import Store
from deniable.errors import Unavailable

Role = Literal["submit", "results"]
RENEWED = 2.0  # seconds between looks for new tokens


def new_token(store: Store, role: Role) -> str:
    """Make a token; it is shown once, here, and only its hash is kept."""
    token = secrets.token_urlsafe(32)
    with store.change() as change:
        change.put_token(role, hash_of(token))
    return token


def hash_of(token: str) -> bytes:
    """What is kept of a token. It has 256 random bits, so it needs no salt and no slow hash."""
    return hashlib.sha256(token.encode()).digest()


class Gate:
    """Whether a request's token opens a role. The comparison takes the same time whatever the token is.

    `hashes` are tokens that always open it; those that are kept in the store come and go by `renew`.
    """

    def __init__(self, hashes: Iterable[bytes] = ()) -> None:
        self._always = self._hashes = list(hashes)
        self._guards = bool(self._hashes)

    def renew(self, hashes: list[bytes]) -> "Gate":
        """Take these tokens of the store instead. A gate that asked for one goes on asking, even if none is left."""
        self._hashes = self._always + hashes
        self._guards = self._guards or bool(hashes)
        return self

    def opens(self, authorization: bytes | None) -> bool:
        """Whether this header holds one of the tokens."""
        if authorization is None or authorization[:7].lower() != b"bearer ":
            return False
        given = hashlib.sha256(authorization[7:]).digest()
        found = False
        for known in self._hashes:
            found |= hmac.compare_digest(given, known)
        return found

    def __bool__(self) -> bool:
        return self._guards


async def watch_tokens(store: Store, gates: Mapping[Role, Gate]) -> None:
    """Let the gates know of new and revoked tokens, a few seconds after they were made."""
    while True:
        await asyncio.sleep(RENEWED)
        with suppress(Unavailable):  # then what was known holds on
            for role, hashes in (await asyncio.to_thread(_hashes, store, list(gates))).items():
                gates[role].renew(hashes)


def _hashes(store: Store, roles: list[Role]) -> dict[Role, list[bytes]]:
    with store.view() as view:
        return {role: view.hashes(role) for role in roles}


class RateLimit:
    """At most `rate` requests a second from one address, with bursts of twice that. Addresses stay in memory."""

    def __init__(self, rate: float, clock: Callable[[], float], most: int = 10_000) -> None:
        self._rate, self._clock, self._most = rate, clock, most
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, address: str) -> bool:
        """Whether a request from there may pass now."""
        now, full = self._clock(), 2 * self._rate
        left, last = self._left.pop(address, (full, now))
        left = min(full, left + (now - last) * self._rate)
        passes = left >= 1
        self._left[address] = (left - passes, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return passes
