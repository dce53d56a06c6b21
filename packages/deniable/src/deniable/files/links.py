"""Links in a table, one row for each: who, to what, and with which weight. No message here repeats any of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deniable.arrays import Floats
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.files.tables import read_columns


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
    names = [user, item] + ([] if weight is None else [weight])
    columns = [["" if cell is None else str(cell) for cell in column] for column in read_columns(path, names)]
    for name, column in zip(names[:2], columns, strict=False):
        if not all(column):
            raise InvalidParameter(f"Row {_first_empty(column)} of {path} has no value in column {name!r}. Fix the file.")
    return Links(columns[0], columns[1], None if weight is None else _numbers(path, weight, columns[2]))


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
