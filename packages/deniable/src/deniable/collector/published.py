"""Results over HTTP: rendered once, kept until another report is counted, and never more than one at a time."""

import asyncio
import json
import math
import time
from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

from deniable.collector.fakes import with_fakes
from deniable.collector.publish import Results, results
from deniable.collector.service import Service
from deniable.collector.verdicts import BUSY, Refusal
from deniable.files.arrow import pyarrow_package

KINDS = ("json", "csv", "parquet", "tallies")
KEPT = 8  # renderings
CHEAP = 0.5  # seconds that may be spent on every request
REST = 3  # times as long as the last rendering took, until the next one
WAITING = 8  # requests that may wait for a rendering

Version = tuple[tuple[int, int], ...]  # how many people every period has


class Wanted(NamedTuple):
    """What a reader asks for; `fakes`, what holds if this share of the reports is false."""

    kind: str = "json"
    confidence: float = 0.95
    fakes: float | None = None
    history: bool = True  # the estimates of each period; without them JSON is much shorter


class _Rendered(NamedTuple):
    version: Version
    body: bytes
    title: str | None


class Published:
    """What readers are shown. Where it takes long, they may get numbers that are a little older than the last report."""

    def __init__(self, app: Service) -> None:
        self._app, self._turn, self._waiting = app, asyncio.Lock(), 0
        self._kept: OrderedDict[Wanted, _Rendered] = OrderedDict()
        self._cost, self._rested = 0.0, 0.0

    async def answer(self, wanted: Wanted) -> bytes | Refusal:
        """The results in one format."""
        if self._waiting >= WAITING:
            return BUSY.saying("Too many people read the results right now. Try again.")
        self._waiting += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(self._current, wanted)
        finally:
            self._waiting -= 1

    def _current(self, wanted: Wanted) -> bytes | Refusal:
        collector, now = self._app.rounds.first, time.monotonic()
        with collector.store.view() as view:
            version, state = tuple(view.people(collector.number).items()), view.state(collector.number)
        title, kept = state.title if state is not None else None, self._kept.get(wanted)
        resting = self._cost > CHEAP and now < self._rested
        if kept is not None and (resting or (kept.version, kept.title) == (version, title)):
            return kept.body
        if resting:
            wait = max(1, math.ceil(self._rested - now))
            return _later(wait)
        if wanted.kind == "parquet":
            arrow = pyarrow_package()
            arrow.array([""], arrow.string())  # to load what it needs is no part of what a rendering costs
        start = time.thread_time()
        found = results(collector.survey, collector.number, collector.store, wanted.confidence, title)
        if wanted.kind == "json":
            body = json.dumps(with_fakes(found, wanted.fakes, collector.profiles, wanted.history)).encode()
        else:
            body = _rendered(found if wanted.history else replace(found, history=()), wanted.kind)
        self._cost = time.thread_time() - start
        self._rested = time.monotonic() + REST * self._cost
        self._kept[wanted] = _Rendered(version, body, title)
        self._kept.move_to_end(wanted)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return body


def _later(seconds: int) -> Refusal:
    return Refusal(
        BUSY.reason,
        BUSY.status,
        BUSY.title,
        "Results of this size are computed only now and then. Try again later.",
        seconds,
    )


def _rendered(found: Results, kind: str) -> bytes:
    if kind == "parquet":
        return found.parquet()
    return (found.csv() if kind == "csv" else _tallies(found)).encode()


def _tallies(found: Results) -> str:
    """The tallies that may be published, for whoever wants to estimate in another way."""
    rows = [
        {"question": key, "period": period, "tally": json.loads(tally.to_json())} for key, period, tally in found.tallies
    ]
    return json.dumps({"fingerprint": found.survey.fingerprint, "tallies": rows})
