"""Reports of any client as numbers: every report becomes its kind, its length and a row of cells."""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ints
from deniable.core import Columns, Flags, Layout, Reports, concatenate
from deniable.core.variable import VariableLayout
from deniable.errors import InvalidParameter

EMPTY = -(1 << 40)  # what stands in the cells that a shorter report does not have
MOST_CELLS = 1 << 13


@dataclass(frozen=True, eq=False)
class Batch:
    """Reports in the order in which they were given; `before` are the reports given just before, if that is known."""

    kind: Ints
    length: Ints
    cells: NDArray[Any]  # whole numbers, or floats
    names: Mapping[int, str]  # of kinds
    columns: Columns | None = None  # of the claimed mechanism
    seconds: Floats | None = None
    before: "Batch | None" = None
    value_before: Ints | None = None
    raw: NDArray[np.object_] | None = None  # the reports as they were given

    def __len__(self) -> int:
        return len(self.kind)

    def rows(self, part: slice | NDArray[Any]) -> "Batch":
        """Some of the reports."""
        return replace(
            self,
            kind=self.kind[part],
            length=self.length[part],
            cells=self.cells[part],
            columns=None if self.columns is None else {name: column[part] for name, column in self.columns.items()},
            seconds=None if self.seconds is None else self.seconds[part],
            before=None if self.before is None else self.before.rows(part),
            value_before=None if self.value_before is None else self.value_before[part],
            raw=None if self.raw is None else self.raw[part],
        )

    def whole(self) -> Ints:
        """One number for all of a report: the same for the same report."""
        return hashed(np.column_stack([self.kind, self.length, _words(self.cells)]))


