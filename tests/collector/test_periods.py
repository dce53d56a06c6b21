"""Periods that are over stay over, whatever the clocks say; ids are dropped some at a time; nothing counts twice."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from deniable.collector import Collector, Counted, Refusal, open_store, opened, results
from deniable.collector.sqlite import SqliteStore
from deniable.collector.store import Row
from deniable.collector.verdicts import AWAY
from deniable.collector.writer import FEWEST_FORGOTTEN, LONGEST, MOST_FORGOTTEN, Waiting, Writer
from deniable.errors import Unavailable
from tests.collector.one_backup import read_backup, write_backup
from tests.surveys import OPENS, SAMPLED, survey
from tests.waits import finished

NewStore = Callable[[], str]
HOUR = 3600
HOURLY = SAMPLED.replace('window = "day"', 'window = "hour"').replace('id = "sampled"', 'id = "hourly"')


class Clock:
    def __init__(self) -> None:
        self.now = float(OPENS)

    def __call__(self) -> float:
        return self.now


def messages(made: float, people: int = 1) -> bytes:
    return b"".join(survey(HOURLY).randomize_all({"b": [3] * people, "c": [0.5] * people}, people, now=made))


def verdicts(collector: Collector, body: bytes) -> list[str]:
    found = collector.take(collector.survey.read(body))
    return [verdict.reason if isinstance(verdict, Refusal) else verdict.value for verdict in found]


def tidied(collector: Collector, most: int = 100) -> None:
    collector.untidy = True
    while collector.untidy:
        collector.tidy(most)


def people(collector: Collector) -> int:
    return results(collector.survey, collector.number, collector.store).people


def test_a_clock_that_goes_ahead_and_back_counts_nothing_twice(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        clock = Clock()
        one = Collector(survey(HOURLY), store, clock)
        first = messages(OPENS)
        assert verdicts(one, first) == ["counted"]
        clock.now += 3 * HOUR
        assert verdicts(one, messages(clock.now)) == ["counted"]
        tidied(one)
        clock.now = OPENS
        assert verdicts(one, first) == ["clock"]  # not counted again; the device keeps it
        again = Collector(survey(HOURLY), store, clock)  # after a restart too
        assert verdicts(again, first) == ["clock"] and people(again) == 2
        with store.view() as view:
            assert {period for _, period in view.ids(one.number)} == {3}


def test_a_clock_alone_ends_no_period(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        clock = Clock()
        one = Collector(survey(HOURLY), store, clock)
        first = messages(OPENS)
        assert verdicts(one, first) == ["counted"]
        clock.now += 48 * HOUR  # nobody else is there yet
        assert verdicts(one, messages(OPENS)) == ["too-late"]
        tidied(one)
        clock.now = OPENS
        assert verdicts(one, first + messages(OPENS)) == ["duplicate", "counted"]


def test_two_collectors_whose_clocks_differ(new_store: NewStore) -> None:
    address = new_store()
    with opened(address) as left, opened(address) as right:
        ahead, behind = Clock(), Clock()
        one, two = Collector(survey(HOURLY), left, ahead), Collector(survey(HOURLY), right, behind)
        first = messages(OPENS)
        assert verdicts(two, first) == ["counted"]
        ahead.now, behind.now = OPENS + 2 * HOUR + 100, OPENS + 2 * HOUR - 200
        assert verdicts(one, messages(ahead.now)) == ["counted"]
        tidied(one, 1)
        assert verdicts(two, first) == ["clock"]
        assert verdicts(two, messages(OPENS + HOUR)) == ["counted"]  # of an hour that both accept
        assert people(one) == people(two) == 3


def test_a_restored_backup_accepts_no_more_than_before(new_store: NewStore, tmp_path: Path) -> None:
    with opened(new_store()) as store, opened(new_store()) as other:
        clock = Clock()
        one = Collector(survey(HOURLY), store, clock)
        first = messages(OPENS)
        verdicts(one, first)
        clock.now += 3 * HOUR
        verdicts(one, messages(clock.now))
        tidied(one)
        write_backup(one.survey, store, tmp_path / "backup")
        read_backup(tmp_path / "backup", other)
        clock.now = OPENS
        assert verdicts(Collector(survey(HOURLY), other, clock), first) == ["clock"]


def test_ids_are_dropped_some_at_a_time(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        clock = Clock()
        one = Collector(survey(HOURLY), store, clock)
        verdicts(one, messages(OPENS, 250))
        clock.now += HOUR
        verdicts(one, messages(clock.now, 50))
        clock.now += 2 * HOUR
        verdicts(one, messages(clock.now, 5))

        def left() -> int:
            with store.view() as view:
                return view.count_ids(one.number)

        with pytest.raises(ZeroDivisionError), store.change() as change:  # nothing comes of this one
            change.forget(one.number, 1, 100)
            raise ZeroDivisionError
        found = [left()]
        while one.tidy(100):
            found.append(left())
        found.append(left())
        dropped = [before - after for before, after in pairwise(found)]
        # a hundred, or one page; the period before the oldest is kept one period longer
        assert len(dropped) >= 3 and max(dropped) <= 120 and (found[0], found[-1]) == (305, 55)
        assert not one.untidy and not one.tidy(100)


def test_the_ids_of_a_period_are_found_without_looking_at_the_others(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    statements = list[tuple[str, tuple[object, ...]]]()
    with store.change() as change:
        run = change.run

        def watched(sql: str, *values: object) -> list[Row]:
            statements.append((sql, values))
            return run(sql, *values)

        change.run = watched  # type: ignore[method-assign]
        change.claim(1, {b"x" * 16: 0})
        change.forget(1, 5, 1)
        change.claim(1, {b"x" * 16: 0})
        change.forget(1, 5, 10)
        plans = [run(f"EXPLAIN QUERY PLAN {sql}", *values) for sql, values in statements if "FROM seen" in sql]
    assert len(plans) >= 5
    for plan in plans:
        steps = [row[3] for row in plan if "seen" in row[3]]
        assert steps and all("SEARCH" in step and "PRIMARY KEY" in step for step in steps), plan
        assert not any("TEMP B-TREE" in row[3] for row in plan), plan
    store.close()


def test_writing_goes_on_while_ids_are_dropped(tmp_path: Path) -> None:
    """The writer drops ids only in pieces, between groups and in pauses."""
    clock = Clock()
    one = Collector(survey(HOURLY), open_store(str(tmp_path / "store.db")), clock)
    verdicts(one, messages(OPENS, 300))
    clock.now += 3 * HOUR
    pieces, tidy = list[int](), one.tidy

    def fewer(most: int) -> bool:
        pieces.append(most)
        return tidy(50)

    one.tidy = fewer  # type: ignore[method-assign]

    async def work() -> None:
        writer = Writer()
        writer.add(one)
        writer.start(asyncio.get_running_loop())
        for _ in range(3):
            await writer.submit(one, one.survey.read(messages(clock.now)))
        async with asyncio.timeout(30):
            while one.untidy:
                await asyncio.sleep(0.01)
        await asyncio.to_thread(writer.stop)

    finished(work())
    assert len(pieces) >= 6 and max(pieces) <= 5000
    with one.store.view() as view:
        assert {period for _, period in view.ids(one.number)} == {3}
    one.store.close()


def test_fewer_ids_are_dropped_at_a_time_where_that_takes_long() -> None:
    writer = Writer()
    for _ in range(20):
        writer._pace(LONGEST / 10)
    assert writer._forgotten == MOST_FORGOTTEN
    writer._pace(0.7 * LONGEST)
    assert writer._forgotten == MOST_FORGOTTEN
    writer._pace(2 * LONGEST)
    assert writer._forgotten == MOST_FORGOTTEN // 2
    for _ in range(20):
        writer._pace(2 * LONGEST)
    assert writer._forgotten == FEWEST_FORGOTTEN


def test_reports_are_counted_though_no_ids_can_be_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong there: the thread that everybody waits for goes on."""
    one, tried = Collector(survey(HOURLY), open_store(str(tmp_path / "store.db")), Clock()), threading.Event()

    def fails(most: int) -> bool:
        tried.set()
        raise ValueError("a bug")

    monkeypatch.setattr(one, "tidy", fails)

    async def work() -> None:
        writer = Writer()
        writer.add(one)
        writer.start(asyncio.get_running_loop())
        assert await asyncio.to_thread(tried.wait, 30)
        assert await writer.submit(one, one.survey.read(messages(OPENS))) == [Counted.NOW]
        await asyncio.to_thread(writer.stop)

    finished(work())
    one.store.close()


