"""Counting in one round trip: exactly what the usual way counts, and nothing at all if the store is not as expected."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import pytest

from deniable.collector.collector import Collector
from deniable.collector.postgres import PostgresStore
from deniable.collector.stages import Stage
from deniable.collector.swap import MOST_ROWS, Kept, Rows, Swap
from deniable.collector.verdicts import CLOSED, Counted
from deniable.survey import Message
from tests.servers import Postgres
from tests.surveys import COMMUTE, ONE, survey
from tests.waits import together

pytestmark = pytest.mark.needs("postgres", "psycopg")


class Watched(PostgresStore):
    """A store that remembers how its swaps went."""

    def __init__(self, address: str) -> None:
        self.swaps = list[bool]()
        super().__init__(address)

    def swap(self, swap: Swap) -> bool:
        done = super().swap(swap)
        self.swaps.append(done)
        return done


@pytest.fixture
def store(database_server: Postgres) -> Iterator[Watched]:
    made = Watched(database_server.database())
    yield made
    made.close()


def people(count: int, text: str = ONE) -> list[Message]:
    asked = survey(text)
    answers: dict[str, Sequence[object]] = (
        {"town": ["Lyon"] * count} if text == ONE else {"mode": ["bus"] * count, "minutes": [30] * count}
    )
    return [next(iter(asked.messages(body))) for body in asked.randomize_all(answers, count)]


def counted(collector: Collector) -> tuple[dict[int, int], dict[str, tuple[int, list[int]]], int]:
    """The people, the tallies and the number of ids in the store."""
    with collector.store.view() as view:
        tallies = view.tallies(collector.number, collector.survey)
        found = {name: (tally.n, tally.counts.tolist()) for (_, name), tally in tallies.items()}
        return view.people(collector.number), found, view.count_ids(collector.number)


@pytest.mark.parametrize("text", [ONE, COMMUTE])
def test_it_counts_what_the_usual_way_counts(store: Watched, database_server: Postgres, text: str) -> None:
    quick, usual = Collector(survey(text), store), Collector(survey(text), PostgresStore(database_server.database()))
    some = people(60, text)
    for start in range(0, 60, 10):
        assert quick.take(some[start : start + 10]) == [Counted.NOW] * 10
    usual.take(some)
    assert counted(quick) == counted(usual)
    assert store.swaps == [True] * 5, "the first time nothing is known yet"
    usual.store.close()


def test_what_was_counted_before_is_found(store: Watched) -> None:
    collector, some = Collector(survey(ONE), store), people(8)
    collector.take(some[:2])
    collector.take(some[2:4])
    assert collector.take([some[0], some[4]]) == [Counted.BEFORE, Counted.NOW]
    assert collector.take([some[5], some[5]]) == [Counted.NOW, Counted.BEFORE]
    assert collector.take([some[6]]) == [Counted.NOW]
    assert store.swaps == [True, False, True]
    assert counted(collector)[0] == {0: 7} and counted(collector)[2] == 7


def test_a_closed_survey_counts_nothing(store: Watched) -> None:
    collector, some = Collector(survey(ONE), store), people(3)
    collector.take(some[:1])
    with store.change() as change:
        change.put_state(collector.number, stage=int(Stage.CLOSED))
    assert collector.take(some[1:2]) == [CLOSED]
    with store.change() as change:
        change.put_state(collector.number, stage=int(Stage.OPEN), oldest=5)
    (verdict,) = collector.take(some[2:])
    assert verdict not in (Counted.NOW, Counted.BEFORE)
    assert store.swaps == [False] and counted(collector)[0] == {0: 1}


def test_a_row_that_somebody_changed_is_read_anew(store: Watched) -> None:
    collector, some = Collector(survey(COMMUTE), store), people(3, COMMUTE)
    collector.take(some[:1])
    with store.change() as change:  # the last of the questions, so that a part of the swap has happened when it is found
        change.run("UPDATE tallies SET n = n + 10 WHERE question = ?", sorted(q.id for q in collector.survey.questions)[-1])
    before = counted(collector)
    swap = Swap(collector.number, collector.registered, 0, 0, [b"y" * 16], 1, {})
    rows = collector.rows.after({(0, q.id): (1, np.zeros(q.mechanism.cells, np.int64)) for q in collector.survey.questions})
    assert rows is not None and not store.swap(swap._replace(tallies=dict(sorted(rows.items()))))
    assert counted(collector) == before, "nothing of it happened"
    assert collector.take(some[1:2]) == collector.take(some[2:]) == [Counted.NOW]
    assert store.swaps == [False, False, True]
    assert {n for n, _ in counted(collector)[1].values()} == {3, 13}


def test_two_collectors_get_the_same_reports(database_server: Postgres) -> None:
    """Each of many reports goes to both at once: it counts at one of them."""
    address = database_server.database()
    stores = [Watched(address), Watched(address)]
    both, some = [Collector(survey(ONE), store) for store in stores], people(200)
    verdicts: list[list[object]] = [[], []]

    def send(which: int, order: Sequence[Message]) -> None:
        for start in range(0, len(order), 5):
            verdicts[which] += both[which].take(order[start : start + 5])

    together(partial(send, 0, some), partial(send, 1, some))
    assert all({a, b} == {Counted.NOW, Counted.BEFORE} for a, b in zip(*verdicts, strict=True))
    assert counted(both[0])[0] == {0: 200} and counted(both[0])[2] == 200
    assert sum(n for n, _ in counted(both[0])[1].values()) == 200
    for store in stores:
        store.close()


def test_few_rows_are_remembered() -> None:
    rows = Rows()
    for period in range(3 * MOST_ROWS):
        rows.remember({(period, "q"): Kept(1, bytes(8))})
    assert len(rows._rows) <= MOST_ROWS
    assert rows.after({(period, "q"): (1, np.ones(1, np.int64))}) == {"q": (Kept(1, bytes(8)), Kept(2, b"\1" + bytes(7)))}
    assert rows.after({(-1, "q"): (1, np.ones(1, np.int64))}) is None
