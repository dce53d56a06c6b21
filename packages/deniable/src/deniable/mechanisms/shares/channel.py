"""Mechanisms whose law is a matrix of probabilities, a row for each answer."""

from abc import abstractmethod
from functools import cached_property

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Additive, Counted, Layout, Number
from deniable.errors import InvalidParameter, InvalidReport

RANK = 1e-10  # how small, against the largest, a singular value may be before the channel counts as not invertible


class Channel(Counted, Additive):
    """A mechanism whose reports are columns of a matrix of probabilities: shares are estimated by inverting it.

    With A the pseudo-inverse of the matrix, c A is unbiased for shares c of reports if the rows are linearly independent,
    and its covariance is A' [ sum of f_x (diag(P_x) - P_x' P_x) ] A / n for people with shares f.
    """

    joint = True

    @property
    @abstractmethod
    def matrix(self) -> Floats:
        """The probability of each report, a row for each value."""

    @cached_property
    def rank(self) -> int:
        """How many rows of the channel are linearly independent, to the precision of floats."""
        return int(np.linalg.matrix_rank(self.matrix, rtol=RANK))

    @property
    def layout(self) -> Layout:
        return Layout((Number("value", max(self.cells, 2)),))

    def votes_of(self, histogram: Ints) -> Ints:
        if histogram[self.cells :].any():
            raise InvalidReport("A report is not one that this mechanism can send.")
        return histogram[: self.cells]

    @cached_property
    def inverse(self) -> Floats:
        """What turns shares of reports into shares of values without bias; its rows are the values."""
        if self.rank < self.domain.size:
            raise InvalidParameter(
                f"The {self.domain.size} rows of this channel are not linearly independent (rank {self.rank}): different "
                "shares give the same reports, so no unbiased estimate exists. em_channel(mechanism.matrix, tally.counts) "
                "or least_squares(mechanism.matrix, tally.counts) give the shares that fit best, but they are biased."
            )
        return np.linalg.pinv(self.matrix.T).astype(np.float64, copy=False)

    def debias(self, counts: Ints, reports: int) -> Floats:
        return self.inverse @ counts

    def noise(self, shares: Floats, people: float = 1.0) -> Floats:
        # Given the people, a report on x has covariance diag(P_x) - P_x P_x'.
        inverse, matrix = self.inverse, self.matrix
        return inverse**2 @ (shares @ matrix) - (inverse @ matrix.T) ** 2 @ shares

    def joint_noise(self, shares: Floats, people: float = 1.0) -> Floats:
        means = self.inverse @ self.matrix.T  # column x: the expected estimate from one report on x
        return (self.inverse * (shares @ self.matrix)) @ self.inverse.T - (means * shares) @ means.T

    def worst_noise(self) -> float:
        return float((self.inverse**2 @ self.matrix.T - (self.inverse @ self.matrix.T) ** 2).max())

    def guess(self) -> float:
        return float(self.matrix.max(axis=0).sum() / self.domain.size)
