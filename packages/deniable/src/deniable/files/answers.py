"""People's answers in a column of a CSV or Parquet file, read in batches. No message here repeats one of them."""

import csv
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from deniable.core import Answers, Coins, Domain, Label, Mechanism, Reports
from deniable.errors import EmptyBatch, InvalidParameter, OutsideDomain
from deniable.files.arrow import open_parquet, pyarrow_package

Texts = Sequence[str | None]

LISTED = 20  # columns that a message names


@dataclass(frozen=True)
class AnswerBatch:
    """The answers in consecutive rows."""

    answers: Answers
    first_row: int  # of the data, counted from 1
    share_read: float  # of the file, up to the end of this batch

    def first_outside(self, domain: Domain) -> int | None:
        """The row of the first answer that the question does not allow."""
        for place in range(len(self.answers)):
            try:
                domain.index(self.answers[place : place + 1])
            except OutsideDomain:
                return self.first_row + place
        return None


def read_answers(path: str | PathLike[str], column: str, domain: Domain, size: int) -> Iterator[AnswerBatch]:
    """The column in batches of at most `size` rows: of a Parquet file if its name ends so, else of a CSV file in UTF-8.

    A CSV file needs a line of column names; blank lines are left out. Text becomes a whole number where the question's
    answers are whole numbers; an empty field is an answer like any other, allowed or not.
    """
    source = Path(path)
    if not source.is_file():
        raise InvalidParameter(f"There is no file {source}. Check the name.")
    rows = _read_parquet if source.suffix == ".parquet" else _read_csv
    return _batches(rows(source, column, size), _reader(domain))


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


def _reader(domain: Domain) -> Callable[[Texts], Answers]:
    """What turns texts into answers to this question; None stands for no answer."""
    labels = domain.labels
    if len(labels) and isinstance(labels[0], float):  # numbers between the labels may be answers too
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
    row = 0
    with path.open("rb") as file, _unpacked(path, file) as data, io.TextIOWrapper(data, "utf-8-sig", newline="") as text:
        total = os.fstat(file.fileno()).st_size
        reader = csv.reader(text, strict=True)
        try:
            names = next(reader, [])
            if not names:
                raise EmptyBatch(f"The file {path} is empty: it has no header line.")
            place = place_of(path, names, column)
            texts: list[str | None] = []
            for cells in reader:
                if not cells:
                    continue
                row += 1
                if len(cells) != len(names):
                    raise InvalidParameter(
                        f"Row {row} of {path} has {len(cells)} fields, but there are {len(names)} columns. Fix the file."
                    )
                texts.append(cells[place])
                if len(texts) == size:
                    yield texts, file.tell() / total
                    texts = []
        except (gzip.BadGzipFile, zlib.error, EOFError):
            raise InvalidParameter(
                f"The file {path} is damaged, incomplete or not a gzip file. Copy or compress it again."
            ) from None
        except UnicodeDecodeError:
            raise InvalidParameter(f"The file {path} is not UTF-8 text. Save it as CSV in UTF-8.") from None
        except csv.Error:
            raise InvalidParameter(f"The file {path} cannot be read as CSV after row {row}. Fix the file.") from None
        if texts:
            yield texts, 1.0
    if not row:
        raise EmptyBatch(f"The file {path} has a header but no rows, so there are no answers.")


def _unpacked(path: Path, file: BinaryIO) -> BinaryIO:
    """The bytes of a file, decompressed if its name ends in .gz."""
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if path.suffix == ".gz" else file


def _read_parquet(path: Path, column: str, size: int) -> Iterator[tuple[Texts, float]]:
    pa, row = pyarrow_package(), 0
    try:
        with open_parquet(path) as file:
            place_of(path, file.schema_arrow.names, column)
            kind = file.schema_arrow.field(column).type
            inner = kind.value_type if pa.types.is_dictionary(kind) else kind
            texts = pa.types.is_string(inner) or pa.types.is_large_string(inner)
            if not texts and not pa.types.is_integer(inner):
                raise InvalidParameter(
                    f"Column {column!r} of {path} is of type {kind}; answers must be text or whole numbers. Convert it."
                )
            total = file.metadata.num_rows
            for batch in file.iter_batches(size, columns=[column]):
                values = batch.column(0).to_pylist()
                cells = values if texts else [None if value is None else str(value) for value in values]
                row += len(cells)
                yield cells, row / total
    except (pa.ArrowException, OSError):
        raise InvalidParameter(
            f"The file {path} is damaged, incomplete or not a Parquet file. Copy or export it again."
        ) from None
    if not row:
        raise EmptyBatch(f"The file {path} has no rows, so there are no answers.")


def read_columns(path: str | PathLike[str], names: Sequence[str]) -> list[list[object]]:
    """Whole columns of a CSV file as texts, or of a Parquet file as what they hold."""
    source = Path(path)
    if not source.is_file():
        raise InvalidParameter(f"There is no file {source}. Check the name.")
    if source.suffix != ".parquet":
        return [[text for texts, _ in _read_csv(source, name, 1 << 16) for text in texts] for name in names]
    pa = pyarrow_package()
    try:
        with open_parquet(source) as file:
            for name in names:
                place_of(source, file.schema_arrow.names, name)
            table = file.read(columns=list(names))
    except (pa.ArrowException, OSError):
        raise InvalidParameter(
            f"The file {source} is damaged, incomplete or not a Parquet file. Copy or export it again."
        ) from None
    if not table.num_rows:
        raise EmptyBatch(f"The file {source} has no rows.")
    return [table.column(name).to_pylist() for name in names]


def place_of(path: Path, names: Sequence[str], column: str) -> int:
    """Where a column stands among those of a table; refused if it is not there exactly once."""
    if names.count(column) == 1:
        return names.index(column)
    listed = ", ".join(repr(name) for name in names[:LISTED]) + (", ..." if len(names) > LISTED else "")
    what = "has no column" if column not in names else "has several columns"
    raise InvalidParameter(f"The file {path} {what} {column!r}. Its columns are {listed}.")
