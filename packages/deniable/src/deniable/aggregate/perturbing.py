"""Bulk randomization where answers have been gathered already: a file of reports for each file of answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from deniable.aggregate import pieces, sources
from deniable.aggregate.engine import engine_of
from deniable.arrays import Progress
from deniable.core import Mechanism
from deniable.errors import InvalidParameter
from deniable.files.answers import randomized, read_answers
from deniable.files.reports import batch_size, write_batches

ANSWERS = (".parquet", ".csv")
Written = dict[str, int]


@dataclass(frozen=True)
class Duty:
    """Which answers are randomized how."""

    mechanism: Mechanism
    column: str


def perturb_files(
    mechanism: Mechanism,
    files: str | PathLike[str] | Iterable[str | PathLike[str]],
    column: str,
    folder: str | PathLike[str],
    engine: object = None,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Written:
    """Randomize a column of many CSV or Parquet files, each into one Parquet file of reports in the folder.

    Gives the names of the files of reports and how many each holds. It is for a gateway that people trust with their
    answers. Coins are always secure. Files, folder and engines are as for `aggregate`; all workers must see both places.

    An answer is randomized once: a file of reports that is there already is kept, so that a run that was broken off can be
    repeated. Two reports of one answer would cost twice its budget.
    """
    target = Path(folder).resolve()
    if not target.is_dir():
        raise InvalidParameter(f"The folder {target} does not exist. Create it first.")
    names = sources.find(files, ANSWERS)
    jobs = [(name, str(target / f"{Path(name).stem}.parquet")) for name in names]
    if len({out for _, out in jobs}) != len(jobs):
        raise InvalidParameter("Two files of answers have the same name, so their reports would too. Rename one of them.")
    if any(sources.is_remote(name) or name == out for name, out in jobs):
        raise InvalidParameter("Answers must be local files, and their reports must go to a different folder.")
    written: Written = {}
    with engine_of(engine, workers) as chosen:
        for part in chosen.run(randomize, Duty(mechanism, column), jobs, _union):
            written |= part
            if progress is not None:
                progress(len(written) / len(jobs))
    return dict(sorted(written.items()))


def randomize(duty: Duty, job: tuple[str, str]) -> Written:
    """Write the reports of one file, unless they are there."""
    name, out = job
    mechanism = duty.mechanism
    if Path(out).exists():
        return {out: sum(pieces.row_groups(mechanism, out))}
    batches = read_answers(name, duty.column, mechanism.domain, batch_size(mechanism))
    reports = (randomized(batch, name, duty.column, mechanism) for batch in batches)
    return {out: write_batches(out, mechanism, reports)}


def _union(first: Written, second: Written) -> Written:
    return first | second
