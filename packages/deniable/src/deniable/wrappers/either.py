"""The layout of reports that are a base mechanism's or disclose an open answer, never both."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import Columns, Drawn, Flags, Layout, Number
from deniable.errors import InvalidReport


@dataclass(frozen=True)
class Either(Layout):
    """Numbers the open answers from 1 to `open`; a report with number 0 is the base's."""

    base: Layout
    open: int

    @property
    def opens(self) -> tuple[str, int]:
        return "open", 1

    @abstractmethod
    def join(self, number: Ints, columns: Drawn) -> Drawn:
        """Reports that disclose the open answer `number`, or these ones where it is 0."""

    @abstractmethod
    def disclosed(self, columns: Columns) -> Ints:
        """The number of the open answer that each report discloses, or 0."""

    @abstractmethod
    def protected(self, columns: Columns, rows: Bools) -> Columns:
        """The base's reports in these rows, which disclose no open answer."""


@dataclass(frozen=True)
class OneNumber(Either):
    """Where the base sends one number, an open answer is a further number: no bit is spent on which it is."""

    @property
    def opens(self) -> tuple[str, int]:
        return self._number.name, self._number.below

    @cached_property
    def _number(self) -> Number:
        (field,) = self.base.fields
        assert isinstance(field, Number)
        return field

    def join(self, number: Ints, columns: Drawn) -> Drawn:
        name, below = self._number.name, self._number.below
        return {name: np.where(number > 0, np.maximum(number, 1) + (below - 1), columns[name])}

    def disclosed(self, columns: Columns) -> Ints:
        sent = columns[self._number.name].astype(np.int64)
        return np.maximum(sent - (self._number.below - 1), 0)

    def protected(self, columns: Columns, rows: Bools) -> Columns:
        return {self._number.name: columns[self._number.name][rows].astype(self._number.dtype)}


@dataclass(frozen=True)
class ManyFields(Either):
    """A field "open" that is 0 in the base's reports, before the base's own fields, which are 0 in all others."""

    def spec(self) -> list[dict[str, object]]:
        return [self.fields[0].spec(), *self.base.spec()]  # how many cells the base's reports have set is checked too

    def join(self, number: Ints, columns: Drawn) -> Drawn:
        kept = number == 0
        return {"open": number} | {name: np.where(kept, column, 0) for name, column in columns.items()}

    def disclosed(self, columns: Columns) -> Ints:
        return columns["open"].astype(np.int64)

    def protected(self, columns: Columns, rows: Bools) -> Columns:
        return {field.name: columns[field.name][rows] for field in self.base.fields}

    def check(self, columns: Columns) -> int:
        size = super().check(columns)
        disclosing = columns["open"] > 0
        self.base.check(self.protected(columns, ~disclosing))
        if any(column.any() for column in self.protected(columns, disclosing).values()):
            raise InvalidReport(
                "A report discloses a non-sensitive answer and also has a protected part. No device sends this."
            )
        return size


def either(base: Layout, open_answers: int) -> Either:
    """The layout for a base mechanism's reports and this many open answers."""
    first, *others = base.fields
    if isinstance(first, Number) and not others:
        return OneNumber((Number(first.name, first.below + open_answers),), base, open_answers)
    # A report that discloses an answer has no cell set, so the base's layout checks how many are set.
    fields = (Flags(field.name, field.bits) if isinstance(field, Flags) else field for field in base.fields)
    return ManyFields((Number("open", open_answers + 1), *fields), base, open_answers)
