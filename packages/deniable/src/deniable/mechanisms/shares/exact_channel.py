"""Channels of exact fractions, with a report for each answer."""

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Floats
from deniable.core import Mechanism, PrivacyLoss
from deniable.errors import InvalidParameter
from deniable.mechanisms.shares.channel import Channel

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
        raise InvalidParameter("A report of this mechanism can rule out an answer, so no budget is large enough for it.")
    return PrivacyLoss(odds).epsilon()


def check_cost(mechanism: Mechanism) -> None:
    """Refuse parameters that cost more than the budget."""
    loss = mechanism.loss()
    if loss.odds is None or loss.epsilon() > mechanism.epsilon:
        raise InvalidParameter(
            f"These parameters cost epsilon {loss.epsilon():.6g}, more than the budget of {mechanism.epsilon:.6g}. "
            "Raise the budget, or leave the parameters out to get those that it allows."
        )
