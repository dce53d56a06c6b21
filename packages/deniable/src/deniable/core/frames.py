"""Answers from columns of data frames: pandas, Polars, PyArrow, DuckDB, Modin and whatever else narwhals reads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter, OutsideDomain

if TYPE_CHECKING:
    import narwhals

Listed = Sequence[object] | NDArray[np.generic]


def answers(data: object, column: str | Sequence[str] | None = None, *, silence: object = None) -> Listed:
    """The answers in a column of any data frame, ready for `perturb`; of several columns, a row for each person.

    `data` is a data frame, a column of one, or a DuckDB relation. Missing answers are refused; with `silence` each of them
    becomes that answer, which must be one of the question's and is randomized like any other. Leaving people out instead
    would disclose who did not answer.

    >>> import pandas
    >>> frame = pandas.DataFrame({"smokes": ["yes", None, "no"]})
    >>> answers(frame, "smokes", silence="(no answer)")
    ['yes', '(no answer)', 'no']
    """
    nw = _narwhals()
    found: Any = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(found, nw.LazyFrame):
        found = found.collect()
    if isinstance(found, nw.DataFrame):
        names = [column] if isinstance(column, str) else list(found.columns if column is None else column)
        absent = [name for name in names if name not in found.columns]
        if absent or not names:
            raise InvalidParameter(f"There is no column {absent[0]!r}. The columns are {', '.join(found.columns)}.")
        columns = [_column(found[name], silence) for name in names]
        return columns[0] if len(names) == 1 else [*zip(*columns, strict=True)]
    if column is not None:
        raise InvalidParameter("Only a data frame has columns to choose from. Leave the name of the column out.")
    if isinstance(found, nw.Series):
        return _column(found, silence)
    return _plain(data, silence)


def _narwhals() -> Any:
    import narwhals  # takes a while, and most answers come as lists

    return narwhals


def _column(series: "narwhals.Series[Any]", silence: object) -> Listed:
    """The values of a column: an array of numbers, or a list."""
    if series.dtype.is_decimal():
        series = series.cast(_narwhals().Float64)
    missing = series.is_null()
    if series.dtype.is_float():
        missing = missing | series.is_nan()  # which Polars and Arrow keep apart
    count = int(missing.sum())
    if count and silence is None:
        _refuse(count, len(series))
    if not count and series.dtype.is_numeric():
        return np.ascontiguousarray(series.to_numpy())
    values = series.to_list()
    return [silence if gone else value for value, gone in zip(values, missing.to_list(), strict=True)] if count else values


def _plain(data: object, silence: object) -> Listed:
    """What is no data frame: a list, an array, or anything that becomes one."""
    if isinstance(data, str | bytes) or not hasattr(data, "__len__"):
        raise InvalidParameter("Answers come from a data frame, a column or a list.")
    values: Listed = data if isinstance(data, list | tuple) else np.asarray(data)
    if isinstance(values, np.ndarray) and values.dtype != object:
        return values
    missing = [value is None or value != value for value in values]  # None, or not a number
    if any(missing) and silence is None:
        _refuse(sum(missing), len(values))
    return [silence if gone else value for value, gone in zip(values, missing, strict=True)] if any(missing) else values


def _refuse(missing: int, people: int) -> None:
    raise OutsideDomain(
        f"{missing:,} of {people:,} answers are missing. Fill them in, or let one of the question's answers stand for "
        'silence: deniable.answers(column, silence="(no answer)").'
    )
