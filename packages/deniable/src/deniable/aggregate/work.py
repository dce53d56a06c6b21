"""What a worker does: count the reports of a job, row group by row group, with a checksum of each.

Memory holds one batch of reports and the counts, whatever the size of the file. A row group counts whole or not at all.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from deniable.aggregate import sources
from deniable.aggregate.pieces import Job, LeftOut, Piece
from deniable.core import Mechanism, Reports, Tally
from deniable.errors import EngineFailure, InvalidReport, SurveyMismatch
from deniable.files.arrow import from_arrow, open_parquet, pyarrow_package
from deniable.files.packed import read_messages
from deniable.files.reports import batch_size


@dataclass(frozen=True)
class Group:
    """A row group that was counted: how many reports, and the SHA-256 of their columns, whatever packed them."""

    file: str
    group: int
    n: int
    checksum: str


@dataclass(frozen=True)
class Partial:
    """The tally of some row groups, with the list of them; what was refused is listed beside it."""

    tally: Tally | None
    groups: tuple[Group, ...]
    left_out: tuple[LeftOut, ...]

    def __add__(self, other: "Partial") -> "Partial":
        tally = self.tally + other.tally if self.tally and other.tally else self.tally or other.tally
        return Partial(tally, self.groups + other.groups, self.left_out + other.left_out)


NOTHING = Partial(None, (), ())


def merge(first: Partial, second: Partial) -> Partial:
    """The two together."""
    return first + second


def count(mechanism: Mechanism, job: Job) -> Partial:
    """The tally of a job. Doing it again gives the same, so that it may be tried as often as it takes."""
    done = NOTHING
    for piece in job:
        for part in _tables(mechanism, piece) if piece.groups is not None else _packed(mechanism, piece):
            done += part
    return done


def _tables(mechanism: Mechanism, piece: Piece) -> Iterator[Partial]:
    pa, name = pyarrow_package(), piece.file
    whole = f"The file {name} is damaged, incomplete or not a Parquet file. Copy or export it again."
    assert piece.groups is not None
    with ExitStack() as stack:
        try:
            handle = stack.enter_context(sources.opened(name))
            file = stack.enter_context(open_parquet(handle if sources.is_remote(name) else Path(name)))
        except FileNotFoundError:
            raise unseen(name) from None
        except (pa.ArrowException, OSError):
            yield Partial(None, (), (LeftOut.because(InvalidReport(whole), name),))
            return
        for group, wanted in piece.groups:
            try:
                if group >= file.num_row_groups or file.metadata.row_group(group).num_rows != wanted:
                    raise InvalidReport("It changed while it was being counted. Count it again when it is complete.")
                # One thread: there is a worker for every core already.
                batches = file.iter_batches(batch_size(mechanism), row_groups=[group], use_threads=False)
                reports = (from_arrow(mechanism, pa.Table.from_batches([batch], file.schema_arrow)) for batch in batches)
                yield _counted(mechanism, reports, name, group)
            except pa.ArrowMemoryError:
                raise
            except (pa.ArrowException, OSError):
                yield Partial(None, (), (LeftOut.because(InvalidReport(whole), name, group),))
            except (InvalidReport, SurveyMismatch) as error:
                yield Partial(None, (), (LeftOut.because(error, name, group),))


def _packed(mechanism: Mechanism, piece: Piece) -> Iterator[Partial]:
    name = piece.file
    try:
        with sources.opened(name) as file:
            size = file.seek(0, 2)
            file.seek(0)
            yield _counted(mechanism, read_messages(file, size, name, mechanism), name, 0)
    except FileNotFoundError:
        raise unseen(name) from None
    except (InvalidReport, SurveyMismatch) as error:
        yield Partial(None, (), (LeftOut.because(error, name),))


def _counted(mechanism: Mechanism, batches: Iterable[Reports], name: str, group: int) -> Partial:
    digests = [hashlib.sha256() for _ in mechanism.layout.fields]  # one for each column: batches may be cut anywhere
    tally: Tally | None = None
    for reports in batches:
        for digest, column in zip(digests, reports.columns.values(), strict=True):
            digest.update(column.data)
        if len(reports):
            counted = mechanism.tally(reports)
            tally = counted if tally is None else tally + counted
    checksum = hashlib.sha256(b"".join(digest.digest() for digest in digests)).hexdigest()
    return Partial(tally, (Group(name, group, tally.n if tally else 0, checksum),), ())


def unseen(name: str) -> EngineFailure:
    """A worker has no such file."""
    return EngineFailure(
        f"A worker cannot read the file {name}. All machines need the files under the same name: put them on a shared "
        "disk or in object storage such as s3://."
    )
