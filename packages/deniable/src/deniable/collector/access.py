"""Who may submit and who may read: tokens of a survey, and a limit on the reports of one sender."""

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from deniable.collector.store import Store
from deniable.collector.tokens import ROLES, Role, Token, hash_of
from deniable.errors import InvalidParameter

WEEK = 7 * 86_400
SHORTEST = 32  # characters of a token that somebody else made


def new_token(store: Store, survey: str, role: Role, name: str = "", expires: int | None = None) -> str:
    """Make a token for the survey with this id; it is shown once, here, and only its hash is kept."""
    token, now = secrets.token_urlsafe(32), int(time.time())
    with store.change() as change:
        change.alone()
        names = {each.name for each in change.tokens(survey) if each.role == role and each.valid(now)}
        if name and name in names:
            raise InvalidParameter(f"A {role} token named {name!r} already exists. Choose another name, or rotate it.")
        made = Token(role, name or _free_name(role, names), hash_of(token), now, expires)
        change.put_token(survey, made)
    return token


def admit_token(store: Store, survey: str, role: Role, token: str) -> None:
    """Let a token in that was made elsewhere. One that was revoked here stays so."""
    with store.change() as change:
        change.alone()
        tokens = [each for each in change.tokens(survey) if each.role == role]
        if hash_of(token) not in {each.hash for each in tokens}:
            name = _free_name(role, {each.name for each in tokens})
            change.put_token(survey, Token(role, name, hash_of(token), int(time.time())))


def read_token(path: Path) -> str:
    """The token in a file, refused if it could be guessed."""
    token = path.read_text(encoding="utf-8").strip()
    if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidParameter(
            f"The file {path} must hold one line: a token of at least {SHORTEST} random letters and digits, such as openssl "
            "rand -hex 32 prints."
        )
    return token


def _free_name(role: Role, names: set[str]) -> str:
    return next(name for place in range(1, len(names) + 2) if (name := f"{role}-{place}") not in names)


def find_token(tokens: Iterable[Token], which: str, now: float) -> Token:
    """The one valid token with this name, or whose id begins so."""
    valid = [token for token in tokens if token.valid(now)]
    found = [token for token in valid if token.name == which]
    found = found or [token for token in valid if len(which) >= 4 and token.id.startswith(which.lower())]
    if len(found) != 1:
        many = "Several valid tokens are" if found else "No valid token is"
        raise InvalidParameter(f"{many} called {which!r}. See deniable token list, and give the id.")
    return found[0]


def revoke_token(store: Store, survey: str, which: str) -> Token:
    """Revoke one token, given by its name or id. What it opened stays closed, even if no token is left."""
    now = int(time.time())
    with store.change() as change:
        change.alone()
        token = find_token(change.tokens(survey), which, now)
        change.end_token(survey, token, token.expires, now)
    return token


def revoke_role(store: Store, survey: str, role: Role) -> int:
    """Revoke every token of a role; how many there were."""
    now = int(time.time())
    with store.change() as change:
        change.alone()
        valid = [token for token in change.tokens(survey) if token.role == role and token.valid(now)]
        for token in valid:
            change.end_token(survey, token, token.expires, now)
    return len(valid)


def rotate_token(
    store: Store, survey: str, which: str, overlap: int = WEEK, expires: int | None = None
) -> tuple[str, Token]:
    """A new token in place of one with the same name and role, and the old one, which still works for so many seconds."""
    fresh, now = secrets.token_urlsafe(32), int(time.time())
    with store.change() as change:
        change.alone()
        old = find_token(change.tokens(survey), which, now)
        until = now + overlap if old.expires is None else min(old.expires, now + overlap)
        change.end_token(survey, old, until, None)
        change.put_token(survey, Token(old.role, old.name, hash_of(fresh), now, expires))
    return fresh, old


class Gate:
    """Whether a request's token opens a role. The comparison takes the same time whatever the token is.

    `hashes` are tokens that always open it; those of the survey come and go by `renew`.
    """

    def __init__(self, hashes: Iterable[bytes] = (), clock: Callable[[], float] = time.time) -> None:
        self._always: list[tuple[bytes, int | None]] = [(each, None) for each in hashes]
        self._hashes = self._always
        self._guards, self._clock = bool(self._hashes), clock

    def renew(self, tokens: Iterable[Token]) -> "Gate":
        """Take these tokens instead. A gate for which one was ever made asks for one, even if none is valid."""
        tokens = list(tokens)
        self._guards = self._guards or bool(tokens)
        self._hashes = [*self._always, *((each.hash, each.expires) for each in tokens if each.revoked is None)]
        return self

    def holder(self, authorization: bytes | None) -> bytes | None:
        """The hash of the valid token in this header; None if there is none."""
        if authorization is None or authorization[:7].lower() != b"bearer ":
            return None
        given, found = hashlib.sha256(authorization[7:]).digest(), False
        for known, expires in self._hashes:
            found |= hmac.compare_digest(given, known) and (expires is None or self._clock() < expires)
        return given if found else None

    def opens(self, authorization: bytes | None) -> bool:
        """Whether this header holds one of the tokens."""
        return self.holder(authorization) is not None

    def __bool__(self) -> bool:
        return self._guards


def gates_of(store: Store, survey: str, clock: Callable[[], float] = time.time) -> dict[Role, Gate]:
    """A gate for each role, with the tokens that the store has."""
    with store.view() as view:
        tokens = view.tokens(survey)
    return {role: Gate(clock=clock).renew(token for token in tokens if token.role == role) for role in ROLES}


def renew_gates(store: Store, gates: Mapping[str, Mapping[Role, Gate]]) -> None:
    """Let the gates of these surveys know of tokens that were made, revoked or rotated meanwhile."""
    with store.view() as view:
        tokens = view.all_tokens()
    for survey, mine in gates.items():
        for role, gate in mine.items():
            gate.renew(token for token in tokens.get(survey, ()) if token.role == role)


class RateLimit:
    """At most `rate` reports a second from one sender, with bursts of twice that. Senders stay in memory."""

    def __init__(self, rate: float, clock: Callable[[], float], most: int = 100_000) -> None:
        self._rate, self._clock, self._most = rate, clock, most
        self.burst = max(1.0, 2 * rate)
        self._left: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    @classmethod
    def of(cls, rate: float) -> "RateLimit | None":
        """The limit of so many reports a second; None for 0, no limit."""
        return cls(rate, time.monotonic) if rate else None

    def allows(self, sender: bytes, reports: int = 1) -> bool:
        """Whether so many reports of this sender may pass now; none of them does otherwise. 0 asks whether one could."""
        now = self._clock()
        left, last = self._left.pop(sender, (self.burst, now))
        left = min(self.burst, left + (now - last) * self._rate)
        passes = left >= max(1, reports)
        self._left[sender] = (left - reports if passes else left, now)
        if len(self._left) > self._most:
            self._left.popitem(last=False)
        return passes


class Senders:
    """Names for senders that last as long as the process: a salted hash of a token, or of an address.

    Whoever has an IPv6 address has a whole network of 64 bits, which counts as one sender.
    """

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(16)

    def by_address(self, address: str) -> bytes:
        """The name of whoever sends from this address."""
        with suppress(ValueError):
            parsed = ipaddress.ip_address(address)
            if parsed.version == 6:
                address = str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))
        return hashlib.blake2b(address.encode(), key=self._salt, digest_size=12).digest()

    def by_token(self, token_hash: bytes) -> bytes:
        """The name of whoever holds this token."""
        return hashlib.blake2b(token_hash, key=self._salt, digest_size=16).digest()
