"""The store in PostgreSQL, for several collectors at once."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from deniable.collector.schema import MIGRATIONS, check_version
from deniable.collector.stages import Stage, State
from deniable.collector.store import Change, Row, Store, View
from deniable.collector.swap import Swap
from deniable.collector.watchdog import Watchdog
from deniable.collector.writing import writing
from deniable.errors import InvalidParameter, Unavailable
from deniable.plugins import optional
from deniable.survey.message import ID_BYTES

if TYPE_CHECKING:
    import psycopg

ROWS = 10_000  # that come at a time where there are many
READERS = 4  # connections that read at the same time
SECONDS = 8  # for a statement or a connection, less than the ten after which a device gives up
_LOCK = 0x64656E69  # held while tables are made or a survey is registered, so that two collectors do not both do it
_SHARDS = 0x64656E6B  # and a shard: held by the collector that adds to its rows, for as long as it is connected
MOST_SHARDS = 64
IDS_ON_A_PAGE = 120  # of the table
_TID_RANGES = 140_000  # the first version that finds rows by a range of pages
_PERIODS = 0x64656E6A  # shared by those who count reports, held alone by the one who decides which periods are accepted
# The kernel gives a dead peer up after some seconds.
_ALIVE = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 1000 * SECONDS}


Walks = dict[int, tuple[int, int, int]]  # by survey: ids before this period are still to be dropped, from page to page


class _Rows(View):
    def __init__(self, connection: "psycopg.Connection[Row]", watchdog: Watchdog) -> None:
        self._connection, self._watchdog = connection, watchdog
        self._limit: Callable[[Any], AbstractContextManager[None]] = watchdog.over
        self._waits = False  # whether each statement is waited for: what is left runs at the end, which has a limit

    def patient(self) -> None:
        self.run("SET LOCAL statement_timeout = 0")
        self._limit, self._waits = nullcontext, True

    def run(self, sql: str, *values: object) -> list[Row]:
        with self._limit(self._connection):
            cursor = self._connection.execute(sql.replace("?", "%s").encode(), values)
            # In a pipeline only a statement whose rows are asked for waits for the server.
            if sql.startswith("SELECT") or "RETURNING" in sql:
                return cursor.fetchall()
            if self._waits:
                with self._connection.pipeline() as pipeline:
                    pipeline.sync()
            return []

    def stream(self, sql: str, *values: object) -> Iterator[Row]:
        with self._connection.cursor("stream") as cursor:  # held by the server, which sends some rows at a time
            cursor.itersize = ROWS
            yield from cursor.execute(sql.replace("?", "%s").encode(), values)


class _Change(_Rows, Change):
    for_update = " FOR UPDATE"

    def __init__(self, connection: "psycopg.Connection[Row]", watchdog: Watchdog, shard: int, walks: Walks) -> None:
        super().__init__(connection, watchdog)
        self.shard, self._walks = shard, walks

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

    def forget(self, number: int, before: int, most: int | None = None) -> int:
        """Drop ids in the order in which they lie in the table, some pages at a time.

        Those of a period came one after the other and lie together. In the order of the index each one would be on another
        page, and the index would be walked each time past all that were dropped before and are not vacuumed yet.
        """
        if most is None or self._connection.info.server_version < _TID_RANGES:
            return super().forget(number, before, most)
        known, page, last = self._walks.pop(number, (before, 0, 0))
        if known != before or not last:
            page = 0
            if not self.run("SELECT 1 FROM seen WHERE survey = ? AND period < ? LIMIT 1", number, before):
                return 0
            ((last,),) = self.run("SELECT pg_relation_size('seen') / current_setting('block_size')::int + 1")
        after = page + max(1, most // IDS_ON_A_PAGE)
        self.run(
            "DELETE FROM seen WHERE ctid >= ?::text::tid AND ctid < ?::text::tid AND survey = ? AND period < ?",
            f"({page},0)", f"({after},0)", number, before,
        )  # fmt: skip
        if after >= last:
            return 0
        self._walks[number] = before, after, last
        return most


# Everything that a swap changes for the first of its tallies, or an error: then nothing of it happens. `open` and the row
# are compared in the same statement; others wait for the lock that comes before it.
_SAME = "UPDATE tallies SET n = %s, counts = %s WHERE survey = %s AND period = %s AND question = %s AND shard = %s "
_SAME += "AND n = %s AND counts = %s"
_OPEN = (
    " AND EXISTS (SELECT 1 FROM surveys WHERE number = %s AND fingerprint = %s AND stage = %s AND oldest BETWEEN %s AND %s)"
)
_IDS = f"INSERT INTO seen (survey, period, id) SELECT %s, %s, substring(%s::bytea, {ID_BYTES} * place + 1, {ID_BYTES}) "
_IDS += "FROM generate_series(0, %s::int - 1) AS place"
_PEOPLE = "INSERT INTO people (survey, period, shard, n) VALUES (%s, %s, %s, %s) "
_PEOPLE += "ON CONFLICT (survey, period, shard) DO UPDATE SET n = people.n + excluded.n"
_SWAP_FIRST = f"WITH same AS ({_SAME}{_OPEN} RETURNING 1), ids AS ({_IDS}), everybody AS ({_PEOPLE}) "
_SWAP_FIRST += "SELECT 1 / count(*) FROM same"
_SWAP_MORE = f"WITH same AS ({_SAME} RETURNING 1) SELECT 1 / count(*) FROM same"


class PostgresStore(Store):
    """One database, through psycopg 3: one connection that writes, and a few that read.

    A lost connection is made anew at the next attempt. A server that does not answer is given up after some seconds.
    """

    can_swap = True

    def __init__(self, address: str) -> None:
        self._psycopg: Any = optional("psycopg", "A store in PostgreSQL", "collector")
        self.address = address
        self._lock = threading.Lock()
        self._writer: psycopg.Connection[Row] | None = None
        self._shard = 0
        self._walks: Walks = {}
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
                "This PostgreSQL server runs with fsync = off, so confirmed reports can be lost. Turn fsync on."
            )

    @contextmanager
    def change(self) -> Iterator[Change]:
        with self._writing():
            if self._writer is None:
                self._writer = self._connect()
                self._migrate(self._writer)
                self._shard = self._free_shard(self._writer)
            with self._watchdog.transaction(self._writer, self._writer.pipeline()):
                yield _Change(self._writer, self._watchdog, self._shard, self._walks)

    def _writing(self) -> AbstractContextManager[None]:
        return writing(self._lock, (self._psycopg.Error, OSError), self._abandon, _cause)

    def swap(self, swap: Swap) -> bool:
        with self._writing():
            writer = self._writer
            if writer is None or self._shard == MOST_SHARDS - 1 or not swap.tallies:  # the last shard may be another's too
                return False
            try:
                # What a pipeline sends without BEGIN is one transaction, which its end commits.
                with self._watchdog.over(writer), writer.pipeline():
                    writer.execute("SELECT pg_advisory_xact_lock_shared(%s)", (_PERIODS,), prepare=True)
                    for sql, values in _statements(swap, self._shard):
                        writer.execute(sql.encode(), values, prepare=True)
                return True
            except (self._psycopg.errors.UniqueViolation, self._psycopg.errors.DivisionByZero):
                return False

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
        self._walks.clear()  # what was dropped last may be back
        if writer is not None:
            with suppress(self._psycopg.Error, OSError):
                writer.close()

    @contextmanager
    def view(self) -> Iterator[View]:
        if not self._readers.acquire(timeout=SECONDS):
            raise Unavailable(
                f"The database cannot be read: {READERS} others are reading it, and none finished within {SECONDS} s."
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


def _statements(swap: Swap, shard: int) -> Iterator[tuple[str, list[object]]]:
    """The statements of a swap, each of which fails unless it finds what is expected."""
    for place, (question, (before, after)) in enumerate(swap.tallies.items()):
        values: list[object] = [after.n, after.counts, swap.number, swap.period, question, shard, before.n, before.counts]
        if place == 0:
            values += [swap.number, swap.fingerprint, int(Stage.OPEN), swap.oldest, swap.period]
            values += [swap.number, swap.period, b"".join(swap.ids), len(swap.ids)]
            values += [swap.number, swap.period, shard, swap.reports]
        yield _SWAP_MORE if place else _SWAP_FIRST, values


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
