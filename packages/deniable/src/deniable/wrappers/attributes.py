"""Several answers of one person: all of them with a share of the budget, one of them with all of it, or one among fakes."""

import itertools
import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.arrays import Bytes, Floats, Ints
from deniable.core.coins import Coins
from deniable.core.domain import Domain
from deniable.core.estimate import Estimate
from deniable.core.layout import Column, Columns, Flags, Layout, Number
from deniable.core.loss import PrivacyLoss
from deniable.core.mechanism import Mechanism, PureProtocol
from deniable.core.odds import checked_epsilon, log_up, odds_below, rounded_down
from deniable.core.tally import Tally
from deniable.domains.vectors import Vectors
from deniable.errors import EmptyBatch, InvalidParameter, InvalidReport
from deniable.mechanisms.registry import mechanism_from_spec
from deniable.mechanisms.shares.direct_response import DirectResponse
from deniable.mechanisms.shares.unary import Unary

Maker = Callable[[Domain, float], PureProtocol]

RECORDS = "any two records"


class Attributes(Mechanism):
    """A mechanism for records, rows of several answers, made of one mechanism for each: what all three ways share."""

    domain: Vectors
    parts: Sequence[PureProtocol]

    def __post_init__(self) -> None:
        super().__post_init__()
        parts = tuple(self.parts)
        if not isinstance(self.domain, Vectors) or not all(isinstance(part, PureProtocol) for part in parts):
            raise InvalidParameter("Records need Vectors and one mechanism for shares for each of its parts.")
        if [part.domain for part in parts] != list(self.domain.parts):
            raise InvalidParameter("The mechanisms must be for the parts of the domain, in their order.")
        object.__setattr__(self, "parts", parts)

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

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """From the true shares of all attributes, one after the other."""
        shares = np.asarray(truth, np.float64)
        if n < 1 or shares.shape != (self.edges[-1],) or (shares < 0).any():
            raise InvalidParameter(
                f"A prediction needs a person at least, and {self.edges[-1]} shares, those of each attribute."
            )
        if any(abs(own.sum() - 1) > 1e-9 for own in self.split(shares)):
            raise InvalidParameter("The true shares of each attribute must sum to 1.")
        noise = [self.noise(place, own, n) for place, own in enumerate(self.split(shares))]
        return Estimate(cast(Any, self.domain.labels), shares, np.concatenate(noise), n)

    @abstractmethod
    def noise(self, place: int, shares: Floats, n: int, reports: float | None = None) -> Floats:
        """The variance of these shares of one attribute, from so many people, of whom so many told of it."""

    def total_error(self, n: int) -> float:
        """The root of the mean squared error of a share, over all attributes, if all answers are equally common."""
        even = np.concatenate([np.full(part.domain.size, 1 / part.domain.size) for part in self.parts])
        return float(np.sqrt(np.mean(self.predict(even, n).standard_error ** 2)))

    @classmethod
    def from_parameters(cls, domain: Domain, epsilon: float, parameters: Mapping[str, Any]) -> Self:
        parts = [mechanism_from_spec(part) for part in parameters["parts"]]
        return cls(domain, epsilon, parts)  # type: ignore[call-arg]

    def parameters(self) -> Mapping[str, object]:
        return {"parts": [part.spec() for part in self.parts]}

    def named(self, place: int, columns: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Columns of one attribute's mechanism under the names they have in a report."""
        return {f"{place}.{name}": column for name, column in columns.items()}

    def own(self, place: int, columns: Columns) -> dict[str, Column]:
        """The columns of one attribute under the names that its mechanism knows."""
        return {field.name: columns[f"{place}.{field.name}"] for field in self.parts[place].layout.fields}

    def side_by_side(self) -> Layout:
        """The fields of all attributes, one after the other."""
        fields = (replace(f, name=f"{place}.{f.name}") for place, part in enumerate(self.parts) for f in part.layout.fields)
        return Layout(tuple(fields))


def together(parts: Sequence[PureProtocol]) -> Fraction | None:
    """The product of the odds of independent reports."""
    odds = [part.loss().odds for part in parts]
    return None if None in odds else math.prod((each for each in odds if each is not None), start=Fraction(1))


@dataclass(frozen=True)
class EveryAttribute(Attributes):
    """Every answer is told, each with a share of the budget: splitting (SPL). The odds multiply to those of a record."""

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

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[Any]]:
        out: dict[str, NDArray[Any]] = {}
        for place, part in enumerate(self.parts):
            out |= self.named(place, part.randomize(truth[:, place], coins))
        return out

    def votes(self, columns: Columns) -> Ints:
        return np.concatenate([part.votes(self.own(place, columns)) for place, part in enumerate(self.parts)])

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(together(self.parts), "factored", RECORDS)

    def estimate(self, tally: Tally) -> Estimate:
        self.check_tally(tally)
        shares = [
            part.debias(cast(Any, own), tally.n) / tally.n
            for part, own in zip(self.parts, self.split(tally.counts), strict=True)
        ]
        noise = [self.noise(place, own, tally.n) for place, own in enumerate(shares)]
        return Estimate(cast(Any, self.domain.labels), np.concatenate(shares), np.concatenate(noise), tally.n)

    def noise(self, place: int, shares: Floats, n: int, reports: float | None = None) -> Floats:
        return self.parts[place].noise(shares) / n


