"""Kept reports as Parquet files, for engines, audits and other estimators: only where the survey says so.

Reports are first kept in the store, in the transaction that counts them. Writing a segment moves them: the file appears
whole under a name that says which messages it holds, then they are dropped from the store. A crash in between leaves both,
and the next attempt writes the file again.
"""

from collections import defaultdict
from pathlib import Path

from deniable.collector.collector import Collector
from deniable.core import Reports, concatenate
from deniable.files import write_batches
from deniable.survey import Message, Survey

MOST_MESSAGES = 20_000  # in one segment: nothing else is committed while it is written


def write_segment(collector: Collector, folder: Path) -> int:
    """Move the oldest kept messages into files, one for each question; how many there were."""
    with collector.store.change() as change:
        kept = change.kept(collector.number, MOST_MESSAGES)
        if kept:
            _write(collector.survey, folder, kept)
            change.drop_kept([line[0] for line in kept])
    return len(kept)


def _write(survey: Survey, folder: Path, kept: list[tuple[int, int, int, int, bytes]]) -> None:
    first, last = kept[0][0], kept[-1][0]
    batches: dict[str, list[Reports]] = defaultdict(list)
    for _, period, part, reports, payload in kept:
        message = Message(b"", part, period, reports, payload)
        for question, found in zip(survey.part(part), survey.unpack(message), strict=True):
            batches[question.id].append(found)
    folder.mkdir(parents=True, exist_ok=True)
    for question in survey.questions:
        for stale in folder.glob(f"{question.id}-{first:012d}-*.parquet"):
            stale.unlink()  # of an attempt that ended before its messages were dropped
        if question.id in batches:
            name = f"{question.id}-{first:012d}-{last:012d}.parquet"
            write_batches(folder / name, question.mechanism, [concatenate(batches[question.id])])
