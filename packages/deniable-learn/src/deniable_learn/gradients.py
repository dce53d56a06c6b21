"""The mean of gradients, from one certified report of each person about a gradient that was cut to a public bound."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np

from deniable import Bipartite, Coarsened, DuchiVector, FeatureVector, PrivUnit, ReleaseChannel, UnitAxes, UnitCodes
from deniable.arrays import Floats
from deniable.core.coins import Coins
from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import Mechanism
from deniable.core.odds import checked_epsilon, rounded_down
from deniable.core.reports import Reports, concatenate
from deniable.core.tally import Tally
from deniable.domains import Features, Interval, UnitVectors
from deniable.kernels.lengths import Factors, on_sphere, outer_on_sphere
from deniable.mechanisms.releases.release import Release
from deniable_learn.learner import checked_choice, checked_positive, checked_whole
from deniable_learn.network import multiplied

BALL = ("directions", "unit-axes", "unit-codes", "privunit")
SAMPLED = {
    "duchi": "duchi-1",
    "piecewise": "piecewise-1",
    "hybrid": "hybrid-1",
    "three-outputs": "three-outputs-1",
    "best": "",
}
RELEASES: dict[str, Any] = {"bipartite": Bipartite, "coarsened": Coarsened, "laplace": ReleaseChannel.laplace}
WAYS = (*BALL, *SAMPLED, "duchi-vector", *RELEASES)
STEPS = 100  # of the grid of a release
CODES = 32  # directions that a person looks at
TOGETHER = 16  # batches of reports that are counted at a time
SHORT = 32  # dimensions below which naming one of these has less noise than naming an axis


@dataclass(frozen=True)
class GradientReports:
    """One report of each person about a vector of `dimensions` numbers, cut to length `clip`; its mean over people.

    `way` is one of

    - `unit-axes`, `unit-codes`, `privunit`: the whole vector. It is given one number more, so that it has length `clip`
      whatever it was. `directions` is `unit-codes` for short vectors and `unit-axes`, which is quicker, for long ones: the
      one with the smaller error.
    - `duchi`, `piecewise`, `hybrid`, `three-outputs`, `best`: few coordinates, drawn at random, each cut to [-reach, reach];
      `duchi-vector`: all signs together.
    - `bipartite`, `coarsened`, `laplace`: one coordinate, drawn at random, released by BRR, by coarsened response or by
      clamped Laplace noise over all of [-reach, reach]. Releases are biased, and so is this mean: it shrinks.

    The bounds are public and the same for everybody; which coordinate is drawn does not depend on the gradient.
    """

    dimensions: int
    epsilon: float
    way: str = "directions"
    clip: float = 1.0
    reach: float = 0.0

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon)
        checked_whole(self.dimensions, "The number of dimensions", 1, 1 << 16)
        checked_choice(self.way, WAYS, "Gradients are reported by")
        checked_positive(self.clip, "The clip")
        if self.reach == 0:  # a vector of length `clip` that is spread evenly has coordinates of clip / sqrt(d)
            object.__setattr__(self, "reach", self.clip * min(1.0, 3 / math.sqrt(self.dimensions)))
        checked_positive(self.reach, "The reach")

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that every device runs; of a release, for the one coordinate that was drawn."""
        return _mechanism(self)

    def loss(self) -> PrivacyLoss:
        """The exact loss of one report; where the coordinate is drawn in public, that of the number reported of it."""
        return self.mechanism.loss()

    def cut(self, gradients: Floats) -> Floats:
        """The same vectors, those longer than `clip` cut to it: each on its own."""
        length = np.sqrt((gradients**2).sum(axis=1, keepdims=True))
        return gradients * np.minimum(1.0, self.clip / np.maximum(length, 1e-300))

    def mean(self, gradients: Floats, coins: Coins) -> Floats:
        """What the collector learns from the reports on these vectors, one row for each person: about their mean."""
        return self.mean_of([gradients], coins)

    def mean_of(self, blocks: Iterable[Floats | Factors], coins: Coins) -> Floats:
        """The same where the vectors come in blocks, each of which is thrown away when its people have reported.

        A block may also be given as outer products, one after the other in each vector.
        """
        mechanism = self.mechanism
        if isinstance(mechanism, Release):
            sums, people = np.zeros(self.dimensions), 0
            for block in blocks:
                rows = block if isinstance(block, np.ndarray) else multiplied(block)
                sums, people = sums + self._released(self.cut(rows), mechanism, coins), people + len(rows)
            return sums * (self.dimensions / people)
        tally = _tallied(mechanism, (mechanism.perturb(rows, coins) for rows in self._all_in_domain(blocks)))
        mean = mechanism.estimate(tally).values[: self.dimensions]
        return mean * self.clip if self.way in BALL else mean

    def _in_domain(self, rows: Floats) -> Floats:
        """Cut, and as the mechanism takes them."""
        return on_sphere(rows, self.clip) if self.way in BALL else self.cut(rows)

    def _all_in_domain(self, blocks: Iterable[Floats | Factors]) -> Iterator[Floats]:
        """The same for blocks; those of products are in the same memory, one after the other."""
        room = np.empty((0, self.dimensions + 1))
        for block in blocks:
            if isinstance(block, np.ndarray) or self.way not in BALL:
                yield self._in_domain(block if isinstance(block, np.ndarray) else multiplied(block))
            else:
                many = len(block[0][0])
                room = room if len(room) >= many else np.empty((many, self.dimensions + 1))
                yield outer_on_sphere(block, self.clip, room)

    def _released(self, rows: Floats, mechanism: Release, coins: Coins) -> Floats:
        """The sums of what was reported of each coordinate."""
        which = coins.public(self.dimensions, len(rows))
        own = mechanism.domain.index(mechanism.domain.nearest(rows[np.arange(len(rows)), which]))  # type: ignore[attr-defined]
        drawn = mechanism.outputs[mechanism.randomize(own, coins)["value"]]
        numbers = np.asarray(mechanism.domain.labels, np.float64)[drawn]
        return np.bincount(which, numbers, minlength=self.dimensions).astype(np.float64)


