"""Reports that support answers, in a few bits: the number of one of some public blank reports."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bools, Ints
from deniable.core import (
    AnyDomain,
    Coins,
    Columns,
    Domain,
    Drawn,
    Layout,
    Mechanism,
    Number,
    PrivacyLoss,
    PureProtocol,
    SeededCoins,
    Spec,
    encoded,
)
from deniable.core.spec import part
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.random_codes import best_near, favoured
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.registry import mechanism_from_spec

SEEDS, MOST_CODES = 1 << 32, 1 << 12
EXTRA_BITS = 4  # beyond those that the odds need
LONGEST = 256  # bits of a probability of blank reports: what is named has a probability `codes` times as long


class SeededLaw(Mechanism[object, Any]):
    """A public seed makes `codes` reports; the one that is named is drawn by its place in an order of all of them.

    The first `near` places are `odds` times as likely as the others. The law is given each code once, in some order,
    whatever the codes hold: therefore the loss is proved.
    """

    base: Mechanism[Any, Any]
    codes: int
    near: int

    def check_codes(self, shares: Iterable[Fraction] = ()) -> None:
        """The numbers of codes and of near ones; those that are 0 are chosen. `shares` are those of kinds of reports."""
        if any(share.denominator.bit_length() > LONGEST for share in shares):
            raise InvalidParameter(
                f"The probabilities of the base have too many digits. Round them: denominators must be below 2^{LONGEST}."
            )
        if not is_whole(self.codes) or not is_whole(self.near):
            raise InvalidParameter("`codes` and `near` must be whole numbers. Leave them out to get the best.")
        if self.codes == 0:
            self._fix(codes=min(MOST_CODES, 1 << math.ceil(math.log2(self.odds + 1)) + EXTRA_BITS))
        if not 2 <= self.codes <= MOST_CODES:
            raise InvalidParameter(f"`codes` must be from 2 to {MOST_CODES:,}.")
        if self.near == 0:
            self._fix(near=self.best_near())
        if not 1 <= self.near < self.codes:
            raise InvalidParameter("`near` must be at least 1 and below `codes`.")

    @abstractmethod
    def best_near(self) -> int:
        """How many near codes are best."""

    @abstractmethod
    def order(self, truth: Any, seed: Ints, *draws: Ints) -> Ints:
        """The numbers of all codes for each person, the best for the answer first: a permutation, whatever it is."""

    def own_draws(self, n: int, coins: Coins) -> Sequence[Ints]:
        """What is drawn for the order alone, before anything else."""
        return ()

    @property
    def layout(self) -> Layout:
        return Layout((Number("seed", SEEDS), Number("code", self.codes)))

    @property
    def encodes(self) -> bool:
        """Yes: the law takes an order of all codes, and never the answer."""
        return True

    @cached_property
    def batch(self) -> int:
        return max(1, min(super().batch, (1 << 20) // self.codes))

    def randomize(self, truth: Any, coins: Coins) -> Drawn:
        n, inside = len(truth), self.near * self.odds / (self.near * self.odds + self.codes - self.near)
        seed, draws = coins.public(SEEDS, n), self.own_draws(n, coins)
        choice = coins.split(inside, self.near, self.codes - self.near, n)
        order = encoded(truth, self.order, "order", self.codes, seed, *draws, width=self.codes, distinct=True)
        return {"seed": seed, "code": order[:, choice]}

    def coins_of(self, seed: int) -> SeededCoins:
        """The public coins of a seed."""
        return SeededCoins(f"{self.base.fingerprint} {seed}".encode())

    def reported(self, columns: Columns) -> Columns:
        """The reports of the base that these name."""
        found = {each.name: each.empty(len(columns["seed"])) for each in self.base.layout.fields}
        for row, (seed, code) in enumerate(zip(columns["seed"].tolist(), columns["code"].tolist(), strict=True)):
            for name, column in self.candidates_of(seed).items():
                found[name][row] = column[code]
        return found

    @abstractmethod
    def candidates_of(self, seed: int) -> Drawn:
        """The reports of the base that a seed makes."""

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        return self.base.votes(self.reported(columns))

    def guess(self) -> float:
        """At most: as if every code were near for some value."""
        total = self.near * self.odds + self.codes - self.near
        return min(1.0, float(self.codes * self.odds / total) / self.domain.size)

    def reading(self) -> dict[str, object]:
        """Nothing: no program makes reports from a seed."""
        return {}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds)

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        base = mechanism_from_spec(part(parameters, "base"))
        return super().from_parameters(domain, epsilon, {**parameters, "base": base})


def ranked(seed: Ints, codes: int, keys: Callable[[int, int], NDArray[Any]]) -> Ints:
    """The codes of every seed by the keys that `keys(row, seed)` gives them, the smallest first, equal ones in order."""
    found = np.empty((len(seed), codes), np.int64)
    for row, each in enumerate(seed.tolist()):
        found[row] = np.argsort(keys(row, each), kind="stable")
    return found


def carried(shares: Iterable[tuple[Any, Fraction]], codes: int, near: int, odds: Fraction) -> dict[Any, Fraction]:
    """How much likelier the report that is named is of each kind than a code is: the factor for each.

    Kinds are given as (ratio, share): the place of a kind in the order, the largest first, and how often a code is of it.
    Those with the same ratio have the same factor, (g(S + s) - g(S)) / s with g(S) = favoured(S, codes, near, odds), where
    S and s are the shares with a larger ratio and with the same one.
    """
    levels: dict[Any, Fraction] = {}
    for ratio, share in shares:
        levels[ratio] = levels.get(ratio, Fraction(0)) + share
    ahead = before = Fraction(0)
    for ratio in sorted(levels, reverse=True):
        ahead += levels[ratio]
        after = favoured(ahead, codes, near, odds)
        levels[ratio], before = (after - before) / levels[ratio] if levels[ratio] else Fraction(0), after
    return levels


@dataclass(frozen=True)
class Seeded(SeededLaw, PureProtocol):
    """A public seed makes `codes` blank reports of the base; the report names one of them.

    Those that support the true value come first, in order, then the others. A report of the base on x is a blank one,
    reweighted by whether it supports x; so is the one that is named, only with a smaller p, which is known exactly:

        p = favoured(s, codes, near, odds)      q = s + (p - s) (q' - s) / (p' - s)

    with p' and q' of the base, and s, how often its blank reports support a value. Any pure protocol with blank reports may
    be the base; `SeededChannel` takes any finite law. Without numbers there are 16 times as many codes as odds + 1 at least,
    up to 4,096, and `near` is the one with the largest p.
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
        self.check_codes([self.base.blank_support])

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

    def order(self, truth: Any, seed: Ints, *draws: Ints) -> Ints:
        values: list[int] = np.asarray(truth).tolist()
        return ranked(
            seed,
            self.codes,
            lambda row, each: ~self.base.supports(cast(Columns, self.candidates_of(each)), np.array([values[row]]))[:, 0],
        )

    def candidates_of(self, seed: int) -> Drawn:
        return self.base.blank(self.codes, self.coins_of(seed))

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        return self.base.supports(self.reported(columns), cells)
