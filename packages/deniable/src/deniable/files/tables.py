"""Tables in CSV and Parquet files, refused if they are damaged or lack a column. No message here repeats a cell."""

import csv
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, cast

from deniable.errors import EmptyBatch, InvalidParameter
from deniable.files.arrow import open_parquet, pyarrow_package

LISTED = 20  # columns that a message names


def existing(path: str | PathLike[str]) -> Path:
    """The path of a file, which must exist."""
    if not Path(path).is_file():
        raise InvalidParameter(f"There is no file {path}. Check the name.")
    return Path(path)


@contextmanager
def csv_rows(path: Path) -> Iterator[tuple[Iterator[list[str]], Callable[[], float]]]:
    """The rows of a CSV file in UTF-8, decompressed if its name ends in .gz, and the share of it that has been read.

    "-" is the standard input, of which nobody knows the size.
    """
    piped = str(path) == "-"
    opened = os.fdopen(os.dup(sys.stdin.fileno()), "rb") if piped else path.open("rb")
    with opened as file, _unpacked(path, file) as data, io.TextIOWrapper(data, "utf-8-sig", newline="") as text:
        total, rows = os.fstat(file.fileno()).st_size, csv.reader(text, strict=True)
        try:
            yield rows, lambda: 0.0 if piped else file.tell() / total
        except (gzip.BadGzipFile, zlib.error, EOFError):
            raise InvalidParameter(
                f"The file {path} is damaged, incomplete or not a gzip file. Copy or compress it again."
            ) from None
        except UnicodeDecodeError:
            raise InvalidParameter(f"The file {path} is not UTF-8 text. Save it as CSV in UTF-8.") from None
        except csv.Error:
            raise InvalidParameter(
                f"The file {path} cannot be read as CSV near line {rows.line_num}. Fix the file."
            ) from None


def _unpacked(path: Path, file: BinaryIO) -> BinaryIO:
    """The bytes of a file, decompressed if its name ends in .gz."""
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if path.suffix == ".gz" else file


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
    source = existing(path)
    columns: list[list[Any]] = [[] for _ in names]
    if source.suffix == ".parquet":
        with parquet_table(source, names) as file:
            table = file.read(columns=list(names))
            columns = [table.column(name).to_pylist() for name in names]
    else:
        with csv_rows(source) as (rows, _):
            places, body = below_header(source, rows, names)
            for cells in body:
                for column, place in zip(columns, places, strict=True):
                    column.append(cells[place])
    if not columns[0]:
        raise EmptyBatch(f"The file {source} has no rows.")
    return columns
