"""The store in PostgreSQL, for several collectors at once."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from deniable.collector.schema import MIGRATIONS, check_version
from deniable.collector.stages import State
from deniable.collector.store import Change, Row, Store, View
from deniable.collector.watchdog import Watchdog
from deniable.errors import InvalidParameter, Unavailable
from deniable.plugins import optional

if TYPE_CHECKING:
    import psycopg

ROWS = 10_000  # that come at a time where there are many
READERS = 4  # connections that read at the same time
SECONDS = 8  # for a statement or a connection, less than the ten after which a device gives up
_LOCK = 0x64656E69  # held while tables are made or a survey is registered, so that two collectors do not both do it
_SHARDS = 0x64656E6B  # and a shard: held by the collector that adds to its rows, for as long as it is connected
MOST_SHARDS = 64
_PERIODS = 0x64656E6A  # shared by those who count reports, held alone by the one who decides which periods are accepted
# The kernel gives a dead peer up after some seconds.
_ALIVE = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 1000 * SECONDS}


class _Rows(View):
    def __init__(self, connection: "psycopg.Connection[Row]", watchdog: Watchdog) -> None:
        self._connection, self._watchdog = connection, watchdog
        self._limit: Callable[[Any], AbstractContextManager[None]] = watchdog.over

    def patient(self) -> None:
        self.run("SET LOCAL statement_timeout = 0")
        self._limit = nullcontext

    def run(self, sql: str, *values: object) -> list[Row]:
        with self._limit(self._connection):
            cursor = self._connection.execute(sql.replace("?", "%s").encode(), values)
            # In a pipeline only a statement whose rows are asked for waits for the server.
            return cursor.fetchall() if sql.startswith("SELECT") or "RETURNING" in sql else []

    def stream(self, sql: str, *values: object) -> Iterator[Row]:
        with self._connection.cursor("stream") as cursor:  # held by the server, which sends some rows at a time
            cursor.itersize = ROWS
            yield from cursor.execute(sql.replace("?", "%s").encode(), values)


class _Change(_Rows, Change):
    for_update = " FOR UPDATE"

    def __init__(self, connection: "psycopg.Connection[Row]", watchdog: Watchdog, shard: int) -> None:
        super().__init__(connection, watchdog)
        self.shard = shard

    def alone(self) -> None:
        self.run("SELECT pg_advisory_xact_lock(?)", _LOCK)

    def accepting(self, number: int, alone: bool = False) -> State | None:
        # It is taken in the right way at once: two that share it, and then both want it alone, would wait for each other.
        lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
        self._connection.execute(f"SELECT {lock}(%s)".encode(), (_PERIODS,))
        return self.state(number)

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
    """One database, through psycopg 3: one connection that writes, and a few that read.

    A lost connection is made anew at the next attempt. A server that does not answer is given up after some seconds.
    """

    def __init__(self, address: str) -> None:
        self._psycopg: Any = optional("psycopg", "A store in PostgreSQL", "collector")
        self.address = address
        self._lock = threading.Lock()
        self._writer: psycopg.Connection[Row] | None = None
        self._shard = 0
        self._idle: list[psycopg.Connection[Row]] = []
        self._readers = threading.Semaphore(READERS)
        self._watchdog = Watchdog(SECONDS + 1)
        with self.change() as change:
            change.probe()

    def _connect(self) -> "psycopg.Connection[Row]":
        connection: psycopg.Connection[Row] = self._psycopg.connect(
            self.address, autocommit=True, connect_timeout=5, **_ALIVE
        )
        try:
            self._set_up(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_up(self, connection: "psycopg.Connection[Row]") -> None:
        """Limit what the server may take, and see to it that what it confirms is on the disk."""
        with self._watchdog.over(connection):
            row = connection.execute(
                "SELECT current_setting('fsync'), set_config('synchronous_commit', "
                "CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' "
                "ELSE current_setting('synchronous_commit') END, false), "
                "set_config('statement_timeout', %s, false), "
                "set_config('idle_in_transaction_session_timeout', '300s', false)",
                (f"{SECONDS}s",),
            ).fetchone()
        if row is None or row[0] != "on":
            raise InvalidParameter(
                "This PostgreSQL server runs with fsync = off, so that reports it has confirmed can be lost. Turn fsync on."
            )

    @contextmanager
    def change(self) -> Iterator[Change]:
        with self._lock:
            try:
                if self._writer is None:
                    self._writer = self._connect()
                    self._migrate(self._writer)
                    self._shard = self._free_shard(self._writer)
                with self._watchdog.transaction(self._writer, self._writer.pipeline()):
                    yield _Change(self._writer, self._watchdog, self._shard)
            except (self._psycopg.Error, OSError) as error:
                self._abandon()
                raise Unavailable(f"The database cannot be written: {_cause(error)}.") from error
            except BaseException:
                self._abandon()
                raise

    def _free_shard(self, connection: "psycopg.Connection[Row]") -> int:
        """The first shard that no other collector adds to; where there are very many of them, some share the last."""
        for shard in range(MOST_SHARDS - 1):
            with self._watchdog.over(connection):
                row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (_SHARDS, shard)).fetchone()
            if row is not None and row[0]:
                return shard
        return MOST_SHARDS - 1

    def _abandon(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(self._psycopg.Error, OSError):
                writer.close()

    @contextmanager
    def view(self) -> Iterator[View]:
        if not self._readers.acquire(timeout=SECONDS):
            raise Unavailable(
                f"The database cannot be read: {READERS} others read it, and none has finished in {SECONDS} s."
            )
        try:
            with self._reader() as connection, self._watchdog.transaction(connection):
                with self._watchdog.over(connection):
                    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                yield _Rows(connection, self._watchdog)
        except (self._psycopg.Error, OSError) as error:
            raise Unavailable(f"The database cannot be read: {_cause(error)}.") from error
        finally:
            self._readers.release()

    @contextmanager
    def _reader(self) -> Iterator["psycopg.Connection[Row]"]:
        """A connection that nobody else uses meanwhile: one that is idle, unless the server has closed it."""
        connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                with self._watchdog.over(connection):
                    connection.execute("SELECT 1")
            except (self._psycopg.Error, OSError):
                connection.close()
                connection = None
        if connection is None:
            connection = self._connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)

    def _migrate(self, connection: "psycopg.Connection[Row]") -> None:
        with suppress(self._psycopg.errors.UndefinedTable), self._watchdog.over(connection):
            row = connection.execute("SELECT version FROM deniable_schema").fetchone()
            if row is not None and row[0] == len(MIGRATIONS):
                return
        _migrate(connection)

    def close(self) -> None:
        with self._lock:
            self._abandon()
            while self._idle:
                self._idle.pop().close()
            self._watchdog.stop()


def _cause(error: BaseException) -> str:
    """What the server or the driver says, in one line. libpq never repeats a password."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(".: ")


def _migrate(connection: "psycopg.Connection[Row]") -> None:
    with connection.transaction():
        connection.execute("SET LOCAL statement_timeout = 0")
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
