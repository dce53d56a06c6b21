"""Leaves from reports: a residual in a person's own leaf, hidden among all leaves by public signs."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from deniable.core.coins import Coins
from deniable.core.loss import PrivacyLoss
from deniable.domains import Interval
from deniable.mechanisms.mean import Duchi, MeanMechanism, ThreeOutputs
from deniable.mechanisms.mean_piecewise import Hybrid, Piecewise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TYPICAL = 0.3  # the size of a residual that the mechanism is chosen for
COUNTING = 4  # one person in so many tells that they are in their leaf, instead of their residual


@dataclass(frozen=True)
class LeafReports:
    """Every person has a public sign for each leaf, and reports sign(own leaf) x by a mechanism for one number in [-1, 1].

    For any leaf k, sign(k) times the report has the mean x if it is the person's own, else 0: signs are independent. So all
    reports tell about all leaves, and no leaf's number of reports is known. One in four, drawn in public, reports 1 instead
    of the residual: that gives the number of people in each leaf.
    """

    mechanism: MeanMechanism
    leaves: int

    @classmethod
    def of(cls, epsilon: float, leaves: int) -> "LeafReports":
        """With the mechanism whose reports have the smallest mean square for residuals of typical size."""
        return cls(_best(epsilon), leaves)

    def loss(self) -> PrivacyLoss:
        """The loss of one report; the signs are public and drawn without a look at anything."""
        return self.mechanism.loss()

    def values(self, leaf: Ints, rest: Floats, coins: Coins) -> Floats:
        """The mean residual of each leaf, shrunk by how much noise there is; `rest` lies in [-1, 1]."""
        n = len(leaf)
        if n < 2 * COUNTING:
            return np.zeros(self.leaves)
        counting = coins.public(COUNTING, n) == 0
        bits = coins.public(1 << 30, n * ((self.leaves + 29) // 30)).reshape(n, -1)
        signs = 1 - 2 * (bits[:, np.arange(self.leaves) // 30] >> (np.arange(self.leaves) % 30) & 1)
        given = np.where(counting, 1.0, rest) * signs[np.arange(n), leaf]
        told = self.mechanism.numbers[self.mechanism.perturb(given, coins).columns["value"].astype(np.int64)]
        sums = (told * ~counting) @ signs / max(1, int((~counting).sum()))
        shares = (told * counting) @ signs / max(1, int(counting.sum()))
        noise = float((told[~counting] ** 2).sum()) / max(1, int((~counting).sum())) ** 2
        error = float((told[counting] ** 2).sum()) / max(1, int(counting.sum())) ** 2
        # A leaf that seems to have fewer people than could be noise is taken for one of usual size.
        usual = 1 / self.leaves
        people = usual + (shares - usual) * usual**2 / (usual**2 + error)
        people = np.maximum(people, usual / 4)
        return np.clip(sums * (sums**2 / (sums**2 + noise)) / people, -1, 1)


@lru_cache(maxsize=64)
def _best(epsilon: float) -> MeanMechanism:
    domain = Interval(-1, 1, steps=64)
    made: list[MeanMechanism] = [kind(domain, epsilon) for kind in (Duchi, Hybrid, ThreeOutputs, Piecewise)]
    near = round((1 + TYPICAL) / 2 * domain.steps)
    return min(made, key=lambda mechanism: float(mechanism.second_moments[near]))
