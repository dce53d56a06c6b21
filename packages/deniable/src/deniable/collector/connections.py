"""Connections of a server: heads that do not come, bodies that do not end and clients that do not read are dropped."""

import asyncio
import logging
import signal
import time
from types import FrameType
from typing import Any, ClassVar

from deniable.collector.events import note
from deniable.collector.service import Limits
from deniable.errors import MissingExtra

try:
    import uvicorn
except ImportError:
    raise MissingExtra("A collector over HTTP", "collector") from None

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Base
except ImportError:  # without httptools, as on Windows
    from uvicorn.protocols.http.h11_impl import H11Protocol as Base  # type: ignore[assignment]

SWEEP = 1.0  # seconds between looks at all connections
MOST_AROUND = 64 << 10  # bytes around a body that is no longer than that: tiny chunks, their extensions and trailers
AT_ONCE, PAUSE = 20, 0.02  # connections that are dropped together, and seconds until the next ones
BREATH = 0.05  # seconds between two reads of a body that was refused
TURN = 1 / 160  # seconds between two such reads of all connections together: at 256 KiB each, 40 MiB a second
KEEP_ALIVE = 60  # seconds that a connection may stay open without a request


class Connection(Base):
    """One connection, which remembers since when it waits for the client, and how much of a head it has read."""

    limits = Limits()
    counts_bodies = False  # whether `body` is known, and whether a body has come whole after it was refused
    _turn: ClassVar[float] = 0.0  # when somebody may next read what was refused, by the clock of event loops

    @property
    def unwanted(self) -> bool:
        """Whether what comes next belongs to a body that was refused already."""
        cycle = self.cycle
        return self.counts_bodies and cycle is not None and cycle.response_complete and cycle.more_body

    def connection_made(self, transport: Any) -> None:
        self.since, self.head, self.unsent = time.monotonic(), 0, 0
        self.came = self.body = 0  # bytes since the head of this request, and those of its body among them
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            _make_room(self.connections, self)

    def data_received(self, data: bytes) -> None:
        cycle, unwanted = self.cycle, self.unwanted
        if not unwanted and (cycle is None or cycle.response_complete):  # the head of the next request
            if not self.head:
                self.since = time.monotonic()
            self.head += len(data)
        self.came += len(data)
        super().data_received(data)
        if self.cycle is not cycle:
            self.head, self.came = 0, self.body
        elif self.head > self.limits.head or (self.counts_bodies and self.came > 2 * self.body + MOST_AROUND):
            self.drop()
        elif unwanted and cycle.more_body:
            self._throw_away()

    def _throw_away(self) -> None:
        """Read on slowly after a refusal, so that the client gets to its answer; not more than a body may have.

        All connections take turns: however many send on, the collector reads no faster, and the senders wait. A connection
        whose turn would come too late is dropped.
        """
        now = self.loop.time()
        turn = max(now, Connection._turn) + TURN
        if self.body > self.limits.body or turn - now > self.limits.seconds:
            self.drop()
            return
        Connection._turn = turn
        self.flow.pause_reading()
        self.loop.call_later(max(BREATH, turn - now), self._read_on)

    def _read_on(self) -> None:
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def waits(self) -> str | None:
        """What this connection waits for: the rest of a head, of a body, the client to read; None if not for the client.

        A connection whose answer is held back does as if it waited: it makes room for others.
        """
        cycle = self.cycle
        if cycle is None or cycle.response_complete:
            unread = cycle is not None and cycle.more_body
            return "body" if unread else "head" if self.head or cycle is None else "request"
        if cycle.more_body:
            return "body"
        if self.flow is not None and self.flow.write_paused:
            return "reader"
        return "held" if cycle.scope.get("held") else None

    def overdue(self, now: float) -> bool:
        """Whether the client has had enough time."""
        what = self.waits()
        if what == "reader" and (unsent := self.transport.get_write_buffer_size()) != self.unsent:
            self.unsent, what = unsent, None  # slow, but it reads
        if what is None:
            self.since = now
        if what is None or what == "held":
            return False
        allowed = {"head": self.limits.head_seconds, "request": KEEP_ALIVE}.get(what, self.limits.seconds + SWEEP)
        return now - self.since > allowed

    def drop(self) -> None:
        """End it at once."""
        if self.transport is not None:
            self.transport.abort()


def _make_room(connections: set[Any], newest: Connection) -> None:
    """Drop the connection that has kept us waiting longest; the newest one if all are being answered."""
    waiting = [each for each in connections if each is not newest and each.waits() is not None]
    min(waiting, key=lambda each: each.since, default=newest).drop()


class Server(uvicorn.Server):
    """A server that drops overdue connections, and logs why it stops."""

    async def main_loop(self) -> None:
        sweeping = asyncio.ensure_future(self._sweep())
        try:
            await super().main_loop()
        finally:
            sweeping.cancel()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            now, dropped = time.monotonic(), 0
            for connection in list(self.server_state.connections):
                if isinstance(connection, Connection) and connection.overdue(now):
                    connection.drop()
                    dropped += 1
                    if dropped % AT_ONCE == 0:  # many that come back at once would be a burst for everybody
                        await asyncio.sleep(PAUSE)
            if dropped:
                note("dropped", logging.WARNING, connections=dropped, cause="the client was too slow")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        note("stopping", signal=signal.Signals(sig).name)
        super().handle_exit(sig, frame)
