"""People's answers in columns of a CSV, JSON Lines or Parquet file, read in batches. No message here repeats one of them."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core import Answers, AnyDomain, Coins, Label, Mechanism, Reports
from deniable.domains import KeyValue, Vectors
from deniable.errors import EmptyBatch, InvalidParameter, OutsideDomain
from deniable.files.arrow import pyarrow_package
from deniable.files.tables import below_header, csv_rows, existing, parquet_table
from deniable.planning.ranking import counted

Texts = Sequence[str | None]
Columns = str | Sequence[str]  # one, or those of a record


@dataclass(frozen=True)
class AnswerBatch:
    """The answers in consecutive rows."""

    answers: Answers
    first_row: int  # of the data, counted from 1
    share_read: float  # of the file, up to the end of this batch
    texts: Sequence[Texts] = ()  # what stands in the file, a column for each answer

    def is_empty(self, row: int) -> bool:
        """Whether a field of this row is empty."""
        return any(not column[row - self.first_row] for column in self.texts)

    def first_outside(self, domain: AnyDomain) -> int | None:
        """The row of the first answer that the question does not allow."""
        for place in range(len(self.answers)):
            try:
                domain.index(self.answers[place : place + 1])
            except OutsideDomain:
                return self.first_row + place
        return None


def read_answers(
    path: str | PathLike[str], column: Columns, domain: AnyDomain, size: int, silence: str | None = None
) -> Iterator[AnswerBatch]:
    """The column in batches of at most `size` rows: of a Parquet file if its name ends so, else of a CSV file in UTF-8.

    The path "-" is the standard input, in CSV or JSON Lines. A CSV file needs a line of column names; blank lines are left
    out. Text becomes a number where the question's answers are numbers; an empty field is an answer like any other, allowed
    or not, unless `silence` is the answer that stands for it. A set is a text as `KeyValue.read` takes it, or a list or an
    object of JSON or Parquet. A record has as many columns as answers.
    """
    source = Path(path) if str(path) == "-" else existing(path)
    columns = [column] if isinstance(column, str) else list(column)
    wanted = len(domain.parts) if isinstance(domain, Vectors) else 1
    if len(columns) != wanted:
        raise InvalidParameter(
            f"This mechanism is for {counted(wanted, 'column')} of answers, and {counted(len(columns), 'was', 'were')} "
            "given. Name them in the order of the record."
        )
    rows = _read_parquet(source, columns, size, domain) if source.suffix == ".parquet" else None
    parts = rows or _read_csv(source, columns, size)
    return _batches(parts if silence is None else _spoken(parts, silence), _record_reader(domain))


def randomized(
    batch: AnswerBatch, path: str | PathLike[str], column: Columns, mechanism: Mechanism, coins: Coins | None = None
) -> Reports:
    """The reports of a batch; an answer that the question does not allow is refused with the number of its row."""
    try:
        return mechanism.perturb(batch.answers, coins)
    except OutsideDomain as error:
        row, said = batch.first_outside(mechanism.domain), str(error)
        if row is not None and batch.is_empty(row):
            said = "The field is empty. Fill it in, or name the answer that stands for silence (silence=, --silence)."
        where = f"column {column!r}" if isinstance(column, str) else f"columns {', '.join(map(repr, column))}"
        raise OutsideDomain(f"Row {row} of {path}, {where}: {said}") from None


Parts = Iterator[tuple[Sequence[Texts], float]]  # columns of some rows, and the share of the file up to there


def _batches(parts: Parts, read: Callable[[Sequence[Texts]], Answers]) -> Iterator[AnswerBatch]:
    row = 1
    for columns, share_read in parts:
        yield AnswerBatch(read(columns), row, share_read, columns)
        row += len(columns[0])


def _spoken(parts: Parts, silence: str) -> Parts:
    """The same with an answer in place of none."""
    for columns, share_read in parts:
        yield [[text or silence for text in texts] for texts in columns], share_read


def _record_reader(domain: AnyDomain) -> Callable[[Sequence[Texts]], Answers]:
    """What turns columns of texts into answers: of one column, or of all columns of a record."""
    if not isinstance(domain, Vectors):
        read = _reader(domain)
        return lambda columns: read(columns[0])
    readers = [_reader(part) for part in domain.parts]
    return lambda columns: [*zip(*(read(texts) for read, texts in zip(readers, columns, strict=True)), strict=True)]


def _are_numbers(domain: AnyDomain) -> bool:
    """Whether numbers between the labels may be answers too."""
    return len(domain.labels) > 0 and isinstance(domain.labels[0], float)


def _reader(domain: AnyDomain) -> Callable[[Texts], Answers]:
    """What turns texts into answers to this question; None stands for no answer."""
    if isinstance(domain, KeyValue):
        return lambda texts: [_set(domain, text) for text in texts]
    labels = domain.labels
    if _are_numbers(domain):
        return lambda texts: np.fromiter(map(_number, texts), np.float64, len(texts))
    if isinstance(labels, range) and labels == range(len(labels)):
        return lambda texts: np.fromiter((_whole(text, len(labels)) for text in texts), np.int64, len(texts))
    numbers: dict[str | None, Label | None] = {str(label): label for label in labels if isinstance(label, int)}
    for word in numbers.keys() & set(labels):
        del numbers[word]  # a word goes before the number it writes
    return lambda texts: [numbers.get(text, text) for text in texts]


def _whole(text: str | None, size: int) -> int:
    """The number from 0 to size - 1 that this text writes, or -1."""
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > 18:
        return -1
    number = int(text)
    return number if number < size else -1


def _number(text: str | None) -> float:
    """The number that this text writes, or none."""
    try:
        return float(text) if text is not None else float("nan")
    except ValueError:
        return float("nan")


def _set(domain: KeyValue, text: str | None) -> dict[Label, float] | None:
    """The set that a text or JSON describes; None if that is unclear, which the domain refuses."""
    if text is None or not text.startswith(("[", "{")):
        return None if text is None else domain.read(text)
    try:
        found = json.loads(text)
        if isinstance(found, list) and not domain.scored:
            return {domain.key(str(name)): 1.0 for name in found}
        return {domain.key(str(name)): float(value) for name, value in dict(found).items()}
    except (ValueError, TypeError, RecursionError):
        return None


def _read_csv(path: Path, names: Sequence[str], size: int) -> Parts:
    texts: list[list[str | None]] = [[] for _ in names]
    with csv_rows(path) as (rows, share_read):
        places, body = below_header(path, rows, names)
        for cells in body:
            if len(texts[0]) == size:
                yield texts, share_read()
                texts = [[] for _ in names]
            for column, place in zip(texts, places, strict=True):
                column.append(cells[place])
    if not texts[0]:
        raise EmptyBatch(f"The file {path} has a header but no rows, so there are no answers.")
    yield texts, 1.0


def _read_parquet(path: Path, names: Sequence[str], size: int, domain: AnyDomain) -> Parts:
    row, parts = 0, domain.parts if isinstance(domain, Vectors) else [domain]
    with parquet_table(path, names) as file:
        written = [
            _written(path, name, file.schema_arrow.field(name).type, part) for name, part in zip(names, parts, strict=True)
        ]
        total = file.metadata.num_rows
        for batch in file.iter_batches(size, columns=list(names)):
            row += batch.num_rows
            columns = zip(names, written, strict=True)
            yield (
                [[None if cell is None else text(cell) for cell in batch[name].to_pylist()] for name, text in columns],
                (row / total),
            )
    if not row:
        raise EmptyBatch(f"The file {path} has no rows, so there are no answers.")


def _written(path: Path, name: str, kind: Any, domain: AnyDomain) -> Callable[[Any], str]:
    """What makes a text of a cell of this type; refused if it cannot be an answer."""
    types, numbers = pyarrow_package().types, _are_numbers(domain)
    inner = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_string(inner) or types.is_large_string(inner):
        return str
    if types.is_integer(inner) or (numbers and types.is_floating(inner)):
        return str
    if isinstance(domain, KeyValue) and (types.is_nested(inner)):
        return json.dumps
    raise InvalidParameter(
        f"Column {name!r} of {path} is of type {kind}; answers must be text or {'' if numbers else 'whole '}numbers. "
        "Convert it."
    )
