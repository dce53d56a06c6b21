"""Several answers of one person: what all mechanisms for records share."""

import itertools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.arrays import Floats, Ints
from deniable.core import AnyDomain, Column, Columns, Domain, Drawn, Estimate, Layout, Mechanism, PureProtocol, Spec, Tally
from deniable.core.spec import parts
from deniable.domains.vectors import Vectors
from deniable.errors import InvalidParameter
from deniable.mechanisms.registry import mechanism_from_spec

Maker = Callable[[Domain, float], PureProtocol]


RECORDS = "any two records"


class Attributes(Mechanism[Sequence[object], Ints]):
    """A mechanism for records, rows of several answers, made of one mechanism for each: what all three ways share."""

    domain: Vectors
    question = "records"
    parts: Sequence[PureProtocol]

    def __post_init__(self) -> None:
        super().__post_init__()
        parts = tuple(self.parts)
        if not isinstance(self.domain, Vectors) or not all(isinstance(part, PureProtocol) for part in parts):
            raise InvalidParameter("Records need a Vectors domain, and one mechanism for shares per part.")
        if [part.domain for part in parts] != list(self.domain.parts):
            raise InvalidParameter("The mechanisms must be for the parts of the domain, in their order.")
        self._fix(parts=parts)

    @property
    def edges(self) -> list[int]:
        """Where the answers of each attribute begin among all labels, and where the last ends."""
        return np.cumsum([0, *(part.domain.size for part in self.parts)]).tolist()

    @property
    def cells(self) -> int:
        return self.edges[-1]

    def split(self, values: ArrayLike) -> list[Floats]:
        """What belongs to each attribute, of one number for each label."""
        edges, every = self.edges, np.asarray(values, np.float64)
        return [every[start:end] for start, end in itertools.pairwise(edges)]

    def listed(self, tally: Tally) -> Estimate:
        labels = [f"column {place + 1}: {label}" for place, label in self.domain.labels]
        return replace(self.estimate(tally), labels=labels)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """From the true shares of all attributes, one after the other."""
        shares = np.asarray(truth, np.float64)
        if n < 1 or shares.shape != (self.edges[-1],) or (shares < 0).any():
            raise InvalidParameter(
                f"A prediction needs at least one person, and {self.edges[-1]} shares: those of each attribute in turn."
            )
        if any(abs(own.sum() - 1) > 1e-9 for own in self.split(shares)):
            raise InvalidParameter("The true shares of each attribute must sum to 1.")
        noise = [self.noise(place, own, n) for place, own in enumerate(self.split(shares))]
        return Estimate(self.domain.labels, shares, np.concatenate(noise), n)

    @abstractmethod
    def noise(self, place: int, shares: Floats, n: int, reports: float | None = None) -> Floats:
        """The variance of these shares of one attribute, from n people, of whom `reports` reported it."""

    def total_error(self, n: int) -> float:
        """The root of the mean squared error of a share, over all attributes, if all answers are equally common."""
        even = np.concatenate([np.full(part.domain.size, 1 / part.domain.size) for part in self.parts])
        return float(np.sqrt(np.mean(self.predict(even, n).standard_error ** 2)))

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        made = [mechanism_from_spec(each) for each in parts(parameters, "parts")]
        return super().from_parameters(domain, epsilon, {**parameters, "parts": made})

    def named(self, place: int, columns: Drawn) -> dict[str, NDArray[Any]]:
        """Columns of one attribute's mechanism under the names they have in a report."""
        return {f"{place}.{name}": column for name, column in columns.items()}

    def own(self, place: int, columns: Columns) -> dict[str, Column]:
        """The columns of one attribute under the names that its mechanism knows."""
        return {field.name: columns[f"{place}.{field.name}"] for field in self.parts[place].layout.fields}

    def side_by_side(self) -> Layout:
        """The fields of all attributes, one after the other."""
        fields = (replace(f, name=f"{place}.{f.name}") for place, part in enumerate(self.parts) for f in part.layout.fields)
        return Layout(tuple(fields))
