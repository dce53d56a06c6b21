"""Many devices at once, over real HTTP: what simulations and benchmarks send with."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

from deniable.device.sending import AGAIN
from deniable.errors import InvalidParameter, Unavailable
from deniable.survey.message import MEDIA_TYPE

Watch = Callable[[int], None]  # is called with how many more bodies arrived

REPORTS = ("/v1/reports", MEDIA_TYPE)
PATIENCE = 60.0  # seconds without any answer, before the crowd gives up


@dataclass
class Sent:
    """How often each status was answered, how often a connection was lost, and how long answers took."""

    statuses: Counter[int] = field(default_factory=Counter)
    lost: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def arrived(self) -> int:
        """How many bodies were counted."""
        return sum(number for status, number in self.statuses.items() if 200 <= status < 300)


class _Connection(asyncio.Protocol):
    """One keep-alive connection that posts body after body; a body that may succeed later is posted again."""

    def __init__(self, crowd: "_Crowd") -> None:
        self._crowd, self._buffer, self._start = crowd, b"", 0.0
        self._transport: asyncio.Transport | None = None
        self._body: bytes | None = None
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are not of that class
        self._next()

    def _next(self) -> None:
        assert self._transport is not None
        self._body = self._crowd.next()
        if self._body is None or self._transport.is_closing():
            self._transport.close()
        else:
            self._start = time.perf_counter()
            self._transport.write(self._crowd.head % len(self._body) + self._body)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        place = head.find(b"content-length:")
        length = int(head[place + 15 :].split(b"\r\n", 1)[0]) if place >= 0 else 0
        if len(self._buffer) < end + 4 + length:
            return
        self._buffer = b""
        status, body, self._body = int(head[9:12]), self._body, None
        assert body is not None
        self._crowd.sent.statuses[status] += 1
        self._crowd.sent.seconds.append(time.perf_counter() - self._start)
        self._crowd.heard = time.monotonic()
        if status in AGAIN:
            self._crowd.back(body)
            asyncio.get_running_loop().call_later(0.5, self._next)
        else:
            self._crowd.watch(1)
            self._next()

    def give_up(self) -> None:
        """End the connection if its answer does not come."""
        if self._transport is not None and self._body is not None and time.perf_counter() - self._start > PATIENCE:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        if self._body is not None:  # nobody knows whether it was counted: send the same again
            self._crowd.back(self._body)
            self._crowd.sent.lost += 1
        if not self.closed.done():
            self.closed.set_result(None)


class _Crowd:
    def __init__(self, head: bytes, bodies: Iterator[bytes], watch: Watch) -> None:
        self.head, self.watch, self.sent, self.heard = head, watch, Sent(), time.monotonic()
        self._bodies, self._again = bodies, list[bytes]()

    def next(self) -> bytes | None:
        return self._again.pop() if self._again else next(self._bodies, None)

    def back(self, body: bytes) -> None:
        self._again.append(body)

    async def connect(self, host: str, port: int, tls: bool) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                _, protocol = await loop.create_connection(lambda: _Connection(self), host, port, ssl=tls or None)
                while not protocol.closed.done():
                    await asyncio.wait({protocol.closed}, timeout=PATIENCE / 4)
                    protocol.give_up()
            except OSError:
                pass
            first = self.next()
            if first is None:
                return
            self.back(first)
            if time.monotonic() - self.heard > PATIENCE:
                raise Unavailable(f"No response from {host}:{port}. Is it running?")
            await asyncio.sleep(0.2)


async def post_all(
    url: str,
    bodies: Iterator[bytes],
    connections: int = 64,
    token: str | None = None,
    watch: Watch = lambda _: None,
    to: tuple[str, str] = REPORTS,
) -> Sent:
    """Post every body to the collector at this address until it arrives; a lost answer means the same body again.

    `to` is the path and the media type, if they are others than those of reports.
    """
    place = urlsplit(url)
    if place.scheme not in ("http", "https") or place.hostname is None:
        raise InvalidParameter("The address of a collector must begin with http:// or https://.")
    access = "" if token is None else f"Authorization: Bearer {token}\r\n"
    head = (
        f"POST {place.path.rstrip('/')}{to[0]} HTTP/1.1\r\nHost: {place.netloc}\r\n"
        f"Content-Type: {to[1]}\r\n{access}Content-Length: %d\r\n\r\n"
    )
    crowd = _Crowd(head.encode(), bodies, watch)
    tls = place.scheme == "https"
    port = place.port or (443 if tls else 80)
    await asyncio.gather(*(crowd.connect(place.hostname, port, tls) for _ in range(connections)))
    return crowd.sent


def run_crowd(
    url: str,
    bodies: Iterator[bytes],
    connections: int = 64,
    token: str | None = None,
    watch: Watch = lambda _: None,
    to: tuple[str, str] = REPORTS,
) -> Sent:
    """`post_all` in an event loop of its own, the quickest there is."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(post_all(url, bodies, connections, token, watch, to))
    return uvloop.run(post_all(url, bodies, connections, token, watch, to))
