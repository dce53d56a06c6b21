"""Several answers of one person: the shares of every attribute, by any mechanism for records."""

import itertools
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import AnyDomain, Estimate, Mechanism, Spec, Tally
from deniable.core.spec import parts
from deniable.domains.vectors import Vectors
from deniable.errors import InvalidParameter
from deniable.mechanisms.registry import mechanism_from_spec

RECORDS = "any two records"


class Margin(Protocol):
    """What reports say about one attribute, as a `PureProtocol` does about a single question."""

    def debias(self, counts: Ints, reports: int) -> Floats:
        """The estimated numbers of people with each answer, of as many as reported."""

    def noise(self, shares: Floats) -> Floats:
        """The variance of these shares that one report would have."""


@dataclass(frozen=True)
class Supported:
    """Reports that support the true answer of an attribute with probability p, and each other answer with probability q."""

    p: Fraction
    q: Fraction

    def debias(self, counts: Ints, reports: int) -> Floats:
        p, q = float(self.p), float(self.q)
        return np.asarray((counts - q * reports) / (p - q), np.float64)

    def noise(self, shares: Floats) -> Floats:
        yes, no = (float(p * (1 - p) / (self.p - self.q) ** 2) for p in (self.p, self.q))  # 1 - p may be tiny
        return np.asarray(shares * yes + (1 - shares) * no, np.float64)


class RecordMechanism(Mechanism[Sequence[object], Ints]):
    """A mechanism for records, rows of several answers, that estimates the shares of every attribute.

    What each report says about an attribute is its `margin`. Unless a family says otherwise, every report is about all of
    them, and the votes for the answers of each attribute are counted one attribute after the other.
    """

    domain: Vectors
    question = "records"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, Vectors):
            raise InvalidParameter("Records need a Vectors domain, with a domain for each of their answers.")

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        made = {"parts": [mechanism_from_spec(each) for each in parts(parameters, "parts")]} if "parts" in parameters else {}
        return super().from_parameters(domain, epsilon, {**parameters, **made})

    @abstractmethod
    def margin(self, place: int) -> Margin:
        """What a report says about this attribute."""

    @property
    def in_words(self) -> str:
        """Which answers are reported together, and by which mechanism."""
        return "All answers are in one group."

    @property
    def edges(self) -> list[int]:
        """Where the answers of each attribute begin among all labels, and where the last ends."""
        return np.cumsum([0, *(part.size for part in self.domain.parts)]).tolist()

    @property
    def cells(self) -> int:
        return self.edges[-1]

    def split(self, values: ArrayLike) -> list[Floats]:
        """What belongs to each attribute, of one number for each label."""
        edges, every = self.edges, np.asarray(values, np.float64)
        return [every[start:end] for start, end in itertools.pairwise(edges)]

    def estimate(self, tally: Tally) -> Estimate:
        self.check_tally(tally)
        counts = enumerate(self.split(tally.counts))
        shares = [self.margin(place).debias(cast(Any, own), tally.n) / tally.n for place, own in counts]
        noise = [self.noise(place, own, tally.n) for place, own in enumerate(shares)]
        return Estimate(self.domain.labels, np.concatenate(shares), np.concatenate(noise), tally.n)

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

    def noise(self, place: int, shares: Floats, n: int) -> Floats:
        """The variance of these shares of one attribute, from n people."""
        return self.margin(place).noise(shares) / n

    def total_error(self, n: int) -> float:
        """The root of the mean squared error of a share, over all attributes, if all answers are equally common."""
        even = np.concatenate([np.full(part.size, 1 / part.size) for part in self.domain.parts])
        return float(np.sqrt(np.mean(self.predict(even, n).standard_error ** 2)))
