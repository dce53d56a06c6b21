"""Group commit: one thread takes all that has arrived, counts it in one transaction, and then answers everybody.

One writer serves all surveys of a store: a commit waits for the disk, however many surveys it has reports for.
"""

import asyncio
import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from deniable.collector.collector import Collector, settle
from deniable.collector.events import note
from deniable.collector.verdicts import AWAY, Refusal, Verdict
from deniable.errors import Unavailable
from deniable.survey import Message

Answer = list[Verdict] | Refusal
Done = Callable[[Answer], None]  # is called in the event loop, with the verdicts
Waiting = tuple[Collector, Sequence[Message], Done]
Watch = Callable[[int, float], None]  # is called with the messages of a commit, and how many seconds it took
MOST_AT_ONCE = 2000  # messages in one transaction, so that nobody waits long
BUSY = 4  # requests in a group, after which the next one waits for others that are about to come:
TURN, TURNS, FEW = 0.0002, 3, 8  # seconds of a turn, how many turns at most, and with fewer new requests in one it ends
MOST_REPORTS = 1_000_000  # reports that begin a transaction of their own, so that memory stays small
FEWEST_FORGOTTEN, MOST_FORGOTTEN = 100, 5000  # ids that are dropped between two groups: as many as take
LONGEST = 0.02  # seconds, for which everybody waits;
REST = 4.0  # times as long as that took, it is left alone, so that most of the time is for reports
PAUSE = 0.02  # seconds without a message, after which more of them are dropped
TROUBLE = 5.0  # seconds until that is tried again after it failed


