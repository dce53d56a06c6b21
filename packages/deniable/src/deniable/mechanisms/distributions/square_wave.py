"""The square wave: report a place near the true one more often than not."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Coins, Domain, PrivacyLoss
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism


@dataclass(frozen=True)
class SquareWave(DistributionMechanism):
    """Report one of K places; each of the `window` places from the true one on is `odds` times as likely as each other.

    On a line of d answers K = d + window - 1, so that every window fits; on a circle (`circular`, for hours or compass
    points) K = d and windows wrap round. P(window) = w odds / (w odds + K - w). A window of 0 asks for the one with the
    largest mutual information of report and answer, of 2 b d places, b = (epsilon e^epsilon - e^epsilon + 1) / (2 e^epsilon
    (e^epsilon - 1 - epsilon)). Li, Wang, Lopuhaa-Zwakenberg, Li, Skoric 2020.
    """

    domain: Domain
    epsilon: float
    window: int = 0
    circular: bool = False
    wire = "square-wave-1"
    candidate = "square wave"

    def __post_init__(self) -> None:
        if is_whole(self.window) and self.window == 0:
            self._fix(window=best_window(self.domain.size, float(self.epsilon), bool(self.circular)))
        most = self.domain.size - 1 if self.circular else 4 * self.domain.size
        if not is_whole(self.window) or not 1 <= self.window <= most or not isinstance(self.circular, bool):
            raise InvalidParameter(f"The window must have 1 to {most} places. Leave it out to get the best one.")
        super().__post_init__()

    @property
    def places(self) -> int:
        """K, how many places there are."""
        return self.domain.size if self.circular else self.domain.size + self.window - 1

    @property
    def cells(self) -> int:
        return self.places

    @cached_property
    def inside(self) -> Fraction:
        """The probability that the report lies in the window."""
        return self.window * self.odds / (self.window * self.odds + self.places - self.window)

    @cached_property
    def matrix(self) -> Floats:
        offset = (np.arange(self.places)[None, :] - np.arange(self.domain.size)[:, None]) % self.places
        high, low = self.inside / self.window, (1 - self.inside) / (self.places - self.window)
        return np.where(offset < self.window, float(high), float(low))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        place = coins.split(self.inside, self.window, self.places - self.window, len(truth))  # from where the window begins
        return {"value": (place + truth) % self.places}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds)


def best_window(size: int, epsilon: float, circular: bool = False) -> int:
    """The published width in places; on a circle the nearest one that has no common divisor with the size.

    >>> best_window(256, 1.0), best_window(24, 1.0, circular=True)
    (131, 11)
    """
    power = math.exp(min(epsilon, 30.0))
    share = (epsilon * power - power + 1) / (power * (power - 1 - epsilon)) if epsilon > 1e-3 else 1 - epsilon / 3
    width = max(1, round(share * size))
    if not circular:
        return width
    # Otherwise some answers that alternate round the circle would leave the reports as they are.
    return min((each for each in range(1, size) if math.gcd(each, size) == 1), key=lambda each: abs(each - width))
