"""What a collector keeps, in one SQL database: ids that were counted, tallies, people, tokens, and reports if asked for.

Ids and tallies change in one transaction, so that a report is counted exactly once whatever happens to the process. The SQL
is the same for SQLite and PostgreSQL but for the few lines that subclasses override.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from deniable.arrays import Ints
from deniable.core import Tally
from deniable.errors import InvalidParameter, SurveyMismatch
from deniable.plugins import registered
from deniable.survey import Survey

Row = tuple[Any, ...]

# The store for each scheme of an address. Other packages add theirs with entry points of this group.
GROUP = "deniable.stores"
OURS = {
    "sqlite": "collector.sqlite:SqliteStore",
    "postgres": "collector.postgres:PostgresStore",
    "postgresql": "collector.postgres:PostgresStore",
}

# Each entry brings the schema from the version of its place to the next one. Never change one that was released: add one.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE surveys (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, fingerprint TEXT NOT NULL, "
        "spec TEXT NOT NULL)",
        "CREATE TABLE seen (survey INTEGER NOT NULL, id BLOB NOT NULL, period INTEGER NOT NULL, PRIMARY KEY (survey, id)) "
        "WITHOUT ROWID",
        "CREATE TABLE tallies (survey INTEGER NOT NULL, period INTEGER NOT NULL, question TEXT NOT NULL, n BIGINT NOT NULL, "
        "counts BLOB NOT NULL, PRIMARY KEY (survey, period, question))",
        "CREATE TABLE people (survey INTEGER NOT NULL, period INTEGER NOT NULL, n BIGINT NOT NULL, "
        "PRIMARY KEY (survey, period))",
    ),
    (
        "CREATE TABLE tokens (role TEXT NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (role, hash))",
        "CREATE TABLE kept (number INTEGER PRIMARY KEY AUTOINCREMENT, survey INTEGER NOT NULL, period INTEGER NOT NULL, "
        "part BLOB NOT NULL, reports BIGINT NOT NULL, payload BLOB NOT NULL)",
    ),
)


class View:
    """A consistent look at the store, and all that is read there."""

    for_update = ""  # what a SELECT says to hold its rows until the transaction ends

    def run(self, sql: str, *values: object) -> list[Row]:
        """The rows that a statement gives; `?` stands for each value."""
        raise NotImplementedError

    def stream(self, sql: str, *values: object) -> Iterator[Row]:
        """The same, row by row, however many there are."""
        raise NotImplementedError

    def survey(self, name: str) -> tuple[int, str] | None:
        """The number and the specification of the survey with this id."""
        rows = self.run("SELECT number, spec FROM surveys WHERE id = ?", name)
        return (int(rows[0][0]), str(rows[0][1])) if rows else None

    def tallies(self, number: int, survey: Survey) -> dict[tuple[int, str], Tally]:
        """The tally of every period and question that has one."""
        prints = {question.id: question.mechanism.fingerprint for question in survey.questions}
        rows = self.run("SELECT period, question, n, counts FROM tallies WHERE survey = ?", number)
        return {
            (period, question): Tally(prints[question], n, np.frombuffer(counts, "<i8").astype(np.int64))
            for period, question, n, counts in rows
        }

    def people(self, number: int) -> dict[int, int]:
        """How many reports every period has."""
        return dict(self.run("SELECT period, n FROM people WHERE survey = ? ORDER BY period", number))

    def ids(self, number: int) -> Iterator[tuple[bytes, int]]:
        """Every id that was counted and may still arrive again, with its period."""
        for identity, period in self.stream("SELECT id, period FROM seen WHERE survey = ?", number):
            yield bytes(identity), int(period)

    def hashes(self, role: str) -> list[bytes]:
        """The hashes of the tokens with this role."""
        return [bytes(row[0]) for row in self.run("SELECT hash FROM tokens WHERE role = ?", role)]

    def kept(self, number: int, limit: int) -> list[tuple[int, int, int, int, bytes]]:
        """The first messages that were kept: number, period, part, reports, payload."""
        rows = self.run(
            "SELECT number, period, part, reports, payload FROM kept "
            f"WHERE survey = ? ORDER BY number LIMIT ?{self.for_update}",
            number, limit,
        )  # fmt: skip
        return [(row[0], row[1], int.from_bytes(bytes(row[2]), "little"), row[3], bytes(row[4])) for row in rows]


class Change(View):
    """One transaction: everything it does happens, durably, or nothing does."""

    def alone(self) -> None:
        """Let nobody else register a survey until this transaction ends."""

    def put_survey(self, survey: Survey) -> int:
        """Remember a new survey, and give it a number."""
        number = int(self.run("SELECT COALESCE(MAX(number), 0) + 1 FROM surveys")[0][0])
        self.run(
            "INSERT INTO surveys (number, id, fingerprint, spec) VALUES (?, ?, ?, ?)",
            number, survey.id, survey.fingerprint, survey.to_json(),
        )  # fmt: skip
        return number

    def claim(self, number: int, ids: Mapping[bytes, int]) -> set[bytes]:
        """Take these ids, given with their periods; those that nobody had taken before are returned."""
        raise NotImplementedError

    def add(self, number: int, period: int, question: str, reports: int, counts: Ints) -> None:
        """Add to a tally."""
        key = (number, period, question)
        select = f"SELECT n, counts FROM tallies WHERE survey = ? AND period = ? AND question = ?{self.for_update}"
        rows = self.run(select, *key)
        if not rows:
            self.run(
                "INSERT INTO tallies (survey, period, question, n, counts) VALUES (?, ?, ?, 0, ?) ON CONFLICT DO NOTHING",
                *key, bytes(8 * len(counts)),
            )  # fmt: skip
            rows = self.run(select, *key)
        total = np.frombuffer(rows[0][1], "<i8") + counts
        self.run(
            "UPDATE tallies SET n = ?, counts = ? WHERE survey = ? AND period = ? AND question = ?",
            rows[0][0] + reports, total.astype("<i8").tobytes(), *key,
        )  # fmt: skip

    def join(self, number: int, period: int, reports: int) -> None:
        """Count people who took part."""
        self.run(
            "INSERT INTO people (survey, period, n) VALUES (?, ?, ?) "
            "ON CONFLICT (survey, period) DO UPDATE SET n = people.n + excluded.n",
            number, period, reports,
        )  # fmt: skip

    def keep(self, number: int, period: int, part: int, reports: int, payload: bytes) -> None:
        """Keep the reports of a message themselves."""
        self.run(
            "INSERT INTO kept (survey, period, part, reports, payload) VALUES (?, ?, ?, ?, ?)",
            number, period, part.to_bytes(8, "little"), reports, payload,
        )  # fmt: skip

    def drop_kept(self, messages: Sequence[int]) -> None:
        """Forget these kept messages: they are in a file now."""
        for start in range(0, len(messages), 500):
            some = messages[start : start + 500]
            self.run(f"DELETE FROM kept WHERE number IN ({','.join('?' * len(some))})", *some)

    def forget(self, number: int, before: int) -> None:
        """Drop the ids of periods of which no report is taken any more."""
        self.run("DELETE FROM seen WHERE survey = ? AND period < ?", number, before)

    def put_token(self, role: str, token_hash: bytes) -> None:
        """Allow another token; only its hash is kept."""
        self.run("INSERT INTO tokens (role, hash) VALUES (?, ?) ON CONFLICT DO NOTHING", role, token_hash)

    def drop_tokens(self, role: str) -> None:
        """Allow no token of this role any more."""
        self.run("DELETE FROM tokens WHERE role = ?", role)


class Store(ABC):
    """A database with the tables above. Trouble with it is raised as `Unavailable`, and the next attempt starts afresh."""

    address: str

    @abstractmethod
    def change(self) -> AbstractContextManager[Change]:
        """One transaction, for one thread at a time: durable when the block ends without an error."""

    @abstractmethod
    def view(self) -> AbstractContextManager[View]:
        """A consistent look that holds nobody up."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    def register(self, survey: Survey) -> tuple[int, Survey]:
        """The number of a survey, which becomes known if it is new.

        A survey never changes. One with the same id and the same contract is the one that was registered, with the laws it
        was registered with, even if a newer planner would choose others; any other is refused.
        """
        with self.change() as change:
            change.alone()
            known = change.survey(survey.id)
            if known is None:
                return change.put_survey(survey), survey
        number, first = known[0], Survey.from_json(known[1])
        if first.contract() != survey.contract():
            raise SurveyMismatch(
                f"The survey {survey.id!r} has changed since it was first served from this database. People answered the "
                "first version; give the new one an id of its own."
            )
        return number, first


def check_version(found: int) -> None:
    """Refuse a database of a later release."""
    if found > len(MIGRATIONS):
        raise InvalidParameter(
            f"This database has schema {found}; this release supports schemas up to {len(MIGRATIONS)}. Update deniable."
        )


def chunks(items: Sequence[bytes], size: int) -> Iterable[Sequence[bytes]]:
    """The items, so many at a time."""
    return (items[start : start + size] for start in range(0, len(items), size))


@contextmanager
def opened(address: str) -> Iterator[Store]:
    """The store at this address, closed afterwards."""
    store = open_store(address)
    try:
        yield store
    finally:
        store.close()


def open_store(address: str) -> Store:
    """The store at this address: postgresql://... or the path of an SQLite file, which is created if it does not exist."""
    scheme = address.partition("://")[0] if "://" in address else "sqlite"
    found = registered(GROUP, OURS)
    if scheme not in found:
        known = ", ".join(f"{each}://" for each in found)
        raise InvalidParameter(f"No store for {scheme}:// is installed. Use the path of a file, or one of {known}.")
    store: Store = found[scheme].load()(address)
    return store
