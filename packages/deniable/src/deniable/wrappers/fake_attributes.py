"""Records: one answer, drawn in secret, is randomized, and the others are replaced by fakes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.core import Coins, Columns, Drawn, Layout, PrivacyLoss, PureProtocol, log_up, odds_below
from deniable.domains.vectors import Vectors
from deniable.errors import InvalidParameter
from deniable.mechanisms.shares.direct_response import DirectResponse
from deniable.wrappers.attributes import Attributes, Maker
from deniable.wrappers.record_mechanism import RECORDS, Margin, Supported


@dataclass(frozen=True)
class FakeAttributes(Attributes):
    """One answer, drawn in secret, is reported; for all others fakes are sent that depend on no answer: RS+FD.

    A report looks as if every answer were in it. Arcolezi et al. 2021 spend ln(d (e^epsilon - 1) + 1) on the drawn answer,
    as if the secret drawing of one out of d amplified privacy. It does only for records that differ in one answer, and not
    always then; two records that differ in all answers are distinguished with the whole odds of an answer. So here each
    answer has the budget itself, and `as_published` states its true loss.

    Fakes are blank reports: uniform values for direct response, noise without a true bit for unary encoding (UE-z); with
    `random_fakes` they are reports on a random value (UE-r).
    """

    domain: Vectors
    epsilon: float
    parts: Sequence[PureProtocol]
    random_fakes: bool = False
    wire = "fake-attributes-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.random_fakes and not all(part.random_fakes for part in self.parts):
            raise InvalidParameter("random_fakes works with Unary and DirectResponse only.")
        if len({part.loss().odds for part in self.parts}) != 1:
            raise InvalidParameter("All attributes need mechanisms with the same odds, as any of them may be drawn.")
        for part in self.parts:
            assert part.blank_support > 0  # refuses mechanisms without blank reports

    @classmethod
    def of(
        cls, domain: Vectors, epsilon: float, make: Maker = DirectResponse, random_fakes: bool = False
    ) -> "FakeAttributes":
        """With the whole budget for the drawn answer: keeps its promise for any two records."""
        return cls(domain, epsilon, [make(part, epsilon) for part in domain.parts], random_fakes)

    @classmethod
    def as_published(
        cls, domain: Vectors, epsilon: float, make: Maker = DirectResponse, random_fakes: bool = False
    ) -> "FakeAttributes":
        """With the epsilon of the paper for the drawn answer, ln(d (e^epsilon - 1) + 1)."""
        spent = math.nextafter(log_up(len(domain.parts) * (odds_below(epsilon) - 1) + 1), 0.0)
        return cls(domain, epsilon, [make(part, spent) for part in domain.parts], random_fakes)

    @property
    def layout(self) -> Layout:
        return self.side_by_side()

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        which, out = coins.below(len(self.parts), len(truth)), dict[str, NDArray[Any]]()
        for place, part in enumerate(self.parts):
            real, fake = part.randomize(truth[:, place], coins), self.fake(part, len(truth), coins)
            for name, column in real.items():
                out[f"{place}.{name}"] = np.where(which == place, column, fake[name])
        return out

    def fake(self, part: PureProtocol, size: int, coins: Coins) -> Drawn:
        """Reports that depend on no answer."""
        if self.random_fakes:
            return part.randomize(coins.below(part.domain.size, size), coins)
        return part.blank(size, coins)

    def votes(self, columns: Columns) -> Ints:
        return np.concatenate([part.votes(self.own(place, columns)) for place, part in enumerate(self.parts)])

    def _fake_support(self, part: PureProtocol) -> Fraction:
        size = part.domain.size
        return (part.p + (size - 1) * part.q) / size if self.random_fakes else part.blank_support

    def support(self, place: int) -> tuple[Fraction, Fraction]:
        """The probabilities that a report supports the true value of an attribute, and a given other one."""
        part, drawn = self.parts[place], Fraction(1, len(self.parts))
        faked = (1 - drawn) * self._fake_support(part)
        return part.p * drawn + faked, part.q * drawn + faked

    def margin(self, place: int) -> Margin:
        return Supported(*self.support(place))

    def loss(self) -> PrivacyLoss:
        """Divided by the law of fakes, a report's probability is the mean over the attributes of what each says.

        If all of them speak for one record and against another, the odds are those of a single answer.
        """
        return PrivacyLoss(self.parts[0].loss().odds, "proved", RECORDS)

    def attribute_loss(self) -> PrivacyLoss:
        """The loss for records that differ in one answer only: this is what the secret drawing hides.

        The worst report speaks for the one answer, and at all others as little as can be, so that they hide least. That is
        a formula: `certify` proves the loss for any two records from the law, and not this one.
        """
        highs, lows = zip(*(part.fake_odds(self.random_fakes) for part in self.parts), strict=True)
        odds = self.parts[0].loss().odds
        if odds is None:
            return PrivacyLoss(None, "theorem", "records that differ in one answer")
        rest = [sum(lows, Fraction(0)) - low for low in lows]
        worst = max((other + high) / (other + high / odds) for other, high in zip(rest, highs, strict=True))
        return PrivacyLoss(worst, "theorem", "records that differ in one answer")
