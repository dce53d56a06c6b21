"""How many people gave each answer, from a table: the truth of an experiment."""

import csv
import gzip
import io
from dataclasses import dataclass
from pathlib import Path

from deniable.errors import InvalidParameter

LARGEST_COUNT = 1 << 40


@dataclass(frozen=True)
class Histogram:
    """The answers, how many people gave each, and which of them are sensitive, if the table says so."""

    labels: tuple[str, ...]
    people: tuple[int, ...]
    sensitive: tuple[str, ...] | None


def read_histogram(path: Path, value: str, count: str, sensitive: str | None = None) -> Histogram:
    """The columns of these names in a CSV file, which may be packed by gzip; `sensitive` holds 1 or 0."""
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except FileNotFoundError:
        raise InvalidParameter(f"There is no file {str(path)!r}. Check the name.") from None
    except (OSError, EOFError, ValueError, csv.Error) as error:
        raise InvalidParameter(f"The file {str(path)!r} cannot be read as a CSV table in UTF-8.") from error
    wanted = [name for name in (value, count, sensitive) if name is not None]
    missing = [name for name in wanted if not rows or rows[0].get(name) is None]
    if missing:
        has = ", ".join(repr(name) for name in (rows[0] if rows else ()) if name) or "no rows"
        raise InvalidParameter(f"The file {str(path)!r} has no column {missing[0]!r}; it has {has}.")
    labels, people = tuple(row[value] for row in rows), tuple(_whole(row[count], path, count) for row in rows)
    if len(set(labels)) != len(labels):
        raise InvalidParameter(f"Column {value!r} of {str(path)!r} names an answer twice. Add up its counts.")
    if sensitive is None:
        return Histogram(labels, people, None)
    marks = [_whole(row[sensitive], path, sensitive) for row in rows]
    return Histogram(labels, people, tuple(label for label, mark in zip(labels, marks, strict=True) if mark))


def _whole(text: str | None, path: Path, column: str) -> int:
    if text is None or not (text.isascii() and text.isdigit()) or len(text) > 13 or int(text) > LARGEST_COUNT:
        raise InvalidParameter(f"Column {column!r} of {str(path)!r} must hold whole numbers of people.")
    return int(text)
