"""Coarsened response: direct response among a few representatives, the best release there is on a line."""

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import AnyDomain, Candidate, Coins, Domain, Estimate, PrivacyLoss, Spec, Tally, lookup
from deniable.domains.metric import BLOCK
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.cover import representatives
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.releases.release import Release
from deniable.mechanisms.shares.direct_response import DirectResponse


@dataclass(frozen=True)
class Coarsened(Release):
    """Send the nearest of r representatives with probability odds / (odds + r - 1), each other one with 1 / (odds + r - 1).

    On a line, with a loss that never falls with the distance, some mechanism of this kind has the smallest expected loss of
    all with these odds, whatever the prior; it is found exactly. Elsewhere the representatives are good ones, and
    `compare()` shows how far from the bound. One representative is the constant answer, which costs no privacy at all.

    `estimate` gives the shares of people nearest to each representative, without bias; shares of single answers are lost.

    >>> from deniable.domains import Ordered
    >>> Coarsened(Ordered(range(1, 51)), epsilon=1.0).released_labels
    (18, 33)
    """

    domain: Domain
    epsilon: float
    chosen: Sequence[int] = ()
    prior: InitVar[ArrayLike | None] = None
    wire = "coarsened-1"

    def __post_init__(self, prior: ArrayLike | None) -> None:
        super().__post_init__()
        chosen = tuple(self.chosen) or representatives(self.metric, self.odds, prior)
        if not all(is_whole(place) and 0 <= place < self.domain.size for place in chosen) or len(set(chosen)) != len(chosen):
            raise InvalidParameter(
                f"The representatives must be distinct indices of answers, from 0 to {self.domain.size - 1}."
            )
        self._fix(chosen=tuple(sorted(int(place) for place in chosen)))

    @property
    def released_labels(self) -> tuple[Any, ...]:
        """The representatives."""
        return tuple(self.domain.labels[place] for place in self.chosen)

    @property
    def cells(self) -> int:
        return len(self.chosen)

    @cached_property
    def outputs(self) -> Ints:
        return np.array(self.chosen, np.int64)

    @cached_property
    def nearest(self) -> Ints:
        """Which representative is the nearest of each answer; of two equally near the one with the lower number."""
        if self.metric.line is None:
            return self._paid[2]
        line, own, place = self.metric.line, np.arange(self.domain.size), np.array(self.chosen)
        above = np.minimum(np.searchsorted(place, own), len(place) - 1)
        below = np.maximum(above - 1, 0)
        return np.where(line.loss(own, place[below]) <= line.loss(own, place[above]), below, above)

    @cached_property
    def _paid(self) -> tuple[Floats, Floats, Ints]:
        """For each answer: its losses to all representatives added up, the smallest of them, and to which one that is."""
        size, step = self.domain.size, max(1, BLOCK // self.domain.size)
        sums, least, which = np.zeros(size), np.full(size, np.inf), np.zeros(size, np.int64)
        for start in range(0, self.cells, step):
            losses = self.metric.losses_of(self.outputs[start : start + step])
            sums += losses.sum(axis=0)
            nearer = losses.min(axis=0) < least
            least[nearer], which[nearer] = losses.min(axis=0)[nearer], start + losses.argmin(axis=0)[nearer]
        return sums, least, which

    @cached_property
    def p(self) -> Fraction:
        """The probability that the nearest representative is sent."""
        return self.odds / (self.odds + self.cells - 1)

    @cached_property
    def q(self) -> Fraction:
        """The probability that a given other one is sent."""
        return 1 / (self.odds + self.cells - 1)

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (Candidate("coarsened", cls, prior="prior"),)

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        if self.cells == 1:
            return {"value": np.zeros(len(truth), np.int64)}
        moved = coins.split(self.p, 1, self.cells - 1, len(truth))  # how far to move on: 0 is the nearest
        return {"value": (moved + lookup(self.nearest, truth)) % self.cells}

    @property
    def remark(self) -> str:
        return f"{self.cells} representatives"

    def loss(self) -> PrivacyLoss:
        alone = len(np.unique(self.nearest)) == 1  # then every answer gives the same law
        return PrivacyLoss(Fraction(1) if alone else self.odds)

    def row_losses(self) -> Floats:
        sums, least, _ = self._paid
        return np.asarray((sums + (float(self.odds) - 1) * least) / (float(self.odds) + self.cells - 1))

    @cached_property
    def matrix(self) -> Floats:
        matrix = np.full((self.domain.size, self.cells), float(self.q))
        matrix[np.arange(self.domain.size), self.nearest] = float(self.p)
        return matrix

    @cached_property
    def _direct(self) -> DirectResponse:
        """Direct response among the representatives: what the reports are, for whoever counts them."""
        if self.cells == 1:
            raise InvalidParameter(
                "With one representative every report is the same, so there is nothing to estimate from. "
                "Ask for a larger epsilon, or plan a mechanism that estimates shares."
            )
        from deniable.domains.categories import Categories

        return DirectResponse(Categories(range(self.cells)), self.epsilon)

    def estimate(self, tally: Tally) -> Estimate:
        direct = self._direct
        self.check_tally(tally)
        return self._named(direct.estimate(Tally(direct.fingerprint, tally.n, tally.counts)))

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        shares = np.asarray(truth, np.float64)
        if shares.shape != (self.domain.size,):
            raise InvalidParameter(f"The true shares must be {self.domain.size} non-negative numbers that sum to 1.")
        return self._named(self._direct.predict(np.bincount(self.nearest, shares, minlength=self.cells), n))

    def _named(self, estimate: Estimate) -> Estimate:
        return replace(estimate, labels=self.released_labels, ordered=self.domain.ordered)

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        return super().from_parameters(domain, epsilon, {**parameters, "chosen": parameters["representatives"]})

    def parameters(self) -> Mapping[str, object]:
        return {"odds": str(self.odds), "representatives": list(self.chosen)}
