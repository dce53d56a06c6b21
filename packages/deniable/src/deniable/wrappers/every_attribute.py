"""Records: every answer is randomized, each with a share of the budget."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.core import (
    Coins,
    Columns,
    Drawn,
    Layout,
    PrivacyLoss,
    PureProtocol,
    Reports,
    checked_epsilon,
    rounded_down,
)
from deniable.domains.vectors import Vectors
from deniable.mechanisms.shares.direct_response import DirectResponse
from deniable.wrappers.attributes import Attributes, Maker
from deniable.wrappers.record_mechanism import RECORDS


def together(parts: Sequence[PureProtocol]) -> Fraction | None:
    """The product of the odds of independent reports."""
    odds = [part.loss().odds for part in parts]
    return None if None in odds else math.prod((each for each in odds if each is not None), start=Fraction(1))


@dataclass(frozen=True)
class EveryAttribute(Attributes):
    """Every answer is reported, each with a share of the budget: splitting (SPL). The odds multiply to those of a record."""

    domain: Vectors
    epsilon: float
    parts: Sequence[PureProtocol]
    wire = "every-attribute-1"

    @classmethod
    def of(cls, domain: Vectors, epsilon: float, make: Maker = DirectResponse) -> "EveryAttribute":
        """Equal shares of the budget."""
        share = rounded_down(Fraction(checked_epsilon(epsilon)) / len(domain.parts))
        return cls(domain, epsilon, [make(part, share) for part in domain.parts])

    @property
    def layout(self) -> Layout:
        return self.side_by_side()

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        out: dict[str, NDArray[Any]] = {}
        for place, part in enumerate(self.parts):
            out |= self.named(place, part.randomize(truth[:, place], coins))
        return out

    def votes(self, columns: Columns) -> Ints:
        return np.concatenate([part.votes(self.own(place, columns)) for place, part in enumerate(self.parts)])

    def reports_on(self, reports: Reports, places: Sequence[int]) -> list[Reports]:
        """The reports on some of the attributes, each as those of its own mechanism."""
        own = self.checked_reports(reports)
        chosen = [(place, self.parts[place]) for place in places]
        return [Reports(part.fingerprint, part.layout, self.own(place, own.columns)) for place, part in chosen]

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(together(self.parts), "proved", RECORDS)
