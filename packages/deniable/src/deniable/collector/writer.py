"""Group commit: one thread takes all that has arrived, counts it in one transaction, and then answers everybody."""

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Sequence

from deniable.collector.collector import Collector
from deniable.collector.verdicts import AWAY, BUSY, Refusal, Verdict
from deniable.errors import Unavailable
from deniable.survey import Message

log = logging.getLogger("deniable.collector")

Answer = list[Verdict] | Refusal
Waiting = tuple[Sequence[Message], "asyncio.Future[Answer]"]
MOST_AT_ONCE = 2000  # messages in one transaction, so that nobody waits long
MOST_REPORTS = 1_000_000  # reports that begin a transaction of their own, so that memory stays small


class Writer:
    """The queue before the store. While one commit is under way the next batch gathers, so waiting buys throughput."""

    def __init__(self, collector: Collector, limit: int, watch: Callable[[int, float], None] = lambda *_: None) -> None:
        self._collector, self._limit, self._watch = collector, limit, watch
        self._queue: queue.SimpleQueue[Waiting | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.waiting = 0  # bytes, and touched by the event loop only
        self.healthy = True

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

    async def submit(self, messages: Sequence[Message], size: int) -> Answer:
        """The verdicts on these messages, once they are durable; `size` is how many bytes they are."""
        if self.waiting + size > self._limit and self.waiting:
            return BUSY
        assert self._loop is not None
        self.waiting += size
        future: asyncio.Future[Answer] = self._loop.create_future()
        self._queue.put((messages, future))
        try:
            return await future
        finally:
            self.waiting -= size

    def _work(self) -> None:
        going = True
        while going:
            first = self._queue.get()
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

    def _taken(self, together: list[Waiting]) -> Sequence[Answer]:
        from time import perf_counter

        start = perf_counter()
        try:
            verdicts = self._collector.take([message for messages, _ in together for message in messages])
        except Unavailable as error:
            if self.healthy:
                log.error("%s Reports are refused until it is available again.", error)
            self.healthy = False
            return [AWAY] * len(together)
        except Exception:  # a bug must not end the thread that everybody waits for
            log.exception("counting failed")
            return [AWAY] * len(together)
        if not self.healthy:
            log.warning("The database is available again.")
        self.healthy = True
        self._watch(len(verdicts), perf_counter() - start)
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
