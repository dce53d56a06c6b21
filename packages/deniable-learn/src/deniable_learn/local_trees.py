"""Trees from reports: a person's residual times a public sign of their own leaf, and how many trees that can bear."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ints
from deniable.core.coins import Coins
from deniable.core.loss import PrivacyLoss
from deniable.domains import Interval
from deniable.mechanisms.means.duchi import Duchi
from deniable.mechanisms.means.hybrid import Hybrid
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.means.piecewise import Piecewise
from deniable.mechanisms.means.three_outputs import ThreeOutputs

TYPICAL = 0.3  # the size of a residual that the mechanism is chosen for
PARTS = 5  # of the people: one part reports roughly where targets lie, one exactly where, three are for trees
NOISE = 0.02  # that all trees may add to the mean squared error of targets in [-1, 1], before they are shrunk
SURE = 0.01  # the error of a mean below which nothing is gained by cutting residuals further
DOUBT = 2.0  # how many times the noise is taken off the squares of the decoded reports


@dataclass(frozen=True)
class LeafReports:
    """Reports on trees with so many leaves, by a mechanism for one number in [-1, 1].

    Each person draws one of the contrasts in public, a row h of a Hadamard matrix other than the first, and reports h(own
    leaf) x: nobody learns in which leaf anyone is. The mean of these reports is E[h(leaf) x], without bias, with a variance
    that is known. Added to the prediction as a multiple of h, it lowers the mean squared error by its square whatever the
    number of people in each leaf is, so that nobody has to be asked for that.
    """

    mechanism: MeanMechanism
    leaves: int

    @classmethod
    def of(cls, epsilon: float, leaves: int) -> "LeafReports":
        """With the mechanism whose reports have the smallest mean square for residuals of typical size."""
        return cls(_best(epsilon), leaves)

    def loss(self) -> PrivacyLoss:
        """The loss of one report; which contrast it is about is public and drawn without a look at anything."""
        return self.mechanism.loss()

    @cached_property
    def square(self) -> float:
        """The mean square of a report on a number in the middle."""
        return float(self.mechanism.second_moments[self.mechanism.domain.size // 2])

    @property
    def step(self) -> float:
        """What of a contrast is added. Leaves of unequal size make contrasts overlap: beyond this sums could overshoot."""
        return 2 / self.leaves

    def bound(self, people: int) -> float:
        """Where residuals are cut, once it is known where targets lie: half of their range is enough for most."""
        return 1.0 if math.sqrt(self.square / max(1, people)) < SURE else 0.5

    def trees(self, people: int, most: int) -> int:
        """How many trees so many people can bear: T of them, with people of their own each, add noise in T^2."""
        noise = self.bound(people) ** 2 * self.square / max(1, people) * ((self.leaves - 1) * self.step) ** 2
        return min(most, int(math.sqrt(NOISE / noise)))

    def decoded(self, numbers: Floats, coins: Coins) -> Floats:
        """The reports of people on their numbers, decoded without bias."""
        return self.mechanism.decode(self.mechanism.perturb(numbers, coins))[:, 0]

    def mean(self, numbers: Floats, coins: Coins) -> float:
        """The mean of numbers in [-1, 1], from a report of each person."""
        return float(np.clip(self.decoded(numbers, coins).mean(), -1, 1)) if len(numbers) else 0.0

    def values(self, leaf: Ints, rest: Floats, coins: Coins) -> Floats:
        """What to add in each leaf; `rest` lies in [-1, 1].

        Contrasts are shrunk together by what the noise adds to their squares (James, Stein 1961), and twice that, since
        most trees drawn at random explain nothing.
        """
        contrasts = self.leaves - 1
        row = 1 + (coins.public(contrasts, len(leaf)) if contrasts > 1 else np.zeros(len(leaf), np.int64))
        matrix = hadamard(self.leaves)
        if not len(leaf):
            return np.zeros(self.leaves)
        decoded = self.decoded(rest * matrix[row, leaf], coins)
        many = np.maximum(np.bincount(row, minlength=self.leaves)[1:], 1)
        found = np.bincount(row, decoded, minlength=self.leaves)[1:] / many
        noise, size = float((decoded**2).mean() * (1 / many).sum()), float((found**2).sum())
        keep = max(0.0, 1 - DOUBT * noise / size) if size else 0.0
        return np.asarray(self.step * keep * (found @ matrix[1:]))


def hadamard(size: int) -> NDArray[np.int8]:
    """Rows of signs, any two of which agree in half of their places; the first is all plus (Sylvester 1867).

    >>> hadamard(2).tolist()
    [[1, 1], [1, -1]]
    """
    matrix = np.ones((1, 1), np.int8)
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


@lru_cache(maxsize=64)
def _best(epsilon: float) -> MeanMechanism:
    domain = Interval(-1, 1, steps=64)
    made: list[MeanMechanism] = [kind(domain, epsilon) for kind in (Duchi, Hybrid, ThreeOutputs, Piecewise)]
    near = round((1 + TYPICAL) / 2 * domain.steps)
    return min(made, key=lambda mechanism: float(mechanism.second_moments[near]))
