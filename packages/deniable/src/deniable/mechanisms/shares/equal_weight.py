"""Direct response with any probability of the truth."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from deniable.arrays import Ints
from deniable.core import Coins, Domain, PrivacyLoss, check_probability
from deniable.errors import InvalidParameter
from deniable.mechanisms.shares.direct_response import moved
from deniable.mechanisms.shares.exact_channel import ExactChannel, Matrix, check_cost, own_cost


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
        self._fix(epsilon=own_cost(self.epsilon, self._odds))
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
        return {"value": moved(truth, self.p, self.domain.size, coins)}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self._odds)
