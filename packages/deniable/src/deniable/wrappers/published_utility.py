"""Utility-optimized response as it was published: kept to be compared with, and to have its true cost computed.

Somebody with an open answer discloses it with probability 1 - f. Otherwise they take a sensitive value at random and
randomize it as if it were their own; with probability z they disclose their open answer beside that report. Formulas of
He et al. (uSS, uUE, uLH, uWheel), numbered as there. For hashing and the wheel z was derived for the average over all hash
functions; but a report names its function, and under one that gives a bucket few values it costs more than promised.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Bools, Floats, Ints
from deniable.core import (
    AnyDomain,
    Coins,
    Columns,
    Domain,
    Drawn,
    Estimate,
    Flags,
    Number,
    PrivacyLoss,
    PureProtocol,
    Spec,
    Tally,
    lookup,
)
from deniable.core.spec import part
from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms.algebra.utility_formulas import disclosed_beside, disguise, true_odds
from deniable.mechanisms.registry import mechanism_from_spec
from deniable.mechanisms.shares.utility_base import UtilityBase
from deniable.wrappers.either import Either
from deniable.wrappers.open_answers import OpenAnswers, checked_sensitive
from deniable.wrappers.utility_optimized import Base, made

TWO_NEEDED = "The published mechanisms need at least two sensitive answers: with one they divide 0 by 0."


MOST_VALUES = 1 << 12  # sensitive values for which the loads of all hash functions are counted


@dataclass(frozen=True)
class Pairs(Either):
    """Reports may disclose an open answer beside the base's fields, if z is not 0; "masked" says whether they do."""

    beside = True

    both: bool = True

    def join(self, number: Ints, columns: Drawn) -> Drawn:
        masked = columns["masked"]
        base = {field.name: np.where(masked, columns[field.name], 0) for field in self.base.fields}
        return {"open": number, "masked": masked, **base}

    def disclosed(self, columns: Columns) -> Ints:
        return columns["open"].astype(np.int64)

    def protected(self, columns: Columns, rows: Bools) -> Columns:
        return {field.name: columns[field.name][rows] for field in self.base.fields}

    def check(self, columns: Columns) -> int:
        size = super().check(columns)
        masked = columns["masked"] == 1
        self.base.check(self.protected(columns, masked))
        if any(column.any() for column in self.protected(columns, ~masked).values()):
            raise InvalidReport("A report has a protected part but is marked as having none. No device sends this.")
        if not self.both and (columns["open"][masked] > 0).any():
            raise InvalidReport(
                "A report discloses a non-sensitive answer and also has a protected part. No device sends this."
            )
        if (columns["open"][~masked] == 0).any():
            raise InvalidReport("A report is empty. No device sends this.")
        return size


@dataclass(frozen=True)
class PublishedUtility(OpenAnswers):
    """uSS, uUE, uLH or uWheel as published, by its base; `loss` is the exact loss."""

    base: UtilityBase
    domain: Domain
    sensitive: Sequence[object]
    epsilon: float
    wire = "utility-published-1"

    def __init__(self, base: Base, domain: Domain, sensitive: Collection[object], epsilon: float) -> None:
        chosen = checked_sensitive(domain, sensitive)
        self._fix(domain=domain, sensitive=chosen, epsilon=epsilon)
        super().__post_init__()
        if len(chosen) < 2:
            raise InvalidParameter(TWO_NEEDED)
        mechanism = made(base, len(chosen), self.epsilon, 0.0)
        if not isinstance(mechanism, UtilityBase) or len(chosen) > MOST_VALUES:
            raise InvalidParameter(
                "The published mechanisms are made of subset selection, direct response, unary encoding, local hashing or "
                f"the wheel, for at most {MOST_VALUES} sensitive answers."
            )
        self._fix(base=mechanism)

    @classmethod
    def recommended(
        cls, family: type[UtilityBase], domain: Domain, sensitive: Collection[object], epsilon: float, open_share: float
    ) -> "PublishedUtility":
        """With the parameter that the paper recommends for this open share; of two whole numbers the better one."""
        if len(checked_sensitive(domain, sensitive)) < 2:
            raise InvalidParameter(TWO_NEEDED)

        def made_of(numbers: Domain, budget: float) -> PureProtocol:
            return family.recommended(numbers, budget, open_share)

        return cls(made_of, domain, sensitive, epsilon)

    @cached_property
    def f(self) -> Fraction:
        """The probability that an open answer is disguised."""
        return disguise(len(self.sensitive), self.base.p, self.base.q)

    @cached_property
    def z(self) -> Fraction:
        """The probability that a disguised open answer is disclosed beside the report."""
        name, parameter = self.base.published
        return disclosed_beside(name, len(self.sensitive), parameter, self.odds)

    @cached_property
    def disclosed_share(self) -> float:
        return float(1 - self.f * (1 - self.z))

    @cached_property
    def layout(self) -> Pairs:
        base, open_answers = self.base.layout, self.domain.size - len(self.sensitive)
        fields = (Flags(field.name, field.bits) if isinstance(field, Flags) else field for field in base.fields)
        return Pairs((Number("open", open_answers + 1), Number("masked", 2), *fields), base, open_answers, self.z > 0)

    def reading(self) -> dict[str, object]:
        return {}  # a report may name sensitive answers and disclose another one

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        number, secret, size = lookup(self._open_number, truth), lookup(self.secret, truth), len(truth)
        instead = coins.below(len(self.sensitive), size)
        own = self.base.randomize(np.where(secret, lookup(self._place, truth), instead), coins)
        disguised, beside = (coins.toss(share, size) for share in (self.f, self.z))
        return self.layout.join(number * (~disguised | beside), {**own, "masked": secret | disguised})

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        base = self.base.votes(self.layout.protected(columns, columns["masked"] == 1))
        return np.concatenate([base, np.bincount(columns["open"], minlength=self.layout.open + 1)[1:]])

    def loss(self) -> PrivacyLoss:
        size, hidden, odds = len(self.sensitive), self.f * (1 - self.z), self.base.loss().odds
        assert odds is not None
        # A report that supports nothing is likelier too, but by no more than one that supports a single value.
        worst = max(odds, true_odds(size, odds, hidden, self.worst))
        return PrivacyLoss(worst, protects="sensitive values")

    @cached_property
    def worst(self) -> int:
        """How few sensitive values a report can support, over every hash function that it can name."""
        return self.base.least_load()

    def estimate(self, tally: Tally) -> Estimate:
        """Eq. 21."""
        self.check_tally(tally)
        own = self.base.debias(tally.counts[: self.base.cells], tally.n) / tally.n
        shares = np.concatenate([own, tally.counts[self.base.cells :] / (tally.n * self.disclosed_share)])
        return self._with_error(shares[self._order], tally.n)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        return self._with_error(self.checked_truth(truth, n), n)

    def _with_error(self, shares: Floats, n: int) -> Estimate:
        """Eq. 25."""
        noise = shares * (1 - self.disclosed_share) / self.disclosed_share
        noise[self.secret] = self.base.noise(shares[self.secret])
        return Estimate(self.domain.labels, shares, noise / n, n, ordered=self.domain.ordered)

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        base = mechanism_from_spec(part(parameters, "base"))
        return super().from_parameters(domain, epsilon, {**parameters, "base": base})
