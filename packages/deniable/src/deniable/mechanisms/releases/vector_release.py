"""Releases of vectors: every coordinate with a share of the budget, or one coordinate with all of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import (
    AnyDomain,
    Coins,
    Columns,
    Domain,
    Drawn,
    Estimate,
    Layout,
    Mechanism,
    Number,
    PrivacyLoss,
    Reports,
    Spec,
    Tally,
    checked_epsilon,
    encoded,
    rounded_down,
)
from deniable.core.spec import parts
from deniable.domains.vectors import Vectors
from deniable.errors import InvalidParameter
from deniable.mechanisms.releases.bipartite import Bipartite
from deniable.mechanisms.releases.release import Release

Maker = Callable[[Domain, float], Release]


@dataclass(frozen=True)
class VectorRelease(Mechanism[Sequence[object], Ints]):
    """One release for each coordinate of a vector; their losses of privacy add up, so their epsilons sum to the budget.

    With `sampled`, each report has one coordinate only, drawn at random and public, released with the whole budget:
    better when few coordinates of each person are enough. `VectorRelease.of` makes the releases.
    """

    domain: Vectors
    epsilon: float
    parts: Sequence[Release]
    sampled: bool = False
    wire = "vector-1"
    question = "releases"

    def __post_init__(self) -> None:
        super().__post_init__()
        parts = tuple(self.parts)
        if not isinstance(self.domain, Vectors) or not all(isinstance(part, Release) for part in parts):
            raise InvalidParameter("A vector is released by one release for each coordinate of its domain, Vectors.")
        if [part.domain for part in parts] != list(self.domain.parts):
            raise InvalidParameter("The releases must be for the coordinates of the domain, in their order.")
        self._fix(parts=parts)

    @classmethod
    def of(
        cls, domain: Vectors, epsilon: float, make: Maker = Bipartite, shares: Sequence[float] | None = None
    ) -> "VectorRelease":
        """Every coordinate, with these shares of the budget: equal ones unless given."""
        weights = [Fraction(1)] * len(domain.parts) if shares is None else [Fraction(share) for share in shares]
        if len(weights) != len(domain.parts) or min(weights) <= 0:
            raise InvalidParameter(f"The budget needs {len(domain.parts)} shares, all positive.")
        whole = Fraction(checked_epsilon(epsilon))
        budgets = [rounded_down(whole * weight / sum(weights)) for weight in weights]  # down: their sum stays within it
        return cls(domain, epsilon, [make(part, share) for part, share in zip(domain.parts, budgets, strict=True)])

    @classmethod
    def one_coordinate(cls, domain: Vectors, epsilon: float, make: Maker = Bipartite) -> "VectorRelease":
        """One coordinate of each vector, drawn at random, with the whole budget."""
        return cls(domain, epsilon, [make(part, epsilon) for part in domain.parts], sampled=True)

    @property
    def cells(self) -> int:
        return sum(part.cells for part in self.parts)

    @property
    def layout(self) -> Layout:
        if self.sampled:
            longest = max(max(part.cells, 2) for part in self.parts)
            return Layout((Number("coordinate", max(len(self.parts), 2)), Number("value", longest)))
        return Layout(tuple(Number(f"value{place}", max(part.cells, 2)) for place, part in enumerate(self.parts)))

    @property
    def traced(self) -> bool:
        """Where those of all coordinates are."""
        return all(part.traced for part in self.parts)

    @property
    def encodes(self) -> bool:
        """Where that of a coordinate does."""
        return any(part.encodes for part in self.parts)

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        which = coins.public(len(self.parts), len(truth)) if self.sampled else None
        values = [part.randomize(self._own(truth, place), coins)["value"] for place, part in enumerate(self.parts)]
        if which is None:
            return {f"value{place}": value for place, value in enumerate(values)}
        value = values[0]
        for place, other in enumerate(values[1:], 1):
            value = np.where(which == place, other, value)
        return {"coordinate": which, "value": value}

    def _own(self, truth: Any, place: int) -> Any:
        """The coordinate as its release takes it."""
        part, own = self.parts[place], truth[:, place]
        return encoded(own, np.asarray, f"answer{place}", part.domain.size) if self.encodes > part.encodes else own

    def votes(self, columns: Columns) -> Ints:
        if not self.sampled:
            return np.concatenate([part.votes({"value": columns[f"value{place}"]}) for place, part in enumerate(self.parts)])
        which, value = columns["coordinate"], columns["value"]
        return np.concatenate([part.votes({"value": value[which == place]}) for place, part in enumerate(self.parts)])

    def released(self, reports: Reports) -> Sequence[Any]:
        """The vectors that these reports release; with `sampled`, pairs of a coordinate's number and its value."""
        columns = self.checked_reports(reports).columns
        if self.sampled:
            pairs = zip(columns["coordinate"].tolist(), columns["value"].tolist(), strict=True)
            return [(place, self._label(place, value)) for place, value in pairs]
        rows = zip(*(columns[f"value{place}"].tolist() for place in range(len(self.parts))), strict=True)
        return [tuple(self._label(place, value) for place, value in enumerate(row)) for row in rows]

    def decode(self, reports: Reports) -> Floats:
        """The released vectors as rows of numbers; not unbiased."""
        if self.sampled:
            raise InvalidParameter("A release of one coordinate is not a vector. Release all of them: VectorRelease.of.")
        return np.array(self.released(reports), np.float64)

    def _label(self, place: int, value: int) -> Any:
        part = self.parts[place]
        return part.domain.labels[int(part.outputs[value])]

    def loss(self) -> PrivacyLoss:
        odds = [part.loss().odds for part in self.parts]
        if any(each is None for each in odds):
            return PrivacyLoss(None, "proved", "any two vectors")
        exact = [each for each in odds if each is not None]
        total = max(exact) if self.sampled else np.prod(np.array(exact, object))
        return PrivacyLoss(Fraction(total), "proved", "any two vectors")

    def expected_loss(self, priors: Sequence[ArrayLike | None] | None = None) -> float:
        """The expected losses of the coordinates that are released, added up, or of the one drawn on average."""
        given = [None] * len(self.parts) if priors is None else list(priors)
        losses = [part.expected_loss(prior) for part, prior in zip(self.parts, given, strict=True)]
        return sum(losses) / (len(losses) if self.sampled else 1)

    def estimate(self, tally: Tally) -> Estimate:
        raise InvalidParameter(
            "Releases of vectors have no estimate. For shares of one coordinate give its part of the counts to "
            "em_channel or least_squares, with the matrix of that coordinate's release."
        )

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        raise InvalidParameter("Releases of vectors have no unbiased estimate whose error could be predicted.")

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        from deniable.mechanisms.registry import mechanism_from_spec

        made = [mechanism_from_spec(each) for each in parts(parameters, "parts")]
        return super().from_parameters(domain, epsilon, {**parameters, "parts": made})