@dataclass(frozen=True)
class OneAttribute(Attributes):
    """One answer, drawn at random and in public, is told with the whole budget: sampling (SMP).

    The odds of a record are those of one answer. That the drawing hides the other answers adds nothing to the worst case:
    the answer that is told may be the one that differs.
    """

    domain: Vectors
    epsilon: float
    parts: Sequence[PureProtocol]
    wire = "one-attribute-1"

    @classmethod
    def of(cls, domain: Vectors, epsilon: float, make: Maker = DirectResponse) -> "OneAttribute":
        """The same kind of mechanism for every attribute, each with the whole budget."""
        return cls(domain, epsilon, [make(part, epsilon) for part in domain.parts])

    @property
    def width(self) -> int:
        """The bits of the longest report of an attribute."""
        return max(part.layout.bits for part in self.parts)

    @property
    def cells(self) -> int:
        return self.edges[-1] + len(self.parts)  # and how many told of each attribute

    @property
    def layout(self) -> Layout:
        return Layout((Number("which", max(len(self.parts), 2)), Flags("report", self.width)))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[Any]]:
        which = coins.public(len(self.parts), len(truth))
        report = np.zeros((len(truth), (self.width + 7) // 8), np.uint8)
        for place, part in enumerate(self.parts):
            rows = self._rows(part, part.randomize(truth[:, place], coins))
            report[which == place, : rows.shape[1]] = rows[which == place]
        return {"which": which, "report": report}

    def _rows(self, part: PureProtocol, columns: Mapping[str, NDArray[Any]]) -> Bytes:
        whole = {field.name: columns[field.name].astype(field.empty(1).dtype) for field in part.layout.fields}
        return part.layout.rows(whole)

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        which, report, counts, told = columns["which"], columns["report"], [], []
        if len(which) and int(which.max()) >= len(self.parts):
            raise InvalidReport("A report tells of an attribute that there is not. It is refused.")
        for place, part in enumerate(self.parts):
            rows, bits = np.ascontiguousarray(report[which == place]), part.layout.bits
            used = (bits + 7) // 8
            if rows[:, used:].any() or (bits % 8 and (rows[:, used - 1] >> bits % 8).any()):
                raise InvalidReport("A report has a bit set past its end. It is refused.")
            own = part.layout.columns(np.ascontiguousarray(rows[:, :used]))
            part.layout.check(own)
            counts.append(part.votes(own) if len(rows) else np.zeros(part.cells, np.int64))
            told.append(len(rows))
        return np.concatenate([*counts, np.array(told, np.int64)])

    def loss(self) -> PrivacyLoss:
        odds = [part.loss().odds for part in self.parts]
        worst = None if None in odds else max(each for each in odds if each is not None)
        return PrivacyLoss(worst, "factored", RECORDS)

    def estimate(self, tally: Tally) -> Estimate:
        """The variance is for the numbers that told of each attribute, and counts which people were drawn."""
        self.check_tally(tally)
        told, values, noise = tally.counts[self.edges[-1] :], [], []
        if told.min() == 0:
            raise EmptyBatch("Of some attribute nobody told. Collect more reports.")
        for place, own in enumerate(self.split(tally.counts[: self.edges[-1]])):
            shares = self.parts[place].debias(cast(Any, own), int(told[place])) / told[place]
            values.append(shares)
            noise.append(self.noise(place, shares, tally.n, int(told[place])))
        return Estimate(cast(Any, self.domain.labels), np.concatenate(values), np.concatenate(noise), tally.n)

    def noise(self, place: int, shares: Floats, n: int, reports: float | None = None) -> Floats:
        told = n / len(self.parts) if reports is None else reports
        drawn = shares * (1 - shares) * (n - told) / max(n - 1, 1)  # who was drawn, without putting anybody back
        return (self.parts[place].noise(shares) + drawn) / told


@dataclass(frozen=True)
class FakeAttributes(Attributes):
    """One answer, drawn in secret, is told; for all others fakes are sent, that depend on nothing: RS+FD.

    A report looks as if every answer were told. Arcolezi et al. 2021 spend ln(d (e^epsilon - 1) + 1) on the answer that is
    told, as if the secret drawing of one out of d amplified privacy. It does only for records that differ in one answer, and
    not always then; two records that differ in all of them are told apart with the whole odds of an answer. So here each
    answer has the budget itself, and `as_published` tells its true loss.

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
        if self.random_fakes and not all(isinstance(part, Unary | DirectResponse) for part in self.parts):
            raise InvalidParameter("Reports on random values are fakes for Unary and DirectResponse only.")
        if len({part.loss().odds for part in self.parts}) != 1:
            raise InvalidParameter("All attributes need mechanisms with the same odds, as any of them may be told.")
        for part in self.parts:
            assert part.blank_support > 0  # refuses mechanisms without blank reports

    @classmethod
    def of(
        cls, domain: Vectors, epsilon: float, make: Maker = DirectResponse, random_fakes: bool = False
    ) -> "FakeAttributes":
        """With the whole budget for the answer that is told: keeps its promise for any two records."""
        return cls(domain, epsilon, [make(part, epsilon) for part in domain.parts], random_fakes)

    @classmethod
    def as_published(
        cls, domain: Vectors, epsilon: float, make: Maker = DirectResponse, random_fakes: bool = False
    ) -> "FakeAttributes":
        """With the epsilon of the paper for the answer that is told, ln(d (e^epsilon - 1) + 1)."""
        spent = math.nextafter(log_up(len(domain.parts) * (odds_below(epsilon) - 1) + 1), 0.0)
        return cls(domain, epsilon, [make(part, spent) for part in domain.parts], random_fakes)

    @property
    def layout(self) -> Layout:
        return self.side_by_side()

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[Any]]:
        which, out = coins.below(len(self.parts), len(truth)), dict[str, NDArray[Any]]()
        for place, part in enumerate(self.parts):
            real, fake = part.randomize(truth[:, place], coins), self.fake(part, len(truth), coins)
            for name, column in real.items():
                told = (which == place).reshape(-1, *[1] * (np.ndim(column) - 1))
                out[f"{place}.{name}"] = np.where(told, column, fake[name])
        return out

    def fake(self, part: PureProtocol, size: int, coins: Coins) -> Mapping[str, NDArray[Any]]:
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
        part, told = self.parts[place], Fraction(1, len(self.parts))
        faked = (1 - told) * self._fake_support(part)
        return part.p * told + faked, part.q * told + faked

    def loss(self) -> PrivacyLoss:
        """Divided by the law of fakes, a report's probability is the mean over the attributes of what each says.

        If all of them speak for one record and against another, the odds are those of a single answer.
        """
        return PrivacyLoss(self.parts[0].loss().odds, "factored", RECORDS)

    def attribute_loss(self) -> PrivacyLoss:
        """The loss for records that differ in one answer only: this is what the secret drawing hides.

        The worst report speaks for the one answer, and at all others as little as can be, so that they hide least.
        """
        highs, lows = zip(*(self._spoken(part) for part in self.parts), strict=True)
        odds = self.parts[0].loss().odds
        if odds is None:
            return PrivacyLoss(None, "factored", "records that differ in one answer")
        rest = [sum(lows, Fraction(0)) - low for low in lows]
        worst = max((other + high) / (other + high / odds) for other, high in zip(rest, highs, strict=True))
        return PrivacyLoss(worst, "factored", "records that differ in one answer")

    def _spoken(self, part: PureProtocol) -> tuple[Fraction, Fraction]:
        """A report beside a fake one: how much likelier under its value at most, and how much less likely at least."""
        odds, size = part.loss().odds or Fraction(1), part.domain.size
        if self.random_fakes and isinstance(part, Unary):  # with c ones, of which the true one: odds k / (c odds + k - c)
            return odds * size / (odds + size - 1), size / ((size - 1) * odds + 1)
        high = part.p / part.blank_support
        return high, high / odds

    def estimate(self, tally: Tally) -> Estimate:
        self.check_tally(tally)
        values = []
        for place, own in enumerate(self.split(tally.counts)):
            p, q = map(float, self.support(place))
            values.append((own / tally.n - q) / (p - q))
        noise = [self.noise(place, shares, tally.n) for place, shares in enumerate(values)]
        return Estimate(cast(Any, self.domain.labels), np.concatenate(values), np.concatenate(noise), tally.n)

    def noise(self, place: int, shares: Floats, n: int, reports: float | None = None) -> Floats:
        p, q = map(float, self.support(place))
        return np.asarray((shares * p * (1 - p) + (1 - shares) * q * (1 - q)) / ((p - q) ** 2 * n), np.float64)

    @classmethod
    def from_parameters(cls, domain: Domain, epsilon: float, parameters: Mapping[str, Any]) -> "FakeAttributes":
        assert isinstance(domain, Vectors)
        parts = [mechanism_from_spec(part) for part in parameters["parts"]]
        return cls(domain, epsilon, parts, parameters["random_fakes"])  # type: ignore[arg-type]

    def parameters(self) -> Mapping[str, object]:
        return {"parts": [part.spec() for part in self.parts], "random_fakes": self.random_fakes}
