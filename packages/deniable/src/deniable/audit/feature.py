"""A number that is read from every report, and what is known about the client besides its reports."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from deniable.arrays import Ints
from deniable.audit.batch import Batch
from deniable.core import Mechanism

MOST_LEVELS = 1 << 14  # of a feature whose levels are looked at one by one


@dataclass(frozen=True, eq=False)
class Feature:
    """A whole number that is read from each report; `yes` and `no` are sentences where it is 1 or 0."""

    name: str
    read: Callable[[Batch], Ints]
    yes: str = ""
    no: str = ""
    ordered: bool = False  # larger and smaller mean something
    shown: Callable[[int], str] = field(default=str)
    alone: bool = True  # whether it needs no other report

    @property
    def binary(self) -> bool:
        return bool(self.yes)

    def says(self, levels: Ints) -> str:
        """In words: the feature has one of these levels."""
        if self.binary:
            return self.yes if levels[0] else self.no
        if len(levels) == 1:
            return f"{self.name} is {self.shown(int(levels[0]))}"
        if self.ordered:
            low, high = self.shown(int(levels.min())), self.shown(int(levels.max()))
            return f"{self.name} is one of {len(levels)} from {low} to {high}"
        return f"{self.name} is one of {len(levels):,}"


@dataclass(frozen=True, eq=False)
class Context:
    """What is known about the client besides its reports."""

    values: Sequence[object]
    mechanism: Mechanism | None = None  # that it claims to be
    repeats: int = 1
    timing: bool = False
    sequence: bool = True
    supports: Callable[[Any, Any], object] | None = None  # whether a report counts for a value, as its collector says

    @property
    def labels(self) -> list[str]:
        """The values for people to read."""
        return [text if len(text := repr(value)) <= 40 else text[:37] + "..." for value in self.values]
