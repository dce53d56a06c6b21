"""Copying a survey from one store to another, some rows at a time. What was interrupted goes on where it was.

The target first notes that the survey is on its way, and under which number. Then the ids are copied in transactions of some
thousand. The rest follows in one last transaction, which also removes the note: until then nobody can serve the survey, and
nothing of it shows. Both sides are compared, row by row, before that transaction ends.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from deniable.arrays import Progress
from deniable.collector.schema import Table, tables
from deniable.collector.store import Change, Row, Store, View
from deniable.errors import InvalidParameter, InvalidReport
from deniable.survey import Survey

IDS = 10_000  # in one transaction
OWN = frozenset({"store", "transfers", "tokens", "surveys", "seen"})  # of one store alone, or copied in a way of their own
Digest = tuple[int, int]  # how many rows, and the sum of their hashes


class Copied(NamedTuple):
    """What was copied."""

    survey: str
    people: int
    ids: int


def surveys_of(store: Store) -> list[str]:
    """The ids of all surveys in a store."""
    with store.view() as view:
        return [str(name) for (name,) in view.run("SELECT id FROM surveys ORDER BY number")]


def copy_all(
    source: Store, target: Store, names: Sequence[str], watch: Progress = lambda _: None, at_rest: bool = False
) -> list[Copied]:
    """Copy these surveys, one after the other."""
    copied = []
    for place, name in enumerate(names):

        def part(share: float, place: int = place) -> None:
            watch((place + share) / len(names))

        copied.append(copy_survey(source, target, name, part, at_rest))
    return copied


def copy_survey(
    source: Store, target: Store, survey: str, watch: Progress = lambda _: None, at_rest: bool = False
) -> Copied:
    """Copy all about the survey with this id: contract, stage, tallies, ids, tokens, kept reports.

    Of a source that is in use this is one consistent moment. `at_rest` refuses to finish if reports have arrived since then.
    """
    with source.view() as view:
        view.patient()
        known = view.survey(survey)
        if known is None:
            raise InvalidParameter(f"The database to copy from holds no survey {survey!r}.")
        if view.segment(known[0]) is not None:
            raise InvalidParameter("Kept reports are being written to files right now. Try again in a minute.")
        number = _begun(target, survey, known[1])
        ids = _copy_ids(view, known[0], target, number, watch)
        people = view.people(known[0])
        if at_rest:
            _check_at_rest(source, known[0], people)
        with target.change() as change:
            change.patient()
            change.alone()
            _finish(view, change, survey, known[0], number)
    watch(1.0)
    return Copied(survey, sum(people.values()), ids)


def _begun(target: Store, survey: str, spec: str) -> int:
    """The number that the survey has in the target, which notes that it is on its way there."""
    origin = Survey.from_json(spec).fingerprint
    with target.change() as change:
        change.alone()
        if change.survey(survey) is not None:
            raise InvalidParameter(f"This database already holds the survey {survey!r}. Copy it into another one.")
        found = change.run("SELECT number, source FROM transfers WHERE survey = ?", survey)
        if found and found[0][1] != origin:
            raise InvalidParameter(
                f"Another survey with the id {survey!r} is being copied into this database. Finish that copy first."
            )
        if found:
            return int(found[0][0])
        number = change.free_number()
        change.run("INSERT INTO transfers (survey, source, number) VALUES (?, ?, ?)", survey, origin, number)
        return number


def _copy_ids(view: View, old: int, target: Store, new: int, watch: Progress) -> int:
    """Copy the ids that are not there yet, and compare them all; how many there are."""
    whole = max(1, view.count_ids(old))
    for attempt in ("again", "in vain"):
        some, done = list[tuple[bytes, int]](), 0
        for pair in view.ids(old):
            some.append(pair)
            if len(some) == IDS:
                _claim(target, new, some)
                some, done = [], done + IDS
                watch(0.8 * done / whole)
        _claim(target, new, some)
        mine = _digest(view.ids(old))
        watch(0.9)
        with target.view() as copied:
            copied.patient()
            if _digest(copied.ids(new)) == mine:
                return mine[0]
        with target.change() as change:  # ids that the source has dropped since an earlier attempt
            change.patient()
            change.forget(new, 1 << 32)
        if attempt == "in vain":
            raise InvalidReport("The copied ids differ from the original ones. Check the disk, and copy again.")
    return 0


def _claim(target: Store, number: int, ids: list[tuple[bytes, int]]) -> None:
    with target.change() as change:
        for period in sorted({period for _, period in ids}):
            change.claim(number, {identity: made for identity, made in ids if made == period})


def _check_at_rest(source: Store, number: int, people: dict[int, int]) -> None:
    with source.view() as now:
        if now.people(number) != people:
            raise InvalidParameter(
                "Reports have arrived since the copy began. Stop the collector of the old database and run the same "
                "command again: it continues where it stopped."
            )


def _finish(view: View, change: Change, survey: str, old: int, new: int) -> None:
    """Copy everything but the ids, compare it, and let the survey be seen."""
    for table in tables():
        if table.name in OWN or "survey" not in table.columns:
            continue
        columns = _columns(table)
        keys = (survey, survey) if table.columns["survey"] == "TEXT" else (old, new)
        select = f"SELECT {', '.join(columns)} FROM {table.name} WHERE survey = ? ORDER BY {', '.join(table.key)}"
        marks = ", ".join("?" * (len(columns) + 1))
        change.run(f"DELETE FROM {table.name} WHERE survey = ?", keys[1])
        rows = view.run(select, keys[0])
        for row in rows:
            change.run(f"INSERT INTO {table.name} ({', '.join(columns)}, survey) VALUES ({marks})", *row, keys[1])
        if _digest(change.run(select, keys[1])) != _digest(rows):
            raise InvalidReport(f"The copied rows of {table.name} differ from the original ones. Copy again.")
    about = next(table for table in tables() if table.name == "surveys")
    columns = [column for column in about.columns if column != "number"]
    (row,) = view.run(f"SELECT {', '.join(columns)} FROM surveys WHERE number = ?", old)
    marks = ", ".join("?" * (len(columns) + 1))
    change.run(f"INSERT INTO surveys ({', '.join(columns)}, number) VALUES ({marks})", *row, new)
    change.run("DELETE FROM transfers WHERE survey = ?", survey)


def _columns(table: Table) -> list[str]:
    """All columns but the survey, which may get another number, and a number that the database gives to rows by itself."""
    own = table.key if len(table.key) == 1 and table.columns[table.key[0]] == "INTEGER" else ()
    return [column for column in table.columns if column != "survey" and column not in own]


def _digest(rows: Iterable[Row]) -> Digest:
    """The number of rows and the sum of their hashes, which is the same in any order."""
    count, total = 0, 0
    for row in rows:
        plain = repr(tuple(bytes(cell) if isinstance(cell, (bytes, memoryview)) else cell for cell in row))
        total += int.from_bytes(hashlib.blake2b(plain.encode(), digest_size=32).digest())
        count += 1
    return count, total % (1 << 256)
