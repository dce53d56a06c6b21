"""What a collector does beside its requests: watch tokens, move kept reports to files, log refusals, delete in time."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress

from deniable.collector.access import renew_gates
from deniable.collector.events import note
from deniable.collector.fakes import alarms
from deniable.collector.publish import results
from deniable.collector.segments import write_segment
from deniable.collector.service import Service, Shared
from deniable.errors import DeniableError, Unavailable

MINUTE = 60.0
RENEWED = 2.0  # seconds between looks for new tokens
Services = Callable[[], Collection[Service]]  # those that are served now


Job = tuple[float, Callable[[], None]]  # what to do besides, every so many seconds


@asynccontextmanager
async def running(shared: Shared, services: Services, *jobs: Job) -> AsyncIterator[None]:
    """The writer, and all that is done beside the requests of these services, until the block ends."""
    shared.writer.start(asyncio.get_running_loop())
    async with working_beside(services, *jobs):
        yield
        await asyncio.to_thread(shared.writer.stop)


@asynccontextmanager
async def working_beside(services: Services, *jobs: Job) -> AsyncIterator[None]:
    """All that is done beside requests, until the block ends; then the last kept reports and refusals are written."""
    refusals = _Refusals(services)
    work: list[Awaitable[None]] = [
        _every(RENEWED, lambda: look(services())),
        _every(RENEWED, lambda: _each(services(), _next_round)),
        _every(MINUTE, lambda: _each(services(), _keep_time)),
        _every(MINUTE, lambda: _each(services(), _segments)),
        _every(MINUTE, lambda: _each(services(), look_for_fakes)),
        refusals.watch(),
        *(_every(*job) for job in jobs),
    ]
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.to_thread(_each, services(), _segments)
        refusals.note()


async def _every(seconds: float, job: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(seconds)
        try:
            await asyncio.to_thread(job)
        except Unavailable:  # it is done the next time; the writer logs that the store is away
            continue
        except Exception:  # one failure must not end what is done for as long as the server runs
            note("work-failed", logging.ERROR, trace=True)


def _each(services: Collection[Service], job: Callable[[Service], None]) -> None:
    for service in services:
        job(service)


def look(services: Collection[Service]) -> None:
    """Let all surveys, which are in one store, know of new and revoked tokens, and of what was managed meanwhile."""
    for store in [each.collector.store for each in services][:1]:
        with suppress(Unavailable):  # then what was known holds on
            renew_gates(store, {each.collector.survey.id: each.gates for each in services})
            with store.view() as view:
                states = view.states()
            for each in services:
                before = each.stage
                each.look(states)
                if each.stage != before:
                    note("stage", survey=each.collector.survey.id, stage=each.stage, before=before)


def _segments(app: Service) -> None:
    """Move kept reports into files, if the survey keeps them."""
    if app.segments is None or not app.collector.survey.keep_reports:
        return
    try:
        while write_segment(app.collector, app.segments):
            pass
    except (DeniableError, OSError) as error:
        note("reports-not-moved", logging.ERROR, cause=str(error), consequence="they remain in the database")


def _next_round(app: Service) -> None:
    """Open the next round if enough people have answered this one."""
    if app.collector.survey.rounds is not None:
        with suppress(Unavailable):
            app.next_round()


def look_for_fakes(app: Service) -> None:
    """Raise an alarm where reports have a pattern that honest people do not produce: once for each in the log."""
    collector, known = app.collector, app.alarms
    if collector.survey.rounds is not None:  # their tallies have different laws
        return
    with suppress(Unavailable):
        found = alarms(results(collector.survey, collector.number, collector.store), collector.profiles)
        for alarm in found:
            key = (alarm.question, alarm.period, alarm.found.what)
            if key not in known:
                note("suspicious-reports", logging.WARNING, survey=collector.survey.id, found=str(alarm))
            known.add(key)
        app.metrics.suspicions = Counter(alarm.question for alarm in found)


def _keep_time(app: Service) -> None:
    """Delete the survey when it was said to be deleted."""
    with suppress(Unavailable):
        delete_in_time(app)


def delete_in_time(app: Service) -> bool:
    """Delete the survey if the time for that has come; whether it has."""
    collector = app.collector
    with collector.store.change() as change:
        state = change.accepting(collector.number, alone=True)
        mine = state is not None and state.fingerprint == collector.registered
        due = mine and state is not None and state.delete_after is not None and collector.clock() >= state.delete_after
        if due:
            change.delete(collector.number, collector.survey.id)
    if due:
        note("deleted", logging.WARNING, survey=collector.survey.id, cause="the date set with deniable manage retain")
    return due


class _Refusals:
    """Refusals in the log: the first of each reason at once, then how many there were, every minute."""

    def __init__(self, services: Services) -> None:
        self._services, self._noted = services, dict[tuple[str, str], int]()
        self._since = time.monotonic()

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            if self._found().keys() - self._noted.keys() or time.monotonic() - self._since >= MINUTE:
                self.note()

    def _found(self) -> dict[tuple[str, str], int]:
        return {
            (service.collector.survey.id, reason): number
            for service in self._services()
            for reason, number in service.metrics.refused.items()
        }

    def note(self) -> None:
        seconds = time.monotonic() - self._since
        for (survey, reason), number in sorted(self._found().items()):
            more = number - self._noted.get((survey, reason), 0)
            if more:
                note("refused", logging.WARNING, reason=reason, requests=more, seconds=f"{seconds:.0f}", survey=survey)
            self._noted[(survey, reason)] = number
        self._since = time.monotonic()
