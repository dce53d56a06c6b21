"""Events that distinguish two values: what must be seen in a report for them to have happened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.audit.batch import Batch
from deniable.audit.feature import Feature

Reading = Callable[[Feature], Ints]


class Readings:
    """The features of one batch, each read at most once."""

    def __init__(self, batch: Batch) -> None:
        self._batch, self._read = batch, dict[int, Ints]()

    def __call__(self, feature: Feature) -> Ints:
        """This feature of every report."""
        if id(feature) not in self._read:
            self._read[id(feature)] = feature.read(self._batch)
        return self._read[id(feature)]


@dataclass(frozen=True, eq=False)
class Literal:
    """A feature has one of these levels."""

    feature: Feature
    levels: Ints

    def holds(self, read: Reading) -> Bools:
        found = read(self.feature)
        return found == self.levels[0] if len(self.levels) == 1 else np.isin(found, self.levels)

    @property
    def words(self) -> str:
        return self.feature.says(self.levels)


@dataclass(frozen=True, eq=False)
class Rule:
    """All of these hold at once."""

    literals: tuple[Literal, ...]

    def holds(self, read: Reading) -> Bools:
        return np.logical_and.reduce([literal.holds(read) for literal in self.literals])

    @property
    def words(self) -> str:
        return " and ".join(literal.words for literal in self.literals)

    @property
    def alone(self) -> bool:
        return all(literal.feature.alone for literal in self.literals)


@dataclass(frozen=True, eq=False)
class Score:
    """A weighted sum of what was seen is at least a threshold: what was learned when no simpler event does it."""

    literals: Sequence[Literal]
    weights: Floats
    counts: Sequence[Feature]
    count_weights: Floats
    threshold: float = 0.0

    def sums(self, read: Reading) -> Floats:
        """The weighted sum of each report."""
        parts = [weight * literal.holds(read) for literal, weight in zip(self.literals, self.weights, strict=True)]
        parts += [weight * read(feature) for feature, weight in zip(self.counts, self.count_weights, strict=True)]
        return np.sum(parts, axis=0)

    def holds(self, read: Reading) -> Bools:
        return self.sums(read) >= self.threshold

    @property
    def words(self) -> str:
        return (
            f"a score learned from {len(self.weights) + len(self.count_weights)} features is at least {self.threshold:.4g}"
        )

    @property
    def alone(self) -> bool:
        return all(literal.feature.alone for literal in self.literals) and all(each.alone for each in self.counts)


Event = Rule | Score
