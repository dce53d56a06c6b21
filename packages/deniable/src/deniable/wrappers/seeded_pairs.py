"""PCKV-UE in a few bits: the number of one of some public rows of noise, one that suits the sampled pair more often."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Ints
from deniable.core import WHOLE, Coins, Drawn
from deniable.domains.key_value import KeyValue, Pairs
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.random_codes import best_near
from deniable.mechanisms.key_value.padded_protocol import Chances, PaddedProtocol
from deniable.mechanisms.key_value.pckv_unary import PCKVUnary
from deniable.wrappers.seeded import SeededLaw, carried, ranked


@dataclass(frozen=True)
class SeededPairs(SeededLaw, PaddedProtocol):
    """A public seed makes `codes` reports of PCKV-UE on padding, rows of noise; the report names one of them.

    Given a row, all that depends on the sampled pair is what the row says about its key: neither end, the true one, the
    other one, or both. Codes are put in the order of how much likelier a report of the base says this on the pair than
    noise does. What the named row says about other keys is noise, as in the base; about the sampled key it is

        the probability of noise, times (g(S + s) - g(S)) / s        g(S) = favoured(S, codes, near, odds)

    with S and s, how often noise says something likelier, and something as likely: exact fractions, from which estimates
    follow as for the base. The loss is that of any two pairs. Without numbers there are 16 times as many codes as odds + 1
    at least, up to 4,096.
    Gu, Li, Cheng, Xiong, Cao 2020 (PCKV); Havasi, Peharz, Hernandez-Lobato 2019 (minimal random coding).
    """

    base: PCKVUnary
    codes: int = 0
    near: int = 0
    domain: KeyValue = field(init=False, repr=False)
    epsilon: float = field(init=False, repr=False)
    wire = "seeded-pairs-1"

    def __post_init__(self) -> None:
        if not isinstance(self.base, PCKVUnary):
            raise InvalidParameter("The base must be a PCKVUnary.")
        self._fix(domain=self.base.domain, epsilon=self.base.epsilon)
        super().__post_init__()
        self.check_codes(share for _, share in self._said)

    @cached_property
    def _said(self) -> Sequence[tuple[Fraction, Fraction]]:
        """What a report can say about the sampled key, as its ratio and its probability under noise.

        By the true end + 2 times the other end.
        """
        law = self.base.chances
        noise = (1 - 2 * law.noise - law.noise_both, law.noise, law.noise, law.noise_both)
        own = (1 - law.kept - law.flipped - law.both, law.kept, law.flipped, law.both)
        return [(one / other if other else Fraction(0), other) for one, other in zip(own, noise, strict=True)]

    def best_near(self) -> int:
        share = sum((share for ratio, share in self._said if ratio > 1), Fraction(0))
        return best_near(share, self.codes, self.odds)

    @cached_property
    def chances(self) -> Chances:
        factors = carried(self._said, self.codes, self.near, self.odds)
        _, kept, flipped, both = (share * factors[ratio] for ratio, share in self._said)
        return Chances(kept, flipped, both, self.base.chances.noise, self.base.chances.noise_both)

    @cached_property
    def _places(self) -> Ints:
        """The place of what is said in the order, by the true end + 2 times the other end."""
        ratios = sorted({ratio for ratio, _ in self._said}, reverse=True)
        return np.array([ratios.index(ratio) for ratio, _ in self._said])

    def own_draws(self, n: int, coins: Coins) -> Sequence[Ints]:
        """Which pair is sampled, and what its value is compared with to be rounded."""
        return coins.below(self.domain.at_most, n), coins.below(WHOLE, n)

    def order(self, truth: Pairs, seed: Ints, *draws: Ints) -> Ints:
        pair, level = draws
        key, up = self._sampled_key(truth, pair), level < self._sampled_heads(truth, pair)

        def places(row: int, each: int) -> Ints:
            if key[row] == self.keys:  # padding: any order will do
                return np.zeros(self.codes, np.int64)
            high, low = (bits.bit(key[row]) for bits in self.base.blank(self.codes, self.coins_of(each)))
            return self._places[high + 2 * low if up[row] else low + 2 * high]

        return ranked(seed, self.codes, places)

    def candidates_of(self, seed: int) -> Drawn:
        high, low = self.base.blank(self.codes, self.coins_of(seed))
        return {"high": high.bytes, "low": low.bytes}
