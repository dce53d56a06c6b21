"""What the parts of a collector over HTTP share: its limits and state, and how it refuses."""

import json
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deniable.collector.access import Gate, RateLimit
from deniable.collector.collector import Collector
from deniable.collector.metrics import Metrics
from deniable.collector.verdicts import NO_METHOD, Refusal
from deniable.collector.writer import Writer

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

SAFE: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]


@dataclass(frozen=True)
class Limits:
    """How much one request, one address and the queue may hold."""

    body: int = 8 << 20  # bytes of a request
    messages: int = 10_000  # in a request
    reports: int = 1_000_000  # in a request: a report may be as small as one bit
    queue: int = 64 << 20  # bytes that wait to be counted
    rate: float = 0.0  # requests a second from one address; 0 for no limit
    seconds: float = 30.0  # to send a body


class Service:
    """One collector. `submit` guards the reports if it holds tokens; `read` guards results and metrics."""

    def __init__(self, collector: Collector, submit: Gate, read: Gate, limits: Limits | None = None) -> None:
        self.collector, self.limits = collector, limits or Limits()
        self.submit_gate, self.read_gate = submit, read
        self.metrics = Metrics()
        self.segments: Path | None = None  # where kept reports go as Parquet files, if the survey keeps them
        self.writer = Writer(collector, self.limits.queue, self.metrics.commit)
        self.rate = RateLimit(self.limits.rate, time.monotonic) if self.limits.rate else None


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of this name."""
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return next((value for key, value in headers if key == name), None)


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


async def respond(send: Send, status: int, body: bytes, media: bytes, headers: Headers | None = None) -> None:
    """One whole answer."""
    start = [(b"content-type", media), (b"content-length", str(len(body)).encode()), *SAFE[:2], *(headers or ())]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": body})
