"""What may be missing: a bound, valid for any answers, on the share of every string that is not named.

A string of share s supports its cell in each group as a binomial count with at least the mean n_l m, m = q + s (p - q):
others in the same cell only add to it. So the deviance of a string, the sum over groups of 2 n_l KL(x_l, m) where the
rate x_l is below m, exceeds d with a probability of at most P(min(N_1, 0)^2 + ... + min(N_L, 0)^2 > d) for normal N_l
(Zubkov, Serov 2013, for binomial tails). Let d(s) be the d for which that is (1 - confidence) s. Since shares sum to one,
all strings together exceed their d(s) with a probability of at most 1 - confidence. Unless that happens, every string of
share s or more is among those whose deviance at s is at most d(s), and all of these are listed here.
"""

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.discovery.gathered import Gathered, Part, most_taken
from deniable.discovery.names import name_of
from deniable.discovery.search import ended, extended, joined, prefix_cells, start
from deniable.domains.strings import Strings
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing

HIGHEST, STEP = 40.0, 0.85  # shares that are tried: the first in standard errors, and how they go down
MOST = 3000  # prefixes of one length that are followed
SPENT = 0.02  # of the risk, on how many people are set apart


@lru_cache(maxsize=4096)
def most_deviance(chance: float, groups: int) -> float:
    """The d that the sum of the squared negative parts of so many normal numbers exceeds with this probability.

    >>> round(most_deviance(0.5 - 0.3413447, 1), 3), round(most_deviance(1e-4, 7), 2)
    (1.0, 24.06)
    """
    low, high = 0.0, 1000.0
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _exceeded(middle, groups) > chance else (low, middle)
    return high


def _exceeded(least: float, groups: int) -> float:
    """A mixture of chi-squared tails: the number of negative parts is binomial."""
    half = least / 2
    tails = [0.0, math.erfc(math.sqrt(half))]
    for freedom in range(2, groups + 1):
        tails.append(tails[-2] + math.exp(-half + (freedom / 2 - 1) * math.log(max(half, 1e-300))) / math.gamma(freedom / 2))
    return sum(math.comb(groups, freedom) * tail for freedom, tail in enumerate(tails[: groups + 1])) / 2**groups


class Group(NamedTuple):
    """The rate at which reports of a group support each cell: `q` by chance, and more in proportion to its share."""

    rates: Floats
    n: int
    q: float
    slope: float

    def deviance(self, share: float) -> Floats:
        """The deviances of the cells of a string of this share."""
        return _deviance(self.rates, self.q + share * self.slope, self.n)

    def at(self, cell: int) -> "Group":
        """The same of one cell."""
        return self._replace(rates=self.rates[[cell]])


@dataclass(frozen=True, eq=False)
class Deviances:
    """The deviances of all cells of all groups, for strings of one share."""

    domain: Strings
    tables: Sequence[Floats]

    @classmethod
    def at(cls, share: float, domain: Strings, groups: Sequence[Sequence[Group]]) -> "Deviances":
        """From the rates at which cells are supported, in the groups of each level."""
        return cls(domain, [np.sum([each.deviance(share) for each in own], axis=0) for own in groups])

    def added(self, level: int, cells: Ints) -> Floats:
        """What a level adds to the score of a prefix: its deviance, negative."""
        return -self.tables[level][cells]


def _deviance(rates: Floats, mean: float, n: int) -> Floats:
    low = np.clip(rates, 1e-300, mean)
    high = np.maximum(1 - low, 1e-300)
    return np.asarray(2 * n * (low * np.log(low / mean) + high * np.log(high / (1 - mean)))).clip(0)