class Writer:
    """The queue before the store. While one commit is under way the next batch gathers, so waiting buys throughput."""

    def __init__(self) -> None:
        self._watches: dict[Collector, Watch] = {}
        self._gathered: list[Waiting] = []  # what this turn of the event loop has brought
        self._queue: queue.SimpleQueue[list[Waiting] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tidy_from, self._forgotten = 0.0, FEWEST_FORGOTTEN  # when to drop ids again, and how many
        self._busy = False  # whether many were in the last group
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

    def add(self, collector: Collector, watch: Watch = lambda *_: None) -> None:
        """Write for this collector too, and drop its old ids. All collectors of a writer have the same store."""
        self._watches = {**self._watches, collector: watch}

    def drop(self, collector: Collector) -> None:
        """Look after this collector no more."""
        self._watches = {each: watch for each, watch in self._watches.items() if each is not collector}

    async def submit(self, collector: Collector, messages: Sequence[Message]) -> Answer:
        """The verdicts on these messages of one survey, once they are durable."""
        assert self._loop is not None
        future: asyncio.Future[Answer] = self._loop.create_future()
        self.hand_over(collector, messages, partial(_resolve, future))
        return await future

    def hand_over(self, collector: Collector, messages: Sequence[Message], done: Done) -> None:
        """The same without waiting: `done` gets the verdicts. What one turn of the event loop brings goes together."""
        assert self._loop is not None
        if not self._gathered:
            self._loop.call_soon(self._pass_on)
        self._gathered.append((collector, messages, done))

    def _pass_on(self) -> None:
        gathered, self._gathered = self._gathered, []
        self._queue.put(gathered)

    def _work(self) -> None:
        waiting, going = deque[Waiting](), True
        while going or waiting:
            if not waiting:
                first = self._next()
                if first is None:
                    return
                waiting.extend(first)
            going = going and self._gather(waiting)
            together = _first(waiting)
            self._busy = len(together) >= BUSY
            # Nobody waits, when it is to end, for a store that is away to be tried again and again.
            answers = self._taken(together) if going or self.healthy else [AWAY] * len(together)
            assert self._loop is not None
            try:
                self._loop.call_soon_threadsafe(_answer, together, answers)
            except RuntimeError:  # the loop has ended: nobody waits any more
                return
            self._tidy()

    def _gather(self, waiting: "deque[Waiting]") -> bool:
        """Take all that has arrived, and what arrives in a moment where there is much to do; whether to go on after that.

        A transaction costs the same for one message as for sixty: while others are about to come, it is worth to wait.
        """
        for turn in range(TURNS if self._busy else 1):
            if turn:
                time.sleep(TURN)
            before = len(waiting)
            try:
                while (more := self._queue.get_nowait()) is not None:
                    waiting.extend(more)
                return False
            except queue.Empty:
                if turn and len(waiting) - before < FEW:
                    break
        return True

    def _next(self) -> list[Waiting] | None:
        """What arrives next. While nothing does, ids that need not be kept are dropped, some at a time."""
        while self._untidy() is not None:
            try:
                return self._queue.get(timeout=PAUSE)
            except queue.Empty:
                self._tidy()
        return self._queue.get()

    def _untidy(self) -> Collector | None:
        return next((collector for collector in self._watches if collector.untidy), None)

    def _tidy(self) -> None:
        collector = self._untidy()
        if collector is not None and time.monotonic() >= self._tidy_from:
            start = time.monotonic()
            try:
                collector.tidy(self._forgotten)
                self._pace(time.monotonic() - start)
            except Exception as error:  # must not end the thread that everybody waits for
                self._tidy_from = time.monotonic() + TROUBLE
                note("ids-not-dropped", logging.WARNING, trace=not isinstance(error, Unavailable), cause=str(error))

    def _pace(self, took: float) -> None:
        """Drop fewer ids at a time where that takes long, as on a slow or busy disk."""
        self._tidy_from = time.monotonic() + REST * took
        if took > LONGEST:
            self._forgotten = max(FEWEST_FORGOTTEN, self._forgotten // 2)
        elif took < LONGEST / 2:
            self._forgotten = min(MOST_FORGOTTEN, self._forgotten * 2)

    def _taken(self, together: list[Waiting]) -> list[Answer]:
        """What becomes of everything in a group: one transaction, unless something in it cannot be counted."""
        start, messages = time.perf_counter(), dict[Collector, list[Message]]()
        for collector, some, _ in together:
            messages.setdefault(collector, []).extend(some)
        try:
            answers = _answers(messages)
        except Unavailable as error:
            if self.healthy:
                note("store-away", logging.ERROR, cause=str(error), consequence="reports are refused until it is back")
            self.healthy = False
            return [AWAY] * len(together)
        if not self.healthy:
            note("store-back", logging.WARNING)
        self.healthy, self.committed = True, time.monotonic()
        left = dict[Collector, Iterator[Verdict]]()
        for collector, answer in answers.items():
            if not isinstance(answer, Refusal):
                self._watches.get(collector, _unwatched)(len(answer), time.perf_counter() - start)
                left[collector] = iter(answer)
        return [list(islice(left[each], len(some))) if each in left else AWAY for each, some, _ in together]


def _answers(messages: dict[Collector, list[Message]]) -> dict[Collector, Answer]:
    """The verdicts on the messages of each survey. What goes wrong in one survey is no trouble for the others."""
    if len(messages) > 1:
        try:
            groups = [collector.group(some) for collector, some in messages.items()]
            settle(groups[0].collector.store, groups)
            return {group.collector: group.verdicts for group in groups}
        except Unavailable:
            raise
        except Exception:  # nothing was counted: each survey by itself, which shows where it is
            note("counted-one-by-one", logging.DEBUG, trace=True)
    return {collector: _alone(collector, some) for collector, some in messages.items()}


def _alone(collector: Collector, messages: list[Message]) -> Answer:
    try:
        return collector.take(messages)
    except Unavailable:
        raise
    except Exception:  # a bug must not end the thread that everybody waits for
        note("counting-failed", logging.ERROR, trace=True, survey=collector.survey.id)
        return AWAY


def _unwatched(messages: int, seconds: float) -> None:
    """Its survey was taken away meanwhile."""


def _first(waiting: "deque[Waiting]") -> list[Waiting]:
    """As much of what waits as goes into one transaction."""
    together, size, reports = list[Waiting](), 0, 0
    while waiting and size < MOST_AT_ONCE and reports < MOST_REPORTS:
        one = waiting.popleft()
        together.append(one)
        size, reports = size + len(one[1]), reports + sum(message.reports for message in one[1])
    return together


def _answer(together: list[Waiting], answers: Sequence[Answer]) -> None:
    for (_, _, done), answer in zip(together, answers, strict=True):
        try:
            done(answer)
        except Exception:  # of one connection; the others still get their answers
            note("not-answered", logging.ERROR, trace=True)


def _resolve(future: "asyncio.Future[Answer]", answer: Answer) -> None:
    if not future.done():  # the client may have gone away
        future.set_result(answer)
