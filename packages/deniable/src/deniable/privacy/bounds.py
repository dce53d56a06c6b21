"""What a rule of proof finds, and with how much effort it looks."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from deniable.privacy.problem import Problem

LIMITS = (1 << 12, 1 << 16, 1 << 21)  # worlds that are followed at most: few first, more where no rule reaches with few


@dataclass(frozen=True)
class Bound:
    """The loss is at most these odds (None: unbounded), by these rules."""

    odds: Fraction | None
    rules: tuple[str, ...]
    marked: str = ""  # a report that reaches the bound, for answers that name cells 0 and 1, in words

    @property
    def loose(self) -> bool:
        """Whether more was shown than the report says, so that another rule may find less."""
        return self.odds is None or "unfolding" in self.rules

    def __lt__(self, other: "Bound") -> bool:
        return self.odds is not None and (other.odds is None or self.odds < other.odds)


@dataclass(frozen=True)
class Effort:
    """How many worlds may be followed at once, how many rules were applied one inside the other, and what was found."""

    limit: int
    depth: int = 0
    found: dict[tuple[Hashable, ...], "Bound | None"] = field(default_factory=dict)

    def within(self, limit: int) -> "Effort":
        """The same with another limit."""
        return replace(self, limit=limit)

    def deeper(self, steps: int = 1) -> "Effort":
        return replace(self, depth=self.depth + steps)


Rule = Callable[[Problem, Effort], Bound | None]


def product(parts: Sequence[Bound | None]) -> Bound | None:
    """The bound of parts that share no draw."""
    if any(part is None for part in parts):
        return None
    found = [part for part in parts if part is not None]
    odds = math.prod((part.odds for part in found if part.odds is not None), start=Fraction(1))
    rules = tuple(dict.fromkeys(rule for part in found for rule in part.rules))
    return Bound(None if any(part.odds is None for part in found) else odds, ("independence", *rules))


def worst(parts: Sequence[Bound | None], *rules: str) -> Bound | None:
    """The bound of the worst of several cases."""
    if not parts or any(part is None for part in parts):
        return None
    found = [part for part in parts if part is not None]
    unbounded = any(part.odds is None for part in found)
    odds = None if unbounded else max(part.odds for part in found if part.odds is not None)
    return Bound(odds, (*rules, *dict.fromkeys(rule for part in found for rule in part.rules if rule not in rules)))


def better(first: Bound | None, second: Bound | None) -> Bound | None:
    """The smaller of two bounds, of which one may be missing."""
    if first is None or second is None:
        return first or second
    return min(first, second)
