"""Kept reports as Parquet files, for engines, audits and other estimators: only where the survey says so.

Reports are first kept in the store, in the transaction that counts them. Writing a segment moves them: its name is stored
first, then the files appear whole, then the messages are dropped from the store. A crash in between leaves the name, under
which the next attempt writes the same messages again. No other file is ever replaced or deleted. The reports of a segment
are shuffled, so that their order says nothing about when they came: each question for itself, unless the survey asks for
tables of questions that are reported by themselves. Then the files of one segment have the same people in the same order.
"""

import secrets
from collections import defaultdict
from pathlib import Path

import numpy as np

from deniable.collector.collector import Collector
from deniable.core import Reports, concatenate
from deniable.files import write_batches
from deniable.survey import Message, Survey

MOST_MESSAGES = 20_000  # in one segment: nothing else is committed while it is written
Kept = tuple[int, int, int, int, bytes]


def write_segment(collector: Collector, folder: Path) -> int:
    """Move the oldest kept messages into files, one for each question; how many there were."""
    with collector.store.change() as change:
        if change.segment(collector.number) is None:
            kept = change.kept(collector.number, MOST_MESSAGES)
            if not kept:
                return 0
            name = f"{change.identity()}-{secrets.token_hex(6)}"
            change.put_segment(collector.number, name, kept[-1][0])
    with collector.store.change() as change:
        segment = change.segment(collector.number)
        if segment is None:  # another collector has written it meanwhile
            return 1
        name, last = segment
        kept = change.kept(collector.number, MOST_MESSAGES, last)
        if kept:
            _write(collector.survey, folder, name, kept)
            change.drop_kept([line[0] for line in kept])
        change.drop_segment(collector.number, name)
    return len(kept)


def _write(survey: Survey, folder: Path, name: str, kept: list[Kept]) -> None:
    batches: dict[str, list[Reports]] = defaultdict(list)
    for _, period, part, reports, payload in kept:
        message = Message(b"", part, period, reports, payload)
        for question, found in zip(survey.part(part), survey.unpack(message), strict=True):
            batches[question.id].append(found)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    random, order = np.random.default_rng(int.from_bytes(secrets.token_bytes(16))), None
    for question in survey.questions:
        if question.id in batches:
            whole = concatenate(batches[question.id])
            if order is None or not survey.joints:  # people keep their place in all files where tables need that
                order = random.permutation(len(whole))
            mixed = Reports(whole.fingerprint, whole.layout, {key: col[order] for key, col in whole.columns.items()})
            path = folder / f"{question.id}-{name}.parquet"
            write_batches(path, question.mechanism, [mixed], overwrite=True, private=True)