@dataclass(frozen=True, eq=False)
class Missing:
    """Which strings cannot be excluded at a share, given what the groups reported.

    `more`: of rounds in which `apart` were set apart, which say nothing about these.
    """

    mechanism: PrefixHashing
    sizes: Ints
    tables: Sequence[Floats]
    risk: float  # one minus the confidence
    more: Sequence[Part] = ()
    apart: Sequence[str | int] = ()

    @classmethod
    def of(cls, reports: Gathered, risk: float) -> "Missing":
        """By all rounds of a search."""
        return cls(reports.mechanism, reports.first, reports.plain, risk, reports.parts, reports.known)

    def bound(self, named: Collection[str | int]) -> float:
        """With confidence, no string has a larger share but those named."""
        found, known, domain = self._others(named), frozenset(named), self.mechanism.domain
        for name in self.apart:
            if name not in known:
                cells = domain.word_cells(domain.index([name]).words)[0]
                found = max(found, self._largest(cells, [own[:1] for own in self._groups]))
        return found

    def _others(self, named: Collection[str | int]) -> float:
        """The same without those that were set apart."""
        error = math.sqrt(float(self.mechanism.noise()) / int(self.sizes.sum()))
        share, bound, known = min(1.0, HIGHEST * error), 1.0, frozenset(named)
        while (left := self._possible(share)) is None and share < 1:
            share = min(1.0, share / STEP)
        while left is not None:
            if others := [cells for name, cells in left if name is None or name not in known]:
                return min(bound, max(self._largest(cells) for cells in others))
            bound, share = share, share * STEP
            left = self._possible(share)
        return bound

    @cached_property
    def _groups(self) -> list[list[Group]]:
        """The groups of each level, each with one report more in a cell than counted: then the tail bound holds exactly."""
        p, q, last = float(self.mechanism.p), float(self.mechanism.q), self.mechanism.levels - 1
        found = [
            [Group(q + (p - q) * table + 1 / int(n), int(n), q, p - q)]
            for table, n in zip(self.tables, self.sizes, strict=True)
        ]
        each = SPENT * self.risk / max(1, len(self.more) * last)
        for part, level in itertools.product(self.more, range(last)):
            reports, people = max(int(part.reports[level]), 1), int(part.people[level])
            most = most_taken(reports, people, each)  # of those who are not set apart, fewer may have a string than it seems
            slope = float(part.slopes[level]) * reports / people / most
            found[level].append(Group(part.rates[level] + 1 / reports, reports, q, slope))
        return found

    def _most(self, share: float) -> float:
        """The deviance that strings of this share may have."""
        groups = sum(len(own) for own in self._groups)
        return most_deviance((1 - SPENT * bool(self.more)) * self.risk * share, groups)

    def _possible(self, share: float) -> list[tuple[str | int | None, Ints]] | None:
        """The strings that may have this share, with their cells; None if there are too many to follow.

        Of a string that is longer than the longest prefix only that is known, and no name.
        """
        domain = self.mechanism.domain
        deviances, most = Deviances.at(share, domain, self._groups), self._most(share)
        paths, before = start(domain), 0
        for level, bits in enumerate(domain.prefixes):
            parts = [paths[:0]]
            for part in extended(deviances, paths, level, before, bits, least=-most):
                parts.append(part)
                if sum(each.number for each in parts) > MOST:
                    return None
            paths, before = joined(parts), bits
        whole, found = ended(domain, paths, before).tolist(), list[tuple[str | int | None, Ints]]()
        prefixes = prefix_cells(domain, paths.words)
        for row, fits, cells, score in zip(paths.words, whole, prefixes, paths.scores.tolist(), strict=True):
            if not fits:
                found.append((None, cells))
            elif (name := name_of(domain, row)) is not None:
                last = domain.word_cells(domain.index([name]).words)[0, -1:]
                if score + float(deviances.added(-1, last)[0]) >= -most:
                    found.append((name, np.concatenate([cells, last])))
        return found

    def _largest(self, cells: Ints, groups: Sequence[Sequence[Group]] | None = None) -> float:
        """The largest share that a string in these cells may have, by these groups, or by all."""
        given = self._groups if groups is None else groups
        own = [[each.at(cell) for each in level] for level, cell in zip(given, cells.tolist(), strict=False)]
        low, high = 0.0, 1.0
        while high - low > 1e-4 * high:
            share = (low + high) / 2
            total = sum(float(each.deviance(share)[0]) for level in own for each in level)
            low, high = (share, high) if total <= self._most(share) else (low, share)
        return high
