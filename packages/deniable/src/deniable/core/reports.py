"""A batch of randomized reports, column by column, with the fingerprint of the mechanism that made it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from deniable.core.layout import Column, Columns, Layout
from deniable.errors import EmptyBatch, SurveyMismatch


@dataclass(frozen=True, eq=False)
class Reports:
    """What devices sent: named NumPy columns, bits packed. Slices share memory with the batch they come from."""

    fingerprint: str
    layout: Layout
    columns: Columns

    @classmethod
    def of(cls, fingerprint: str, layout: Layout, columns: Mapping[str, Column]) -> "Reports":
        """A batch from columns of unknown origin, checked."""
        layout.check(columns)
        return cls(fingerprint, layout, columns)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, part: slice) -> "Reports":
        return Reports(self.fingerprint, self.layout, {name: column[part] for name, column in self.columns.items()})

    def __repr__(self) -> str:
        return f"<Reports: {len(self)} of {self.layout.bits} bits, mechanism {self.fingerprint[:8]}>"

    def pack(self) -> bytes:
        """The bare bits, without a header; a mechanism's `pack` adds one."""
        return self.layout.pack(self.columns)


def concatenate(batches: Iterable[Reports]) -> Reports:
    """One batch out of several of the same mechanism, in order."""
    parts = list(batches)
    if not parts:
        raise EmptyBatch("There are no batches to join.")
    first = parts[0]
    if any(part.fingerprint != first.fingerprint for part in parts):
        raise SurveyMismatch("These batches come from different mechanisms. Count each separately.")
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in first.columns}
    return Reports(first.fingerprint, first.layout, columns)
