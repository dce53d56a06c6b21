"""Tables in CSV, JSON Lines and Parquet files, refused if they are damaged or lack a column. No message repeats a cell."""

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from deniable.arrays import Progress
from deniable.errors import EmptyBatch, InvalidParameter
from deniable.files.arrow import open_parquet, pyarrow_package
from deniable.files.compression import compression, damage, decompressed, plain_name

LISTED = 20  # columns that a message names
ROWS = 1 << 16  # read at a time


def existing(path: str | PathLike[str]) -> Path:
    """The path of a file, which must exist."""
    if not Path(path).is_file():
        raise InvalidParameter(f"There is no file {path}. Check the name.")
    return Path(path)


@contextmanager
def csv_rows(path: Path) -> Iterator[tuple[Iterator[list[str]], Callable[[], float]]]:
    """The rows of a CSV file in UTF-8, or of JSON Lines, and the share of it that has been read.

    It is decompressed if its name ends in .gz or .zst. "-" is the standard input, of which nobody knows the size; whether it
    is compressed, and whether it is JSON Lines, is seen from its beginning.
    """
    piped = str(path) == "-"
    opened = os.fdopen(os.dup(sys.stdin.fileno()), "rb") if piped else path.open("rb")
    with opened as file:
        total, how = os.fstat(file.fileno()).st_size, compression(path, file.peek(4) if piped else b"")
        with damage(path, how, InvalidParameter), decompressed(file, how) as data:
            json_lines = data.peek(1)[:1] == b"{" if piped else is_json_lines(path)
            with io.TextIOWrapper(data, "utf-8-sig", newline="") as text:
                rows: Iterator[list[str]] = _json_rows(path, text) if json_lines else csv.reader(text, strict=True)
                with _readable(path, rows):
                    yield rows, lambda: 0.0 if piped else file.tell() / total


@contextmanager
def _readable(path: Path, rows: Iterator[list[str]]) -> Iterator[None]:
    """Says in one sentence that a text is no table."""
    try:
        yield
    except UnicodeDecodeError:
        raise InvalidParameter(f"The file {path} is not UTF-8 text. Save it as CSV in UTF-8.") from None
    except csv.Error:
        raise InvalidParameter(
            f"The file {path} cannot be read as CSV near line {getattr(rows, 'line_num', 1)}. Fix the file."
        ) from None


def is_json_lines(path: Path) -> bool:
    """Whether a file is called so, perhaps compressed."""
    return plain_name(path).suffix in (".jsonl", ".ndjson")


def _json_rows(path: Path, lines: Iterable[str]) -> Iterator[list[str]]:
    """The names in the first object as a header, then the values of each object as texts."""
    header: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise InvalidParameter(f"Line {number} of {path} is not a JSON object. Write one object per line.")
        if not header:
            header = list(found)
            yield header
        if set(found) != set(header):
            raise InvalidParameter(f"Line {number} of {path} has other names than the first line. Give all lines the same.")
        yield [_text(found[name]) for name in header]


def _text(value: object) -> str:
    """A value as the text that a CSV file would have; null is an empty field, lists and objects are JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value)  # numbers, true and false, lists and objects


def below_header(path: Path, rows: Iterator[list[str]], names: Sequence[str]) -> tuple[list[int], Iterator[list[str]]]:
    """Where these columns stand, and the rows that are not blank, each with as many fields as the header."""
    header = next(rows, [])
    if not header:
        raise EmptyBatch(f"The file {path} is empty: it has no header line.")
    return [place_of(path, header, name) for name in names], _checked(path, rows, len(header))


def _checked(path: Path, rows: Iterator[list[str]], width: int) -> Iterator[list[str]]:
    for row, cells in enumerate(filter(None, rows), 1):
        if len(cells) != width:
            raise InvalidParameter(
                f"Row {row} of {path} has {len(cells)} fields, but there are {width} columns. Fix the file."
            )
        yield cells


@contextmanager
def parquet_table(path: Path, names: Sequence[str] = ()) -> Iterator[Any]:
    """A Parquet file that has these columns."""
    pa = pyarrow_package()
    try:
        with open_parquet(path) as file:
            for name in names:
                place_of(path, file.schema_arrow.names, name)
            yield file
    except (pa.ArrowException, OSError):
        raise InvalidParameter(
            f"The file {path} is damaged, incomplete or not a Parquet file. Copy or export it again."
        ) from None


def place_of(path: Path, names: Sequence[str], column: str) -> int:
    """Where a column stands among those of a table; refused if it is not there exactly once."""
    if names.count(column) == 1:
        return names.index(column)
    listed = ", ".join(repr(name) for name in names[:LISTED]) + (", ..." if len(names) > LISTED else "")
    what = "has no column" if column not in names else "has several columns"
    raise InvalidParameter(f"The file {path} {what} {column!r}. Its columns are {listed}.")


def column_names(path: str | PathLike[str]) -> list[str]:
    """The names of the columns of a CSV or Parquet file."""
    source = existing(path)
    if source.suffix == ".parquet":
        with parquet_table(source) as file:
            return list(file.schema_arrow.names)
    with csv_rows(source) as (rows, _):
        return next(rows, [])


def read_columns(path: str | PathLike[str], names: Sequence[str]) -> list[list[Any]]:
    """Whole columns of a CSV file as texts, or of a Parquet file as what they hold."""
    columns: list[list[Any]] = [[] for _ in names]
    for some in column_batches(path, names):
        for column, part in zip(columns, some, strict=True):
            column.extend(part)
    return columns


def column_batches(
    path: str | PathLike[str], names: Sequence[str], progress: Progress | None = None
) -> Iterator[Sequence[Sequence[Any]]]:
    """The same, some rows at a time; `progress` is called with the share of the file that has been read."""
    source, tell = existing(path), progress or (lambda _: None)
    batches = _parquet_batches if source.suffix == ".parquet" else _csv_batches
    found = False
    for columns, share in batches(source, names):
        found = True
        yield columns
        tell(share)
    if not found:
        raise EmptyBatch(f"The file {source} has no rows.")


def _parquet_batches(source: Path, names: Sequence[str]) -> Iterator[tuple[Sequence[Sequence[Any]], float]]:
    with parquet_table(source, names) as file:
        done, whole = 0, max(file.metadata.num_rows, 1)
        for batch in file.iter_batches(ROWS, columns=list(dict.fromkeys(names))):
            done += len(batch)
            if len(batch):
                yield [batch.column(name).to_pylist() for name in names], done / whole


def _csv_batches(source: Path, names: Sequence[str]) -> Iterator[tuple[Sequence[Sequence[Any]], float]]:
    with csv_rows(source) as (rows, share):
        places, body = below_header(source, rows, names)
        while some := list(islice(body, ROWS)):
            yield [[cells[place] for cells in some] for place in places], share()
