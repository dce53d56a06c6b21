"""Links in a table, one row for each: who, to what, and with which weight. No message here repeats any of them."""

import csv
import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from deniable.arrays import Floats
from deniable.errors import EmptyBatch, InvalidParameter, OutsideDomain
from deniable.files.answers import place_of
from deniable.files.arrow import open_parquet, pyarrow_package


@dataclass(frozen=True, repr=False, eq=False)
class Links:
    """Columns of the same length; without weights every link has weight 1."""

    users: Sequence[str]
    items: Sequence[str]
    weights: Floats | None


def read_links(path: Path, user: str = "user", item: str = "item", weight: str | None = "weight") -> Links:
    """The links in a Parquet file if its name ends so, else in a CSV file in UTF-8, which may be compressed (.gz).

    `weight` None reads no weights. A CSV file needs a line of column names; blank lines are left out.
    """
    if not path.is_file():
        raise InvalidParameter(f"There is no file {path}. Check the name.")
    names = [user, item] + ([] if weight is None else [weight])
    columns = _parquet(path, names) if path.suffix == ".parquet" else _csv(path, names)
    if not columns[0]:
        raise EmptyBatch(f"The file {path} has no rows, so there are no links.")
    for name, column in zip(names[:2], columns, strict=False):
        if not all(column):
            raise InvalidParameter(f"Row {_first_empty(column)} of {path} has no value in column {name!r}. Fix the file.")
    return Links(columns[0], columns[1], None if weight is None else _numbers(path, weight, columns[2]))


def has_column(path: Path, column: str) -> bool:
    """Whether the table has this column."""
    if not path.is_file():
        raise InvalidParameter(f"There is no file {path}. Check the name.")
    if path.suffix == ".parquet":
        pa = pyarrow_package()
        try:
            with open_parquet(path) as file:
                return column in file.schema_arrow.names
        except (pa.ArrowException, OSError):
            raise InvalidParameter(
                f"The file {path} is damaged, incomplete or not a Parquet file. Copy or export it again."
            ) from None
    try:
        with _text(path) as text:
            return column in next(csv.reader(text, strict=True), [])
    except (UnicodeDecodeError, csv.Error, EOFError, zlib.error, gzip.BadGzipFile):
        raise InvalidParameter(f"The file {path} cannot be read as CSV in UTF-8. Fix the file.") from None


@contextmanager
def _text(path: Path) -> Iterator[TextIO]:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as text:
            yield text
    else:
        with path.open(encoding="utf-8-sig", newline="") as text:
            yield text


def _csv(path: Path, names: list[str]) -> list[list[str]]:
    columns: list[list[str]] = [[] for _ in names]
    row = 0
    try:
        with _text(path) as text:
            reader = csv.reader(text, strict=True)
            header = next(reader, [])
            if not header:
                raise EmptyBatch(f"The file {path} is empty: it has no header line.")
            places = [place_of(path, header, name) for name in names]
            for cells in reader:
                if not cells:
                    continue
                row += 1
                if len(cells) != len(header):
                    raise InvalidParameter(
                        f"Row {row} of {path} has {len(cells)} fields, but there are {len(header)} columns. Fix the file."
                    )
                for column, place in zip(columns, places, strict=True):
                    column.append(cells[place])
    except (UnicodeDecodeError, csv.Error, EOFError, zlib.error, gzip.BadGzipFile):
        raise InvalidParameter(f"The file {path} cannot be read as CSV in UTF-8 after row {row}. Fix the file.") from None
    return columns


def _parquet(path: Path, names: list[str]) -> list[list[str]]:
    pa = pyarrow_package()
    try:
        with open_parquet(path) as file:
            for name in names:
                place_of(path, file.schema_arrow.names, name)
            table = file.read(columns=names)
            return [["" if value is None else str(value) for value in table[name].to_pylist()] for name in names]
    except (pa.ArrowException, OSError):
        raise InvalidParameter(
            f"The file {path} is damaged, incomplete or not a Parquet file. Copy or export it again."
        ) from None


def _numbers(path: Path, name: str, texts: list[str]) -> Floats:
    try:
        numbers = np.array(texts, np.float64)
    except ValueError:
        numbers = np.array([_number(text) for text in texts])
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0]) + 1
        raise OutsideDomain(f"Row {row} of {path} has no finite number in column {name!r}. Correct or remove it.")
    return numbers


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _first_empty(column: list[str]) -> int:
    return next(row for row, text in enumerate(column, 1) if not text)
