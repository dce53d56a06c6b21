"""What is to be counted: the row groups of every file, looked up before the work starts, in jobs of like size."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from deniable.aggregate import sources
from deniable.core import Mechanism
from deniable.errors import DeniableError, InvalidReport, SurveyMismatch
from deniable.files.arrow import from_arrow, open_parquet, pyarrow_package
from deniable.files.packed import read_messages

LOOKERS = 8  # files looked up at a time: it is mostly waiting for a disk or a store
LARGEST_JOB = 1 << 23  # reports that one job counts, if there are row groups to split at
JOBS_EACH = 8  # jobs for each worker, so that all of them end at about the same time
REFUSALS: dict[str, type[DeniableError]] = {"InvalidReport": InvalidReport, "SurveyMismatch": SurveyMismatch}


@dataclass(frozen=True)
class LeftOut:
    """A file, or one row group of it, that was not counted, and why."""

    file: str
    group: int | None
    error: str
    why: str

    @classmethod
    def because(cls, error: DeniableError, file: str, group: int | None = None) -> "LeftOut":
        """What was refused, with its name in the reason."""
        said = str(error)
        where = file if group is None else f"{file}, row group {group}"
        return cls(file, group, type(error).__name__, said if file in said and group is None else f"{where}: {said}")

    def refusal(self) -> DeniableError:
        """The error to raise where damage stops the run."""
        return REFUSALS[self.error](self.why)


@dataclass(frozen=True)
class File:
    """A file as it was found: its size, what identifies it, and the reports in each row group."""

    name: str
    size: int
    tail: str
    groups: tuple[int, ...] | None  # None: a packed file, which is counted as a whole


@dataclass(frozen=True)
class Piece:
    """Row groups of one file, or the whole of it, for one worker."""

    file: str
    groups: tuple[tuple[int, int], ...] | None  # which, and how many reports each must hold


Job = tuple[Piece, ...]


def length(job: Job) -> int:
    """How many row groups a job counts; a packed file is one."""
    return sum(1 if piece.groups is None else len(piece.groups) for piece in job)


def is_parquet(name: str) -> bool:
    """Whether a file of this name is a table; all others are packed messages."""
    return name.endswith(".parquet")


def look(mechanism: Mechanism, names: list[str]) -> tuple[list[File], list[LeftOut]]:
    """What lies in these files, and which of them were made by another mechanism or are damaged already at first sight."""
    if any(is_parquet(name) for name in names):
        pyarrow_package()  # refuses once, not for every file
    with ThreadPoolExecutor(LOOKERS) as pool:
        found = list(pool.map(lambda name: _look(mechanism, name), names))
    return [each for each in found if isinstance(each, File)], [each for each in found if isinstance(each, LeftOut)]


def _look(mechanism: Mechanism, name: str) -> File | LeftOut:
    try:
        size, tail = sources.size_and_tail(name)
        if is_parquet(name):
            return File(name, size, tail, row_groups(mechanism, name))
        with sources.opened(name) as file:
            next(read_messages(file, size, name, mechanism))  # refuses a file of something else before it is read
        return File(name, size, tail, None)
    except (InvalidReport, SurveyMismatch) as error:
        return LeftOut.because(error, name)
    except OSError as error:
        why = f"The file {name} cannot be read: {error.strerror or type(error).__name__}."
        return LeftOut.because(InvalidReport(why), name)


def row_groups(mechanism: Mechanism, name: str) -> tuple[int, ...]:
    """How many reports of this mechanism are in each row group of a Parquet file."""
    pa = pyarrow_package()
    try:
        with sources.opened(name) as source, open_parquet(source if sources.is_remote(name) else Path(name)) as file:
            from_arrow(mechanism, file.schema_arrow.empty_table())
            return tuple(file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))
    except pa.ArrowException as error:
        raise InvalidReport(
            f"The file {name} is damaged, incomplete or not a Parquet file. Copy or export it again."
        ) from error


def jobs(mechanism: Mechanism, files: Iterable[File], done: set[tuple[str, int]], workers: int) -> list[Job]:
    """All row groups that are not done, in jobs of at most so many reports, and enough jobs for all workers."""
    files = list(files)
    bits = max(1, mechanism.layout.bits)
    total = sum(sum(file.groups) if file.groups is not None else 8 * file.size // bits for file in files)
    most = max(1, min(LARGEST_JOB, total // (JOBS_EACH * workers)))
    made: list[Job] = []
    job: list[Piece] = []
    room = most
    for piece, reports in _pieces(files, done, most, bits):
        if job and reports > room:
            made.append(tuple(job))
            job, room = [], most
        job.append(piece)
        room -= reports
    return [*made, tuple(job)] if job else made


def _pieces(files: list[File], done: set[tuple[str, int]], most: int, bits: int) -> Iterator[tuple[Piece, int]]:
    for file in files:
        if file.groups is None:
            if (file.name, 0) not in done:
                yield Piece(file.name, None), 8 * file.size // bits
            continue
        run: list[tuple[int, int]] = []
        for group, reports in enumerate(file.groups):
            if (file.name, group) in done or not reports:
                continue
            if run and sum(n for _, n in run) + reports > most:
                yield Piece(file.name, tuple(run)), sum(n for _, n in run)
                run = []
            run.append((group, reports))
        if run:
            yield Piece(file.name, tuple(run)), sum(n for _, n in run)
