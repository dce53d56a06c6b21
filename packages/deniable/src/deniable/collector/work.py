"""What a collector does beside its requests: watch tokens, move kept reports to files, log refusals, delete in time."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from deniable.collector.access import Gate, watch_tokens
from deniable.collector.events import note
from deniable.collector.segments import write_segment
from deniable.collector.service import Service
from deniable.collector.tokens import Role
from deniable.errors import DeniableError, Unavailable

MINUTE = 60.0


@asynccontextmanager
async def working_beside(app: Service) -> AsyncIterator[None]:
    """All of it, until the block ends; then the last kept reports and refusals are written."""
    gates: dict[Role, Gate] = {"submit": app.submit_gate, "batch": app.batch_gate}
    if app.read_gate:
        gates["results"] = app.read_gate
    refusals = _Refusals(app)
    work: list[Awaitable[None]] = [
        watch_tokens(app.collector.store, app.collector.survey.id, gates),
        _every_minute(lambda: _keep_time(app)),
        refusals.watch(),
    ]
    keeps = app.collector.survey.keep_reports and app.segments is not None
    if keeps:
        work.append(_every_minute(lambda: _segments(app)))
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        if keeps:
            await asyncio.to_thread(_segments, app)
        refusals.note()


async def _every_minute(job: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(MINUTE)
        await asyncio.to_thread(job)


def _segments(app: Service) -> None:
    """Move kept reports into files."""
    assert app.segments is not None
    try:
        while write_segment(app.collector, app.segments):
            pass
    except (DeniableError, OSError) as error:
        note("reports-not-moved", logging.ERROR, cause=str(error), consequence="they remain in the database")


def _keep_time(app: Service) -> None:
    """Delete the survey when it was said to be deleted."""
    with suppress(Unavailable):
        delete_in_time(app)


def delete_in_time(app: Service) -> bool:
    """Delete the survey if the time for that has come; whether it has."""
    collector = app.collector
    with collector.store.change() as change:
        state = change.accepting(collector.number, alone=True)
        mine = state is not None and state.fingerprint == collector.survey.fingerprint
        due = mine and state is not None and state.delete_after is not None and collector.clock() >= state.delete_after
        if due:
            change.delete(collector.number, collector.survey.id)
    if due:
        note("deleted", logging.WARNING, survey=collector.survey.id, cause="the date set with deniable manage retain")
    return due


class _Refusals:
    """Refusals in the log: the first of each reason at once, then how many there were, every minute."""

    def __init__(self, app: Service) -> None:
        self._app, self._noted = app, dict[str, int]()
        self._since = time.monotonic()

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            new = set(self._app.metrics.refused) - set(self._noted)
            if new or time.monotonic() - self._since >= MINUTE:
                self.note()

    def note(self) -> None:
        seconds = time.monotonic() - self._since
        for reason, number in sorted(self._app.metrics.refused.items()):
            more = number - self._noted.get(reason, 0)
            if more:
                note("refused", logging.WARNING, reason=reason, requests=more, seconds=f"{seconds:.0f}")
            self._noted[reason] = number
        self._since = time.monotonic()
