"""Kept reports as Parquet files, for engines, audits and other estimators: only where the survey says so.

Reports are first kept in the store, in the transaction that counts them. Writing a segment moves them: the file appears
whole under a name that says which messages it holds, then they are dropped from the store. A crash in between leaves both,
and the next attempt writes the file again.
"""

from collections import defaultdict
from pathlib import Path

from deniable.collector.collector import Collector
from deniable.core.reports import Reports, concatenate
from deniable.files import write_batches
from deniable.survey import Message

MOST_MESSAGES = 100_000  # in one segment


def write_segment(collector: Collector, folder: Path) -> int:
    """Move the oldest kept messages into files, one for each question; how many there were."""
    survey, store = collector.survey, collector.store
    with store.view() as view:
        kept = view.kept(collector.number, MOST_MESSAGES)
    if not kept:
        return 0
    first, last = kept[0][0], kept[-1][0]
    batches: dict[str, list[Reports]] = defaultdict(list)
    for _, period, part, reports, payload in kept:
        message = Message(b"", part, period, reports, payload)
        for question, found in zip(survey.part(part), survey.unpack(message), strict=True):
            batches[question.id].append(found)
    folder.mkdir(parents=True, exist_ok=True)
    for question in survey.questions:
        if question.id in batches:
            name = f"{question.id}-{first:012d}-{last:012d}.parquet"
            write_batches(folder / name, question.mechanism, [concatenate(batches[question.id])], overwrite=True)
            for stale in folder.glob(f"{question.id}-{first:012d}-*.parquet"):
                if stale.name != name:  # of an attempt that ended before its messages were dropped
                    stale.unlink()
    with store.change() as change:
        change.drop_kept(collector.number, last)
    return len(kept)
