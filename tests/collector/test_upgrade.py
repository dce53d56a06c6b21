"""Stores that earlier releases made, as files of that time: they open, and nothing in them counts twice.

`stores/` holds one of each kind with the same two surveys, and the bodies counted there: of schema 2, the first with tokens
and before there were states, of schema 3, before collectors had shards, and of schema 7, before surveys had limits.
"""

import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from deniable.collector import Collector, Counted, Refusal, Store, opened, results
from deniable.collector.access import gates_of
from deniable.collector.segments import write_segment
from deniable.collector.stages import Stage
from tests.conftest import BOTH_STORES
from tests.servers import Postgres
from tests.surveys import ONE, OPENS, SAMPLED, survey
from tests.waits import PATIENCE, together

STORES = Path(__file__).parent / "stores"
DAY = 86_400


@pytest.fixture(params=[2, 3, 7])
def schema(request: pytest.FixtureRequest) -> int:
    """The number of an earlier schema."""
    return int(request.param)


@pytest.fixture(params=BOTH_STORES)
def earlier(request: pytest.FixtureRequest, tmp_path: Path, schema: int) -> str:
    """The address of a store as it was."""
    if request.param == "sqlite":
        shutil.copy(STORES / f"schema{schema}.db", tmp_path / "store.db")
        return str(tmp_path / "store.db")
    import psycopg

    server: Postgres = request.getfixturevalue("database_server")
    address = server.database()
    with psycopg.connect(address, connect_timeout=30) as connection:
        connection.execute((STORES / f"schema{schema}.sql").read_bytes())
    return address


def replayed(store: Store, text: str, name: str, now: float) -> list[str]:
    collector = Collector(survey(text), store, clock=lambda: now)
    verdicts = collector.take(collector.survey.read((STORES / name).read_bytes()))
    return [verdict.reason if isinstance(verdict, Refusal) else verdict.value for verdict in verdicts]


def test_what_was_counted_is_known(earlier: str) -> None:
    for _ in range(2):  # brought up to date, then opened again
        with opened(earlier) as store:
            assert replayed(store, ONE, "one.body", OPENS) == ["duplicate"] * 30
            assert replayed(store, SAMPLED, "sampled.body", OPENS + 90_000) == ["duplicate"] * 40
            for text, people in ((ONE, 30), (SAMPLED, 40)):
                number, asked = store.register(survey(text))
                assert results(asked, number, store).people == people
                with store.view() as view:
                    assert len(list(view.ids(number))) == people
                    assert view.state(number).stage is Stage.OPEN  # type: ignore[union-attr]


def test_what_is_counted_after_the_upgrade_adds_to_what_was(earlier: str) -> None:
    with opened(earlier) as store:
        collector = Collector(survey(ONE), store, clock=lambda: OPENS)
        more = collector.survey.read(b"".join(collector.survey.randomize_all({"town": ["Nice"] * 5}, 5)))
        assert collector.take(more) == [Counted.NOW] * 5 and collector.take(more[:2]) == [Counted.BEFORE] * 2
        assert results(collector.survey, collector.number, store).people == 35
        with store.view() as view:
            (tally,) = view.tallies(collector.number, collector.survey).values()
            assert tally.n == 35 and view.state(collector.number).limits is None  # type: ignore[union-attr]


@pytest.mark.parametrize("schema", [2], indirect=True)
def test_periods_that_were_forgotten_are_not_accepted_again(earlier: str) -> None:
    """In two days the earlier release drops the ids of the first; a clock that then goes back changes nothing."""
    if earlier.endswith(".db"):
        with sqlite3.connect(earlier) as connection:
            connection.execute("DELETE FROM seen WHERE period = 0")
        connection.close()
    else:
        import psycopg

        with psycopg.connect(earlier, connect_timeout=30) as remote:
            remote.execute("DELETE FROM seen WHERE period = 0 AND survey = 1")
    with opened(earlier) as store:
        found = replayed(store, SAMPLED, "sampled.body", OPENS + 90_000)
        assert sorted(set(found)) == ["clock", "duplicate"] and found.count("clock") == 20


def test_tokens_of_the_store_become_tokens_of_its_surveys(earlier: str) -> None:
    with opened(earlier) as store:
        for name in ("one", "sampled"):
            gates = gates_of(store, name)
            assert gates["submit"].opens(b"Bearer a token to submit") and gates["results"].opens(b"Bearer a token to read")
            assert not gates["results"].opens(b"Bearer a token to submit") and not gates["batch"]
        assert not gates_of(store, "another")["submit"]


@pytest.mark.needs("pyarrow")
def test_kept_reports_are_moved(earlier: str, tmp_path: Path) -> None:
    with opened(earlier) as store:
        collector = Collector(survey(SAMPLED), store)
        assert write_segment(collector, tmp_path / "reports") == 40
        assert write_segment(collector, tmp_path / "reports") == 0
    assert len(list((tmp_path / "reports").glob("*.parquet"))) == 3


def test_tokens_that_were_made_before_any_survey_close_the_first(new_store: Callable[[], str]) -> None:
    with opened(new_store()) as store:
        with store.change() as change:  # what an earlier release left, brought up to date
            change.run("INSERT INTO tokens (role, hash) VALUES (?, ?)", "submit", b"x" * 32)
        store.register(survey(ONE))
        assert gates_of(store, "one")["submit"]
        with store.view() as view:
            assert [(token.role, token.hash) for token in view.tokens("one")] == [("submit", b"x" * 32)]
        assert replayed(store, ONE, "one.body", OPENS) == [Counted.NOW.value] * 30


def test_several_collectors_upgrade_a_store_once(earlier: str) -> None:
    """All begin with the first schema at the same time: one brings the store up to date, the others wait for it."""
    begin, people = threading.Barrier(4), list[int]()

    def upgraded() -> None:
        begin.wait(timeout=PATIENCE)
        with opened(earlier) as store:
            number, asked = store.register(survey(ONE))
            people.append(results(asked, number, store).people)

    together(*[upgraded] * 4)
    assert people == [30] * 4


def test_an_upgrade_waits_for_another_process_that_writes(tmp_path: Path) -> None:
    """Stores of earlier releases have no write-ahead log, and SQLite switches one on only while nobody else writes."""
    earlier = tmp_path / "store.db"
    shutil.copy(STORES / "schema7.db", earlier)
    other = sqlite3.connect(earlier, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    later = threading.Timer(0.2, other.rollback)
    later.start()
    try:
        with opened(str(earlier)) as store:
            assert replayed(store, ONE, "one.body", OPENS) == ["duplicate"] * 30
    finally:
        later.join(60)
        other.close()