def hashed(rows: Ints) -> Ints:
    """A number for each row; different rows have different ones, but for about one pair in 2^64."""
    found = np.zeros(len(rows), np.uint64)
    for place in range(rows.shape[1]):
        column = rows[:, place]
        mixed = (found ^ column.view(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ mixed >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
        found = np.where(column == EMPTY, found, mixed)  # so that it does not matter how far a report was filled up
    return found.view(np.int64)


def _words(cells: NDArray[Any]) -> Ints:
    if cells.dtype != np.float64:
        return cells.astype(np.int64)
    return np.where(cells == EMPTY, EMPTY, np.ascontiguousarray(cells).view(np.int64))


def read(reports: Reports | Sequence[Any], seconds: Floats | None = None) -> Batch:
    """The numbers in these reports, whatever they are: columns, numbers, lists, text, bytes, or nested ones."""
    if isinstance(reports, Reports):
        return _from_columns(reports, seconds)
    if not len(reports):
        raise InvalidParameter("The client returned no reports. It must return one for each value.")
    return replace(_from_list(reports, seconds), raw=np.fromiter(reports, np.object_, len(reports)))


def _from_list(reports: Sequence[Any], seconds: Floats | None) -> Batch:
    if all(isinstance(each, Reports) for each in reports):
        return _from_columns(concatenate(reports), seconds)
    types = set(map(type, reports))
    cells = _table(reports) if len(types) == 1 else None
    if cells is not None:
        name = next(iter(types)).__name__
        kind, names = _code(name), {_code(name): name}
        return Batch(np.full(len(cells), kind), np.full(len(cells), cells.shape[1]), cells, names, seconds=seconds)
    return _one_by_one(reports, seconds)


def _table(reports: Sequence[Any]) -> NDArray[Any] | None:
    """Numbers, or lists of equally many numbers, as a table; None if they are anything else."""
    if isinstance(reports[0], str | bytes | Mapping | set | frozenset):
        return None
    try:
        table = np.array(reports)
    except (ValueError, OverflowError, TypeError):
        return None
    if table.dtype.kind not in "biuf" or not 1 <= table.ndim <= 2 or not table.size:
        return None
    table = table.reshape(len(reports), -1)
    if table.shape[1] > MOST_CELLS:
        return None
    return table.astype(np.float64 if table.dtype.kind == "f" else np.uint8 if table.dtype.kind == "b" else np.int64)


def _from_columns(reports: Reports, seconds: Floats | None) -> Batch:
    layout, columns = reports.layout, reports.columns
    if isinstance(layout, VariableLayout):
        messages = [columns["message"][place] for place in range(len(reports))]
        batch = _one_by_one(list(zip(columns["key"].tolist(), messages, strict=True)), seconds)
        return replace(batch, columns=columns)
    parts = [
        column.astype(np.int64)[:, None]
        if column.ndim == 1
        else np.unpackbits(column.astype(np.uint8, copy=False), axis=1, bitorder="little")  # padding included
        for column in columns.values()
    ]
    one = parts[0] if len(parts) == 1 else np.concatenate([part.astype(np.int64) for part in parts], axis=1)
    size = len(reports)
    return Batch(np.zeros(size, np.int64), np.full(size, one.shape[1]), one, {0: "report"}, columns, seconds)


def cell_names(layout: Layout | None, width: int) -> list[str]:
    """What to call each cell in a sentence."""
    names: list[str] = []
    for field in () if layout is None or isinstance(layout, VariableLayout) else layout.fields:
        if isinstance(field, Flags):
            names += [f"bit {bit}" if bit < field.bits else f"padding bit {bit}" for bit in range((field.bits + 7) // 8 * 8)]
        else:
            names.append(f"the field {field.name!r}")
    if len(names) == width:
        return names
    return ["the report"] if width == 1 else [f"the number at place {place}" for place in range(width)]


def _one_by_one(reports: Sequence[Any], seconds: Floats | None) -> Batch:
    names: dict[int, str] = {}
    kinds, rows = np.empty(len(reports), np.int64), []
    for place, report in enumerate(reports):
        row: list[float] = []
        name = _flatten(report, row)
        kinds[place] = code = _code(name)
        names.setdefault(code, name)
        if len(row) > MOST_CELLS:
            raise InvalidParameter(f"A report has more than {MOST_CELLS:,} numbers, the most that the audit reads.")
        rows.append(row)
    length = np.array([len(row) for row in rows])
    floats = any(isinstance(cell, float) for row in rows for cell in row)
    cells = np.full((len(rows), max(1, int(length.max()))), EMPTY, np.float64 if floats else np.int64)
    for place, row in enumerate(rows):
        cells[place, : len(row)] = row
    return Batch(kinds, length, cells, names, seconds=seconds)


def _code(name: str) -> int:
    return zlib.crc32(name.encode())


def _flatten(report: Any, row: list[float]) -> str:
    """Append the numbers in a report to the row; the name of its kind comes back."""
    if isinstance(report, str | bytes | bytearray):
        row.extend(report.encode() if isinstance(report, str) else report)
        return type(report).__name__
    if isinstance(report, int | np.integer | np.bool_):
        number = int(report)
        while not -(1 << 62) < number < 1 << 62:  # a larger one takes several cells
            row.append(number & ((1 << 62) - 1))
            number >>= 62
        row.append(number)
        return type(report).__name__
    if isinstance(report, float | np.floating):
        row.append(float(report))
        return type(report).__name__
    if report is None:
        return "nothing"
    if isinstance(report, Mapping):
        inner = [f"{key}: {_flatten(report[key], row)}" for key in sorted(report, key=str)]
        return f"{type(report).__name__} of {', '.join(inner)}"
    if isinstance(report, set | frozenset):
        inner = sorted({_flatten(each, row) for each in sorted(report, key=str)})
        return f"{type(report).__name__} of {', '.join(inner)}"
    if isinstance(report, Iterable):
        inner = sorted({_flatten(each, row) for each in report})
        return f"{type(report).__name__} of {', '.join(inner)}"
    raise InvalidParameter(
        f"The client returned a report of type {type(report).__name__}. The audit reads numbers, text, bytes, and lists "
        "and dictionaries of these."
    )


def joined(parts: Sequence[Batch]) -> Batch:
    """Several batches as one; shorter reports are filled up."""
    if len(parts) == 1:
        return parts[0]
    first, width = parts[0], max(part.cells.shape[1] for part in parts)
    return Batch(
        np.concatenate([part.kind for part in parts]),
        np.concatenate([part.length for part in parts]),
        np.concatenate([_widened(part.cells, width) for part in parts]),
        {code: name for part in parts for code, name in part.names.items()},
        None
        if first.columns is None
        else {name: np.concatenate([part.columns[name] for part in parts if part.columns]) for name in first.columns},
        None if first.seconds is None else np.concatenate([part.seconds for part in parts if part.seconds is not None]),
        raw=None if first.raw is None else np.concatenate([part.raw for part in parts if part.raw is not None]),
    )


def _widened(cells: NDArray[Any], width: int) -> NDArray[Any]:
    missing = width - cells.shape[1]
    if not missing:
        return cells
    wide = cells if cells.dtype == np.float64 else cells.astype(np.int64)
    return np.pad(wide, ((0, 0), (0, missing)), constant_values=EMPTY)
