"""What a collector keeps, in one SQL database: ids that were counted, tallies, people, tokens, and reports if asked for.

Ids and tallies change in one transaction, so that a report is counted exactly once whatever happens to the process. The SQL
is the same for SQLite and PostgreSQL but for the few lines that subclasses override.
"""

import secrets
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import numpy as np

from deniable.arrays import Ints
from deniable.collector.schema import tables_of_surveys
from deniable.collector.stages import Stage, State, same_contract
from deniable.collector.swap import Kept, Swap
from deniable.collector.tokens import Token
from deniable.core import Tally
from deniable.errors import InvalidParameter, SurveyMismatch
from deniable.plugins import registered
from deniable.survey import Survey

Row = tuple[Any, ...]
Item = TypeVar("Item")

# The store for each scheme of an address. Other packages add theirs with entry points of this group.
GROUP = "deniable.stores"
OURS = {
    "sqlite": "collector.sqlite:SqliteStore",
    "postgres": "collector.postgres:PostgresStore",
    "postgresql": "collector.postgres:PostgresStore",
}

# Tallies with more cells than this are kept in chunks, of which a transaction writes only those that change.
LARGE, CHUNK = 4096, 512
MOST_VARIABLES = 500  # in one statement
_SURVEY = "SELECT number, spec FROM surveys WHERE id = ?"
_TALLY = "survey = ? AND period = ? AND question = ? AND shard = ?"


class View:
    """A consistent look at the store, and all that is read there."""

    for_update = ""  # what a SELECT says to hold its rows until the transaction ends

    def run(self, sql: str, *values: object) -> list[Row]:
        """The rows that a statement gives; `?` stands for each value."""
        raise NotImplementedError

    def stream(self, sql: str, *values: object) -> Iterator[Row]:
        """The same, row by row, however many there are."""
        raise NotImplementedError

    def patient(self) -> None:
        """Let the statements of this transaction take as long as they need."""

    def survey(self, name: str) -> tuple[int, str] | None:
        """The number and the specification of the survey with this id."""
        return next(((int(number), str(spec)) for number, spec in self.run(_SURVEY, name)), None)

    def rounds(self, number: int) -> list[str]:
        """The specifications of the rounds of a survey that were opened, from the second on."""
        return [str(spec) for (spec,) in self.run("SELECT spec FROM rounds WHERE survey = ? ORDER BY round", number)]

    def tallies(self, number: int, survey: Survey, only: int | None = None) -> dict[tuple[int, str], Tally]:
        """The tally of every period, or `only` of this one, and question that has one, and of tables counted jointly."""
        prints = {key: fingerprint for key, (fingerprint, _) in survey.counted.items()}
        sizes = {key: cells for key, (_, cells) in survey.counted.items()}
        found, sums = dict[tuple[int, str], int](), dict[tuple[int, str], Ints]()
        where, given = ("survey = ?", (number,)) if only is None else ("survey = ? AND period = ?", (number, only))
        for period, question, n, counts in self.run(
            f"SELECT period, question, n, counts FROM tallies WHERE {where}", *given
        ):
            whole = np.frombuffer(counts, "<i8").astype(np.int64) if counts else np.zeros(sizes[question], np.int64)
            key = (period, question)  # each collector has a row of its own
            found[key] = found.get(key, 0) + n
            sums[key] = sums[key] + whole if key in sums else whole
        if any(size > LARGE for size in sizes.values()):
            for period, question, chunk, counts in self.run(
                f"SELECT period, question, chunk, counts FROM cells WHERE {where}", *given
            ):
                piece = np.frombuffer(counts, "<i8")
                sums[(period, question)][chunk * CHUNK : chunk * CHUNK + len(piece)] += piece
        return {key: Tally(prints[key[1]], n, sums[key]) for key, n in found.items()}

    def people(self, number: int) -> dict[int, int]:
        """How many reports every period has."""
        found = Counter[int]()
        for period, n in self.run("SELECT period, n FROM people WHERE survey = ? ORDER BY period", number):
            found[period] += n
        return dict(found)

    def ids(self, number: int) -> Iterator[tuple[bytes, int]]:
        """Every id that was counted and may still arrive again, with its period."""
        for identity, period in self.stream("SELECT id, period FROM seen WHERE survey = ?", number):
            yield bytes(identity), int(period)

    def count_ids(self, number: int) -> int:
        """How many ids that is."""
        return int(self.run("SELECT COUNT(*) FROM seen WHERE survey = ?", number)[0][0])

    def state(self, number: int) -> State | None:
        """What is stored about a survey beside its contract; None if it was deleted."""
        return self._states("WHERE number = ?", number).get(number)

    def states(self) -> dict[int, State]:
        """The same for every survey."""
        return self._states("")

    def _states(self, where: str, *values: object) -> dict[int, State]:
        rows = self.run(
            f"SELECT number, fingerprint, oldest, stage, title, delete_after, listed, limits FROM surveys {where}", *values
        )
        return {
            int(number): State(name, int(oldest), Stage(stage), title, after, bool(listed), limits)
            for number, name, oldest, stage, title, after, listed, limits in rows
        }

    def tokens(self, survey: str) -> list[Token]:
        """The tokens of the survey with this id, revoked and expired ones too, in the order in which they were made."""
        return self._tokens("WHERE survey = ?", survey).get(survey, [])

    def all_tokens(self) -> dict[str, list[Token]]:
        """The same for every survey that has any."""
        return self._tokens("")

    def _tokens(self, where: str, *values: object) -> dict[str, list[Token]]:
        found = dict[str, list[Token]]()
        for survey, role, name, token, *times in self.run(
            f"SELECT survey, role, name, hash, made, expires, revoked FROM access {where} ORDER BY made, name", *values
        ):
            found.setdefault(survey, []).append(Token(role, name, bytes(token), *times))
        return found

    def segment(self, number: int) -> tuple[str, int] | None:
        """The name of the files that kept messages are being written to, and the last of these messages."""
        rows = self.run("SELECT name, last FROM segments WHERE survey = ?", number)
        return (str(rows[0][0]), int(rows[0][1])) if rows else None

    def kept(self, number: int, limit: int, last: int | None = None) -> list[tuple[int, int, int, int, bytes]]:
        """The first messages that were kept, up to the `last` if it is given: number, period, part, reports, payload."""
        rows = self.run(
            "SELECT number, period, part, reports, payload FROM kept "
            f"WHERE survey = ? AND number <= ? ORDER BY number LIMIT ?{self.for_update}",
            number, (1 << 63) - 1 if last is None else last, limit,
        )  # fmt: skip
        return [(row[0], row[1], int.from_bytes(bytes(row[2]), "little"), row[3], bytes(row[4])) for row in rows]


