"""The store in PostgreSQL, for several collectors at once."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from deniable.collector.store import MIGRATIONS, Change, Row, Store, View, check_version
from deniable.errors import Unavailable
from deniable.plugins import optional

if TYPE_CHECKING:
    import psycopg

ROWS = 10_000  # that come at a time where there are many
_LOCK = 0x64656E69  # held while tables are made or a survey is registered, so that two collectors do not both do it


class _Rows(View):
    def __init__(self, connection: "psycopg.Connection[Row]") -> None:
        self._connection = connection

    def run(self, sql: str, *values: object) -> list[Row]:
        cursor = self._connection.execute(sql.replace("?", "%s").encode(), values)
        # In a pipeline only a statement whose rows are asked for waits for the server.
        return cursor.fetchall() if sql.startswith("SELECT") or "RETURNING" in sql else []

    def stream(self, sql: str, *values: object) -> Iterator[Row]:
        with self._connection.cursor("stream") as cursor:  # held by the server, which sends some rows at a time
            cursor.itersize = ROWS
            yield from cursor.execute(sql.replace("?", "%s").encode(), values)


class _Change(_Rows, Change):
    for_update = " FOR UPDATE"

    def alone(self) -> None:
        self.run("SELECT pg_advisory_xact_lock(?)", _LOCK)

    def claim(self, number: int, ids: Mapping[bytes, int]) -> set[bytes]:
        # In order, so that two collectors never wait for each other in a circle. An id that another one is just taking
        # waits for that one's commit.
        ordered = sorted(ids)
        rows = self.run(
            "INSERT INTO seen (survey, id, period) SELECT ?, * FROM unnest(?::bytea[], ?::bigint[]) "
            "ON CONFLICT DO NOTHING RETURNING id",
            number, ordered, [ids[identity] for identity in ordered],
        )  # fmt: skip
        return {bytes(row[0]) for row in rows}


class PostgresStore(Store):
    """One database, through psycopg 3. A lost connection is made anew at the next attempt."""

    def __init__(self, address: str) -> None:
        self._psycopg: Any = optional("psycopg", "A store in PostgreSQL", "collector")
        self.address = address
        self._lock = threading.Lock()
        self._writer: psycopg.Connection[Row] | None = None
        with self.change() as change:
            change.run("SELECT 1 FROM surveys LIMIT 1")

    def _connect(self) -> "psycopg.Connection[Row]":
        connection: psycopg.Connection[Row] = self._psycopg.connect(self.address, autocommit=True, connect_timeout=5)
        return connection

    @contextmanager
    def change(self) -> Iterator[Change]:
        with self._lock:
            try:
                if self._writer is None:
                    self._writer = self._connect()
                    _migrate(self._writer)
                with self._writer.pipeline(), self._writer.transaction():
                    yield _Change(self._writer)
            except (self._psycopg.Error, OSError) as error:
                self._abandon()
                raise Unavailable(f"The database cannot be written: {type(error).__name__}.") from error
            except BaseException:
                self._abandon()
                raise

    def _abandon(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(self._psycopg.Error, OSError):
                writer.close()

    @contextmanager
    def view(self) -> Iterator[View]:
        try:
            with self._connect() as connection, connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                yield _Rows(connection)
        except (self._psycopg.Error, OSError) as error:
            raise Unavailable(f"The database cannot be read: {type(error).__name__}.") from error

    def close(self) -> None:
        with self._lock:
            self._abandon()


def _migrate(connection: "psycopg.Connection[Row]") -> None:
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute("CREATE TABLE IF NOT EXISTS deniable_schema (version INTEGER NOT NULL)")
        row = connection.execute("SELECT version FROM deniable_schema").fetchone()
        version = int(row[0]) if row else 0
        check_version(version)
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(_dialect(statement).encode())
        if row is None:
            connection.execute("INSERT INTO deniable_schema (version) VALUES (%s)", (len(MIGRATIONS),))
        elif version < len(MIGRATIONS):
            connection.execute("UPDATE deniable_schema SET version = %s", (len(MIGRATIONS),))


def _dialect(statement: str) -> str:
    """The same statement as PostgreSQL says it."""
    identity = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    statement = statement.replace("INTEGER PRIMARY KEY AUTOINCREMENT", identity).replace("INTEGER", "BIGINT")
    return statement.replace("BLOB", "BYTEA").replace(" WITHOUT ROWID", "")
