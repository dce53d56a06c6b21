"""Longitudinal collection: a permanent answer, drawn once and kept, and reports that are made from it alone."""

from dataclasses import dataclass, field
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
    Layout,
    Permanent,
    PrivacyLoss,
    PureProtocol,
    Spec,
    check_probability,
)
from deniable.core.permanent import odds_between
from deniable.core.spec import part
from deniable.errors import InvalidParameter
from deniable.mechanisms.registry import mechanism_from_spec
from deniable.mechanisms.shares.direct_response import DirectResponse, moved
from deniable.mechanisms.shares.local_hashing import LocalHashing
from deniable.mechanisms.shares.unary import Unary


@dataclass(frozen=True)
class Memoized(Permanent[object, Ints], PureProtocol):
    """The base's report on an answer is drawn once and kept; every report sent is that one, randomized once more.

    With p1, q1 of the base and a second round that leaves a one a one with probability `stay` and makes a zero a one with
    probability `rise`, a report supports the true value with p = p1 stay + (1 - p1) rise and another one with
    q = q1 stay + (1 - q1) rise. Where the base reports one of g values or buckets, the second round reports the kept one
    with probability `stay` and else another, so rise = (1 - stay) / (g - 1). Without a second round (stay 1, rise 0), which
    any base may have, the kept report itself is sent each time.

    Erlingsson et al. 2014 (RAPPOR); Arcolezi et al. 2022
    (L-GRR, L-SUE, L-OSUE) and 2023 (LOLOHA).
    """

    base: PureProtocol
    stay: Fraction = Fraction(1)
    rise: Fraction = Fraction(0)
    domain: Domain = field(init=False, repr=False)
    epsilon: float = field(init=False, repr=False)
    wire = "memoized-1"

    def __post_init__(self) -> None:
        if not isinstance(self.base, PureProtocol) or isinstance(self.base, Memoized):
            raise InvalidParameter("The base must be a mechanism for shares, such as DirectResponse, Unary or LocalHashing.")
        self._fix(domain=self.base.domain, epsilon=self.base.epsilon)
        check_probability(self.stay)
        check_probability(self.rise)
        if self.stay == 1 and self.rise == 0:
            return
        bits = self.base.independent_bits
        if not bits and self.base.choice is None:
            raise InvalidParameter(
                "A second round is for Unary, DirectResponse and LocalHashing. Leave stay and rise out for others."
            )
        if not bits:
            if self.rise not in (0, (1 - self.stay) / (self.choices - 1)):
                raise InvalidParameter(f"With {self.choices} values or buckets, rise is (1 - stay) / {self.choices - 1}.")
            self._fix(rise=(1 - self.stay) / (self.choices - 1))
        if not 0 <= self.rise < self.stay <= 1 or (bits and 0 in (self.rise, 1 - self.stay)):
            raise InvalidParameter(
                "A second round needs 0 < rise < stay < 1, so that it adds noise while reports still depend on the answer."
            )

    @classmethod
    def direct(cls, domain: Domain, epsilon: float, once: float) -> "Memoized":
        """Direct response twice (L-GRR): `epsilon` for all reports ever, `once` for each alone, both reached exactly."""
        base = DirectResponse(domain, epsilon)
        return cls(base, _stay(base.p, base.q, odds_between(once, epsilon), domain.size))

    @classmethod
    def direct_as_published(cls, domain: Domain, epsilon: float, once: float) -> "Memoized":
        """L-GRR with the second round of its paper, whose odds are (e^(once + epsilon) - 1) / (e^epsilon - e^once).

        That forgets the values that are neither the true nor the reported one, so for more than two values a report costs
        less than `once`, and is noisier than it needs to be.
        """
        base, odds = DirectResponse(domain, epsilon), odds_between(once, epsilon)
        second = (odds * base.odds - 1) / (base.odds - odds)
        return cls(base, second / (second + domain.size - 1))

    @classmethod
    def symmetric(cls, domain: Domain, epsilon: float, once: float) -> "Memoized":
        """Symmetric unary encoding twice (L-SUE: basic RAPPOR with both rounds)."""
        base, root = Unary.symmetric(domain, epsilon), odds_between(once / 2, epsilon / 2)
        stay = (root / (root + 1) - base.q) / (base.p - base.q)
        return cls(base, stay, 1 - stay)

    @classmethod
    def optimized(cls, domain: Domain, epsilon: float, once: float) -> "Memoized":
        """Optimized unary encoding, then symmetric (L-OSUE): p stays 1/2."""
        base, odds = Unary(domain, epsilon), odds_between(once, epsilon)
        stay = (1 - base.q - 1 / (odds + 1)) / (1 - 2 * base.q)
        return cls(base, stay, 1 - stay)

    @classmethod
    def rappor(cls, domain: Domain, f: Fraction, p: Fraction, q: Fraction) -> "Memoized":
        """Basic one-hot RAPPOR with the letters of its paper: a bit is kept noisy with f; then 0 becomes 1 with p, 1 with q.

        >>> from deniable.domains import Categories
        >>> Memoized.rappor(Categories(range(3)), Fraction(1, 2), Fraction(1, 2), Fraction(3, 4)).lifetime_loss().odds
        Fraction(9, 1)
        """
        if not 0 < f < 1:
            raise InvalidParameter("f is the probability that a bit is replaced by a coin toss, between 0 and 1.")
        noisy = Fraction(f) / 2
        odds = ((1 - noisy) / noisy) ** 2
        base = Unary(domain, PrivacyLoss(odds).epsilon(), 1 - noisy, noisy)
        return cls(base, Fraction(q), Fraction(p))

    @classmethod
    def hashing(cls, domain: Domain, epsilon: float, once: float, buckets: int = 0) -> "Memoized":
        """Local hashing whose function a person keeps for ever, and a kept answer for each bucket (OLOLOHA).

        A value that changes costs more only if its bucket is new, so never more than `buckets` times epsilon. Buckets of 0
        ask for the number with the smallest error of one collection.
        """
        odds = odds_between(once, epsilon)
        if buckets == 0:
            buckets = LocalHashing(domain, once).buckets  # one collection is a local hashing with the budget `once`
        base = LocalHashing(domain, epsilon, buckets)
        return cls(base, _stay(base.p, 1 / (base.odds + buckets - 1), odds, buckets))

    @classmethod
    def binary_hashing(cls, domain: Domain, epsilon: float, once: float) -> "Memoized":
        """The same with two buckets (BiLOLOHA), so that a person never pays more than twice epsilon."""
        return cls.hashing(domain, epsilon, once, 2)

    # The law of one report

    @property
    def twice(self) -> bool:
        """Whether there is a second round."""
        return self.stay != 1 or self.rise != 0

    @property
    def choices(self) -> int:
        """How many values or buckets the kept answer is one of, where it is one."""
        return self.domain.size if self.base.choice is None else self.base.choice[1]

    @cached_property
    def p(self) -> Fraction:
        return self.base.p * self.stay + (1 - self.base.p) * self.rise

    @cached_property
    def q(self) -> Fraction:
        return self.base.q * self.stay + (1 - self.base.q) * self.rise

    @property
    def pairs(self) -> tuple[Fraction, Fraction] | None:
        return (self.p * self.q, self.q * self.q) if self.base.independent_bits else self.base.pairs

    @property
    def layout(self) -> Layout:
        return self.base.layout

    @property
    def cells(self) -> int:
        return self.base.cells

    def again(self, kept: Drawn, coins: Coins) -> Drawn:
        """One report for each kept answer, as columns: the second round alone. No true value comes in here."""
        if not self.twice:
            return kept
        if self.base.choice is None:
            cells = kept["cells"]
            ones = coins.toss_packed(self.stay, len(cells), self.domain.size).bytes
            zeros = coins.toss_packed(self.rise, len(cells), self.domain.size).bytes
            return {"cells": cells & ones | ~cells & zeros}
        name, choices = self.base.choice
        return {**kept, name: moved(kept[name].astype(np.int64), self.stay, choices, coins)}

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        return self.base.supports(columns, cells)

    def votes(self, columns: Columns) -> Ints:
        return self.base.votes(columns)

    def debias(self, counts: Ints, reports: int) -> Floats:
        if not self.twice:
            return self.base.debias(counts, reports)
        return super().debias(counts, reports)

    def guess(self) -> float:
        if self.base.independent_bits:  # one report alone is one of unary encoding with these p and q
            return Unary(self.domain, self.epsilon, self.p, self.q).guess()
        return super().guess() if self.twice else self.base.guess()

    @property
    def unsupported(self) -> Fraction:
        return self.base.unsupported

    # What is lost

    def loss(self) -> PrivacyLoss:
        """What one report alone gives away: the odds of the two rounds together."""
        if not self.twice:
            return self.base.loss()
        if self.base.independent_bits:
            odds = self.p * (1 - self.q) / (self.q * (1 - self.p))
        else:
            odds = self.p * (self.choices - 1) / (1 - self.p)
        return PrivacyLoss(odds)

    def second_odds(self) -> Fraction:
        if self.base.independent_bits:  # all bits of two kept answers may differ
            return max(self.stay / self.rise, (1 - self.rise) / (1 - self.stay)) ** self.domain.size
        return self.stay / self.rise

    # What is learned

    def kept_variance(self, estimate: Estimate) -> Floats:
        return self.base.noise(estimate.values) / estimate.n

    def predict_average(self, truth: ArrayLike, n: int, rounds: int) -> Estimate:
        """The error of the average over several collections from the same people, whose values stay the same.

        The noise of the second round averages out, that of the permanent answers does not: more collections help up to a
        point, for the analyst as for an adversary.
        """
        shares = self.checked_truth(truth, n)
        if rounds < 1:
            raise InvalidParameter("An average needs at least one collection.")
        stay, rise, slope = float(self.stay), float(self.rise), float(self.p - self.q)

        def spread(kept: float) -> float:
            lasting = (stay - rise) ** 2 * kept * (1 - kept)
            return lasting + (kept * stay * (1 - stay) + (1 - kept) * rise * (1 - rise)) / rounds

        own, other = spread(float(self.base.p)), spread(float(self.base.q))
        return Estimate(
            self.domain.labels,
            shares,
            (shares * own + (1 - shares) * other) / (n * slope**2),
            n,
            ordered=self.domain.ordered,
        )

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        base = mechanism_from_spec(part(parameters, "base"))
        return super().from_parameters(domain, epsilon, {**parameters, "base": base})


def _stay(p: Fraction, q: Fraction, odds: Fraction, choices: int) -> Fraction:
    """What the second round must keep, so that both rounds together report one of `choices` with these odds."""
    return (odds / (odds + choices - 1) - q) / (p - q)
