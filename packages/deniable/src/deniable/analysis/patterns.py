"""People who look alike: rows of a model that coincide are counted instead of repeated."""

from collections.abc import Sequence

import numpy as np

from deniable.arrays import Floats, Ints

_TRIED, _OFTEN = 2048, 0.5  # so many rows are tried, and counted if at most this part of them are different
_GOLDEN = (5**0.5 - 1) / 2


def alike(columns: Sequence[Floats | Ints]) -> tuple[Ints, Ints] | None:
    """An example of every different row and which one each row is; None if too few rows coincide to be worth it."""
    rows = spread(len(columns[0]), _TRIED)
    if len(_distinct([each[rows] for each in columns])[0]) > _OFTEN * len(rows):
        return None
    return _distinct(columns)


def _distinct(columns: Sequence[Floats | Ints]) -> tuple[Ints, Ints]:
    codes, used = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        values, own = np.unique(column, return_inverse=True)
        codes, used = codes * len(values) + own, used * len(values)
        if used > 1 << 31:  # number the rows so far anew, before their codes outgrow a word
            values, codes = np.unique(codes, return_inverse=True)
            used = len(values)
    _, example, which = np.unique(codes, return_index=True, return_inverse=True)
    return example.astype(np.int64), which.astype(np.int64)


def spread(people: int, most: int) -> Ints:
    """At most so many places, spread evenly in whatever order people are."""
    if people <= most:
        return np.arange(people)
    return np.unique((np.arange(1, most + 1) * _GOLDEN % 1 * people).astype(np.int64))
