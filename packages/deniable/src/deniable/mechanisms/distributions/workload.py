"""Linear questions about a distribution, many at once: what mechanisms are compared and tuned by."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.information import least_sum, most_information, most_of_one, singular_values


@dataclass(frozen=True, eq=False)
class Workload:
    """Questions whose answer is a sum of shares, each times a weight: a row of weights for each question.

    Only the matrix of products of its columns is kept, so that all ranges of a thousand answers take no room.

    >>> Workload([[1, 0, 0], [1, 1, 0]]).size
    3
    """

    gram: Floats = field(repr=False)
    questions: int
    name: str

    def __init__(self, matrix: ArrayLike, name: str = "", questions: int = 0) -> None:
        rows = np.asarray(matrix, np.float64)
        if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
            raise InvalidParameter("A workload is a matrix of finite weights: a row for each question, a column per answer.")
        gram = rows if questions else rows.T @ rows
        object.__setattr__(self, "gram", gram)
        object.__setattr__(self, "questions", questions or len(rows))
        object.__setattr__(self, "name", name or f"{len(rows):,} linear question{'s' * (len(rows) > 1)}")

    @classmethod
    def prefixes(cls, size: int) -> "Workload":
        """The distribution function at every answer: the share of people up to it."""
        place = np.arange(size)
        return cls(size - np.maximum.outer(place, place), "the distribution function", size)

    @classmethod
    def ranges(cls, size: int) -> "Workload":
        """The shares of all ranges of neighbouring answers."""
        place = np.arange(size)
        both = (np.minimum.outer(place, place) + 1) * (size - np.maximum.outer(place, place))
        return cls(both, "the shares of all ranges", size * (size + 1) // 2)

    @classmethod
    def arcs(cls, size: int) -> "Workload":
        """The shares of all ranges of neighbouring answers that go round, such as hours, from any answer to any other."""
        place = np.arange(size)
        apart = np.abs(place[:, None] - place[None, :])
        both = ((size - 1 - apart) * (size - apart) + (apart - 1) * apart) // 2  # one way round, and the other
        return cls(both, "the shares of all ranges round the circle", size * (size - 1))

    @property
    def size(self) -> int:
        """How many answers there are."""
        return len(self.gram)

    @cached_property
    def alike(self) -> Ints:
        """For each answer the first one that no question distinguishes from it."""
        own = self.gram.diagonal()
        apart = own[:, None] - 2 * self.gram + own
        return np.asarray((apart <= 1e-9 * own.max()).argmax(axis=1))

    def about(self, answers: Ints) -> "Workload":
        """The same questions about some of the answers alone."""
        return Workload(self.gram[np.ix_(answers, answers)], self.name, self.questions)

    def mean_square(self, covariance: Floats) -> float:
        """The mean variance of the answers to the questions, if shares have this covariance."""
        return max(0.0, float(np.sum(self.gram * covariance))) / self.questions  # rounding may go below zero

    @property
    def centred(self) -> Floats:
        """The same products, for weights less their mean: the sum of all shares is known."""
        half = self.gram - self.gram.mean(axis=0)
        return half - half.mean(axis=1, keepdims=True)

    def bound(self, odds: Fraction) -> float:
        """The smallest n times mean variance that any channel with these odds can have, if all answers are equally common.

        What a report says about the shares is a matrix whose trace, less that of what is known, is at most
        `most_information`, and of which no eigenvalue is above `most_of_one`. With singular values s of the centred
        questions, the least sum of s^2 / j over eigenvalues j has j proportional to s where that is not too large.
        The variance is for people drawn at random; it holds for reports about them with that much less.
        """
        values = singular_values(self.centred)[:-1]  # the last is that of the known sum
        room, most = float(most_information(self.size, odds)), float(most_of_one(self.size, odds))
        return least_sum(values, room, most) / self.questions
