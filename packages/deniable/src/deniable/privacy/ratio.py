"""The worst ratio between exact laws: the report that distinguishes two values best."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.arrays import Bytes, Ints
from deniable.core import distinct_rows
from deniable.privacy.law import Law


@dataclass(frozen=True)
class Worst:
    """The largest ratio between two values (None: unbounded), which two, and at which report."""

    odds: Fraction | None
    pair: tuple[int, int]
    report: str


class _Chances:
    """A growing list of distinct probabilities."""

    def __init__(self) -> None:
        self.values: list[Fraction] = []
        self._places: dict[Fraction, int] = {}

    def indices(self, chances: list[Fraction]) -> Ints:
        """Where each of these stands in the list; new ones are appended."""
        for chance in chances:
            if self._places.setdefault(chance, len(self.values)) == len(self.values):
                self.values.append(chance)
        return np.array([self._places[chance] for chance in chances], np.int64)


def worst_ratio(laws: Sequence[Law], indices: Sequence[int], disclosed: Callable[[Bytes], Ints] | None = None) -> Worst:
    """The largest ratio between two laws over all reports.

    `disclosed` gives the index of the value that a report discloses, or -1. Such a report is left out only if no other
    value gives it: then it is about nobody who has another.
    """
    rows = np.concatenate([each.reports for each in laws])
    example, which = distinct_rows(rows)
    reports = rows[example]
    merged = _Chances()
    merged.indices([Fraction(0)])
    order = [merged.indices(each.chances) for each in laws]
    by_size = sorted(range(len(merged.values)), key=merged.values.__getitem__)
    rank = np.empty(len(by_size), np.int64)
    rank[by_size] = np.arange(len(by_size))
    table = np.zeros((len(laws), len(reports)), np.int64)  # rank of the probability; rank 0 is probability 0
    edges = np.cumsum([0, *(len(each) for each in laws)])
    for row, each in enumerate(laws):
        table[row, which[edges[row] : edges[row + 1]]] = rank[order[row][each.chance]]
    if disclosed is not None:
        value, index = disclosed(reports), np.array(indices)
        alone = (table > 0).sum(axis=0) == 1
        proper = alone & (value == index[(table > 0).argmax(axis=0)])
        table, reports = table[:, ~proper], reports[~proper]
    high, low = table.max(axis=0), table.min(axis=0)
    values = [merged.values[place] for place in by_size]
    worst: Worst | None = None
    for top, bottom in np.unique(np.stack([high, low], axis=1), axis=0):
        odds = values[top] / values[bottom] if values[bottom] else None
        if worst is None or odds is None or (worst.odds is not None and odds > worst.odds):
            at = int(np.flatnonzero((high == top) & (low == bottom))[0])
            pair = indices[int(table[:, at].argmax())], indices[int(table[:, at].argmin())]
            worst = Worst(odds, pair, reports[at].tobytes().hex())
            if odds is None:
                break
    assert worst is not None
    return worst
