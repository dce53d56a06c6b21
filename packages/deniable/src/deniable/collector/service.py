"""What the parts of a collector over HTTP share: its limits and state, and how it refuses."""

import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from deniable.collector.access import Gate, RateLimit, Senders
from deniable.collector.collector import Collector
from deniable.collector.metrics import Metrics
from deniable.collector.mixed import Mixed
from deniable.collector.reader import Reader
from deniable.collector.rounds import Rounds
from deniable.collector.stages import Stage, State
from deniable.collector.tokens import Role
from deniable.collector.verdicts import NO_METHOD, TOO_MANY_HEADERS, Refusal
from deniable.collector.writer import Writer

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
Client = tuple[str, int] | None  # the address and the port of whoever is connected

SAFE: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]


@dataclass(frozen=True)
class Limits:
    """How much one request, one sender and all of them together may take."""

    body: int = 8 << 20  # bytes of a request
    json: int = 1 << 20  # bytes of a request in JSON with a batch token: JSON takes far more work
    json_people: int = 64 << 10  # bytes of a request in JSON without one
    messages: int = 10_000  # in a request with a batch token
    reports: int = 1_000_000  # in a request with a batch token: a report may be as small as one bit
    people: int = 1_000  # in a request without one: each message is one person's
    queue: int = 64 << 20  # bytes of all requests that are being read or wait to be counted
    rate: float = 0.0  # reports a second from one address; 0 for no limit
    token_rate: float = 0.0  # reports a second with one token; 0 for no limit
    seconds: float = 30.0  # to send a body
    head_seconds: float = 10.0  # to send the head of a request
    headers: int = 64  # of a request
    head: int = 16 << 10  # bytes of all headers
    connections: int = 4000
    refusals: float = 10.0  # a second that one address gets at once; after these each takes `hold` seconds
    hold: float = 0.5


# What may be set for one survey.
OWN = ("rate", "token_rate", "body", "people")


def own_limits(usual: Limits, text: str | None) -> Limits:
    """The limits of a survey that has some of its own, as JSON. A body is never longer than the server allows."""
    if text is None:
        return usual
    own = {name: value for name, value in json.loads(text).items() if name in OWN}
    return replace(usual, **own | ({"body": min(own["body"], usual.body)} if "body" in own else {}))


class Flight:
    """The bytes of requests that are being read or wait to be counted. Large bodies leave a quarter for small ones."""

    SMALL = 64 << 10
    TURN = 0.002  # seconds between two large parts of bodies, so that small requests come in between

    def __init__(self, limit: int) -> None:
        self.bytes, self._limit, self._turn = 0, limit, 0.0

    def take(self, size: int, whole: int) -> bool:
        """Whether there is room for so many more bytes of a body that has `whole` bytes by now; then it is taken."""
        limit = self._limit if whole <= self.SMALL else self._limit * 3 // 4
        if self.bytes + size > limit and self.bytes + size > whole:  # one body alone always has room
            return False
        self.bytes += size
        return True

    def turn(self, now: float) -> float:
        """How many seconds a request waits before it reads the next part, after one that was large."""
        self._turn = max(now, self._turn + self.TURN)
        return self._turn - now


