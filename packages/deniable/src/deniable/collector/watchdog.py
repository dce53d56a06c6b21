"""A limit on how long a database may take. A server that hangs answers neither a statement nor its cancellation."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any


class Watchdog:
    """Shuts the socket of a connection that has been waited for too long, so that whoever waits gets an error."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._ended = seconds, threading.Event()
        self._watched: dict[Any, float] = {}  # until when each connection must have answered
        self._thread: threading.Thread | None = None

    @contextmanager
    def over(self, connection: Any) -> Iterator[None]:
        """The block must end within the limit."""
        self.watch(connection)
        try:
            yield
        finally:
            self._watched.pop(connection, None)

    @contextmanager
    def transaction(self, connection: Any, *around: AbstractContextManager[object]) -> Iterator[None]:
        """A transaction, in whose block nobody is waited for; to begin it, and to end it, must happen within the limit."""
        self.watch(connection)
        try:
            with ExitStack() as stack:
                for each in (*around, connection.transaction()):
                    stack.enter_context(each)
                self._watched.pop(connection, None)
                try:
                    yield
                finally:
                    self.watch(connection)
        finally:
            self._watched.pop(connection, None)

    def watch(self, connection: Any) -> None:
        """Wait for this connection from now on, for so long and no longer."""
        self._watched[connection] = time.monotonic() + self._seconds
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, args=(self._ended,), name="deniable watchdog", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread; the next `watch` begins another."""
        self._ended.set()
        self._ended, self._thread = threading.Event(), None

    def _work(self, ended: threading.Event) -> None:
        while not ended.wait(0.25):
            now = time.monotonic()
            for connection, until in list(self._watched.items()):
                if now > until and self._watched.pop(connection, None) is not None:
                    with suppress(Exception):  # it may be closed by now
                        _shut(connection.fileno())


def _shut(descriptor: int) -> None:
    with socket.socket(fileno=os.dup(descriptor)) as same:
        same.shutdown(socket.SHUT_RDWR)