class Change(View):
    """One transaction: everything it does happens, durably, or nothing does."""

    shard = 0  # the rows that this collector adds to: those of another one would have to be waited for

    def alone(self) -> None:
        """Let nobody else register a survey until this transaction ends."""

    def put_survey(self, survey: Survey) -> int:
        """Remember a new survey, and give it a number."""
        if self.run("SELECT 1 FROM transfers WHERE survey = ?", survey.id):
            raise InvalidParameter(
                f"The survey {survey.id!r} is being copied into this database. Run the same command again to finish."
            )
        number = self.free_number()
        self.run(
            "INSERT INTO surveys (number, id, fingerprint, spec) VALUES (?, ?, ?, ?)",
            number, survey.id, survey.fingerprint, survey.to_json(),
        )  # fmt: skip
        # Tokens that an earlier release made before there was any survey.
        self.run(
            "INSERT INTO access (survey, role, hash, name, made) SELECT ?, role, hash, 'earlier', 0 FROM tokens", survey.id
        )
        self.run("DELETE FROM tokens")
        return number

    def put_round(self, number: int, round_: int, spec: str) -> None:
        """Open another round of a survey."""
        self.run("INSERT INTO rounds (survey, round, spec) VALUES (?, ?, ?)", number, round_, spec)

    def free_number(self) -> int:
        """A number that no survey has, also none that is being copied."""
        numbers = "(SELECT number FROM surveys UNION ALL SELECT number FROM transfers) AS numbers"
        return int(self.run(f"SELECT COALESCE(MAX(number), 0) + 1 FROM {numbers}")[0][0])

    def claim(self, number: int, ids: Mapping[bytes, int]) -> set[bytes]:
        """Take these ids, given with their periods; those that nobody had taken before are returned."""
        raise NotImplementedError

    def add(self, number: int, period: int, question: str, reports: int, counts: Ints) -> Kept | None:
        """Add to a tally; the row it is in now, unless it is in several."""
        key, large = (number, period, question, self.shard), len(counts) > LARGE
        select = f"SELECT n, counts FROM tallies WHERE {_TALLY}{self.for_update}"
        rows = self.run(select, *key)
        if not rows:
            self.run(
                "INSERT INTO tallies (survey, period, question, shard, n, counts) VALUES (?, ?, ?, ?, 0, ?) "
                "ON CONFLICT DO NOTHING",
                *key, b"" if large else bytes(8 * len(counts)),
            )  # fmt: skip
            rows = self.run(select, *key)
        if large:
            if rows[0][1]:  # a store of an earlier release has it in one piece
                counts = counts + np.frombuffer(rows[0][1], "<i8")
            self._add_cells(key, counts)
            stored = b""
        else:
            stored = (np.frombuffer(rows[0][1], "<i8") + counts).astype("<i8").tobytes()
        kept = Kept(rows[0][0] + reports, stored)
        self.run(f"UPDATE tallies SET n = ?, counts = ? WHERE {_TALLY}", *kept, *key)
        return None if large else kept

    def _add_cells(self, key: tuple[int, int, str, int], counts: Ints) -> None:
        """Add to the chunks that change. The row of the tally is held meanwhile, so nobody else changes them."""
        for some in chunks(np.unique(np.flatnonzero(counts) // CHUNK).tolist(), MOST_VARIABLES):
            marks = ",".join("?" * len(some))
            rows = self.run(f"SELECT chunk, counts FROM cells WHERE {_TALLY} AND chunk IN ({marks})", *key, *some)
            before = {int(chunk): np.frombuffer(data, "<i8") for chunk, data in rows}
            for chunk in some:
                piece = counts[chunk * CHUNK : (chunk + 1) * CHUNK]
                if chunk in before:
                    data = (before[chunk] + piece).astype("<i8").tobytes()
                    self.run(f"UPDATE cells SET counts = ? WHERE {_TALLY} AND chunk = ?", data, *key, chunk)
                else:
                    self.run(
                        "INSERT INTO cells (survey, period, question, shard, chunk, counts) VALUES (?, ?, ?, ?, ?, ?)",
                        *key, chunk, piece.astype("<i8").tobytes(),
                    )  # fmt: skip

    def join(self, number: int, period: int, reports: int) -> None:
        """Count people who took part."""
        self.run(
            "INSERT INTO people (survey, period, shard, n) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (survey, period, shard) DO UPDATE SET n = people.n + excluded.n",
            number, period, self.shard, reports,
        )  # fmt: skip

    def keep(self, number: int, period: int, part: int, reports: int, payload: bytes) -> None:
        """Keep the reports of a message themselves."""
        self.run(
            "INSERT INTO kept (survey, period, part, reports, payload) VALUES (?, ?, ?, ?, ?)",
            number, period, part.to_bytes(8, "little"), reports, payload,
        )  # fmt: skip

    def drop_kept(self, messages: Sequence[int]) -> None:
        """Forget these kept messages: they are in a file now."""
        for some in chunks(messages, MOST_VARIABLES):
            self.run(f"DELETE FROM kept WHERE number IN ({','.join('?' * len(some))})", *some)

    def accepting(self, number: int, alone: bool = False) -> State | None:
        """The state of a survey, which holds until this transaction ends: nobody drops ids that it still compares.

        `alone` if this transaction is going to change which periods are accepted.
        """
        return self.state(number)

    def accept_from(self, number: int, oldest: int) -> None:
        """Accept no report of an earlier period any more, whatever the clocks say."""
        self.run("UPDATE surveys SET oldest = ? WHERE number = ? AND oldest < ?", oldest, number, oldest)

    def forget(self, number: int, before: int, most: int | None = None) -> int:
        """Drop ids of earlier periods, at most so many; how many there were, or 0 if none is left."""
        chosen = "survey = ? AND period < ?"
        if most is None:
            self.run(f"DELETE FROM seen WHERE {chosen}", number, before)
            return 0
        last = self.run(
            f"SELECT period, id FROM seen WHERE {chosen} ORDER BY survey, period, id LIMIT 1 OFFSET ?",
            number, before, most - 1,
        )  # fmt: skip
        if not last:
            self.run(f"DELETE FROM seen WHERE {chosen}", number, before)
            return 0
        period, identity = last[0]
        self.run("DELETE FROM seen WHERE survey = ? AND period < ?", number, period)
        self.run("DELETE FROM seen WHERE survey = ? AND period = ? AND id <= ?", number, period, identity)
        return most

    def put_token(self, survey: str, token: Token) -> None:
        """Allow another token; only its hash is kept."""
        self.run(
            "INSERT INTO access (survey, role, hash, name, made, expires) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            survey, token.role, token.hash, token.name, token.made, token.expires,
        )  # fmt: skip

    def end_token(self, survey: str, token: Token, expires: int | None, revoked: int | None) -> None:
        """Let a token expire, or revoke it. It stays known, so that what asked for a token goes on asking."""
        self.run(
            "UPDATE access SET expires = ?, revoked = ? WHERE survey = ? AND role = ? AND hash = ?",
            expires, revoked, survey, token.role, token.hash,
        )  # fmt: skip

    def put_state(self, number: int, **changed: object) -> None:
        """Change what is stored about a survey: its stage, title, listed, limits and so on, or a draft itself."""
        for column, value in changed.items():  # names of columns, never from outside
            self.run(f"UPDATE surveys SET {column} = ? WHERE number = ?", value, number)

    def delete(self, number: int, survey: str) -> None:
        """Delete everything about a survey: tallies, ids, kept reports, tokens and the survey itself."""
        self.patient()
        for table, by_number in tables_of_surveys():
            self.run(f"DELETE FROM {table} WHERE survey = ?", number if by_number else survey)
        self.run("DELETE FROM surveys WHERE number = ?", number)

    def put_segment(self, number: int, name: str, last: int) -> None:
        """Remember the name of the files that these kept messages are about to be written to."""
        self.run("INSERT INTO segments (survey, name, last) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", number, name, last)

    def drop_segment(self, number: int, name: str) -> None:
        """The kept messages are in the files of this name."""
        self.run("DELETE FROM segments WHERE survey = ? AND name = ?", number, name)

    def identity(self) -> str:
        """The random name of this store, the same for as long as it exists."""
        rows = self.run("SELECT id FROM store")
        if not rows:
            self.run("INSERT INTO store (id, probe) VALUES (?, 0)", secrets.token_hex(6))
            rows = self.run("SELECT id FROM store ORDER BY id LIMIT 1")
        return str(rows[0][0])

    def probe(self) -> None:
        """Write something, to find out whether that is possible."""
        self.identity()
        self.run("UPDATE store SET probe = 1 - probe")


class Store(ABC):
    """A database with the tables above. Trouble with it is raised as `Unavailable`, and the next attempt starts afresh."""

    address: str
    can_swap = False  # whether `swap` ever counts anything

    @abstractmethod
    def change(self) -> AbstractContextManager[Change]:
        """One transaction, for one thread at a time: durable when the block ends without an error."""

    @abstractmethod
    def view(self) -> AbstractContextManager[View]:
        """A consistent look that holds nobody up."""

    def swap(self, swap: Swap) -> bool:
        """Count in one round trip if all is as expected; otherwise do nothing, as where that would gain nothing."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    def register(self, survey: Survey, draft: bool = False) -> tuple[int, Survey]:
        """The number of a survey, which becomes known if it is new: open, or as a `draft`, which may still change.

        A survey never changes. One with the same id and the same contract is the one that was registered, with the laws it
        was registered with, even if a newer planner would choose others; any other is refused.
        """
        with self.change() as change:
            change.alone()
            known = change.survey(survey.id)
            if known is None:
                number = change.put_survey(survey)
                change.put_state(number, stage=int(Stage.DRAFT if draft else Stage.OPEN))
                return number, survey
            state = change.state(known[0])
            if state is not None and state.stage is Stage.DRAFT:
                change.put_state(known[0], spec=survey.to_json(), fingerprint=survey.fingerprint)
                return known[0], survey
        number, first = known[0], Survey.from_json(known[1])
        if not same_contract(first, survey, state.title if state is not None else None):
            raise SurveyMismatch(
                f"The survey {survey.id!r} has changed since it was first served from this database. People answered the "
                "first version; give the new one its own id. Only the title can be corrected: deniable manage title."
            )
        return number, first


def chunks(items: Sequence[Item], size: int) -> Iterable[Sequence[Item]]:
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
