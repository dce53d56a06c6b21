"""What all reports by a public seed share: the law that draws a place of an order of the codes, and its loss."""

import math
from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from deniable.arrays import Ints
from deniable.core import Coins, Columns, Drawn, Layout, Mechanism, Number, PrivacyLoss, SeededCoins, encoded
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import is_whole

SEEDS, MOST_CODES = 1 << 32, 1 << 12
EXTRA_BITS = 4  # beyond those that the odds need


class SeededLaw(Mechanism[object, Ints]):
    """A public seed makes `codes` reports; the one that is named is drawn by its place in an order of all of them.

    The first `near` places are `odds` times as likely as the others. The law is given each code once, in some order,
    whatever the codes hold: therefore the loss is proved.
    """

    base: Mechanism[Any, Any]
    codes: int
    near: int

    def check_codes(self) -> None:
        """The numbers of codes and of near ones; those that are 0 are chosen."""
        if not is_whole(self.codes) or not is_whole(self.near):
            raise InvalidParameter("The number of codes, and of near ones, are whole numbers. Leave them out for the best.")
        if self.codes == 0:
            self._fix(codes=min(MOST_CODES, 1 << math.ceil(math.log2(self.odds + 1)) + EXTRA_BITS))
        if not 2 <= self.codes <= MOST_CODES:
            raise InvalidParameter(f"There are 2 to {MOST_CODES:,} codes to choose from.")
        if self.near == 0:
            self._fix(near=self.best_near())
        if not 1 <= self.near < self.codes:
            raise InvalidParameter("There are 1 or more near codes, and fewer than codes in all.")

    @abstractmethod
    def best_near(self) -> int:
        """How many near codes are best."""

    @abstractmethod
    def order(self, truth: Ints, seed: Ints) -> Ints:
        """The numbers of all codes for each person, the best for the answer first: a permutation, whatever it is."""

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

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        n, inside = len(truth), self.near * self.odds / (self.near * self.odds + self.codes - self.near)
        seed = coins.public(SEEDS, n)
        choice = coins.split(inside, self.near, self.codes - self.near, n)
        order = encoded(truth, self.order, "order", self.codes, seed, width=self.codes, distinct=True)
        return {"seed": seed, "code": order[:, choice]}

    def coins_of(self, seed: int) -> SeededCoins:
        """The public coins of a seed."""
        return SeededCoins(f"{self.base.fingerprint} {seed}".encode())

    def named(self, columns: Columns) -> Columns:
        """The reports of the base that these name."""
        found = {each.name: each.empty(len(columns["seed"])) for each in self.base.layout.fields}
        for row, (seed, code) in enumerate(zip(columns["seed"].tolist(), columns["code"].tolist(), strict=True)):
            for name, column in self.candidates_of(seed).items():
                found[name][row] = column[code]
        return found

    @abstractmethod
    def candidates_of(self, seed: int) -> Columns:
        """The reports of the base that a seed makes."""

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        return self.base.votes(self.named(columns))

    def guess(self) -> float:
        """At most: as if every code were near for some value."""
        total = self.near * self.odds + self.codes - self.near
        return min(1.0, float(self.codes * self.odds / total) / self.domain.size)

    def reading(self) -> dict[str, object]:
        """Nothing: no program makes reports from a seed."""
        return {}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds)


def ranked(seed: Ints, codes: int, keys: Any) -> Ints:
    """The codes of every seed by the keys that `keys(row, seed)` gives them, the smallest first, equal ones in order."""
    found = np.empty((len(seed), codes), np.int64)
    for row, each in enumerate(seed.tolist()):
        found[row] = np.argsort(keys(row, each), kind="stable")
    return found
