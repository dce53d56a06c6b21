"""From files to one tally, on whatever engine there is."""

from collections.abc import Iterable
from os import PathLike
from typing import Literal

from deniable.aggregate import pieces, sources, work
from deniable.aggregate.engine import engine_of
from deniable.aggregate.manifest import Aggregate, Book
from deniable.arrays import Progress
from deniable.core import Mechanism
from deniable.errors import EmptyBatch, InvalidParameter


def aggregate(
    mechanism: Mechanism,
    files: str | PathLike[str] | Iterable[str | PathLike[str]],
    engine: object = None,
    *,
    damaged: Literal["stop", "skip"] = "stop",
    manifest: str | PathLike[str] | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Aggregate:
    """The tally of all reports in files, equal to the integer to that of one process, whatever the engine.

    `files` is a name, a folder, a pattern such as "reports/*.parquet", an address such as "s3://bucket/day/*.parquet", or a
    list of these. `engine` is a Dask client, a Spark session, or an address as "dask://host:8786"; without one, as many
    processes as this machine has cores, or `workers`, share the work.

    A damaged or foreign file stops the run before or while counting; with damaged="skip" it is left out and listed in
    `result.manifest.left_out`. With a file for the manifest, a run that was broken off goes on where it was, and one that
    was finished adds only files that are new. `progress` is called with the share that is done.
    """
    if damaged not in ("stop", "skip"):
        raise InvalidParameter('Damaged files: choose "stop" or "skip".')
    book = Book(mechanism.fingerprint, manifest)
    found, refused = pieces.look(mechanism, sources.find(files))
    if refused and damaged == "stop":
        raise refused[0].refusal()
    book.expect(found)
    book.leave_out(refused)
    left = [file for file in found if not book.has(file)]
    with engine_of(engine, workers) as chosen:
        todo = pieces.jobs(mechanism, left, book.done, chosen.workers)
        try:
            total, done = sum(map(pieces.length, todo)), 0
            for part in chosen.run(work.count, mechanism, todo, work.merge):
                book.add(part)
                if part.left_out and damaged == "stop":
                    raise part.left_out[0].refusal()
                done += len(part.groups) + len(part.left_out)
                if progress is not None:
                    progress(min(1.0, done / total))
        finally:
            book.save()
    result = book.close()
    if result is None:
        skipped = f" {len(book.left_out)} were left out, the first because: {book.left_out[0].why}" if book.left_out else ""
        raise EmptyBatch(f"These files hold no reports that can be counted.{skipped}")
    return result
