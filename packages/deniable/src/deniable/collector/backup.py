"""A survey's store as one file, and back: the survey, its tallies and the ids that were counted, at one moment.

It is gzipped text, one JSON value a line: the format, the survey, the people, the tallies, then the ids. The ids are in it
so that a report which arrives again after a restore is still counted once. Tokens are not in it.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from deniable.collector.store import Store
from deniable.core import Tally
from deniable.errors import DeniableError, InvalidParameter, InvalidReport
from deniable.files.atomic import written_whole
from deniable.survey import Survey

FORMAT = "deniable backup 1"
IDS_A_LINE = 1000
HEAD = 4  # lines before the ids


def write_backup(survey: Survey, store: Store, path: Path, overwrite: bool = False) -> int:
    """Write a backup while the collector runs; how many people it holds."""
    with (
        written_whole(path, overwrite) as temporary,
        store.view() as view,
        gzip.open(temporary, "wt", encoding="utf-8") as out,
    ):
        known = view.survey(survey.id)
        if known is None:
            raise InvalidParameter("This database holds no data for that survey.")
        number, registered = known[0], Survey.from_json(known[1])
        people = view.people(number)
        tallies = [
            {"period": period, "question": question, "tally": json.loads(tally.to_json())}
            for (period, question), tally in sorted(view.tallies(number, registered).items())
        ]
        for line in (FORMAT, registered.spec(), sorted(people.items()), tallies):
            out.write(json.dumps(line) + "\n")
        lines, ids = HEAD, list[tuple[str, int]]()
        for identity, period in view.ids(number):
            ids.append((identity.hex(), period))
            if len(ids) == IDS_A_LINE:
                out.write(json.dumps(ids) + "\n")
                ids, lines = [], lines + 1
        if ids:
            out.write(json.dumps(ids) + "\n")
            lines += 1
        out.write(json.dumps({"lines": lines}) + "\n")
        return sum(people.values())


def read_backup(path: Path, store: Store) -> Survey:
    """Put a backup into a store that does not know its survey yet: all of it, or nothing. It is read twice, line by line."""
    try:
        lines = _lines(path)
        if next(lines) != FORMAT:
            raise InvalidReport("something else")
        survey = Survey.from_json(json.dumps(next(lines)))
        people = [(int(period), int(n)) for period, n in next(lines)]
        prints = {question.id: question.mechanism for question in survey.questions}
        tallies = [(row["period"], row["question"], Tally.from_json(json.dumps(row["tally"]))) for row in next(lines)]
        for _, question, tally in tallies:
            prints[question].check_tally(tally)
        for _ in _ids(path):  # refuses a file that is cut off, before anything is stored
            pass
    except (OSError, EOFError, ValueError, KeyError, TypeError, StopIteration, DeniableError) as error:
        raise InvalidReport(f"The file {path} is not a complete backup of a survey. Copy it again.") from error
    with store.change() as change:
        change.alone()
        if change.survey(survey.id) is not None:
            raise InvalidParameter(f"This database already holds the survey {survey.id!r}. Restore into an empty one.")
        number = change.put_survey(survey)
        for ids in _ids(path):
            change.claim(number, ids)
        for period, n in people:
            change.join(number, period, n)
        for period, question, tally in tallies:
            change.add(number, period, question, tally.n, tally.counts.astype(np.int64))
    return survey


def _ids(path: Path) -> Iterator[dict[bytes, int]]:
    """The ids and their periods, some at a time; refuses a file whose last line does not count the others."""
    line: Any = None
    for place, line in enumerate(_lines(path)):
        if isinstance(line, dict) and set(line) == {"lines"}:
            if line != {"lines": place}:
                break
        elif place >= HEAD:
            yield {bytes.fromhex(identity): int(period) for identity, period in line}
    if not isinstance(line, dict) or line != {"lines": place}:
        raise InvalidReport("cut off")


def _lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
