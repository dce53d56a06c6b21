"""How many people gave each answer, from a table: the truth of an experiment."""

from dataclasses import dataclass
from pathlib import Path

from deniable.errors import InvalidParameter
from deniable.files.tables import read_columns

LARGEST_COUNT = 1 << 40


@dataclass(frozen=True)
class Histogram:
    """The answers, how many people gave each, and which of them are sensitive, if the table says so."""

    labels: tuple[str, ...]
    people: tuple[int, ...]
    sensitive: tuple[str, ...] | None


def read_histogram(path: Path, value: str, count: str, sensitive: str | None = None) -> Histogram:
    """The columns of these names in a table, CSV (perhaps .gz) or Parquet; `sensitive` holds 1 or 0."""
    labels, people, *marks = read_columns(path, [value, count] + ([] if sensitive is None else [sensitive]))
    if len(set(labels)) != len(labels):
        raise InvalidParameter(f"Column {value!r} of {path} names an answer twice. Add up its counts.")
    answers = tuple(map(str, labels))
    numbers = tuple(_whole(text, path, count) for text in people)
    if sensitive is None:
        return Histogram(answers, numbers, None)
    marked = [_whole(text, path, sensitive) for text in marks[0]]
    return Histogram(answers, numbers, tuple(label for label, mark in zip(answers, marked, strict=True) if mark))


def _whole(cell: object, path: Path, column: str) -> int:
    text = str(cell)
    if not (text.isascii() and text.isdigit()) or len(text) > 13 or int(text) > LARGEST_COUNT:
        raise InvalidParameter(f"Column {column!r} of {path} must hold whole numbers of people.")
    return int(text)
