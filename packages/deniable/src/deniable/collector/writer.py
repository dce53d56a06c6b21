"""Group commit: one thread takes all that has arrived, counts it in one transaction, and then answers everybody."""

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence

from deniable.collector.collector import Collector
from deniable.collector.events import note
from deniable.collector.verdicts import AWAY, Refusal, Verdict
from deniable.errors import Unavailable
from deniable.survey import Message

Answer = list[Verdict] | Refusal
Waiting = tuple[Sequence[Message], "asyncio.Future[Answer]"]
MOST_AT_ONCE = 2000  # messages in one transaction, so that nobody waits long
MOST_REPORTS = 1_000_000  # reports that begin a transaction of their own, so that memory stays small
MOST_FORGOTTEN = 2000  # ids that are dropped between two groups, so that nobody waits long for that
PAUSE = 0.02  # seconds without a message, after which more of them are dropped
TROUBLE = 5.0  # seconds until that is tried again after it failed


class Writer:
    """The queue before the store. While one commit is under way the next batch gathers, so waiting buys throughput."""

    def __init__(self, collector: Collector, watch: Callable[[int, float], None] = lambda *_: None) -> None:
        self._collector, self._watch = collector, watch
        self._queue: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tidy_from = 0.0  # when to drop ids again
        self.healthy = True
        self.committed = 0.0  # when the last commit went through, by the monotonic clock

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to work for the requests of this event loop."""
        self._loop = loop
        self._thread = threading.Thread(target=self._work, name="deniable writer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish what has arrived, and end."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    async def submit(self, messages: Sequence[Message]) -> Answer:
        """The verdicts on these messages, once they are durable."""
        assert self._loop is not None
        future: asyncio.Future[Answer] = self._loop.create_future()
        self._queue.put((messages, future))
        return await future

    def _work(self) -> None:
        going = True
        while going:
            first = self._next()
            if first is None:
                return
            together, size, reports = [first], len(first[0]), _reports(first)
            while size < MOST_AT_ONCE and reports < MOST_REPORTS:
                try:
                    more = self._queue.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    going = False
                    break
                together.append(more)
                size, reports = size + len(more[0]), reports + _reports(more)
            answers = self._taken(together)
            assert self._loop is not None
            try:
                self._loop.call_soon_threadsafe(_answer, together, answers)
            except RuntimeError:  # the loop has ended: nobody waits any more
                return
            if self._collector.untidy:
                self._tidy()

    def _next(self) -> Waiting | None:
        """What arrives next. While nothing does, ids that need not be kept are dropped, some at a time."""
        while self._collector.untidy:
            try:
                return self._queue.get(timeout=PAUSE)
            except queue.Empty:
                self._tidy()
        return self._queue.get()

    def _tidy(self) -> None:
        if time.monotonic() >= self._tidy_from:
            try:
                self._collector.tidy(MOST_FORGOTTEN)
            except Unavailable as error:
                self._tidy_from = time.monotonic() + TROUBLE
                note("ids-not-dropped", logging.WARNING, cause=str(error))

    def _taken(self, together: list[Waiting]) -> Sequence[Answer]:
        start = time.perf_counter()
        try:
            verdicts = self._collector.take([message for messages, _ in together for message in messages])
        except Unavailable as error:
            if self.healthy:
                note("store-away", logging.ERROR, cause=str(error), consequence="reports are refused until it is back")
            self.healthy = False
            return [AWAY] * len(together)
        except Exception:  # a bug must not end the thread that everybody waits for
            note("counting-failed", logging.ERROR, trace=True)
            return [AWAY] * len(together)
        if not self.healthy:
            note("store-back", logging.WARNING)
        self.healthy, self.committed = True, time.monotonic()
        self._watch(len(verdicts), time.perf_counter() - start)
        answers, at = [], 0
        for messages, _ in together:
            answers.append(verdicts[at : at + len(messages)])
            at += len(messages)
        return answers


def _reports(waiting: Waiting) -> int:
    return sum(message.reports for message in waiting[0])


def _answer(together: list[Waiting], answers: Sequence[Answer]) -> None:
    for (_, future), answer in zip(together, answers, strict=True):
        if not future.done():  # the client may have gone away
            future.set_result(answer)
