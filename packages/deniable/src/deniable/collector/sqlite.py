"""The store in one SQLite file: write-ahead log, synchronised at every commit."""

import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from deniable.collector.schema import MIGRATIONS, check_version
from deniable.collector.store import MOST_VARIABLES, Change, Row, Store, View, chunks
from deniable.errors import InvalidParameter, Unavailable

FULL = 2  # of the setting `synchronous`: a commit is on the disk


class _Rows(View):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, *values: object) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def stream(self, sql: str, *values: object) -> Iterator[Row]:
        return self._connection.execute(sql, values)


class _Change(_Rows, Change):
    def claim(self, number: int, ids: Mapping[bytes, int]) -> set[bytes]:
        taken = set[bytes]()
        for period in set(ids.values()):
            same = [identity for identity, made in ids.items() if made == period]
            for some in chunks(same, MOST_VARIABLES):
                marks = ",".join("?" * len(some))
                found = f"SELECT id FROM seen WHERE survey = ? AND period = ? AND id IN ({marks})"
                taken.update(row[0] for row in self.run(found, number, period, *some))
        fresh = [(number, period, identity) for identity, period in ids.items() if identity not in taken]
        self._connection.executemany("INSERT INTO seen (survey, period, id) VALUES (?, ?, ?)", fresh)
        return {identity for _, _, identity in fresh}


class SqliteStore(Store):
    """One file. Several processes may use it; they take turns."""

    def __init__(self, address: str) -> None:
        self.address = address.removeprefix("sqlite://")
        self._lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        _make_private(self.address)
        with self.change() as change:  # makes the tables, and finds out whether it can be written
            change.probe()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.address, timeout=10, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            if connection.execute("PRAGMA synchronous").fetchone()[0] < FULL:
                raise InvalidParameter("SQLite does not write commits to the disk here. Use another file or PostgreSQL.")
            _migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def change(self) -> Iterator[Change]:
        with self._lock:
            try:
                if self._writer is None:
                    self._writer = self._connect()
                self._writer.execute("BEGIN IMMEDIATE")
                yield _Change(self._writer)
                self._writer.execute("COMMIT")
            except (sqlite3.Error, OSError) as error:
                self._abandon()
                raise Unavailable(f"The database cannot be written: {error}.") from error
            except BaseException:
                self._abandon()
                raise

    def _abandon(self) -> None:
        """Close the connection, which undoes what was not committed; the next change opens another."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(sqlite3.Error):
                writer.close()

    @contextmanager
    def view(self) -> Iterator[View]:
        try:
            connection = sqlite3.connect(self.address, timeout=10, isolation_level=None)
            try:
                connection.execute("BEGIN")
                yield _Rows(connection)
            finally:
                connection.close()
        except (sqlite3.Error, OSError) as error:
            raise Unavailable(f"The database cannot be read: {error}.") from error

    def close(self) -> None:
        with self._lock:
            self._abandon()


def _make_private(address: str) -> None:
    """Make the file if there is none, for its owner only; SQLite gives the files beside it the same mode."""
    # An existing file is left alone: to close it again would let go of the locks that SQLite holds for this process.
    with suppress(OSError):  # that it cannot be made is found out, and said, by opening it
        os.close(os.open(address, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _migrate(connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    check_version(version)
    if version < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]  # another process may have been quicker
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