class Shared:
    """What all surveys of one server share, so that memory and commits do not grow with their number."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.writer, self.flight = Writer(), Flight(self.limits.queue)
        # Every survey has its own names for senders, so their rates do not mix.
        self.address_rate, self.token_rate = RateLimit.of(self.limits.rate), RateLimit.of(self.limits.token_rate)
        self.refusals = RateLimit(self.limits.refusals, time.monotonic)
        self.reader = Reader()


class Service:
    """One survey over HTTP. `submit` guards the reports if it holds tokens, `batch` messages of many people, `read` the
    results. `shared` is what it has in common with other surveys of the same server and store.
    """

    def __init__(
        self,
        collector: Collector,
        submit: Gate,
        read: Gate,
        limits: Limits | None = None,
        batch: Gate | None = None,
        shared: Shared | None = None,
    ) -> None:
        self.rounds, self.shared = Rounds(collector), shared or Shared(limits)
        self._usual = self.limits = limits or self.shared.limits
        self.submit_gate, self.read_gate, self.batch_gate = submit, read, batch or Gate()
        self.metrics = Metrics(collector.survey.id)
        self.alarms: set[tuple[str, int | None, str]] = set()  # patterns of false reports that are in the log
        self.mixed: Mixed | None = None  # if reports come from a relay, and from nobody else
        self.segments: Path | None = None  # where kept reports go as Parquet files, if the survey keeps them
        self.writer, self.flight, self.senders = self.shared.writer, self.shared.flight, Senders()
        for each in self.rounds.newest_first:
            self.writer.add(each, self.metrics.commit)
        self.address_rate, self.token_rate = self.shared.address_rate, self.shared.token_rate
        self.state: State | None = None  # as the store had it last; None if the survey was deleted
        self.look()
        self.warm = threading.Event()  # whether everything is loaded that the first report needs
        self.warm.set()

    def look(self, states: Mapping[int, State] | None = None) -> None:
        """Take over what the store says about the survey now: its stage, its title and whether it is listed."""
        if states is None:
            with self.collector.store.view() as view:
                states = view.states()
        found = states.get(self.collector.number)
        mine = found is not None and found.fingerprint == self.collector.registered
        own = None if self.state is None else self.state.limits
        self.state = found if mine else None
        if self.state is not None and self.state.limits != own:
            self._limit(self.state.limits)

    def _limit(self, text: str | None) -> None:
        """Apply the limits that were set for this survey, or those of the server."""
        usual, self.limits = self._usual, own_limits(self._usual, text)
        rates = self.shared.address_rate, self.shared.token_rate
        if self.limits.rate != usual.rate:
            rates = RateLimit.of(self.limits.rate), rates[1]
        if self.limits.token_rate != usual.token_rate:
            rates = rates[0], RateLimit.of(self.limits.token_rate)
        self.address_rate, self.token_rate = rates

    @property
    def title(self) -> str:
        """The title as it is shown: corrected, or else as in the survey."""
        return (self.state and self.state.title) or self.collector.survey.title

    @property
    def stage(self) -> str:
        """Draft, open, closed, archived or deleted. The dates of the survey apply besides."""
        return "deleted" if self.state is None else str(self.state.stage)

    @property
    def listed(self) -> bool:
        """Whether the index shows it: listed, open, and within its dates."""
        survey, now = self.collector.survey, self.collector.clock()
        timely = (survey.opens is None or survey.opens <= now) and (survey.closes is None or now < survey.closes)
        return self.state is not None and self.state.listed and self.state.stage is Stage.OPEN and timely

    @property
    def collector(self) -> Collector:
        """That of the survey, or of the round that people are asked to answer."""
        return self.rounds.current

    def next_round(self, only_look: bool = False) -> None:
        """Open the next round if it is time, or only look whether another collector has opened one."""
        known = set(self.rounds.newest_first)
        if only_look:
            self.rounds.refresh()
        else:
            self.rounds.step()
        for each in set(self.rounds.newest_first) - known:
            self.writer.add(each, self.metrics.commit)

    def held(self, reply: "Reply", client: Client) -> float:
        """How many seconds an answer is held back: whoever is refused all the time has to wait for it."""
        refused = 400 <= reply.status < 500 or reply.blamed
        name = self.senders.by_address((client or ("",))[0]) if refused else b""
        return 0.0 if not refused or self.shared.refusals.allows(name) else self.limits.hold

    def annoys(self, client: Client) -> bool:
        """Whether whoever sends from this address is refused all the time."""
        return not self.shared.refusals.allows(self.senders.by_address((client or ("",))[0]), 0)

    @property
    def gates(self) -> dict[Role, Gate]:
        """The gates whose tokens are in the store. Results that are open to everybody have none."""
        gates: dict[Role, Gate] = {"submit": self.submit_gate, "batch": self.batch_gate}
        return gates | {"results": self.read_gate} if self.read_gate else gates


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of this name."""
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return next((value for key, value in headers if key == name), None)


def too_many_headers(headers: Headers, limits: Limits) -> Refusal | None:
    """Why a request with these headers is not answered."""
    if len(headers) <= limits.headers and sum(map(len, chain.from_iterable(headers))) <= limits.head:
        return None
    most = f"A request may have at most {limits.headers} headers of {limits.head:,} bytes in all."
    return TOO_MANY_HEADERS.saying(most)


async def refuse(send: Send, refusal: Refusal) -> None:
    """A refusal as a problem document."""
    await Reply.refusing(refusal).give(send)


def problem(refusal: Refusal) -> bytes:
    """The problem document of a refusal (RFC 9457)."""
    data = {
        "type": f"urn:deniable:problem:{refusal.reason}",
        "title": refusal.title,
        "status": refusal.status,
        "detail": refusal.detail or refusal.title,
    }
    return json.dumps(data).encode()


def problem_headers(refusal: Refusal) -> Headers:
    """What the headers say about a refusal."""
    headers: Headers = []
    if refusal.wait is not None:
        headers.append((b"retry-after", str(refusal.wait).encode()))
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refusal.reason == NO_METHOD.reason:
        headers.append((b"allow", b"POST"))
    return headers


class Reply(NamedTuple):
    """One whole answer."""

    status: int
    headers: Headers
    body: bytes
    blamed: bool = False  # whether something in the request is what no device sends, though the rest was counted

    @classmethod
    def of(cls, status: int, body: bytes, media: bytes, headers: Headers | None = None) -> "Reply":
        """The answer with the headers that every answer has."""
        size = str(len(body)).encode()
        return cls(status, [(b"content-type", media), (b"content-length", size), *SAFE[:2], *(headers or ())], body)

    @classmethod
    def refusing(cls, refusal: Refusal) -> "Reply":
        """A refusal as a problem document."""
        return cls.of(refusal.status, problem(refusal), b"application/problem+json", problem_headers(refusal))

    async def give(self, send: Send) -> None:
        """Send it."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


async def respond(send: Send, status: int, body: bytes, media: bytes, headers: Headers | None = None) -> None:
    """One whole answer."""
    await Reply.of(status, body, media, headers).give(send)
