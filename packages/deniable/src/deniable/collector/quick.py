"""The shortest way for a report: a small request that has arrived whole is counted and answered without a task of its own.

Most requests are one report in one packet. For these the parser's callbacks hand the body to the survey, and the answer is
written in one piece when it is durable. Whatever is unusual takes the usual way: long, cut, chunked or pipelined bodies,
other methods and paths, and connections that close or do not read.
"""

from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from deniable.collector.app import App
from deniable.collector.connections import Connection
from deniable.collector.intake import QUICK
from deniable.collector.service import Reply, Scope


class _Unheard:
    """In the place of an event for which nobody waits."""

    def set(self) -> None:
        pass


class Whole:
    """A request that has arrived whole, and its answer; uvicorn's own cycles have the same attributes."""

    message_event = _Unheard()

    def __init__(self, app: App, scope: Scope) -> None:
        self.app, self.scope, self.body = app, scope, b""
        self.more_body = self.keep_alive = True
        self.response_complete = self.disconnected = False


class QuickConnection(Connection):
    """A connection on which a small report that has arrived whole takes the shortest way."""

    _chunk: bytes | None = None  # what has just arrived, if a request begins with it

    def data_received(self, data: bytes) -> None:
        idle = (self.cycle is None or self.cycle.response_complete) and not self.head
        self._chunk = data if idle else None
        super().data_received(data)
        self._chunk = None

    def taker(self, path: bytes) -> App | None:
        """The survey whose reports are sent to this path."""
        return None

    def on_headers_complete(self) -> None:
        app = None if self._chunk is None else self.taker(self.url)
        if app is None or not self._whole(self._chunk or b""):
            super().on_headers_complete()
        else:
            self.scope["method"] = "POST"
            cycle: Any = Whole(app, cast(Scope, self.scope))
            self.cycle = cycle
        self._chunk = None  # what follows in the same packet is another request

    def _whole(self, chunk: bytes) -> bool:
        """Whether this is a plain POST of a short body, and the packet ends where the body does."""
        parser, length = self.parser, b""
        for name, value in self.headers:
            if name == b"content-length":
                length = value
            elif name in (b"transfer-encoding", b"expect", b"upgrade"):
                return False
        if not length.isdigit() or len(length) > 4 or parser.get_method() != b"POST" or parser.get_http_version() != "1.1":
            return False
        if int(length) > QUICK or len(chunk) != chunk.find(b"\r\n\r\n") + 4 + int(length):
            return False
        return parser.should_keep_alive() and not self.access_log and not self.flow.write_paused

    def on_body(self, body: bytes) -> None:
        cycle: object = self.cycle
        if isinstance(cycle, Whole):
            cycle.body += body
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        cycle: object = self.cycle
        if isinstance(cycle, Whole) and cycle.more_body:
            cycle.more_body = False
            cycle.app.take_whole(cycle.scope, cycle.body, partial(self._answered, cycle))
        else:
            super().on_message_complete()

    def _answered(self, cycle: Whole, reply: Reply) -> None:
        cycle.response_complete = True
        if cycle.disconnected or self.transport.is_closing():
            return
        lines = [*self.server_state.default_headers, *reply.headers]
        if not cycle.keep_alive:
            lines.append((b"connection", b"close"))
        head = b"".join([name + b": " + value + b"\r\n" for name, value in lines])
        self.transport.write(b"".join((STATUS_LINE[reply.status], head, b"\r\n", reply.body)))
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()