def _tallied(mechanism: Mechanism, batches: Iterable[Reports]) -> Tally:
    """The counts of all batches, several of which are counted at a time."""
    rest, found = iter(batches), list[Tally]()
    while some := list(islice(rest, TOGETHER)):
        found.append(mechanism.tally(concatenate(some)))
    return sum(found[1:], found[0])


@lru_cache(maxsize=16)  # which directions are near, and the law, take longer to work out than a thousand reports
def _mechanism(reports: GradientReports) -> Mechanism:
    d, epsilon, way, reach = reports.dimensions, reports.epsilon, reports.way, reports.reach
    if way == "unit-axes" or (way == "directions" and d >= SHORT):
        return UnitAxes(UnitVectors(d + 1), epsilon)
    if way in ("unit-codes", "directions"):
        return UnitCodes(UnitVectors(d + 1), epsilon, codes=CODES if epsilon < 3 else 4 * CODES)
    if way == "privunit":
        return PrivUnit(UnitVectors(d + 1), epsilon)
    box = Features(d, -reach, reach, clip=True)
    if way == "duchi-vector":
        return DuchiVector(box, epsilon)
    if way == "best":
        return FeatureVector.typical(box, epsilon, min(reach, reports.clip / math.sqrt(d)))
    if way in SAMPLED:
        return FeatureVector(box, epsilon, scalar=SAMPLED[way])
    made = RELEASES[way](Interval(-reach, reach, STEPS, clip=True), epsilon)
    assert isinstance(made, Mechanism)
    return made


def shared_out(epsilon: float, parts: int) -> float:
    """A part of a budget such that so many of them stay within it."""
    return rounded_down(Fraction(checked_epsilon(epsilon)) / parts)
