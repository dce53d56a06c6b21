"""The layout of reports that either are a base mechanism's or tell an open answer, and never both."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core.layout import Columns, Drawn, Flags, Layout, Number
from deniable.errors import InvalidReport


@dataclass(frozen=True)
class Either(Layout):
    """`told` is 0 where a report is the base's, else it numbers the open answer from 1 to `open`."""

    base: Layout
    open: int

    @abstractmethod
    def join(self, told: Ints, columns: Drawn) -> Drawn:
        """Reports that tell where `told` is not 0, and are these ones elsewhere."""

    @abstractmethod
    def told(self, columns: Columns) -> Ints:
        """What each report tells."""

    @abstractmethod
    def protected(self, columns: Columns, rows: Bools) -> Columns:
        """The base's reports in these rows, which tell nothing."""


@dataclass(frozen=True)
class OneNumber(Either):
    """Where the base sends one number, an open answer is a further number: no bit is spent to tell which it is."""

    @cached_property
    def _number(self) -> Number:
        (field,) = self.base.fields
        assert isinstance(field, Number)
        return field

    def join(self, told: Ints, columns: Drawn) -> Drawn:
        name, below = self._number.name, self._number.below
        return {name: np.where(told > 0, told + (below - 1), columns[name])}

    def told(self, columns: Columns) -> Ints:
        number = columns[self._number.name].astype(np.int64)
        return np.maximum(number - (self._number.below - 1), 0)

    def protected(self, columns: Columns, rows: Bools) -> Columns:
        return {self._number.name: columns[self._number.name][rows].astype(self._number.dtype)}


@dataclass(frozen=True)
class ManyFields(Either):
    """A field "open" that is 0 in the base's reports, before the base's own fields, which are 0 in all others."""

    def join(self, told: Ints, columns: Drawn) -> Drawn:
        kept = told == 0
        return {"open": told} | {
            name: column * kept.reshape(-1, *[1] * (column.ndim - 1)) for name, column in columns.items()
        }

    def told(self, columns: Columns) -> Ints:
        return columns["open"].astype(np.int64)

    def protected(self, columns: Columns, rows: Bools) -> Columns:
        return {field.name: columns[field.name][rows] for field in self.base.fields}

    def check(self, columns: Columns) -> int:
        size = super().check(columns)
        telling = columns["open"] > 0
        self.base.check(self.protected(columns, ~telling))
        if any(column.any() for column in self.protected(columns, telling).values()):
            raise InvalidReport("A report tells an open answer and a protected one at once. No device sends that.")
        return size


def either(base: Layout, open_answers: int) -> Either:
    """The layout for a base mechanism's reports and this many open answers."""
    first, *others = base.fields
    if isinstance(first, Number) and not others:
        return OneNumber((Number(first.name, first.below + open_answers),), base, open_answers)
    # A report that tells has no cell set, so how many are set is for the base's layout to check.
    fields = (Flags(field.name, field.bits) if isinstance(field, Flags) else field for field in base.fields)
    return ManyFields((Number("open", open_answers + 1), *fields), base, open_answers)
