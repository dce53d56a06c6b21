"""Periods that are over stay over, whatever the clocks say; ids are dropped some at a time; nothing counts twice."""

from collections.abc import Callable
from pathlib import Path

from deniable.collector import Collector, Refusal, open_store, opened, results
from deniable.collector.backup import read_backup, write_backup
from deniable.collector.sqlite import SqliteStore
from deniable.collector.store import Row
from tests.surveys import OPENS, SAMPLED, survey

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

        found = [left()]
        while one.tidy(100):
            found.append(left())
        assert found == [305, 205, 105] and left() == 55  # the period before the oldest is kept one period longer
        assert not one.untidy


def test_the_ids_of_a_period_are_found_without_looking_at_the_others(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    statements = list[str]()
    with store.change() as change:
        run = change.run

        def watched(sql: str, *values: object) -> list[Row]:
            statements.append(sql)
            return run(sql, *values)

        change.run = watched  # type: ignore[method-assign]
        change.claim(1, {b"x" * 16: 0})
        change.forget(1, 5, 1)
        change.claim(1, {b"x" * 16: 0})
        change.forget(1, 5, 10)
        plans = [run(f"EXPLAIN QUERY PLAN {sql}", *[0] * sql.count("?")) for sql in statements if "seen" in sql]
    assert len(plans) >= 5
    for plan in plans:
        assert all("SEARCH" in row[3] and "PRIMARY KEY" in row[3] for row in plan), plan
        assert not any("TEMP B-TREE" in row[3] or "SCAN" in row[3] for row in plan), plan
    store.close()


def test_writing_goes_on_while_ids_are_dropped(tmp_path: Path) -> None:
    """The writer drops ids only in pieces, between groups and in pauses."""
    import asyncio

    from deniable.collector.writer import Writer

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

    asyncio.run(work())
    assert len(pieces) >= 6
    with one.store.view() as view:
        assert {period for _, period in view.ids(one.number)} == {3}
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
