"""Both stores, against the real thing: the same tests for SQLite and PostgreSQL."""

import sqlite3
from collections.abc import Callable
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collector import open_store, opened, schema
from deniable.collector.sqlite import SqliteStore
from deniable.survey.reading import parse_toml
from tests.surveys import COMMUTE, ONE, survey
from tests.waits import together

NewStore = Callable[[], str]


def identity(number: int) -> bytes:
    return number.to_bytes(16, "big")


def test_ids_are_taken_once(new_store: NewStore) -> None:
    address = new_store()
    with opened(address) as store:
        number, _ = store.register(survey(ONE))
        some = {identity(place): 0 for place in range(1500)}
        with store.change() as change:
            assert change.claim(number, some) == set(some)
        with store.change() as change:
            assert change.claim(number, {identity(7): 0, identity(5000): 0}) == {identity(5000)}
        with store.change() as change:
            assert change.claim(number + 1, {identity(7): 0}) == {identity(7)}  # another survey
    with opened(address) as store, store.change() as change:
        assert change.claim(number, {identity(5000): 0}) == set()


def test_a_transaction_happens_whole_or_not_at_all(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        asked = survey(ONE)
        number, _ = store.register(asked)
        with pytest.raises(KeyError), store.change() as change:
            change.claim(number, {identity(1): 0})
            change.add(number, 0, "town", 1, np.ones(6, np.int64))
            change.join(number, 0, 1)
            raise KeyError
        with store.view() as view:
            assert view.tallies(number, asked) == {} and view.people(number) == {}
        with store.change() as change:
            assert change.claim(number, {identity(1): 0}) == {identity(1)}


def test_tallies_add(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        asked = survey(ONE)
        number, _ = store.register(asked)
        for _ in range(3):
            with store.change() as change:
                change.add(number, 2, "town", 5, np.arange(6))
                change.join(number, 2, 5)
        with store.view() as view:
            tally = view.tallies(number, asked)[(2, "town")]
            assert (tally.n, tally.counts.tolist()) == (15, [0, 3, 6, 9, 12, 15])
            assert view.people(number) == {2: 15}


def test_a_survey_keeps_its_laws_and_never_changes(new_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(new_store()) as store:
        first = survey(ONE)
        number, kept = store.register(first)
        assert kept is first
        # a later release with another planner
        monkeypatch.setattr(
            "deniable.survey.kinds.kind.plan", lambda domain, epsilon, n, edition: dn.DirectResponse(domain, epsilon)
        )
        planned_anew = parse_toml(ONE, "survey.toml")
        assert planned_anew.fingerprint != first.fingerprint
        again, kept = store.register(planned_anew)
        assert (again, kept.fingerprint) == (number, first.fingerprint)
        other, _ = store.register(survey(COMMUTE))
        assert other != number
        with pytest.raises(dn.SurveyMismatch, match="its own id"):
            store.register(survey(ONE.replace("Which town?", "What town?")))


def test_two_may_register_a_survey_at_once(new_store: NewStore) -> None:
    address, numbers = new_store(), list[int]()
    stores = [open_store(address) for _ in range(4)]
    together(*(lambda store=store: numbers.append(store.register(survey(ONE))[0]) for store in stores))
    assert numbers == [1] * 4
    for store in stores:
        store.close()


def test_old_ids_are_forgotten(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        number, _ = store.register(survey(ONE))
        with store.change() as change:
            change.claim(number, {identity(1): 1})
            change.claim(number, {identity(2): 2})
            change.forget(number, 2)
        with store.view() as view:
            assert list(view.ids(number)) == [(identity(2), 2)]


def test_kept_messages(new_store: NewStore) -> None:
    with opened(new_store()) as store:
        number, _ = store.register(survey(ONE))
        with store.change() as change:
            for place in range(5):
                change.keep(number, place, (1 << 63) + 1, 1, bytes([place]))
        with store.view() as view:
            first = view.kept(number, 2)
            assert [line[1:] for line in first] == [(0, (1 << 63) + 1, 1, b"\0"), (1, (1 << 63) + 1, 1, b"\1")]
        with store.change() as change:
            change.drop_kept([line[0] for line in first])
        with store.view() as view:
            assert [line[1] for line in view.kept(number, 10)] == [2, 3, 4]


def test_two_at_once_take_every_id_once(new_store: NewStore) -> None:
    address, counted = new_store(), list[int]()
    asked = survey(ONE)
    with opened(address) as store:
        number, _ = store.register(asked)

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        with opened(address) as store:
            for start in range(0, 600, 20):
                some = [identity(start + place) for place in random.permutation(30).tolist()]  # they overlap
                with store.change() as change:
                    fresh = change.claim(number, dict.fromkeys(some, 0))
                    change.add(number, 0, "town", len(fresh), np.full(6, len(fresh)))
                counted.append(len(fresh))

    together(*(partial(work, seed) for seed in range(3)))
    assert sum(counted) == 610
    with opened(address) as store, store.view() as view:
        assert view.tallies(number, asked)[(0, "town")].counts.tolist() == [610] * 6


def test_a_store_of_a_later_release_is_refused(new_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    address = new_store()
    later = (*schema.MIGRATIONS, ("CREATE TABLE later (number INTEGER PRIMARY KEY)",))
    with monkeypatch.context() as patch:
        for module in ("schema", "sqlite", "postgres"):
            patch.setattr(f"deniable.collector.{module}.MIGRATIONS", later)
        with opened(address) as store:
            store.register(survey(ONE))
    with pytest.raises(dn.InvalidParameter, match="Update deniable"):
        open_store(address)


def test_addresses_that_make_no_sense() -> None:
    with pytest.raises(dn.InvalidParameter, match="postgresql://"):
        open_store("mysql://somewhere")
    with pytest.raises(dn.Unavailable):
        open_store("/no/such/folder/store.db")


def test_a_read_only_file_is_unavailable_until_it_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    number, _ = store.register(survey(ONE))
    store.close()

    def read_only(self: SqliteStore) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self.address}?mode=ro", uri=True, isolation_level=None, check_same_thread=False)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, "_connect", read_only)
        for _ in range(2):
            with pytest.raises(dn.Unavailable, match="readonly"), store.change() as change:
                change.claim(number, {identity(1): 0})
        with store.view() as view:
            assert view.people(number) == {}
    with store.change() as change:
        assert change.claim(number, {identity(1): 0}) == {identity(1)}
    store.close()


def test_commits_are_synchronised(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "store.db"))
    with store.change() as change:
        assert change.run("PRAGMA synchronous") == [(2,)]  # FULL
        assert change.run("PRAGMA journal_mode") == [("wal",)]
    store.close()


def test_a_store_of_another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = [EntryPoint("other", "tests.collector.test_store:OtherStore", "deniable.stores")]
    monkeypatch.setattr("deniable.plugins.entry_points", lambda group: theirs)
    with opened(f"other://{tmp_path / 'a.db'}") as store:
        assert type(store).__name__ == "OtherStore" and store.register(survey(ONE))[0] == 1
    with opened(f"sqlite://{tmp_path / 'a.db'}") as store:
        assert store.register(survey(ONE))[0] == 1


class OtherStore(SqliteStore):
    """A store that another package could register."""

    def __init__(self, address: str) -> None:
        super().__init__(address.removeprefix("other://"))
