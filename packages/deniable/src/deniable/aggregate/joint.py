"""Tallies of combinations from many files, on whatever engine there is: the same people's reports on several questions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from deniable.aggregate import pieces, sources
from deniable.aggregate.engine import engine_of
from deniable.aggregate.work import unseen
from deniable.analysis.crosstab import check_cells, chosen
from deniable.analysis.decoder import decoder
from deniable.analysis.joint_tally import JointTally
from deniable.arrays import Progress
from deniable.core import Mechanism, Reports
from deniable.errors import EmptyBatch, EngineFailure, InvalidParameter, InvalidReport
from deniable.files.arrow import from_arrow, open_parquet, pyarrow_package
from deniable.files.packed import read_messages
from deniable.files.reports import batch_size
from deniable.wrappers.every_attribute import EveryAttribute

Files = str | PathLike[str] | Iterable[str | PathLike[str]]


@dataclass(frozen=True)
class Asked:
    """The questions of a table: one mechanism for each, or some attributes of a mechanism that reports all of them."""

    names: tuple[str, ...]
    mechanisms: tuple[Mechanism, ...]  # one for each file of reports
    axes: tuple[int, ...] | None = None

    @property
    def parts(self) -> list[Mechanism]:
        """The mechanism of each question."""
        (first, *_), axes = self.mechanisms, self.axes
        return list(self.mechanisms) if axes is None else [_record(first).parts[axis] for axis in axes]

    def tally(self, reports: Sequence[Reports]) -> JointTally:
        """The tally of these people's reports, from the same rows of every file."""
        if self.axes is not None:
            reports = _record(self.mechanisms[0]).reports_on(reports[0], self.axes)
        return JointTally.of([decoder(each) for each in self.parts], reports, self.names)


def _record(mechanism: Mechanism) -> EveryAttribute:
    assert isinstance(mechanism, EveryAttribute)
    return mechanism


@dataclass(frozen=True)
class Rows:
    """The same rows of the files of each question: a row group of every one, or all of them."""

    files: tuple[str, ...]
    group: int | None = None


@dataclass(frozen=True)
class Part:
    """What was counted, and from which rows."""

    tally: JointTally
    rows: tuple[Rows, ...]

    def __add__(self, other: "Part") -> "Part":
        return Part(self.tally + other.tally, self.rows + other.rows)