def test_nobody_waits_for_a_store_that_is_away_when_it_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, tries = Collector(survey(HOURLY), open_store(str(tmp_path / "store.db")), Clock()), list[int]()
    one.untidy = False

    def away(some: object) -> None:
        tries.append(1)
        raise Unavailable("The database cannot be written: locked.")

    monkeypatch.setattr(one, "take", away)
    monkeypatch.setattr("deniable.collector.writer.MOST_AT_ONCE", 1)

    async def work() -> list[object]:
        writer, message = Writer(), one.survey.read(messages(OPENS))
        writer.add(one)
        writer._loop = asyncio.get_running_loop()
        sent = [asyncio.ensure_future(writer.submit(one, message)) for _ in range(50)]
        await asyncio.sleep(0.01)  # they have arrived
        writer._queue.put(None)
        writer.start(asyncio.get_running_loop())
        await asyncio.to_thread(writer.stop)
        return list(await asyncio.gather(*sent))

    assert finished(work()) == [AWAY] * 50
    assert len(tries) == 1
    one.store.close()


def test_one_id_in_two_periods_is_two_messages(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        one = Collector(survey(HOURLY), store, Clock())
        (message,) = one.survey.read(messages(OPENS))
        later = message._replace(period=1)
        one.clock = lambda: OPENS + HOUR
        assert [str(verdict) for verdict in one.take([message, later, message, later])] == [
            "Counted.NOW", "Counted.NOW", "Counted.BEFORE", "Counted.BEFORE",
        ]  # fmt: skip
        assert people(one) == 2


def test_who_is_busy_waits_for_those_who_are_about_to_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, coming = Collector(survey(HOURLY), open_store(str(tmp_path / "store.db")), Clock()), [7, 8, 9, 10]

    def request() -> Waiting:
        return one, [], lambda _: None

    writer = Writer()
    monkeypatch.setattr("deniable.collector.writer.time.sleep", lambda _: writer._queue.put([request()] * coming.pop(0)))
    waiting = deque([request()])
    assert writer._gather(waiting) and len(waiting) == 1  # nobody else was there before
    writer._busy = True
    assert writer._gather(waiting) and len(waiting) == 1 + 7 and coming == [8, 9, 10]  # until only a few more come
    assert writer._gather(waiting) and len(waiting) == 8 + 8 + 9 and coming == [10]  # and not for long
    writer._queue.put([request()])
    writer._queue.put(None)
    assert not writer._gather(waiting) and len(waiting) == 26  # and to the end when it stops
    one.store.close()
