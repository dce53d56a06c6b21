"""Reports that support answers, in a few bits: the number of one of some public blank reports."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import AnyDomain, Columns, Domain, PureProtocol, Spec
from deniable.core.spec import part
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.random_codes import best_near, favoured
from deniable.mechanisms.registry import mechanism_from_spec
from deniable.wrappers.seeded_law import SeededLaw, ranked


@dataclass(frozen=True)
class Seeded(SeededLaw, PureProtocol):
    """A public seed makes `codes` blank reports of the base; the report names one of them.

    The reports that support the true value come first, in order, then the others. Of the places of that order the first
    `near` are `odds` times as likely as the others. However the blank reports are made, the law is given each of them once,
    in some order: therefore the loss is proved, whatever the base. A report of the base on x is a blank one, reweighted by
    whether it supports x; so is the one that is named, only with a smaller p, which is known exactly (`random_codes`):

        p = favoured(s, codes, near, odds)      q = s + (p - s) (q' - s) / (p' - s)

    with p' and q' of the base, and s, how often its blank reports support a value. With many codes p tends to p'. Any pure
    protocol with blank reports may be the base; `SeededChannel` takes any finite law. Without numbers there are 16 times as
    many codes as odds + 1 at least, up to 4,096, and `near` is the one with the largest p.
    Feldman, Talwar 2021 (public seeds); Havasi, Peharz, Hernandez-Lobato 2019 (minimal random coding).
    """

    base: PureProtocol
    codes: int = 0
    near: int = 0
    domain: Domain = field(init=False, repr=False)
    epsilon: float = field(init=False, repr=False)
    wire = "seeded-1"

    def __post_init__(self) -> None:
        if not isinstance(self.base, PureProtocol) or isinstance(self.base, Seeded):
            raise InvalidParameter("The base must be a mechanism for shares with blank reports, such as Unary.")
        self._fix(domain=self.base.domain, epsilon=self.base.epsilon)
        super().__post_init__()
        if not 0 < self.base.blank_support < self.base.p < 1:
            raise InvalidParameter("The blank reports of the base must support a value less often than reports on it do.")
        self.check_codes()

    def best_near(self) -> int:
        return best_near(self.base.blank_support, self.codes, self.odds)

    @cached_property
    def p(self) -> Fraction:
        return favoured(self.base.blank_support, self.codes, self.near, self.odds)

    def _carried(self, at_base: Fraction, at_blank: Fraction) -> Fraction:
        """A probability that is linear in how often the true value is supported, from the base and from blank reports."""
        share = self.base.blank_support
        return at_blank + (at_base - at_blank) * (self.p - share) / (self.base.p - share)

    @cached_property
    def q(self) -> Fraction:
        return self._carried(self.base.q, self.base.blank_support)

    @property
    def pairs(self) -> tuple[Fraction, Fraction] | None:
        base = self.base.pairs
        if base is None:
            return None
        given = base[0] / self.base.p  # that a report which supports one value supports another one
        return self.p * given, self._carried(base[1], self.base.blank_support * given)

    @property
    def work(self) -> int:
        return self.codes * self.base.work

    def order(self, truth: Ints, seed: Ints) -> Ints:
        values: Sequence[int] = np.asarray(truth).tolist()
        return ranked(
            seed,
            self.codes,
            lambda row, each: ~self.base.supports(self.candidates_of(each), np.array([values[row]]))[:, 0],
        )

    def candidates_of(self, seed: int) -> Columns:
        return self.base.blank(self.codes, self.coins_of(seed))

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        return self.base.supports(self.named(columns), cells)

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        base = mechanism_from_spec(part(parameters, "base"))
        return super().from_parameters(domain, epsilon, {**parameters, "base": base})
