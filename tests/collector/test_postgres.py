"""PostgreSQL in trouble: not durable, hung, wrong: a collector says so within seconds, and why."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

import deniable as dn
from deniable.collector import open_store, opened
from deniable.collector.postgres import PostgresStore
from deniable.collector.store import Store
from tests.servers import Postgres
from tests.surveys import ONE, survey
from tests.waits import together

pytestmark = pytest.mark.needs("postgres", "psycopg")


def administer(server: Postgres, statement: str) -> None:
    import psycopg

    with psycopg.connect(server.address("postgres"), autocommit=True, connect_timeout=30) as connection:
        connection.execute(statement.encode())


def test_commits_are_durable_whatever_the_server_says(database_server: Postgres) -> None:
    for setting, kept in (("off", "on"), ("remote_apply", "remote_apply"), ("on", "on")):
        address = database_server.database()
        administer(database_server, f"ALTER DATABASE {address.rpartition('/')[2]} SET synchronous_commit = '{setting}'")
        with opened(address) as store, store.change() as change:
            assert change.run("SELECT current_setting('synchronous_commit')") == [(kept,)]


def test_a_server_that_is_not_durable_is_refused(database_server: Postgres) -> None:
    address = database_server.database()
    administer(database_server, "ALTER SYSTEM SET fsync = off")
    try:
        administer(database_server, "SELECT pg_reload_conf()")
        with pytest.raises(dn.InvalidParameter, match="fsync"):
            for _ in range(100):
                open_store(address).close()
                time.sleep(0.05)
    finally:
        administer(database_server, "ALTER SYSTEM RESET fsync")
        administer(database_server, "SELECT pg_reload_conf()")
    for _ in range(100):
        try:
            open_store(address).close()
            break
        except dn.InvalidParameter:
            time.sleep(0.05)
    open_store(address).close()


@contextmanager
def hung(store: Store) -> Iterator[None]:
    """The server process of the connection that writes does not run meanwhile."""
    with store.change() as change:
        ((process,),) = change.run("SELECT pg_backend_pid()")
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def test_a_server_that_hangs_is_given_up(database_server: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    store = PostgresStore(database_server.database())
    number, _ = store.register(survey(ONE))
    monkeypatch.setattr(store._watchdog, "_seconds", 0.5)
    for what in ("statement", "commit"):
        with hung(store), pytest.raises(dn.Unavailable, match="cannot be written"), store.change() as change:
            if what == "statement":
                change.people(number)
            else:
                change.join(number, 0, 1)
    with store.change() as change:  # the next attempt starts afresh
        assert change.people(number) == {}
    store.close()


def test_what_takes_long_is_waited_for(database_server: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """To delete ten million ids takes longer than a server may hang; the end of a transaction has a limit all the same."""
    long = "DO $$ BEGIN PERFORM pg_sleep(1.5); END $$"
    store = PostgresStore(database_server.database())
    monkeypatch.setattr(store._watchdog, "_seconds", 0.5)
    with store.change() as change:
        change.patient()
        change.run(long)
        change.run("UPDATE store SET probe = 7")
    with store.view() as view:
        assert view.run("SELECT probe FROM store") == [(7,)]
    with pytest.raises(dn.Unavailable), store.change() as change:
        change.run(long)
    store.close()


def test_the_server_limits_its_statements(database_server: Postgres) -> None:
    with opened(database_server.database()) as store:
        with store.change() as change:
            assert change.run("SELECT current_setting('statement_timeout')") == [("8s",)]
            change.patient()
            assert change.run("SELECT current_setting('statement_timeout')") == [("0",)]
        with store.view() as view:
            assert view.run("SELECT current_setting('statement_timeout')") == [("8s",)]


def test_readers_share_a_few_connections(database_server: Postgres) -> None:
    address = database_server.database()
    with opened(address) as store:
        processes = set[int]()

        def read() -> None:
            for _ in range(10):
                with store.view() as view:
                    processes.add(view.run("SELECT pg_backend_pid(), pg_sleep(0.002)")[0][0])

        together(*[read] * 12)
        assert 1 <= len(processes) <= 4
        name = address.rpartition("/")[2]
        administer(database_server, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        with store.view() as view:  # those that the server has closed are not used again
            assert view.people(1) == {}


def test_an_error_names_its_cause_and_no_password(database_server: Postgres) -> None:
    nobody = database_server.address("nowhere").replace("test@", "test:secret@")
    with pytest.raises(dn.Unavailable, match='database "nowhere" does not exist') as error:
        open_store(nobody)
    assert "secret" not in str(error.value)


def test_two_who_raise_the_oldest_period_at_once_do_not_wait_for_each_other(database_server: Postgres) -> None:
    address = database_server.database()
    with opened(address) as store:
        number, _ = store.register(survey(ONE))

    def work(start: int) -> None:
        with opened(address) as store:
            for place in range(start, 60, 2):
                with store.change() as change:
                    state = change.accepting(number, alone=True)
                    assert state is not None
                    change.claim(number, {os.urandom(16): place})
                    change.accept_from(number, place)
                with store.change() as change:
                    change.accepting(number)
                    change.claim(number, {os.urandom(16): place})

    together(partial(work, 0), partial(work, 1))
    with opened(address) as store, store.view() as view:
        state = view.state(number)
        assert state is not None and state.oldest == 59
