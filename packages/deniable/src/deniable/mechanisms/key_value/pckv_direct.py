"""PCKV-GRR: one pair of a padded set, by direct response over all keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from deniable import kernels
from deniable.arrays import Ints
from deniable.core import Candidate, Coins, Columns, Layout, Number, PrivacyLoss, check_probability, odds_below
from deniable.domains.key_value import KeyValue, Pairs
from deniable.errors import InvalidParameter, InvalidReport
from deniable.mechanisms.key_value.padded_protocol import Chances, PaddedProtocol
from deniable.mechanisms.shares.exact_channel import check_cost, own_cost


@dataclass(frozen=True)
class PCKVDirect(PaddedProtocol):
    """The sampled key is named with probability a, else any of the other d + l - 1, of which l stand for padding.

    A true key keeps its end with p, a false one has either end. Exactly, over whole sets with l = `at_most`,

        odds = (a p + m) / (min(b / 2, a (1 - p)) + m)        m = (l - 1) b / 2        b = (1 - a) / (d + l - 1)

    so the padding makes a report cost less than the key and the end by themselves. Without a and p both terms are tight:
    a = (l (E - 1) + 2) / (l (E - 1) + 2 (d + l)) and p = (l (E - 1) + 1) / (l (E - 1) + 2). A report that names padding
    says so and no more. Gu, Li, Cheng, Xiong, Cao 2020 (PCKV-GRR).
    """

    domain: KeyValue
    epsilon: float = None  # type: ignore[assignment]
    a: Fraction = None  # type: ignore[assignment]
    p: Fraction = None  # type: ignore[assignment]
    wire = "pckv-direct-1"

    def __post_init__(self) -> None:
        if (self.a is None) != (self.p is None) or (self.a is None and self.epsilon is None):
            raise InvalidParameter("Give a budget, or both a and p.")
        if self.a is None:
            gain = self.domain.at_most * (odds_below(self.epsilon) - 1)
            self._fix(a=(gain + 2) / (gain + 2 * self.places), p=(gain + 1) / (gain + 2))
        for chance in (self.a, self.p):
            check_probability(chance)
        if self.a == self.b:
            raise InvalidParameter("With a = 1 / (d + l) reports do not depend on the key. Choose another a.")
        self._fix(epsilon=own_cost(self.epsilon, self._odds))
        super().__post_init__()
        check_cost(self)

    @classmethod
    def frequencies(cls, domain: KeyValue, epsilon: float) -> "PCKVDirect":
        """Without a word about values, p = 1/2, so that all of the budget is for the keys: a / b = l (E - 1) + 1."""
        inner = domain.at_most * (odds_below(epsilon) - 1) + 1
        return cls(domain, epsilon, inner / (inner + len(domain.labels) + domain.at_most - 1), Fraction(1, 2))

    @classmethod
    def split(cls, domain: KeyValue, key_epsilon: float, value_epsilon: float) -> "PCKVDirect":
        """With one budget for naming the key and one for its end; together over sets they cost less than their sum."""
        key, end = odds_below(key_epsilon), odds_below(value_epsilon)
        return cls(domain, a=key / (key + len(domain.labels) + domain.at_most - 1), p=end / (end + 1))

    @property
    def places(self) -> int:
        """How many keys there are with those that stand for padding."""
        return self.keys + self.domain.at_most

    @property
    def b(self) -> Fraction:
        """The probability that a given other key is named."""
        return (1 - self.a) / (self.places - 1)

    @property
    def chances(self) -> Chances:
        return Chances(self.a * self.p, self.a * (1 - self.p), Fraction(0), self.b / 2, Fraction(0))

    @property
    def layout(self) -> Layout:
        return Layout((Number("pair", 2 * self.keys + 1),))

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (
            Candidate("pckv-direct", cls, target="balanced"),
            Candidate("pckv-direct, frequency", cls.frequencies, target="frequency"),
        )

    def randomize(self, truth: Pairs, coins: Coins) -> Mapping[str, Ints]:
        n, places = len(truth), self.places
        real, key, up = self.sampled_pair(truth, coins)
        moved = coins.split(self.a, 1, places - 1, n)  # how far to move on: 0 is the sampled key
        kept, either = coins.toss(self.p, n), coins.toss(Fraction(1, 2), n)
        # all places for padding give the same report, so any of them will do
        named = (np.where(real, key, places - 1) + moved) % places
        high = np.where(moved == 0, up == kept, either)
        return {"pair": np.minimum(2 * named + high, 2 * self.keys)}

    def named(self, columns: Mapping[str, Any], key: Any, high: int) -> Any:
        return columns["pair"] == 2 * key + high

    def votes(self, columns: Columns) -> Ints:
        pair, size = columns["pair"], 2 * self.keys + 1
        if len(pair) and pair.max() >= size:
            raise InvalidReport("A report names a pair outside the domain.")
        low, high = kernels.histogram(pair, size)[:-1].reshape(-1, 2).T
        return np.concatenate([high, low])

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self._odds, protects="any two sets of pairs")

    @property
    def hides_which(self) -> bool:
        return True

    @cached_property
    def _odds(self) -> Fraction | None:
        law = self.chances
        rest = (self.domain.at_most - 1) * law.noise
        of_set = [end + rest for end in (law.kept, law.flipped, law.noise)]
        return max(of_set) / min(of_set) if min(of_set) > 0 else None
