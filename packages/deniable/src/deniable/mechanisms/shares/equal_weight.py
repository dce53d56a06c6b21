"""Channels of exact fractions, and direct response with any probability."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins, check_probability
from deniable.core.domain import Domain
from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import Mechanism
from deniable.errors import InvalidParameter
from deniable.mechanisms.shares.finite_channel import Channel

Matrix = tuple[tuple[Fraction, ...], ...]


class ExactChannel(Channel):
    """A channel given by its exact fractions, with a report for each answer: row x is the law of the report on answer x.

    For people drawn at random the covariance of the shares f is (diag(f) - f f^T) / n more than for fixed people.
    """

    @property
    @abstractmethod
    def channel(self) -> Matrix:
        """The matrix, in exact fractions."""

    @cached_property
    def matrix(self) -> Floats:
        return np.array([[float(chance) for chance in row] for row in self.channel])

    def worst(self) -> Fraction | None:
        """The largest ratio between two entries of a column, None if a zero meets something else."""
        worst = Fraction(1)
        for column in zip(*self.channel, strict=True):
            if max(column) > 0:
                if min(column) == 0:
                    return None
                worst = max(worst, max(column) / min(column))
        return worst


def own_cost(epsilon: float | None, odds: Fraction | None) -> float:
    """The budget that was given, or else what the mechanism costs."""
    if epsilon is not None:
        return epsilon
    if odds is None:
        raise InvalidParameter("A report of this mechanism can rule an answer out, so no budget is large enough for it.")
    return PrivacyLoss(odds, "enumerated").epsilon()


def check_cost(mechanism: Mechanism) -> None:
    """Refuse parameters that cost more than the budget."""
    loss = mechanism.loss()
    if loss.odds is None or loss.epsilon() > mechanism.epsilon:
        raise InvalidParameter(
            f"These parameters cost epsilon {loss.epsilon():.6g}, more than the budget of {mechanism.epsilon:.6g}. "
            "Raise the budget, or leave the parameters out to get those that it allows."
        )


@dataclass(frozen=True)
class EqualWeight(ExactChannel):
    """Tell the truth with probability p, any other answer equally often, for any p but 1 / d: EWRR_n, for n answers.

    With p = e^epsilon / (e^epsilon + d - 1) it is direct response. Ma, Wang 2021.
    """

    domain: Domain
    p: Fraction
    epsilon: float = None  # type: ignore[assignment]
    wire = "equal-weight-1"

    def __post_init__(self) -> None:
        check_probability(self.p)
        if self.p * self.domain.size == 1:
            raise InvalidParameter("With p = 1 / d reports do not depend on the answers, so nothing can be estimated.")
        object.__setattr__(self, "epsilon", own_cost(self.epsilon, self._odds))
        super().__post_init__()
        check_cost(self)

    @property
    def _odds(self) -> Fraction | None:
        other = (1 - self.p) / (self.domain.size - 1)
        return None if not self.p * other else max(self.p / other, other / self.p)

    @property
    def channel(self) -> Matrix:
        size, other = self.domain.size, (1 - self.p) / (self.domain.size - 1)
        return tuple(tuple(self.p if x == y else other for y in range(size)) for x in range(size))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        size = self.domain.size
        return {"value": (truth + coins.split(self.p, 1, size - 1, len(truth))) % size}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self._odds, proof="symmetric")

    @classmethod
    def from_parameters(cls, domain: Domain, epsilon: float, parameters: Mapping[str, Any]) -> "EqualWeight":
        return cls(domain, Fraction(parameters["p"]), epsilon)

    def parameters(self) -> Mapping[str, object]:
        return {"p": str(self.p)}
