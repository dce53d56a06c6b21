"""PCKV-UE in a few bits: the number of one of some public random reports, more often of one that names the sampled pair."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.arrays import Bools, Bytes, Ints, Words
from deniable.core import WHOLE, Coins, Columns, Layout, Number, PrivacyLoss, encoded
from deniable.domains.key_value import KeyValue, Pairs
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.mixing import STEP, mixed
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.key_value.padded_protocol import Chances, PaddedProtocol
from deniable.mechanisms.key_value.pckv_unary import independent

SEEDS, MOST_CODES = 1 << 32, 1 << 12
FINE = 1 << 32  # noise is counted in parts of it
EXTRA_BITS = 4  # beyond those that the odds need
AT_ONCE = 1 << 20  # words that are made together


@dataclass(frozen=True)
class PairCodes(PaddedProtocol):
    """A public seed makes `codes` rows of noise, two bits for each key, all one with probability q; the report names one.

    The rows in which the end of the sampled pair is one come first, in order, then the others; for padding they stay as
    they are. Of the places of that order the first `near` are `odds` times as likely as the others. However the rows are
    made, the law is given each of them once, in some order: therefore the loss is proved. All other bits of the named row
    are noise, and the end of the sampled pair is one with

        p = sum over K of P(K) (odds min(K, near) + max(K - near, 0)) / (near odds + codes - near)

    where K, how many of the rows have it, is binomial: PCKV-UE with independent bits and exactly this p instead of 1/2, in
    32 bits for the seed and log2(codes) for the row. With many rows p tends to 1/2. Without numbers q is 1 / (odds + 1), the
    rows are 16 times as many as odds + 1 at least, up to 4,096, and `near` is the one with the largest p.
    Gu, Li, Cheng, Xiong, Cao 2020 (PCKV); Feldman, Talwar 2021 (public seeds); Havasi, Peharz, Hernandez-Lobato 2019.
    """

    domain: KeyValue
    epsilon: float
    codes: int = 0
    near: int = 0
    wire = "pair-codes-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_whole(self.codes) or not is_whole(self.near):
            raise InvalidParameter(
                "The number of rows, and of the near ones, are whole numbers. Leave them out for the best."
            )
        if self.codes == 0:
            self._fix(codes=min(MOST_CODES, 1 << math.ceil(math.log2(self.odds + 1)) + EXTRA_BITS))
        if not 2 <= self.codes <= MOST_CODES:
            raise InvalidParameter(f"There are 2 to {MOST_CODES:,} rows to choose from.")
        if self.near == 0:
            self._fix(near=self._best_near())
        if not 1 <= self.near < self.codes:
            raise InvalidParameter("There are 1 or more near rows, and fewer than rows in all.")

    @cached_property
    def noise(self) -> Fraction:
        """q: how often a bit is one, in whole parts of 2^-32."""
        return Fraction(round(FINE / (self.odds + 1)), FINE)

    def _best_near(self) -> int:
        counts, odds = np.arange(self.codes + 1), float(self.odds)
        ahead = np.array([_binomial(self.codes, int(k), float(self.noise)) for k in counts])

        def named(near: int) -> float:
            first = np.minimum(counts, near)
            return float(ahead @ (odds * first + counts - first)) / (near * odds + self.codes - near)

        return max(range(1, self.codes // 2 + 1), key=named)

    @cached_property
    def chances(self) -> Chances:
        return independent(self.named_share, self.noise)

    @cached_property
    def named_share(self) -> Fraction:
        """p: how often the row that is reported has the end of the sampled pair, an exact fraction."""
        ones, zeros = self.noise.numerator, self.noise.denominator - self.noise.numerator
        more, one = self.odds.numerator, self.odds.denominator
        total, power, ways = 0, 1, 1  # in whole numbers, by Horner's rule: fractions with thousands of digits are slow
        for count in range(self.codes, 0, -1):
            first = min(count, self.near)
            total = total * ones + ways * (more * first + one * (count - first)) * power
            power, ways = power * zeros, ways * count // (self.codes - count + 1)
        whole = self.noise.denominator**self.codes * (self.near * more + (self.codes - self.near) * one)
        return Fraction(total * ones, whole)

    @cached_property
    def batch(self) -> int:
        return max(1, min(super().batch, AT_ONCE // self.codes))

    @property
    def layout(self) -> Layout:
        return Layout((Number("seed", SEEDS), Number("code", self.codes)))

    def randomize(self, truth: Pairs, coins: Coins) -> Mapping[str, Ints]:
        n, inside = len(truth), self.near * self.odds / (self.near * self.odds + self.codes - self.near)
        seed = coins.public(SEEDS, n)
        which, rounding = coins.below(self.domain.at_most, n), coins.below(WHOLE, n)
        choice = coins.split(inside, self.near, self.codes - self.near, n)
        order = encoded(truth, self.order, "order", self.codes, seed, which, rounding, width=self.codes, distinct=True)
        return {"seed": seed, "code": order[:, choice]}

    def order(self, truth: Pairs, seed: Ints, which: Ints, rounding: Ints) -> Ints:
        """The numbers of all rows for each person, first those that name the sampled pair: a permutation, whatever it is."""
        key, up = self._sampled_key(truth, which), rounding < self._sampled_heads(truth, which)
        real = key < self.keys
        words = noise_words(seed[:, None], np.arange(self.codes)[None, :], np.where(real, key, 0)[:, None])
        high, low = self._ends(words)
        return np.argsort(~(np.where(up[:, None], high, low) & real[:, None]), axis=1, kind="stable")

    def _ends(self, words: Words) -> tuple[Bools, Bools]:
        """Whether a row names the high end and the low end of a key, from its word."""
        least = np.uint64(self.noise * FINE)
        return (words & np.uint64(FINE - 1)) < least, (words >> np.uint64(32)) < least

    def rows(self, columns: Columns) -> tuple[Bytes, Bytes]:
        """The bits of the rows that reports name, for the high and the low ends of all keys, not packed."""
        seed, code = (columns[name].astype(np.int64)[:, None] for name in ("seed", "code"))
        high, low = self._ends(noise_words(seed, code, np.arange(self.keys)[None, :]))
        return high.view(np.uint8), low.view(np.uint8)

    def votes(self, columns: Columns) -> Ints:
        size, step = self.layout.check(columns), max(1, AT_ONCE // self.keys)
        sums = np.zeros((2, self.keys), np.int64)
        for start in range(0, size, step):
            part = {name: column[start : start + step] for name, column in columns.items()}
            sums += [bits.sum(axis=0, dtype=np.int64) for bits in self.rows(part)]
        return sums.ravel()

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds, protects="any two sets of pairs")


def noise_words(seed: Ints, code: Ints, key: Ints) -> Words:
    """The 64 bits from which a row of noise has both ends of a key: a public function of seed, row and key."""
    start = mixed((seed.astype(np.uint64) << np.uint64(16)) + code.astype(np.uint64) + np.uint64(1))
    return mixed(start + (key.astype(np.uint64) + np.uint64(1)) * STEP)


def _binomial(n: int, k: int, chance: float) -> float:
    logs = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(logs + k * math.log(chance) + (n - k) * math.log1p(-chance))