def aggregate_joint(
    mechanisms: Mapping[str, Mechanism] | EveryAttribute,
    files: Mapping[str, Files] | Files,
    *questions: str | int,
    names: Sequence[str] | None = None,
    engine: object = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> JointTally:
    """The counts behind a table of two or three questions, from files; the same integers as from one process.

    Either `mechanisms` and `files` map each question to its mechanism and its files, such as "reports/smokes-*.parquet". In
    the order of their names, the files of all questions must hold the same people in the same order, as the segments of a
    collector do. Or one `EveryAttribute` has the answers of a person in one report; `questions` says which to relate.

    `engine` and `workers` are those of `aggregate`. Give the tally to `crosstab(tally, mechanisms)`. A compound question
    and `OnePair` need no joint tally: use `aggregate`.
    """
    asked, found = _asked(mechanisms, files, questions, names)
    check_cells([each.domain.size for each in asked.parts])
    todo = list(_rows(asked, found))
    seen: set[Rows] = set()
    total: JointTally | None = None
    with engine_of(engine, workers) as chosen_engine:
        for part in chosen_engine.run(count, asked, todo, merge):
            if len(set(part.rows)) != len(part.rows) or seen & set(part.rows):
                raise EngineFailure("The engine returned the same rows twice. Start again; nothing was kept.")
            seen.update(part.rows)
            total = part.tally if total is None else total + part.tally
            if progress is not None:
                progress(len(seen) / len(todo))
    if total is None:
        raise EmptyBatch("These files hold no reports to relate.")
    if seen != set(todo):
        raise EngineFailure("The engine lost some of its work. Start again; nothing was kept.")
    return total


def merge(first: Part, second: Part) -> Part:
    """The two together."""
    return first + second


def _asked(
    mechanisms: Mapping[str, Mechanism] | EveryAttribute,
    files: Mapping[str, Files] | Files,
    questions: Sequence[str | int],
    names: Sequence[str] | None,
) -> tuple[Asked, list[list[str]]]:
    """The questions, and the names of the files of each."""
    if isinstance(mechanisms, EveryAttribute):
        if isinstance(files, Mapping):
            raise InvalidParameter("One mechanism for all questions has one set of files. Give their names or a pattern.")
        named, axes = chosen(questions, names, len(mechanisms.parts))
        return Asked(tuple(named[axis] for axis in axes), (mechanisms,), tuple(axes)), [sources.find(files)]
    if not isinstance(mechanisms, Mapping) or not isinstance(files, Mapping):
        raise InvalidParameter(
            "Give a mapping from each question to its mechanism, and one to its files. A compound question or OnePair is "
            "counted by aggregate(mechanism, files)."
        )
    own = [str(each) for each in questions] or list(mechanisms)
    for name in own:
        if name not in mechanisms or name not in files:
            raise InvalidParameter(f"The question {name!r} needs both its mechanism and its files.")
    return Asked(tuple(own), tuple(mechanisms[name] for name in own)), [sources.find(files[name]) for name in own]


def _rows(asked: Asked, found: Sequence[Sequence[str]]) -> Iterator[Rows]:
    """What is counted together: row groups where all files have the same, and whole files otherwise."""
    if len({len(each) for each in found}) != 1:
        listed = ", ".join(f"{name!r} has {len(each)}" for name, each in zip(asked.names, found, strict=False))
        raise InvalidParameter(
            f"The questions need the same number of files: {listed}. If the files of each "
            "question are sorted by name, corresponding files must hold the same people in the same order."
        )
    for together in zip(*found, strict=True):
        sizes = [
            pieces.row_groups(mechanism, name) if pieces.is_parquet(name) else None
            for mechanism, name in zip(asked.mechanisms, together, strict=True)
        ]
        known = {sum(each) for each in sizes if each is not None}
        if len(known) > 1:
            raise _other_people(together)
        if sizes[0] is not None and all(each == sizes[0] for each in sizes):
            yield from (Rows(together, group) for group, reports in enumerate(sizes[0]) if reports)
        else:
            yield Rows(together)


def count(asked: Asked, rows: Rows) -> Part:
    """The joint tally of these rows. Doing it again gives the same, so that it may be tried as often as it takes."""
    total: JointTally | None = None
    with ExitStack() as stack:
        streams = [
            stack.enter_context(_Stream(mechanism, name, rows.group))
            for mechanism, name in zip(asked.mechanisms, rows.files, strict=True)
        ]
        while True:
            lengths = [stream.ready() for stream in streams]
            if not all(lengths):
                break
            together = [stream.take(min(lengths)) for stream in streams]
            counted = asked.tally(together)
            total = counted if total is None else total + counted
    if any(lengths):
        raise _other_people(rows.files)
    if total is None:
        raise EmptyBatch(f"The file {rows.files[0]} holds no reports.")
    return Part(total, (rows,))


def _other_people(files: Sequence[str]) -> InvalidParameter:
    return InvalidParameter(
        f"The questions were not answered by the same people: {', '.join(files)} have different numbers of reports. Write "
        "the reports of the people who answered all of them, in the same order."
    )


class _Stream:
    """The reports of one file, some at a time."""

    def __init__(self, mechanism: Mechanism, name: str, group: int | None) -> None:
        self._mechanism, self._name, self._group = mechanism, name, group
        self._left: Reports | None = None

    def __enter__(self) -> "_Stream":
        self._stack = ExitStack()
        try:
            self._batches = self._open()
        except FileNotFoundError:
            raise unseen(self._name) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _open(self) -> Iterator[Reports]:
        handle = self._stack.enter_context(sources.opened(self._name))
        if not pieces.is_parquet(self._name):
            size = handle.seek(0, 2)
            handle.seek(0)
            return read_messages(handle, size, self._name, self._mechanism)
        source = handle if sources.is_remote(self._name) else Path(self._name)
        file = self._stack.enter_context(open_parquet(source))
        groups = range(file.num_row_groups) if self._group is None else [self._group]
        batches = file.iter_batches(batch_size(self._mechanism), row_groups=list(groups), use_threads=False)
        table = pyarrow_package().Table
        return (from_arrow(self._mechanism, table.from_batches([batch], file.schema_arrow)) for batch in batches)

    def ready(self) -> int:
        """How many reports can be taken; none at the end of the file."""
        pa = pyarrow_package() if pieces.is_parquet(self._name) else None
        try:
            while self._left is None or not len(self._left):
                self._left = next(self._batches)
        except StopIteration:
            return 0
        except Exception as error:
            if pa is not None and isinstance(error, pa.ArrowException):
                raise InvalidReport(f"The file {self._name} is damaged or incomplete. Copy or export it again.") from error
            raise
        return len(self._left)

    def take(self, reports: int) -> Reports:
        """The next reports."""
        assert self._left is not None
        taken, self._left = self._left[:reports], self._left[reports:]
        return taken
