"""The store in one SQLite file: write-ahead log, synchronised at every commit."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from deniable.collector.schema import MIGRATIONS, check_version
from deniable.collector.store import Change, Row, Store, View
from deniable.collector.writing import writing
from deniable.errors import InvalidParameter, Unavailable
from deniable.survey.message import ID_BYTES

FULL = 2  # of the setting `synchronous`: a commit is on the disk
PATIENCE = 10  # seconds to wait for another process that writes


# Ids in one string: one value and one step for any number of them. A step lets other threads in, which takes time.
_EACH = f"WITH RECURSIVE each(id, place) AS (SELECT substr(?1, 1, {ID_BYTES}), {ID_BYTES + 1} UNION ALL "
_EACH += f"SELECT substr(?1, place, {ID_BYTES}), place + {ID_BYTES} FROM each WHERE place <= length(?1)) "
_TAKEN = f"{_EACH} SELECT id FROM each WHERE EXISTS (SELECT 1 FROM seen WHERE survey = ?2 AND period = ?3 AND id = each.id)"
_TAKE = f"{_EACH} INSERT INTO seen (survey, period, id) SELECT ?2, ?3, id FROM each"


class _Rows(View):
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, sql: str, *values: object) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def stream(self, sql: str, *values: object) -> Iterator[Row]:
        return self._connection.execute(sql, values)


class _Change(_Rows, Change):
    def claim(self, number: int, ids: Mapping[bytes, int]) -> set[bytes]:
        fresh = set[bytes]()
        for period in set(ids.values()):
            together = b"".join(identity for identity, made in ids.items() if made == period)
            mine = {identity for identity, made in ids.items() if made == period}
            mine -= {row[0] for row in self.run(_TAKEN, together, number, period)}
            if mine:
                self.run(_TAKE, b"".join(mine), number, period)
            fresh |= mine
        return fresh


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
        connection = sqlite3.connect(self.address, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            _keep_log(connection)
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
        with writing(self._lock, (sqlite3.Error, OSError), self._abandon):
            if self._writer is None:
                self._writer = self._connect()
            self._writer.execute("BEGIN IMMEDIATE")
            yield _Change(self._writer)
            self._writer.execute("COMMIT")

    def _abandon(self) -> None:
        """Close the connection, which undoes what was not committed; the next change opens another."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(sqlite3.Error):
                writer.close()

    @contextmanager
    def view(self) -> Iterator[View]:
        try:
            connection = sqlite3.connect(self.address, timeout=PATIENCE, isolation_level=None)
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


def _keep_log(connection: sqlite3.Connection) -> None:
    """Switch the file to a write-ahead log. SQLite refuses that at once, without waiting, while another process writes."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


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
