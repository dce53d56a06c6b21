"""Backups of earlier releases: a survey, its tallies and the ids that were counted, at one moment, as text.

It is gzipped text, one JSON value a line: the format, the survey, its state, the people, the tallies, then the ids. The ids
are in it so that a report which arrives again after a restore is still counted once, and the state, so that what was refused
before is refused after it. Tokens are not in it.
"""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Progress
from deniable.collector.stages import Stage
from deniable.collector.store import Store
from deniable.core import Tally
from deniable.errors import DeniableError, InvalidParameter, InvalidReport
from deniable.survey import Survey

FORMAT, FIRST_FORMAT = "deniable backup 2", "deniable backup 1"  # the first one has no line for the state
HEAD = {FORMAT: 5, FIRST_FORMAT: 4}  # lines before the ids


def read_text_backup(path: Path, store: Store, watch: Progress = lambda _: None) -> Survey:
    """Put a backup into a store that does not know its survey yet: all of it, or nothing. It is read twice, line by line."""
    try:
        lines = _lines(path)
        form = next(lines)
        if form not in HEAD:
            raise InvalidReport("something else")
        survey = Survey.from_json(json.dumps(next(lines)))
        kept = next(lines) if form == FORMAT else None
        people = [(int(period), int(n)) for period, n in next(lines)]
        prints = {question.id: question.mechanism for question in survey.questions}
        tallies = [(row["period"], row["question"], Tally.from_json(json.dumps(row["tally"]))) for row in next(lines)]
        for _, question, tally in tallies:
            prints[question].check_tally(tally)
        with_ids, batches = set[int](), 0
        for ids in _ids(path):  # refuses a file that is cut off, before anything is stored
            with_ids.update(ids.values())
            batches += 1
        # A period with people but without ids has been forgotten: it is not accepted again.
        forgotten = [period + 1 for period, _ in people if period not in with_ids]
        oldest = max([0, *forgotten]) if kept is None else int(kept["oldest"])
        stage = Stage.OPEN if kept is None else Stage(kept["stage"])
    except (OSError, EOFError, ValueError, KeyError, TypeError, StopIteration, DeniableError) as error:
        raise InvalidReport(f"The file {path} is not a complete backup of a survey. Copy it again.") from error
    with store.change() as change:
        change.patient()
        change.alone()
        if change.survey(survey.id) is not None:
            raise InvalidParameter(f"This database already holds the survey {survey.id!r}. Restore into an empty one.")
        number = change.put_survey(survey)
        for place, ids in enumerate(_ids(path), 1):
            change.claim(number, ids)
            watch(place / batches)
        for period, n in people:
            change.join(number, period, n)
        for period, question, tally in tallies:
            change.add(number, period, question, tally.n, tally.counts.astype(np.int64))
        change.accept_from(number, oldest)
        change.put_state(number, stage=int(stage))
        if kept is not None:
            change.put_state(number, title=kept["title"], delete_after=kept["delete_after"], listed=kept.get("listed", 0))
    return survey


def _ids(path: Path) -> Iterator[dict[bytes, int]]:
    """The ids of one period, some at a time; refuses a file whose last line does not count the others."""
    line, head = None, HEAD[FORMAT]
    for place, line in enumerate(_lines(path)):
        if place == 0:
            head = HEAD[line]
        elif isinstance(line, dict) and set(line) == {"lines"}:
            if line != {"lines": place}:
                break
        elif place >= head:
            for made in sorted({period for _, period in line}):
                yield {bytes.fromhex(identity): int(period) for identity, period in line if period == made}
    if not isinstance(line, dict) or line != {"lines": place}:
        raise InvalidReport("cut off")


def _lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
