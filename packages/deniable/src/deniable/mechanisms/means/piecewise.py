"""The mean by a window that moves with the number."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Candidate, Coins, Drawn, PrivacyLoss
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.means.mean_mechanism import MeanMechanism

FINEST_WINDOW, FINEST_WAY = 32, 256  # places that a window and its way have at least, so that their ratio can be met


MOST_PLACES = 1 << 20


@dataclass(frozen=True)
class Piecewise(MeanMechanism):
    """Report a place on a line; each in the window of the true number is `odds` times as likely as each outside.

    The line has K = stride steps + window places, and at point j of the grid the window begins at place stride j. Since
    places in the window are alike, and those outside too, the mean place is linear in j, so that an affine map of the place
    is unbiased, exactly. P(window) = w odds / (w odds + K - w). As the grid gets finer this becomes the piecewise
    mechanism. `Piecewise.original` has a window e^(-epsilon / 2) as wide as its way (Wang et al. 2019), the default
    e^(-epsilon / 3), which is better in the worst case (PM-SUB, Zhao et al. 2020). Best for epsilon above 2.56.
    """

    domain: Interval
    epsilon: float
    window: int = 0
    stride: int = 0
    wire = "piecewise-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_whole(self.window) or not is_whole(self.stride):
            raise InvalidParameter("The window and its stride must be whole numbers of places.")
        if self.window == self.stride == 0:
            window, stride = _places(self.domain.steps, self.epsilon / 3)
            self._fix(window=window, stride=stride)
        if self.window < 1 or self.stride < 1 or self.places > MOST_PLACES:
            raise InvalidParameter(
                f"The window and its stride must be at least one place, and at most {MOST_PLACES} places in all. Leave both "
                "out to get good ones, or use fewer steps."
            )

    @classmethod
    def original(cls, domain: Interval, epsilon: float) -> "Piecewise":
        """With the window of Wang et al. 2019."""
        return cls(domain, epsilon, *_places(domain.steps, cls(domain, epsilon).epsilon / 2))

    @property
    def places(self) -> int:
        """K, how many places the line has."""
        return self.stride * self.domain.steps + self.window

    @cached_property
    def inside(self) -> Fraction:
        """The probability that the report lies in the window."""
        return self.window * self.odds / (self.window * self.odds + self.places - self.window)

    @cached_property
    def _scale(self) -> Fraction:
        """What one place is worth, where the interval is [-1, 1]."""
        way = self.places - self.window
        slope = self.stride * self.window * (self.odds - 1) / (self.window * self.odds + way)  # of the mean place over j
        return Fraction(2) / (slope * self.domain.steps)

    @cached_property
    def centred(self) -> Sequence[Fraction]:
        return [self._scale * Fraction(2 * place - self.places + 1, 2) for place in range(self.places)]

    @property
    def cells(self) -> int:
        return self.places

    @cached_property
    def _centred(self) -> Floats:
        return float(self._scale) * (np.arange(self.places, dtype=np.float64) - (self.places - 1) / 2)

    def row(self, index: int) -> Sequence[Fraction]:
        high, low = self.inside / self.window, (1 - self.inside) / (self.places - self.window)
        first = self.stride * index
        return [high if first <= place < first + self.window else low for place in range(self.places)]

    def chances(self, index: int) -> Floats:
        chances = np.full(self.places, float((1 - self.inside) / (self.places - self.window)))
        chances[self.stride * index : self.stride * index + self.window] = float(self.inside / self.window)
        return chances

    @cached_property
    def second_moments(self) -> Floats:
        """In closed form: a sum over hundreds of thousands of places at each point would take minutes."""
        first, places = self.stride * np.arange(self.domain.size, dtype=np.float64), self.places
        centre = first + (self.window - places) / 2  # of the window, from the middle of the line
        inside = self.window * (centre**2 + (self.window**2 - 1) / 12)  # sums of squares of neighbouring places
        outside = places * (places**2 - 1) / 12 - inside
        high, low = self.inside / self.window, (1 - self.inside) / (places - self.window)
        return np.asarray(float(self._scale) ** 2 * (float(high) * inside + float(low) * outside))

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (
            Candidate("piecewise, suboptimal", cls),
            Candidate("piecewise, original", cls.original),
        )

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        place = coins.split(self.inside, self.window, self.places - self.window, len(truth))  # from where the window begins
        return {"value": (place + self.stride * truth) % self.places}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds)


def _places(steps: int, exponent: float) -> tuple[int, int]:
    """A window e^-exponent as wide as its way, and its stride, on a line with enough places for the ratio to be met."""
    ratio = math.exp(-exponent)
    stride = max(1, math.ceil(FINEST_WAY / steps), math.ceil(FINEST_WINDOW / (ratio * steps)))
    stride = min(stride, max(1, MOST_PLACES // 2 // steps))
    return max(1, round(ratio * stride * steps)), stride
