"""People's answers in a column of a CSV or Parquet file, read in batches. No message here repeats one of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from deniable.core import Answers, AnyDomain, Coins, Label, Mechanism, Reports
from deniable.errors import EmptyBatch, InvalidParameter, OutsideDomain
from deniable.files.arrow import pyarrow_package
from deniable.files.tables import below_header, csv_rows, existing, parquet_table

Texts = Sequence[str | None]


@dataclass(frozen=True)
class AnswerBatch:
    """The answers in consecutive rows."""

    answers: Answers
    first_row: int  # of the data, counted from 1
    share_read: float  # of the file, up to the end of this batch

    def first_outside(self, domain: AnyDomain) -> int | None:
        """The row of the first answer that the question does not allow."""
        for place in range(len(self.answers)):
            try:
                domain.index(self.answers[place : place + 1])
            except OutsideDomain:
                return self.first_row + place
        return None


def read_answers(path: str | PathLike[str], column: str, domain: AnyDomain, size: int) -> Iterator[AnswerBatch]:
    """The column in batches of at most `size` rows: of a Parquet file if its name ends so, else of a CSV file in UTF-8.

    The path "-" is the standard input, in CSV. A CSV file needs a line of column names; blank lines are left out. Text
    becomes a number where the question's answers are numbers; an empty field is an answer like any other, allowed or not.
    """
    source = Path(path) if str(path) == "-" else existing(path)
    rows = _read_parquet(source, column, size, _are_numbers(domain)) if source.suffix == ".parquet" else None
    return _batches(rows or _read_csv(source, column, size), _reader(domain))


def randomized(
    batch: AnswerBatch, path: str | PathLike[str], column: str, mechanism: Mechanism, coins: Coins | None = None
) -> Reports:
    """The reports of a batch; an answer that the question does not allow is refused with the number of its row."""
    try:
        return mechanism.perturb(batch.answers, coins)
    except OutsideDomain as error:
        row = batch.first_outside(mechanism.domain)
        raise OutsideDomain(f"Row {row} of {path}, column {column!r}: {error}") from None


def _batches(parts: Iterator[tuple[Texts, float]], read: Callable[[Texts], Answers]) -> Iterator[AnswerBatch]:
    row = 1
    for texts, share_read in parts:
        yield AnswerBatch(read(texts), row, share_read)
        row += len(texts)


def _are_numbers(domain: AnyDomain) -> bool:
    """Whether numbers between the labels may be answers too."""
    return len(domain.labels) > 0 and isinstance(domain.labels[0], float)


def _reader(domain: AnyDomain) -> Callable[[Texts], Answers]:
    """What turns texts into answers to this question; None stands for no answer."""
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


def _read_csv(path: Path, column: str, size: int) -> Iterator[tuple[Texts, float]]:
    texts: list[str | None] = []
    with csv_rows(path) as (rows, share_read):
        (place,), body = below_header(path, rows, [column])
        for cells in body:
            if len(texts) == size:
                yield texts, share_read()
                texts = []
            texts.append(cells[place])
    if not texts:
        raise EmptyBatch(f"The file {path} has a header but no rows, so there are no answers.")
    yield texts, 1.0


def _read_parquet(path: Path, column: str, size: int, numbers: bool) -> Iterator[tuple[Texts, float]]:
    pa, row = pyarrow_package(), 0
    with parquet_table(path, [column]) as file:
        kind = file.schema_arrow.field(column).type
        inner = kind.value_type if pa.types.is_dictionary(kind) else kind
        texts = pa.types.is_string(inner) or pa.types.is_large_string(inner)
        if not texts and not pa.types.is_integer(inner) and not (numbers and pa.types.is_floating(inner)):
            raise InvalidParameter(
                f"Column {column!r} of {path} is of type {kind}; answers must be text or "
                f"{'' if numbers else 'whole '}numbers. Convert it."
            )
        total = file.metadata.num_rows
        for batch in file.iter_batches(size, columns=[column]):
            values = batch.column(0).to_pylist()
            cells = values if texts else [None if value is None else str(value) for value in values]
            row += len(cells)
            yield cells, row / total
    if not row:
        raise EmptyBatch(f"The file {path} has no rows, so there are no answers.")
