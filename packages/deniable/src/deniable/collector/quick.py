"""The shortest way for a report: a small request that has arrived whole is counted and answered without a task of its own.

Most requests are one report in one packet. For these the parser's callbacks hand the body to the survey, and the answer is
written in one piece when it is durable. Whatever is unusual takes the usual way: long, cut, chunked or pipelined bodies,
other methods and paths, and connections that close or do not read.

Devices of one kind send the same head each time. The parser reads it once: a head of exactly the same bytes means the same.
"""

import time
import weakref
from functools import partial
from typing import Any, ClassVar, NamedTuple

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from deniable.collector.app import App
from deniable.collector.connections import Connection
from deniable.collector.intake import QUICK
from deniable.collector.service import Client, Headers, Reply

MOST_HEADS, LONGEST_HEAD = 1024, 1024  # that are remembered, and bytes of one
# Headers that are about a kind of device. A head with any other is parsed each time, and kept nowhere.
ALIKE = frozenset(
    {b"host", b"connection", b"content-type", b"content-length", b"user-agent", b"accept", b"accept-encoding"}
    | {b"accept-language", b"origin", b"sec-fetch-dest", b"sec-fetch-mode", b"sec-fetch-site", b"sec-gpc", b"dnt"}
    | {b"sec-ch-ua", b"sec-ch-ua-mobile", b"sec-ch-ua-platform", b"priority", b"pragma", b"cache-control"}
)


class Head(NamedTuple):
    """The head of a request, as the parser has read it."""

    path: bytes
    headers: Headers
    named: dict[bytes, bytes]  # the first header of each name
    length: int  # of the body


class _Unheard:
    """In the place of an event for which nobody waits."""

    def set(self) -> None:
        pass


_NOT_HELD, _HELD = {"held": False}, {"held": True}


class Whole:
    """A request that has arrived whole, and its answer; uvicorn's own cycles have the same attributes."""

    message_event = _Unheard()
    __slots__ = ("app", "body", "disconnected", "head", "keep_alive", "more_body", "response_complete", "scope")

    def __init__(self, app: App, head: Head) -> None:
        self.app, self.head, self.body, self.scope = app, head, b"", _NOT_HELD
        self.more_body = self.keep_alive = True
        self.response_complete = self.disconnected = False


