"""Tables of people: columns that became numbers in their public ranges, with a class or a target each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ints
from research.data.folder import Data

ADULT, BANK = "tabular/adult.csv.gz", "tabular/bank_additional_full.csv.gz"
ABALONE, BIAS = "tabular/abalone.csv.gz", "tabular/bias_correction.csv.gz"
SUPERCONDUCT = "tabular/superconduct_76f.csv.gz"

Cells = NDArray[np.object_]  # a row of words for each person


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of numbers in their public ranges, with a class or a target each."""

    name: str
    rows: Floats
    right: NDArray[np.generic]
    low: Floats
    high: Floats
    one_hot: Floats  # the same people with a column for each category, in [-1, 1]; as `rows` where there are none

    def parts(self, seed: int, test: float = 0.25) -> tuple[Ints, Ints]:
        """The people to train on and the people to test on, drawn anew for each training."""
        order = np.random.default_rng([seed, 1]).permutation(len(self.rows))
        held = round(test * len(order))
        return order[held:], order[:held]

    def sampled(self, people: int) -> "Table":
        """At most so many of the people, drawn once; 0 for all."""
        if not 0 < people < len(self.rows):
            return self
        own = np.random.default_rng(11).permutation(len(self.rows))[:people]
        return replace(self, rows=self.rows[own], right=self.right[own], one_hot=self.one_hot[own])


def complete(data: Data, file: str, columns: Sequence[str] | None = None) -> tuple[list[str], Cells]:
    """The names of some or all columns of a file, and its lines without a missing cell there."""
    names = list(columns or data.header(file))
    cells = np.array(data.table(file, names), object).T
    return names, cells[[all(cell not in ("", "NA") for cell in row) for row in cells]]


def table(
    name: str,
    names: Sequence[str],
    cells: Cells,
    target: str,
    drop: Sequence[str] = (),
    logs: Sequence[str] = (),
    positive: str = "",
) -> Table:
    """A table whose columns became numbers: categories by their alphabetical rank, `logs` by their logarithm.

    The ranges of the columns are those of these cells: they stand for what a codebook says. With `positive`, the target is
    whether it begins with this word.
    """
    columns, flags = [], []
    for place, column in enumerate(names):
        if column in (target, *drop):
            continue
        own = cells[:, place].tolist()
        try:
            numbers = np.array(own, np.float64)
            columns.append(np.log1p(numbers) if column in logs else numbers)
            flags.append(between(columns[-1])[:, None])
        except ValueError:
            kinds, codes = np.unique(own, return_inverse=True)
            columns.append(codes.astype(np.float64))
            flags.append(np.eye(len(kinds))[codes])
    last = cells[:, list(names).index(target)].tolist()
    right = np.array([cell.startswith(positive) for cell in last], np.int64) if positive else np.array(last, np.float64)
    rows = np.stack(columns, axis=1)
    low, high = rows.min(axis=0), rows.max(axis=0)
    return Table(name, rows, right, low, np.where(high > low, high, low + 1), np.concatenate(flags, axis=1))


def between(numbers: Floats) -> Floats:
    """Numbers moved to [-1, 1]."""
    low, high = numbers.min(), numbers.max()
    return np.asarray(2 * (numbers - low) / max(high - low, 1e-12) - 1)


def made_up(name: str, people: int, features: int, classes: bool, random: np.random.Generator | None = None) -> Table:
    """A stand-in for a table that is not at hand: the first four features matter, and a threshold on the first."""
    random = np.random.default_rng(5) if random is None else random
    rows = random.uniform(-1, 1, (people, features))
    signal = rows[:, :4].sum(axis=1) + (rows[:, 0] > 0.3) + 0.3 * random.normal(size=people)
    right = (signal > 1).astype(np.int64) if classes else 10 + 3 * signal
    ends = np.ones(features)
    return Table(f"{name}, made up", rows, right, -ends, ends, rows)
