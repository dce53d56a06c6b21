"""Reports on disk: Parquet where the name ends in .parquet, the packed message of the wire everywhere else."""

from os import PathLike
from pathlib import Path

from deniable.core.mechanism import Mechanism
from deniable.core.reports import Reports
from deniable.errors import EmptyBatch, InvalidReport, SurveyMismatch
from deniable.files.arrow import read_parquet, write_parquet
from deniable.files.atomic import written_whole


def write_reports(path: str | PathLike[str], mechanism: Mechanism, reports: Reports, overwrite: bool = False) -> None:
    """Write reports to a file, whole or not at all."""
    target = Path(path)
    if reports.fingerprint != mechanism.fingerprint:
        raise SurveyMismatch("These reports were made by another mechanism. Write them with the one that made them.")
    if len(reports) == 0:
        raise EmptyBatch("There are no reports to write.")
    with written_whole(target, overwrite) as temporary:
        if target.suffix == ".parquet":
            write_parquet(temporary, mechanism, reports)
        else:
            temporary.write_bytes(mechanism.pack(reports))


def read_reports(path: str | PathLike[str], mechanism: Mechanism) -> Reports:
    """The reports in a file that `write_reports` made for this mechanism; a damaged file is refused whole."""
    source = Path(path)
    if not source.is_file():
        raise InvalidReport(f"There is no file {source}. Check the name.")
    if source.suffix == ".parquet":
        return read_parquet(source, mechanism)
    return mechanism.unpack(source.read_bytes())
