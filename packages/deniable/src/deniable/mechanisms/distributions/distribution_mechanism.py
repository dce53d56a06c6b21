"""What all mechanisms for the distribution of a number share: a finite channel and the best linear estimate for it."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np

from deniable.arrays import Floats
from deniable.core import Estimate, Tally
from deniable.errors import InvalidParameter
from deniable.mechanisms.distributions.distribution import Distribution
from deniable.mechanisms.distributions.fitting import fitted
from deniable.mechanisms.distributions.grid import Grid, grid_of
from deniable.mechanisms.shares.channel import Channel

MOST_POINTS = 2048  # of a grid: the estimate solves equations in so many unknowns


def check_points(size: int) -> None:
    """Whether a distribution can be estimated on a grid of so many points."""
    if not 2 <= size <= MOST_POINTS:
        raise InvalidParameter(
            f"A distribution is estimated on a grid of 2 to {MOST_POINTS} points; this one has {size:,}. Use fewer steps."
        )


class LinearMechanism(Channel):
    """A report is one number whose law depends on the place of the answer among all answers.

    Shares are estimated by generalised least squares: with P the matrix of the channel and g the reports to expect if all
    answers are equally common, (P G P')^-1 P G for G = diag(1 / g) is unbiased whatever the truth is, and has the smallest
    variance if it is even.
    """

    derived: ClassVar[Sequence[str]] = ("odds",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_points(self.domain.size)

    @property
    @abstractmethod
    def matrix(self) -> Floats:
        """The probability of each report, a row for each answer."""

    @cached_property
    def information(self) -> Floats:
        """What one report says about the shares, as a precision matrix, if all answers are equally common."""
        return (self.matrix / self.matrix.mean(axis=0)) @ self.matrix.T

    @cached_property
    def even_noise(self) -> Floats:
        """`joint_noise` if all answers are equally common, without the estimate's matrix: the inverse of the information."""
        return np.asarray(np.linalg.inv(self.information) - np.eye(self.domain.size) / self.domain.size)

    @cached_property
    def inverse(self) -> Floats:
        if self.rank < self.domain.size:
            return super().inverse  # which says why there is none
        return least_squares_inverse(self.matrix)


class DistributionMechanism(LinearMechanism):
    """A mechanism for answers in order. `distribution` gives the unbiased estimate with its exact covariance, and beside it
    the smooth shares that fit the reports best."""

    question = "distributions"
    circular: bool = False  # whether the last answer is a neighbour of the first, as for hours

    def __post_init__(self) -> None:
        assert self.grid.size  # refuses domains without an order
        super().__post_init__()

    @cached_property
    def grid(self) -> Grid:
        """The answers on the line."""
        return grid_of(self.domain)

    def mean_of(self, tally: Tally) -> Estimate:
        """The unbiased one, which the interval belongs to."""
        value = self.distribution(tally).mean()
        return Estimate(("mean",), np.array([value.raw]), np.array([value.standard_error**2]), tally.n, measure="mean")

    def distribution(self, tally: Tally) -> Distribution:
        """The distribution behind a tally: shares, quantiles, ranges and bands."""
        raw = self.estimate(tally)
        values, heaps = fitted(self.matrix, tally.counts, self.circular)
        round_ = self.circular and self.grid.atoms
        return Distribution(
            self.grid, tally.n, values, raw.values, lambda: self.joint_noise(values) / tally.n, tuple(heaps), round_
        )


def least_squares_inverse(matrix: Floats) -> Floats:
    """What turns shares of reports into shares of answers, a row each: without bias, and best if answers are even."""
    scale = np.sqrt(matrix.mean(axis=0))
    basis, upper = np.linalg.qr((matrix / scale).T)
    try:
        return np.asarray(np.linalg.solve(upper, basis.T) / scale)
    except np.linalg.LinAlgError:
        raise InvalidParameter(
            "Different shares give the same reports, so no unbiased estimate exists. Add a round that asks for all answers."
        ) from None
