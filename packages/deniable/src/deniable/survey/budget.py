"""One budget for a person over the survey: shared out over the questions, or spent whole on a random part of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Literal, NamedTuple

from deniable.core import PrivacyLoss, log_up, odds_below

Budget = Literal["equal", "weighted", "sampled"]
BUDGETS: tuple[Budget, ...] = ("equal", "weighted", "sampled")


class Spending(NamedTuple):
    """What a person may spend, how it is spent, how many people are expected, and which edition of the planner plans it."""

    epsilon: float
    budget: Budget
    sample: int
    people: int
    edition: int = 1

    def shares(self, weights: Sequence[float]) -> list[float]:
        """The epsilon of each of several reports with these weights; of questions together, the sum of theirs."""
        by_weight: Budget = "sampled" if self.budget == "sampled" else "weighted"
        return shares(self.epsilon, by_weight, self.sample, weights)

    def reports(self, units: int) -> int:
        """How many people report on each of so many questions, or groups of them."""
        return max(1, self.people * self.sample // units) if self.budget == "sampled" else self.people


def shares(epsilon: float, budget: Budget, sample: int, weights: Sequence[float]) -> list[float]:
    """The epsilon of each question, so that what one person answers never exceeds the budget, to the last digit.

    >>> shares(2.0, "equal", 1, [1, 1])
    [1.0, 1.0]
    >>> shares(2.0, "sampled", 1, [1, 1])
    [2.0, 2.0]
    """
    if budget == "sampled":
        parts = [epsilon / sample] * len(weights)
    else:
        used = weights if budget == "weighted" else [1.0] * len(weights)
        parts = [epsilon * weight / sum(used) for weight in used]
    while log_up(_worst(parts, budget, sample)) > epsilon:  # dividing may have rounded up
        parts = [math.nextafter(part, 0.0) for part in parts]
    return parts


def _worst(parts: Sequence[float], budget: Budget, sample: int) -> Fraction:
    odds = sorted((odds_below(part) for part in parts), reverse=True)
    return math.prod(odds[:sample] if budget == "sampled" else odds, start=Fraction(1))


def person(losses: Sequence[PrivacyLoss], budget: Budget, sample: int) -> PrivacyLoss:
    """What one person gives away over the whole survey; of a random part, what the worst part would."""
    if budget == "sampled":
        unbounded = [loss for loss in losses if loss.odds is None]
        losses = unbounded or sorted(losses, key=lambda loss: loss.odds or 0, reverse=True)
        losses = losses[:sample]
    return reduce(add, losses)


@dataclass(frozen=True)
class Advice:
    """The error of each question's shares, root mean square, under both ways to spend the budget."""

    questions: tuple[str, ...]
    shared: tuple[float, ...]
    sampled: tuple[float, ...]

    @property
    def better(self) -> Literal["equal", "sampled"]:
        """The way with the smaller sum of squared errors, each beside the better of its two."""
        pairs = list(zip(self.shared, self.sampled, strict=True))
        shared, sampled = (sum(_times(pair[way], min(pair)) ** 2 for pair in pairs) for way in (0, 1))
        return "equal" if shared <= sampled else "sampled"


def _times(error: float, least: float) -> float:
    """How many times the least of two errors one of them is; at the largest budgets both may be 0."""
    return 1.0 if error == least else error / least if least else math.inf
