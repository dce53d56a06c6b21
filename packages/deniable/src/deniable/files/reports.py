"""Reports on disk: Parquet if the name ends in .parquet, else packed messages of the wire, perhaps compressed."""

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from deniable.core import Mechanism, Reports, concatenate
from deniable.errors import EmptyBatch, InvalidReport, SurveyMismatch
from deniable.files.arrow import read_parquet, write_parquet
from deniable.files.atomic import written_whole
from deniable.files.compression import compression
from deniable.files.packed import read_packed, write_packed

MOST_REPORTS, MOST_BYTES = 1 << 17, 1 << 25  # in a batch, so that it fits into any memory


def batch_size(mechanism: Mechanism) -> int:
    """How many reports of this mechanism are written or read together."""
    return max(1, min(MOST_REPORTS, 8 * MOST_BYTES // mechanism.layout.bits))


def write_batches(
    path: str | PathLike[str],
    mechanism: Mechanism,
    batches: Iterable[Reports],
    overwrite: bool = False,
    private: bool = False,
) -> int:
    """Write batches of reports to a file as they come, and return how many reports there were.

    The file appears when all batches are in it, or not at all. The batches may be made while they are written:
    `write_batches(path, m, (m.perturb(part) for part in parts))`. A `private` file can be read by its owner only.
    """
    target, written = Path(path), 0

    def checked() -> Iterator[Reports]:
        nonlocal written
        for reports in batches:
            if reports.fingerprint != mechanism.fingerprint:
                raise SurveyMismatch("These reports were made by another mechanism. Write them with the one that made them.")
            if len(reports):
                written += len(reports)
                yield reports
        if not written:
            raise EmptyBatch("There are no reports to write.")

    with written_whole(target, overwrite, private) as temporary:
        if target.suffix == ".parquet":
            write_parquet(temporary, mechanism, checked())
        else:
            write_packed(temporary, mechanism, checked(), compression(target))
    return written


def write_reports(path: str | PathLike[str], mechanism: Mechanism, reports: Reports, overwrite: bool = False) -> None:
    """Write reports to a file, whole or not at all."""
    size = batch_size(mechanism)
    write_batches(path, mechanism, (reports[start : start + size] for start in range(0, len(reports), size)), overwrite)


def read_batches(path: str | PathLike[str], mechanism: Mechanism) -> Iterator[Reports]:
    """The reports in a file for this mechanism, batch by batch, so that it may be larger than memory.

    Damage, missing or left-over bytes and reports of another mechanism raise an error where they stand: batches before
    them have been handed out by then. Use no result until the last batch has come, or ask `read_reports`.
    """
    source = Path(path)
    if not source.is_file():
        raise InvalidReport(f"There is no file {source}. Check the name.")
    if source.suffix == ".parquet":
        return read_parquet(source, mechanism, batch_size(mechanism))
    return read_packed(source, mechanism)


def read_reports(path: str | PathLike[str], mechanism: Mechanism) -> Reports:
    """All reports in a file that was written for this mechanism; a damaged file is refused whole."""
    batches = list(read_batches(path, mechanism))
    if not batches:
        raise EmptyBatch(f"There are no reports in the file {path}.")
    return batches[0] if len(batches) == 1 else concatenate(batches)
