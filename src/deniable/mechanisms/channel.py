"""Any finite channel: how likely each report is under each answer, inverted to estimate the shares."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable import kernels
from deniable.core.coins import Coins, check_probability
from deniable.core.domain import Domain
from deniable.core.estimate import Estimate
from deniable.core.layout import Columns, Layout, Number
from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import Mechanism
from deniable.core.tally import Tally
from deniable.errors import InvalidParameter, InvalidReport

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Matrix = tuple[tuple[Fraction, ...], ...]


class Channel(Mechanism):
    """A mechanism whose reports are numbers 0 to d - 1, with a matrix P: row x is the law of the report on answer x.

    With r the shares of the reports, the shares of the answers are estimated by r P^-1, which is unbiased. Its covariance
    for fixed people with shares f is P^-T (sum of f_x (diag(P_x) - P_x P_x^T)) P^-1 / n, and for people drawn at random
    (diag(f) - f f^T) / n more.
    """

    @property
    @abstractmethod
    def channel(self) -> Matrix:
        """The matrix, in exact fractions."""

    @cached_property
    def _matrix(self) -> Floats:
        return np.array([[float(chance) for chance in row] for row in self.channel])

    @property
    def layout(self) -> Layout:
        return Layout((Number("value", self.domain.size),))

    def votes(self, columns: Columns) -> Ints:
        value = columns["value"]
        if len(value) and value.max() >= self.domain.size:
            raise InvalidReport("A report names a value outside the domain.")
        return kernels.histogram(value, self.domain.size)

    def estimate(self, tally: Tally) -> Estimate:
        self.check_tally(tally)
        shares = np.linalg.solve(self._matrix.T, tally.counts / tally.n).astype(np.float64)
        return self._with_error(shares, tally.n)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        shares = np.asarray(truth, np.float64)
        if shares.shape != (self.domain.size,) or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-9:
            raise InvalidParameter(f"The true shares must be {self.domain.size} numbers from 0 that sum to 1.")
        if n < 1:
            raise InvalidParameter("A prediction needs at least one person.")
        return self._with_error(shares, n)

    def _with_error(self, shares: Floats, n: int) -> Estimate:
        # The covariance is linear in the shares, so unbiased shares give an unbiased covariance.
        covary = partial(self._covariance, shares, n)
        return Estimate(self.domain.labels, shares, np.diag(covary()), n, covary)

    def _covariance(self, shares: Floats, n: int) -> Floats:
        inverse, matrix = np.linalg.inv(self._matrix), self._matrix
        reports = np.diag(shares @ matrix) - matrix.T @ (shares[:, None] * matrix)
        covariance: Floats = inverse.T @ reports @ inverse / n
        return covariance

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
class EqualWeight(Channel):
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
