"""Prefix hashing when some strings are known: those who have one of these say so, and the others are seen more clearly."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import Estimate, Tally
from deniable.core.mechanism import check_people
from deniable.domains.sifted_strings import SiftedStrings
from deniable.errors import EmptyBatch, InvalidParameter
from deniable.mechanisms.algebra.linear_hash import supporters
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing


@dataclass(frozen=True)
class SiftedHashing(PrefixHashing):
    """As prefix hashing, with one more bucket, which all who have a known string take for a prefix, whatever the row is.

    The bucket is reported with p = odds / (odds + b), as each of the b others with (1 - p) / b. People with known strings
    seldom report one of the b buckets that depend on the row, so that they add less noise to these. Given that one of
    these b is reported, a report is distributed as one of `PrefixHashing` if the string is not known, and otherwise
    uniformly. Those who report the whole string do so whether it is known or not.
    """

    domain: SiftedStrings
    wire = "sifted-hashing-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, SiftedStrings):
            raise InvalidParameter("Sifted hashing needs a SiftedStrings domain.")

    @property
    def buckets(self) -> int:
        return self.base + 1

    @property
    def p(self) -> Fraction:
        return self.odds / (self.odds + self.base)

    @property
    def aside(self) -> Fraction:
        """The probability that somebody whose string is not known reports the bucket of known ones."""
        return 1 / (self.odds + self.base)

    @property
    def slope(self) -> Fraction:
        """How much more often those in a cell report its bucket than all others do who report one of the b."""
        return self.p - (1 - self.aside) * self.q

    def _bucket(self, cell: Ints, row: Ints) -> Ints:
        return np.where(cell == self.domain.cells, self.base, super()._bucket(cell, row))

    def taken(self, tally: Tally) -> Ints:
        """How many reports of each group name one of the b buckets that depend on the row."""
        return np.asarray(self.histograms(tally)[:, :, : self.base].sum(axis=(1, 2)))

    def table(self, tally: Tally, level: int) -> Floats:
        """The share of people of one group in each cell, unbiased; those with known strings are in none but the last's."""
        own = self.histograms(tally)[level]
        reports, taken = own.sum(), own[:, : self.base]
        if reports == 0:
            raise EmptyBatch("A group has no reports. Collect more reports.")
        found = supporters(taken, self.base, self.digits) - taken.sum() / self.base
        return np.asarray(found / (reports * float(self.slope)))

    def noise(self, shares: Floats | float = 0.0) -> Floats:
        """n times the variance of the share of a cell among those who report the whole string."""
        return self.sifted_noise(np.asarray(shares, np.float64), 0.0)

    def sifted_noise(self, shares: Floats, known: Floats | float) -> Floats:
        """n times the variance of the share of a cell, for n reports of people of whom this share has known strings."""
        p, q, aside, slope = (float(each) for each in (self.p, self.q, self.aside, self.slope))
        taken = known * (1 - p) + (1 - known - shares) * (1 - aside)
        own = p * (1 - q) ** 2 + (1 - aside - p) * q**2
        return np.asarray((taken * q * (1 - q) + shares * own) / slope**2 - shares**2)

    def _estimated(self, shares: Floats, known: Floats, reports: Floats, n: int) -> Estimate:
        each, aside = np.repeat(reports, self.domain.cells), np.repeat(known, self.domain.cells)
        drawn = shares * (1 - shares) * (n - each) / max(n - 1, 1)
        variance = (self.sifted_noise(shares, aside) - shares * (1 - shares) + drawn) / each
        return Estimate(self.domain.labels, shares, variance, n)

    def known(self, tally: Tally) -> Floats:
        """The share of people with known strings among those of each group, unbiased; the last does not ask for it."""
        p, aside = float(self.p), float(self.aside)
        found = (1 - self.taken(tally) / self.sizes(tally) - aside) / (p - aside)
        return np.asarray([*found[:-1], 0.0])

    def estimate(self, tally: Tally) -> Estimate:
        """The shares of all cells of all groups; the variance includes who was drawn into a group."""
        sizes = self.sizes(tally)
        if sizes.min() == 0:
            raise EmptyBatch("A group has no reports. Collect more reports.")
        values = np.concatenate([self.table(tally, level) for level in range(self.levels)])
        return self._estimated(values, self.known(tally), sizes.astype(np.float64), tally.n)

    def predict(self, truth: ArrayLike, n: int) -> Estimate:
        """From the true shares of the cells of all groups, one group after the other; the rest of each is known."""
        shares = np.asarray(truth, np.float64)
        check_people(n)
        if shares.shape != (self.levels * self.domain.cells,) or (shares < 0).any():
            raise InvalidParameter("A prediction needs the share of each cell, of one group after the other.")
        known = np.clip(1 - shares.reshape(self.levels, -1).sum(axis=1), 0, 1)
        return self._estimated(shares, known, self.shares * n, n)
