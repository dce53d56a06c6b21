"""Prefix hashing: everybody reports one prefix of a string, drawn in public, or all of it, by a linear hash function."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import (
    Coins,
    Columns,
    Drawn,
    Estimate,
    Layout,
    Mechanism,
    Number,
    PrivacyLoss,
    Tally,
    encoded,
    lookup,
)
from deniable.core.mechanism import check_people
from deniable.domains.strings import Batch, Strings
from deniable.errors import EmptyBatch, InvalidParameter
from deniable.mechanisms.algebra.fields import is_prime
from deniable.mechanisms.algebra.linear_hash import MOST_CELLS, product, supporters
from deniable.mechanisms.algebra.tuning import is_whole

MOST_SLOTS = 1 << 12


@dataclass(frozen=True)
class PrefixHashing(Mechanism[str | int | Sequence[str], Batch]):
    """Draw a slot and a row in public; report the bucket of the cell of one prefix, randomized by direct response.

    The domain hashes every prefix of a string, and the whole string, into one of b^t cells. `weights` says how many slots
    belong to each prefix, and the last how many to the whole string: people are split into groups by the slot they draw.
    Cells and rows are vectors of t digits modulo a prime b, and the bucket is their product. It is reported with
    p = odds / (odds + b - 1), as every other bucket with (1 - p) / (b - 1); a cell that is not the true one has the
    reported bucket with probability 1 / b. So one cell of any group is estimated as by local hashing with b buckets
    (Wang et al. 2017), and all of them by a Fourier transform of how often each row and bucket occur. Prefixes: Wang, Li,
    Jha 2021 (PEM); hashed: Bassily, Nissim, Stemmer, Thakurta 2017.
    """

    domain: Strings
    epsilon: float
    base: int
    weights: Sequence[int]
    wire = "prefix-hashing-1"
    question = "discovery"
    derived = ("odds", "digits")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, Strings):
            raise InvalidParameter("Prefix hashing needs a Strings domain.")
        weights = tuple(self.weights)
        if len(weights) != self.domain.levels or not all(is_whole(each) and each >= 1 for each in weights):
            raise InvalidParameter("Prefix hashing needs a positive whole weight for each prefix, and one for the string.")
        if sum(weights) > MOST_SLOTS:
            raise InvalidParameter(f"The weights of prefix hashing sum to at most {MOST_SLOTS:,}. Divide them.")
        if not is_whole(self.base) or not is_prime(int(self.base)) or self.base**self.digits != self.domain.cells:
            raise InvalidParameter("The cells of the domain must be a power of the base, and the base a prime.")
        if self.buckets * self.domain.cells > MOST_CELLS:
            raise InvalidParameter(f"There may be {MOST_CELLS:,} pairs of a row and a bucket at most. Use fewer cells.")
        self._fix(base=int(self.base), weights=tuple(map(int, weights)))

    @cached_property
    def digits(self) -> int:
        """The digits of a cell: t."""
        return next(count for count in range(1, 22) if int(self.base) ** count >= self.domain.cells or count == 21)

    @property
    def p(self) -> Fraction:
        """The probability that the true bucket is reported."""
        return self.odds / (self.odds + self.base - 1)

    @property
    def q(self) -> Fraction:
        """The probability that the bucket of another cell is reported."""
        return Fraction(1, self.base)

    @property
    def levels(self) -> int:
        """How many groups there are."""
        return self.domain.levels

    @property
    def cells(self) -> int:
        """How many counts a tally has: one for each group, row and bucket."""
        return self.levels * self.domain.cells * self.buckets

    @property
    def buckets(self) -> int:
        """How many buckets a report may name."""
        return self.base

    @property
    def shares(self) -> Floats:
        """The share of people in each group."""
        return np.array(self.weights, np.float64) / sum(self.weights)

    @property
    def layout(self) -> Layout:
        return Layout(
            (Number("slot", max(sum(self.weights), 2)), Number("row", self.domain.cells), Number("bucket", self.buckets))
        )

    @cached_property
    def _level(self) -> Ints:
        """The group of each slot."""
        return np.repeat(np.arange(self.levels), self.weights)

    def randomize(self, truth: Batch, coins: Coins) -> Drawn:
        slot = coins.public(sum(self.weights), len(truth))
        row = coins.public(self.domain.cells, len(truth))
        drawn = () if self.domain.at_most == 1 else (coins.below(self.domain.draws, len(truth)),)
        cells = encoded(truth, self.domain.cells_of, "cells", self.domain.codes, *drawn, width=self.levels)
        bucket = self._bucket(cells[:, lookup(self._level, slot)], row)
        turn = coins.split(self.p, 1, self.buckets - 1, len(truth))
        return {"slot": slot, "row": row, "bucket": (bucket + turn) % self.buckets}

    def _bucket(self, cell: Ints, row: Ints) -> Ints:
        """The bucket that a row gives a cell."""
        return product(cell, row, self.base, self.digits)

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        level = lookup(self._level, np.minimum(columns["slot"], sum(self.weights) - 1))
        place = (level * self.domain.cells + columns["row"]) * self.buckets + columns["bucket"]
        return np.bincount(place, minlength=self.cells)

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds, "proved", "any two strings")

    def histograms(self, tally: Tally) -> Ints:
        """How often each row and bucket was reported, group by group."""
        self.check_tally(tally)
        return tally.counts.reshape(self.levels, self.domain.cells, self.buckets)

    def sizes(self, tally: Tally) -> Ints:
        """The number of reports of each group."""
        return np.asarray(self.histograms(tally).sum(axis=(1, 2)))

    def table(self, tally: Tally, level: int) -> Floats:
        """The share of people of one group in each cell, unbiased."""
        own = self.histograms(tally)[level]
        reports = own.sum()
        if reports == 0:
            raise EmptyBatch("A group has no reports. Collect more reports.")
        p, q = float(self.p), float(self.q)
        return np.asarray((supporters(own, self.base, self.digits) / reports - q) / (p - q))

    def noise(self, shares: Floats | float = 0.0) -> Floats:
        """n times the variance of the share of a cell, for n reports of people drawn at random."""
        p, q = float(self.p), float(self.q)
        mean = q + np.asarray(shares, np.float64) * (p - q)
        return np.asarray(mean * (1 - mean) / (p - q) ** 2)

    def _variance(self, shares: Floats, reports: Floats, n: int) -> Floats:
        """The variance about n people, of whom so many report on the group of each cell, drawn without replacement."""
        drawn = shares * (1 - shares) * (n - reports) / max(n - 1, 1)
        return np.asarray((self.noise(shares) - shares * (1 - shares) + drawn) / reports)

    def estimate(self, tally: Tally) -> Estimate:
        """The shares of all cells of all groups; the variance includes who was drawn into a group."""
        sizes = self.sizes(tally)
        if sizes.min() == 0:
            raise EmptyBatch("A group has no reports. Collect more reports.")
        values = np.concatenate([self.table(tally, level) for level in range(self.levels)])
        each = np.repeat(sizes, self.domain.cells).astype(np.float64)
        return Estimate(self.domain.labels, values, self._variance(values, each, tally.n), tally.n)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """From the true shares of the cells of all groups, one group after the other."""
        shares = np.asarray(truth, np.float64)
        check_people(n)
        if shares.shape != (self.levels * self.domain.cells,) or (shares < 0).any():
            raise InvalidParameter("A prediction needs the share of each cell, of one group after the other.")
        each = np.repeat(self.shares * n, self.domain.cells)
        return Estimate(self.domain.labels, shares, self._variance(shares, each, n), n)
