"""Long bodies are read beside the event loop, one at a time; rarely, if their senders are refused all the time."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Value = TypeVar("Value")

PEOPLE = 3.0  # times as long as reading some of a body took, a thread rests, unless the sender has a batch token
REST = 7.0  # times as long as reading some of one of these took, nothing of them is read: an eighth of a thread at most
SLICE = 0.0002  # seconds after which reading rests, so that others hardly wait for the interpreter
MOST = 16  # of these that wait


class _Pace(threading.local):
    """How this thread reads."""

    rest = 0.0  # times as long as it has read, it does nothing
    since = 0.0  # when it has rested last, by the monotonic clock


_pace = _Pace()


def breathe() -> None:
    """Rest for a moment if this thread reads what may take long and has read for a while. Called after each message."""
    if _pace.rest:
        read = time.monotonic() - _pace.since
        if read > SLICE:
            time.sleep(_pace.rest * read)
            _pace.since = time.monotonic()


class Reader:
    """Two threads: one for bodies as they come, one for the bodies of senders whose requests are mostly refused."""

    def __init__(self) -> None:
        self._usual = ThreadPoolExecutor(1, "deniable reader")
        self._rare = ThreadPoolExecutor(1, "deniable reader of the annoying")
        self._waiting, self._from = 0, 0.0

    async def read(self, work: Callable[[], Value], annoying: bool, trusted: bool = False) -> Value | None:
        """What the work gives; None if too much of the same kind waits already. For who is `trusted`, it does not rest."""
        loop = asyncio.get_running_loop()
        if not annoying:
            return await loop.run_in_executor(self._usual, _resting, work, 0.0 if trusted else PEOPLE)
        if self._waiting >= MOST:
            return None
        self._waiting += 1
        try:
            return await loop.run_in_executor(self._rare, self._rarely, work)
        finally:
            self._waiting -= 1

    def _rarely(self, work: Callable[[], Value]) -> Value:
        time.sleep(max(0.0, self._from - time.monotonic()))
        try:
            return _resting(work, REST)
        finally:
            now = time.monotonic()
            self._from = now + REST * (now - _pace.since)


def _resting(work: Callable[[], Value], rest: float) -> Value:
    """What the work gives, which rests that many times as long as it takes."""
    _pace.rest, _pace.since = rest, time.monotonic()
    return work()
