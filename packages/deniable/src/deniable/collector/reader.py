"""Long bodies are read beside the event loop, one at a time; rarely, if their senders are refused all the time."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Value = TypeVar("Value")

REST = 3.0  # times as long as reading one of these took, none of them is read: they take a quarter of a thread at most
MOST = 16  # of these that wait


class Reader:
    """Two threads: one for bodies as they come, one for the bodies of senders whose requests are mostly refused."""

    def __init__(self) -> None:
        self._usual = ThreadPoolExecutor(1, "deniable reader")
        self._rare = ThreadPoolExecutor(1, "deniable reader of the annoying")
        self._waiting, self._from = 0, 0.0

    async def read(self, work: Callable[[], Value], annoying: bool) -> Value | None:
        """What the work gives; None if too much of the same kind waits already."""
        loop = asyncio.get_running_loop()
        if not annoying:
            return await loop.run_in_executor(self._usual, work)
        if self._waiting >= MOST:
            return None
        self._waiting += 1
        try:
            return await loop.run_in_executor(self._rare, self._rarely, work)
        finally:
            self._waiting -= 1

    def _rarely(self, work: Callable[[], Value]) -> Value:
        time.sleep(max(0.0, self._from - time.monotonic()))
        start = time.monotonic()
        try:
            return work()
        finally:
            self._from = time.monotonic() + REST * (time.monotonic() - start)
