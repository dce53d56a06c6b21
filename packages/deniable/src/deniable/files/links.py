"""Links in a table, one row for each: who, to what, and with which weight. No message here repeats any of them."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from deniable.arrays import Floats, Ints, Progress
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.files.names import Names
from deniable.files.tables import column_batches


@dataclass(frozen=True, repr=False, eq=False)
class Links:
    """For each link the numbers of a person and an item, whose names are in order; without weights each has weight 1."""

    people: Sequence[str]
    users: Ints
    labels: Sequence[str]
    items: Ints
    weights: Floats | None


def read_links(
    path: str | PathLike[str],
    user: str = "user",
    item: str = "item",
    weight: str | None = "weight",
    progress: Progress | None = None,
) -> Links:
    """The links in a Parquet file if its name ends so, else in a CSV file in UTF-8, which may be compressed (.gz).

    `weight` None reads no weights. A CSV file needs a line of column names; blank lines are left out. Some rows are read at
    a time, and `progress` is called with the share of the file that has been read.
    """
    names = [user, item] + ([] if weight is None else [weight])
    users, items, weights = Names(), Names(), array("d")
    for batch in column_batches(path, names, progress):
        columns, row = [["" if cell is None else str(cell) for cell in column] for column in batch], len(users)
        for side, name, column in zip((users, items), names, columns, strict=False):
            if not all(column):
                raise InvalidParameter(
                    f"Row {row + column.index('') + 1} of {path} has no value in column {name!r}. Fix the file."
                )
            side.add(column)
        if weight is not None:
            weights.extend(_numbers(path, weight, columns[2], row))
    return Links(*users.in_order(), *items.in_order(), None if weight is None else np.frombuffer(weights, np.float64))


def _numbers(path: str | PathLike[str], name: str, texts: list[str], row: int) -> Floats:
    """These texts as numbers; `row` rows were read before."""
    try:
        numbers = np.array(texts, np.float64)
    except ValueError:
        numbers = np.array([_number(text) for text in texts])
    if not np.isfinite(numbers).all():
        wrong = row + int(np.flatnonzero(~np.isfinite(numbers))[0]) + 1
        raise OutsideDomain(f"Row {wrong} of {path} has no finite number in column {name!r}. Correct or remove it.")
    return numbers


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