class QuickConnection(Connection):
    """A connection on which a small report that has arrived whole takes the shortest way."""

    counts_bodies = True
    heads: ClassVar[dict[bytes, Head]] = {}
    _chunk: bytes | None = None  # what has just arrived, if a request begins with it
    _written: ClassVar[tuple[object, object, bytes]] = (None, None, b"")  # the last answer, and what it was made from

    def data_received(self, data: bytes) -> None:
        idle = (self.cycle is None or self.cycle.response_complete) and not self.head and not self.unwanted
        if idle and (end := data.find(b"\r\n\r\n") + 4) <= LONGEST_HEAD:
            head = self.heads.get(data[:end])
            if head is not None and len(data) == end + head.length and self._known(head, data[end:]):
                return
        self._chunk = data if idle else None
        super().data_received(data)
        self._chunk = None

    def _known(self, head: Head, body: bytes) -> bool:
        """Take a request whose head was read before, unless there is something unusual about the connection."""
        app = self.taker(head.path)
        if app is None or self.access_log or self.flow.write_paused or self.transport.is_closing():
            return False
        if self.timeout_keep_alive_task is not None:
            self._unset_keepalive_if_required()
        self.since = time.monotonic()
        cycle: Any = Whole(app, head)
        cycle.more_body = False
        self.cycle = cycle
        app.take_whole(head.headers, head.named, self.sender(head), body, partial(self._answered, cycle))
        return True

    def taker(self, path: bytes) -> App | None:
        """The survey whose reports are sent to this path."""
        return None

    def sender(self, head: Head) -> Client:
        """Who sent a request: whoever is connected, or whom a proxy names."""
        return self.client

    def on_headers_complete(self) -> None:
        chunk, self._chunk = self._chunk, None  # what follows in the same packet is another request
        self.body = 0
        app = None if chunk is None else self.taker(self.url)
        length = None if app is None or chunk is None else self._whole(chunk)
        if app is None or chunk is None or length is None:
            super().on_headers_complete()
            scope: Any = self.scope
            scope["let_go"] = partial(_let_go, weakref.ref(self.cycle))
            return
        head = Head(self.url, self.headers, dict(reversed(self.headers)), length)
        cycle: Any = Whole(app, head)
        self.cycle = cycle
        self._remember(chunk[: len(chunk) - length], head)

    def _remember(self, read: bytes, head: Head) -> None:
        if len(read) <= LONGEST_HEAD and head.named.keys() <= ALIKE and len(head.named) == len(head.headers):
            if len(self.heads) >= MOST_HEADS:
                self.heads.clear()
            self.heads[read] = head

    def _whole(self, chunk: bytes) -> int | None:
        """The length of the body, if this is a plain POST of a short one and the packet ends where the body does."""
        parser, length = self.parser, b""
        for name, value in self.headers:
            if name == b"content-length":
                length = value
            elif name in (b"transfer-encoding", b"expect", b"upgrade"):
                return None
        if not length.isdigit() or len(length) > 4 or parser.get_method() != b"POST" or parser.get_http_version() != "1.1":
            return None
        size = int(length)
        if size > QUICK or len(chunk) != chunk.find(b"\r\n\r\n") + 4 + size:
            return None
        usual = not parser.should_keep_alive() or self.access_log or self.flow.write_paused
        return None if usual else size

    def on_body(self, body: bytes) -> None:
        self.body += len(body)
        cycle: Any = self.cycle
        if isinstance(cycle, Whole):
            cycle.body += body
        elif not cycle.response_complete and cycle.scope.get("held"):
            self.flow.pause_reading()  # until it is answered
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        cycle: Any = self.cycle
        if isinstance(cycle, Whole) and cycle.more_body:
            cycle.more_body = False
            head = cycle.head
            cycle.app.take_whole(head.headers, head.named, self.sender(head), cycle.body, partial(self._answered, cycle))
        else:
            super().on_message_complete()
            cycle.more_body = False  # also if it was answered before

    def _answered(self, cycle: Whole, reply: Reply) -> None:
        counted = reply.status == 200 and not reply.blamed
        seconds = 0.0 if counted else cycle.app.held(reply, self.sender(cycle.head))
        if seconds:
            cycle.scope = _HELD
            self.loop.call_later(seconds, self._write, cycle, reply)
        else:
            self._write(cycle, reply)

    def _write(self, cycle: Whole, reply: Reply) -> None:
        cycle.response_complete = True
        if cycle.disconnected or self.transport.is_closing():
            return
        if cycle.keep_alive and not self.pipeline:
            self.transport.write(self._bytes(reply))
            self.server_state.total_requests += 1  # the sweep ends the connection if nothing follows
            return
        lines = [*self.server_state.default_headers, *reply.headers]
        if not cycle.keep_alive:
            lines.append((b"connection", b"close"))
        self.transport.write(_answer(reply, lines))
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def _bytes(self, reply: Reply) -> bytes:
        """The whole answer. Most are the same as the one before, but for the date, which the server sets once a second."""
        usual = self.server_state.default_headers
        made_with, made_for, written = QuickConnection._written
        if made_with is not usual or made_for is not reply:
            written = _answer(reply, [*usual, *reply.headers])
            QuickConnection._written = (usual, reply, written)
        return written


def _let_go(request: "weakref.ref[Any]") -> None:
    """Keep nothing of the body of a request that is refused."""
    cycle = request()
    if cycle is not None:
        cycle.scope["held"], cycle.body = True, bytearray()


def _answer(reply: Reply, lines: Headers) -> bytes:
    head = b"".join([name + b": " + value + b"\r\n" for name, value in lines])
    return b"".join((STATUS_LINE[reply.status], head, b"\r\n", reply.body))
