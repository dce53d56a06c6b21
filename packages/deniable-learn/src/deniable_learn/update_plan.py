"""What a client reports of its update in each round, and what all rounds cost: public, and the same on both sides."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deniable import Bipartite, Coarsened, DuchiVector, FeatureVector, PrivUnit, UnitAxes, UnitCodes, VectorRelease
from deniable.arrays import Floats
from deniable.core.coins import Coins
from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import Mechanism
from deniable.core.odds import checked_epsilon, rounded_down, rounded_up
from deniable.core.reports import Reports, concatenate
from deniable.domains.features import Features, UnitVectors
from deniable.domains.interval import Interval
from deniable.domains.vectors import Vectors
from deniable.errors import EmptyBatch, InvalidParameter, OutsideDomain
from deniable.privacy.shuffle import ShuffledLoss, shuffled
from deniable_learn.guarantee import together
from deniable_learn.update_forecast import UpdateForecast

Maker = Callable[["UpdatePlan", float], Mechanism]

POINTS = 10  # steps of the grid on which releases put a coordinate
UNITS: dict[str, type[PrivUnit | UnitCodes]] = {"unit-axes": UnitAxes, "unit-codes": UnitCodes, "privunit": PrivUnit}
SCALARS = {"duchi": "duchi-1", "piecewise": "piecewise-1", "hybrid": "hybrid-1", "three-outputs": "three-outputs-1"}
RELEASES = {"brr": Bipartite, "coarsened": Coarsened}
METHODS = (*UNITS, *SCALARS, "ldp-fl", "duchi-vector", *RELEASES)


@dataclass(frozen=True)
class Anonymizer:
    """The assumption that somebody trusted mixes the reports of so many clients in every round before the server sees them.

    `delta` is how much may go wrong over all rounds together.
    """

    clients: int
    delta: float

    def __post_init__(self) -> None:
        if isinstance(self.clients, bool) or not isinstance(self.clients, int) or self.clients < 1 or not 0 < self.delta < 1:
            raise InvalidParameter("An anonymizer needs at least one client and a delta between 0 and 1.")


@dataclass(frozen=True)
class UpdatePlan:
    """How updates of so many numbers are clipped and randomized, for so many rounds that cost `epsilon` in all.

    `clip` is public: for "unit-axes", "unit-codes" and "privunit" the length that an update is cut down to, for all others
    the largest size of one number. `method` names the mechanism: "duchi", "piecewise" (PM-SUB), "hybrid" and
    "three-outputs" report `coordinates` of the numbers, drawn at random (0: the best number of them); "ldp-fl" reports
    all of them by Duchi's with an equal share of the budget each; "duchi-vector" all signs together; "brr" and
    "coarsened" release one number, and are biased towards the middle. Each round costs epsilon / rounds.
    """

    dimensions: int
    epsilon: float
    rounds: int
    clip: float
    method: str = "unit-axes"
    coordinates: int = 0

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon)
        if isinstance(self.rounds, bool) or not isinstance(self.rounds, int) or self.rounds < 1:
            raise InvalidParameter("The number of rounds must be a whole number, at least one.")
        if not isinstance(self.clip, int | float) or isinstance(self.clip, bool) or not 0 < self.clip < float("inf"):
            raise InvalidParameter("The clip must be a positive number: a public bound that is not derived from the data.")
        if self.method not in METHODS:
            raise InvalidParameter(f"method must be one of {', '.join(METHODS)}.")
        if self.coordinates and self.method not in SCALARS:
            raise InvalidParameter(f"Coordinates are drawn by {', '.join(SCALARS)} only. Leave their number out.")
        _ = self.mechanism  # refuses what does not fit together

    @property
    def each(self) -> float:
        """The epsilon of one round, a hair less than its share, so that all rounds fit."""
        share = Fraction(self.epsilon) / self.rounds
        return rounded_down(share * (1 - Fraction(1, 10**12))) if self.rounds > 1 else float(self.epsilon)

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism of one round."""
        if self.method in UNITS:  # one coordinate more brings every update to the same length
            return UNITS[self.method](UnitVectors(self.dimensions + 1), self.each)
        if self.method in RELEASES:
            line = Interval(-self.clip, self.clip, steps=POINTS, clip=True)
            made = RELEASES[self.method](line, self.each)
            return VectorRelease(Vectors([line] * self.dimensions), self.each, [made] * self.dimensions, sampled=True)
        box = Features(self.dimensions, -self.clip, self.clip, clip=True)
        if self.method == "duchi-vector":
            return DuchiVector(box, self.each)
        if self.method == "ldp-fl":
            return FeatureVector(box, self.each, self.dimensions, "duchi-1")
        return FeatureVector(box, self.each, self.coordinates, SCALARS[self.method])

    def loss(self, rounds: int | None = None) -> PrivacyLoss:
        """The exact loss of a client after so many rounds; after all of them without an argument."""
        return together([self.mechanism.loss()], "any two updates of a client", self.rounds if rounds is None else rounds)

    def shuffled_loss(self, anonymizer: Anonymizer) -> ShuffledLoss:
        """What all rounds cost under that assumption: rounds add up, in epsilon and in delta."""
        one = shuffled(self.mechanism, anonymizer.clients, anonymizer.delta / self.rounds)
        total = rounded_up(Fraction(one.epsilon) * self.rounds)
        return replace(one, epsilon=total, delta=anonymizer.delta, local=self.loss().epsilon())

    def foresee(self, clients: int) -> UpdateForecast:
        """The noise to expect in the mean update of so many clients in each round, whose updates are short.

        `hopeless` says whether it outweighs every update that the clip allows, over all rounds; `needed` how many clients
        would be enough.
        """
        if not self.unbiased:
            raise InvalidParameter(f"{self.method} is biased, and its error depends on the updates. Use another method.")
        still = np.append(np.zeros(self.dimensions), 1.0) if self.method in UNITS else np.zeros(self.dimensions)
        spread = self.mechanism.predict(still, clients).standard_error[: self.dimensions]
        scale, longest = (self.clip, self.clip) if self.method in UNITS else (1.0, self.clip * math.sqrt(self.dimensions))
        return UpdateForecast(clients, self.rounds, scale * float(np.linalg.norm(spread)), longest)

    @property
    def unbiased(self) -> bool:
        """Whether the mean of reports is the mean of the clipped updates."""
        return self.method not in RELEASES

    def perturb(self, update: Floats, coins: Coins | None = None) -> bytes:
        """One client's clipped and randomized update, as it is sent."""
        return self.mechanism.pack(self.mechanism.perturb(self.clipped(update), coins))

    def clipped(self, update: Floats) -> NDArray[np.float64] | list[tuple[float, ...]]:
        """The update as an answer that the mechanism takes."""
        row = np.asarray(update, np.float64).ravel()
        if row.shape != (self.dimensions,):
            raise OutsideDomain(f"An update under this plan has {self.dimensions} numbers. Make a plan for this model.")
        row = np.nan_to_num(row, nan=0.0, posinf=self.clip, neginf=-self.clip)  # a training that blew up says nothing
        if self.method not in UNITS:
            return np.clip(row, -self.clip, self.clip)[None]
        largest = float(np.abs(row).max(initial=0.0))
        length = largest * float(np.linalg.norm(row / largest)) if largest > 0 else 0.0
        row = row / max(length, self.clip)
        return np.append(row, np.sqrt(max(0.0, 1 - float(row @ row))))[None]

    def read(self, message: bytes) -> Reports:
        """One client's report; anything else than one report of this mechanism is refused."""
        reports = self.mechanism.unpack(message)
        if len(reports) != 1:
            raise InvalidParameter("A client sends one report in a round. This reply is refused.")
        return reports

    def mean(self, reports: Sequence[Reports]) -> Floats:
        """The estimated mean update of the clients behind these reports."""
        if not reports:
            raise EmptyBatch("No client sent a report in this round.")
        batch = concatenate(reports)
        if isinstance(self.mechanism, VectorRelease):
            sums, often = np.zeros(self.dimensions), np.zeros(self.dimensions)
            for place, value in self.mechanism.released(batch):
                sums[place], often[place] = sums[place] + value, often[place] + 1
            return np.asarray(sums / np.maximum(often, 1))
        values = self.mechanism.estimate(self.mechanism.tally(batch)).values
        return np.asarray(values[: self.dimensions] * self.clip) if self.method in UNITS else values
