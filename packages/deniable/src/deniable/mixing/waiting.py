"""The messages that wait in a relay, in an SQLite file: they survive a crash, have no order, and go when they are due.

It holds, of each message, its ticket and its sealed bytes, and which messages go on together; no address and no time. Rows
lie in the order of their tickets, which are as good as random. When the collector has taken a batch, its bytes are
overwritten, and the tickets stay for one or two days, so that a message that is sent again is not mixed twice.
"""

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from deniable.errors import InvalidParameter

DAY = 86_400
_TABLES = """
CREATE TABLE IF NOT EXISTS relay (survey TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS waiting (ticket BLOB PRIMARY KEY, sealed BLOB NOT NULL, going INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS gone (ticket BLOB PRIMARY KEY, day INTEGER NOT NULL) WITHOUT ROWID;
"""


class Waiting:
    """The messages of one survey, and the one batch that is on its way. Threads may share it."""

    def __init__(self, path: Path, survey: str, clock: Callable[[], float] = time.time) -> None:
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        self._lock, self._clock = threading.Lock(), clock
        self._data = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30.0)
        try:
            self._data.executescript("PRAGMA secure_delete = ON; PRAGMA synchronous = FULL; PRAGMA journal_mode = TRUNCATE;")
            self._data.executescript(_TABLES)
            found = self._data.execute("SELECT survey FROM relay").fetchall()
        except sqlite3.DatabaseError as error:
            raise InvalidParameter(f"The file {path} cannot be used: {error}.") from error
        if not found:
            self._data.execute("INSERT INTO relay VALUES (?)", (survey,))
        elif found != [(survey,)]:
            raise InvalidParameter(f"The messages in {path} are for another survey. Choose another file.")
        self.count = self._count()

    def _count(self) -> int:
        (count,) = self._data.execute("SELECT count(*) FROM waiting WHERE going = 0").fetchone()
        return int(count)

    def put(self, messages: Iterable[tuple[bytes, bytes]]) -> None:
        """Store messages, each a ticket and its sealed bytes, durably; one that is or was here already changes nothing."""
        with self._lock, self._data:
            self._data.execute("BEGIN IMMEDIATE")
            self._data.executemany(
                "INSERT OR IGNORE INTO waiting SELECT ?1, ?2, 0 WHERE NOT EXISTS (SELECT 1 FROM gone WHERE ticket = ?1)",
                messages,
            )
            self.count = self._count()

    def batch(self, people: int, most: int) -> list[bytes]:
        """The messages that go on together, in a fresh random order; none while there are too few.

        Which they are is stored before they are returned, and does not change until `taken`: if some went on with the same
        ones again and a few others, these few would stand out.
        """
        order = secrets.SystemRandom()
        with self._lock, self._data:
            self._data.execute("BEGIN IMMEDIATE")
            going = self._going()
            if not going and self.count >= people:
                tickets = [row[0] for row in self._data.execute("SELECT ticket FROM waiting")]
                chosen = order.sample(tickets, min(len(tickets), most))
                self._data.executemany("UPDATE waiting SET going = 1 WHERE ticket = ?", [(ticket,) for ticket in chosen])
                going, self.count = self._going(), self._count()
        order.shuffle(going)
        return going

    def _going(self) -> list[bytes]:
        return [bytes(row[0]) for row in self._data.execute("SELECT sealed FROM waiting WHERE going = 1")]

    def taken(self) -> None:
        """Forget the batch that the collector has taken, but for its tickets; and tickets of the day before yesterday."""
        today = int(self._clock() // DAY)
        with self._lock, self._data:
            self._data.execute("BEGIN IMMEDIATE")
            self._data.execute("INSERT OR REPLACE INTO gone SELECT ticket, ? FROM waiting WHERE going = 1", (today,))
            self._data.execute("DELETE FROM waiting WHERE going = 1")
            self._data.execute("DELETE FROM gone WHERE day < ?", (today - 1,))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._data.close()
