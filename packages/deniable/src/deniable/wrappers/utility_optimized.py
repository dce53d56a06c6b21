"""Utility-optimized response: sensitive answers are protected, the others disclosed unless that betrays somebody."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from deniable import kernels
from deniable.arrays import Floats, Ints
from deniable.core import (
    Additive,
    Answers,
    AnyDomain,
    Coins,
    Columns,
    Counted,
    Domain,
    Drawn,
    Estimate,
    Flags,
    Number,
    PrivacyLoss,
    PureProtocol,
    Spec,
    checked_answers,
    lookup,
)
from deniable.core.spec import part
from deniable.domains import Categories
from deniable.errors import InvalidParameter
from deniable.mechanisms.registry import mechanism_from_spec
from deniable.mechanisms.shares.finite_channel import FiniteChannel
from deniable.mechanisms.shares.utility_base import UtilityBase
from deniable.wrappers.certain import Certain
from deniable.wrappers.either import Either, either
from deniable.wrappers.mask import ChannelMask, Mask, PureMask
from deniable.wrappers.open_answers import OpenAnswers, checked_sensitive
from deniable.wrappers.single import Single

OPEN_SHARE = 0.75  # of people, where nothing is known: the start that is worst off least, whatever the share turns out to be


Base = Additive | type[PureProtocol] | Callable[[Domain, float], Additive]


@dataclass(frozen=True)
class UtilityOptimized(OpenAnswers):
    """Any mechanism for the sensitive answers; an open answer is disclosed, or hidden among reports on those.

    It is hidden as rarely as can be (see mask.py), so a report that discloses no answer is at most `odds` times as likely
    under one answer as under another; one that does can only come from the answer it discloses. That is
    utility-optimized local differential privacy (Murakami, Kawamoto 2019); the base may be any, as He et al. showed.
    `base` is a class of mechanisms, whose best parameter is then found for the share of people with an open answer, or a
    mechanism for the numbers from 0 to the number of sensitive answers. `flat` hides behind all reports alike.
    """

    base: Additive
    domain: Domain
    sensitive: Sequence[object]
    epsilon: float
    open_share: float = OPEN_SHARE
    flat: bool = False
    wire = "utility-1"

    def __init__(
        self,
        base: Base,
        domain: Domain,
        sensitive: Collection[object],
        epsilon: float,
        open_share: float = OPEN_SHARE,
        flat: bool = False,
    ) -> None:
        chosen = checked_sensitive(domain, sensitive)
        if isinstance(open_share, bool) or not isinstance(open_share, int | float) or not 0 <= open_share <= 1:
            raise InvalidParameter(
                "The share of people with a non-sensitive answer must be a number from 0 to 1, such as 0.75."
            )
        self._fix(domain=domain, sensitive=chosen, epsilon=epsilon, flat=bool(flat), open_share=float(open_share))
        super().__post_init__()
        self._fix(base=made(base, len(chosen), self.epsilon, self.open_share))
        if self.base.loss().epsilon() > self.epsilon:
            raise InvalidParameter(
                f"The base mechanism costs more than epsilon {self.epsilon:g} itself. Give it at most that budget."
            )

    @staticmethod
    def as_published(
        base: type[UtilityBase],
        domain: Domain,
        sensitive: Collection[object],
        epsilon: float,
        open_share: float = OPEN_SHARE,
    ) -> "OpenAnswers":
        """The published mechanism of this base (uSS, uUE, uLH or uWheel): pair reports, and a loss that may be larger."""
        from deniable.wrappers.published_utility import PublishedUtility  # which is made of what stands here

        return PublishedUtility.recommended(base, domain, sensitive, epsilon, open_share)

    @cached_property
    def mask(self) -> Mask:
        """How open answers are hidden."""
        if isinstance(self.base, FiniteChannel):
            return ChannelMask(self.base, self.odds)
        assert isinstance(self.base, PureProtocol)
        return PureMask(self.base, self.odds, self.flat)

    @cached_property
    def disclosed_share(self) -> float:
        return float(1 - self.mask.hidden)

    @property
    def hidden_odds(self) -> float:
        """How many open answers are hidden for each that is disclosed: the variance of a disclosed one, over the chance."""
        return float(self.mask.hidden / (1 - self.mask.hidden))

    @cached_property
    def layout(self) -> Either:
        return either(self.base.layout, self.domain.size - len(self.sensitive))

    @property
    def secure_batch(self) -> int:
        """More where reports have rows of bits: their laws have many steps, each of which takes a while to begin."""
        has_rows = any(isinstance(field, Flags) for field in self.layout.fields)
        return max(self.batch, min(1 << 15, (1 << 23) // self.layout.bits)) if has_rows else self.batch

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        number, secret = lookup(self._open_number, truth), lookup(self.secret, truth)
        own = self.base.randomize(lookup(self._place, truth), coins)
        blank, hidden = self.mask.draw(len(truth), coins)
        sent = {name: np.where(secret, column, blank[name]) for name, column in own.items()}
        return self.layout.join(number * ~hidden, sent)

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        if isinstance(self.base, Counted):
            (field,), own = self.layout.fields, self.layout.base.fields[0]
            assert isinstance(field, Number) and isinstance(own, Number)
            histogram = kernels.histogram(columns[field.name], field.below)
            return np.concatenate([self.base.votes_of(histogram[: own.below]), histogram[own.below :]])
        number = self.layout.disclosed(columns)
        base = self.base.votes(self.layout.protected(columns, number == 0))
        return np.concatenate([base, np.bincount(number, minlength=self.layout.open + 1)[1:]])

    def loss(self) -> PrivacyLoss:
        own = self.base.loss().odds
        assert own is not None
        return PrivacyLoss(max(self.odds, own), protects="sensitive values")

    def estimate(self, tally: Any) -> Estimate:
        self.check_tally(tally)
        open_counts = tally.counts[self.base.cells :]
        shares = open_counts / (tally.n * self.disclosed_share)
        disclosing, total = int(open_counts.sum()), float(shares.sum())
        # Each protected report counts as what the base makes of it; what open answers add to that is taken off again.
        own = self.base.debias(tally.counts[: self.base.cells], tally.n - disclosing) / tally.n - self.mask.mean * total
        return self._with_error(np.concatenate([own, shares]), tally.n)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        shares = self.checked_truth(truth, n)
        return self._with_error(np.concatenate([shares[self.secret], shares[~self.secret]]), n)

    def _with_error(self, shares: Floats, n: int) -> Estimate:
        """From the shares of the sensitive answers, then those of the open ones."""
        size, place = len(self.sensitive), np.where(self.secret, self._place, len(self.sensitive) + self._open_number - 1)
        own, total, chance = shares[:size], float(shares[size:].sum()), self.disclosed_share
        spread = self.mask.squares + self.mask.mean**2 / chance  # the variance of what one open answer adds
        noise = np.concatenate([self.base.noise(own, 1 - total) + total * spread, shares[size:] * self.hidden_odds])

        def covary() -> Floats:
            matrix = np.diag(noise)
            shared = self.mask.products() + np.outer(self.mask.mean, self.mask.mean) / chance
            matrix[:size, :size] = self.base.joint_noise(own, 1 - total) + total * shared
            matrix[:size, size:] = -np.outer(self.mask.mean, shares[size:]) / chance
            matrix[size:, :size] = matrix[:size, size:].T
            return matrix[np.ix_(place, place)] / n

        return Estimate(
            self.domain.labels,
            shares[place],
            noise[place] / n,
            n,
            covary if self.mask.joint else None,
            ordered=self.domain.ordered,
        )

    def guess(self) -> float:
        """How often somebody who sees one report, and thinks all values equally likely, guesses the true one."""
        size, every = len(self.sensitive), self.domain.size
        return (size * self.base.guess() + (every - size) * self.disclosed_share) / every

    @property
    def work(self) -> int:
        """How many simple operations the server spends on counting one report."""
        return self.base.work if isinstance(self.base, PureProtocol) else 1

    def total_noise(self, open_share: float) -> float:
        """n times the sum of all variances, if this share of people have an open answer; which they have does not matter."""
        size, chance = len(self.sensitive), self.disclosed_share
        own = self.base.noise(np.full(size, (1 - open_share) / size), 1 - open_share)
        return (
            float((own + open_share * (self.mask.squares + self.mask.mean**2 / chance)).sum())
            + open_share * self.hidden_odds
        )

    def worst_noise(self) -> float:
        """n times the variance of a share, for the answer and the people for which it is largest."""
        chance = self.disclosed_share
        open_people = self.mask.squares + self.mask.mean**2 / chance
        return max(self.base.worst_noise(), float(open_people.max()), self.hidden_odds)

    def withhold(self, answers: Answers, declared: Sequence[Collection[object]], instead: object) -> list[object]:
        """Answers with those replaced that their givers declared sensitive: on the device, before it is randomized.

        `declared` has the open answers that each person wants protected, `instead` is the sensitive answer that stands for
        all of them, such as "rather not say". Such a person's report has the law of any other sensitive answer, so their
        own list is kept by the budget too; the collector learns how many withheld, and nothing of what.
        """
        batch = checked_answers(answers)
        self.domain.index(batch)  # refuses what is outside
        if instead not in self.sensitive:
            raise InvalidParameter("The answer that replaces withheld ones must be one of the sensitive answers.")
        if len(declared) != len(batch):
            raise InvalidParameter("Give one list of declared answers for each answer; a list may be empty.")
        return [instead if answer in own else answer for answer, own in zip(batch, declared, strict=True)]

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        spec = part(parameters, "base")
        base = Certain(Single(), epsilon) if spec["mechanism"] == Certain.wire else mechanism_from_spec(spec)
        return super().from_parameters(domain, epsilon, {**parameters, "base": base})


def made(base: Base, size: int, epsilon: float, open_share: float) -> Additive:
    """The base mechanism for this many sensitive answers."""
    if size == 1:
        return Certain(Single(), epsilon)
    numbers = Categories(range(size))
    if isinstance(base, type) and issubclass(base, PureProtocol):
        return base.tuned(numbers, epsilon, open_share)
    mechanism: object = base(numbers, epsilon) if callable(base) and not isinstance(base, type) else base
    if not isinstance(mechanism, PureProtocol | FiniteChannel) or mechanism.domain.size != size:
        raise InvalidParameter(
            f"The base must be a class such as SubsetSelection, or such a mechanism or a FiniteChannel for {size} values."
        )
    return mechanism
