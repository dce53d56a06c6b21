"""A link between a person and one thing: none, or one with a weight."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.core import WHOLE, Answers, Coins, Domain, Input
from deniable.errors import InvalidParameter, OutsideDomain

NONE, HIGH, LOW = 0, 1, 2


@dataclass(frozen=True)
class Link(Domain[float | None, Ints]):
    """No link (None), or one with a weight from `low` to `high`, which a coin rounds to one of the two ends.

    The coin is right on average, so sums and means of weights are not biased by it.

    >>> Link(-1, 1).index([None, 1, -1, 1])
    array([0, 1, 2, 1])
    """

    low: float = -1.0
    high: float = 1.0
    kind = "link"
    labels = ("none", "high", "low")  # type: ignore[assignment]

    def __post_init__(self) -> None:
        ends = (self.low, self.high)
        if not all(isinstance(end, int | float) and math.isfinite(end) for end in ends) or not self.low < self.high:
            raise InvalidParameter("Weights need two finite ends, the lower one first: Link(-1, 1).")
        self._fix(low=float(self.low), high=float(self.high))

    def answer(self, index: int) -> float | None:
        return (None, self.high, self.low)[index]

    def index(self, values: Answers) -> Ints:
        linked, weights = self._weights(values)
        return np.where(linked, np.where(2 * weights >= self.low + self.high, HIGH, LOW), NONE)

    @property
    def inputs(self) -> Sequence[Input]:
        return Input("linked", 0, 1), Input("up", 0, WHOLE)

    def encode(self, values: Answers) -> Sequence[Ints]:
        """Whether there is a link, and how far its weight is above the lower end, in parts of 2^-53 of the range."""
        linked, weights = self._weights(values)
        return linked.astype(np.int64), np.rint((weights - self.low) / (self.high - self.low) * WHOLE).astype(np.int64)

    def placed(self, codes: Sequence[Ints], coins: Coins) -> Ints:
        linked, up = codes
        return np.where(linked == 1, np.where(coins.toss_each(up), HIGH, LOW), NONE)

    def _weights(self, values: Answers) -> tuple[Bools, Floats]:
        """Who has a link, and its weight; the low end where there is none."""
        listed = values.tolist() if isinstance(values, np.ndarray) else values
        linked = np.array([value is not None for value in listed], np.bool_)
        try:
            weights = np.array([self.low if value is None else value for value in listed])
        except ValueError:  # lists of different lengths
            weights = np.empty(0, object)
        if any(isinstance(value, bool) for value in listed):
            weights = np.empty(0, object)
        if weights.ndim != 1 or weights.dtype.kind not in "iuf" or not np.isfinite(weights).all():
            raise OutsideDomain("An answer is neither None nor a finite number. Remove or correct it.")
        if not ((weights >= self.low) & (weights <= self.high)).all():
            raise OutsideDomain(f"A weight lies outside the range from {self.low:g} to {self.high:g}. Widen it, or clip.")
        return linked, weights.astype(np.float64)
