"""The wheel: report a place on a ring, more often than not one on the arc that begins at the true answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Self

import numpy as np

from deniable import kernels
from deniable.arrays import Bools, Floats, Ints
from deniable.core import Coins, Columns, Domain, Layout, Number, checked_epsilon, odds_below
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.affine import ROWS, all_missed, field_for, least_stretch, word_for
from deniable.mechanisms.algebra.tuning import is_whole, lowest
from deniable.mechanisms.algebra.utility_formulas import published_optimum
from deniable.mechanisms.shares.subset_selection import chance, subset_error
from deniable.mechanisms.shares.utility_base import UtilityBase

FEW = 128  # values up to which covariances are worked out


@dataclass(frozen=True)
class Wheel(UtilityBase):
    """Report a and a place y on a ring of P: one of the w places from a x on with probability p, else one of the others.

    a from 1 to P - 1 is uniform and public, P is a prime of at least d, and places are uniform on either side, so one on
    the arc is `odds` times as likely. p = w odds / (w odds + P - w) and q = (l odds + w - l) / (w odds + P - w), where
    l = w (w - 1) / (P - 1) is how much two arcs have in common on average over a: those of subset selection of w out of P.
    The Wheel mechanism (Wang et al. 2020) on a ring of finitely many places, which makes its law exact. An arc of 0 asks
    for the best. There are no `pairs`: whether a report supports three values at once depends on which three they are. Up to
    128 values it is worked out for all of them, so that the covariance is known there.
    """

    domain: Domain
    epsilon: float
    arc: int = 0
    wire = "wheel-1"
    candidate = "wheel"
    derived = ("odds", "prime")

    def __post_init__(self) -> None:
        super().__post_init__()
        if is_whole(self.arc):
            self._fix(arc=int(self.arc) or best_arc(self.domain.size, self.odds))
        if not is_whole(self.arc) or not 1 <= self.arc < self.prime:
            raise InvalidParameter(
                f"The arc must have 1 to {self.prime - 1} of the {self.prime} places. Leave it out to get the best one."
            )

    @cached_property
    def prime(self) -> int:
        """The number of places on the ring, P."""
        return field_for(self.domain.size)

    @cached_property
    def p(self) -> Fraction:
        return chance(self.prime, self.arc, self.odds)[0]

    @cached_property
    def q(self) -> Fraction:
        return chance(self.prime, self.arc, self.odds)[1]

    @property
    def work(self) -> int:
        return self.domain.size

    @property
    def layout(self) -> Layout:
        """The field "a" holds a - 1."""
        return Layout((Number("a", self.prime - 1), Number("place", self.prime)))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        a = coins.public(self.prime - 1, len(truth))
        offset = coins.split(self.p, self.arc, self.prime - self.arc, len(truth))  # from where the arc begins
        return {"a": a, "place": ((a + 1) * truth + offset) % self.prime}

    def blank(self, size: int, coins: Coins) -> Mapping[str, Ints]:
        return {"a": coins.public(self.prime - 1, size), "place": coins.below(self.prime, size)}

    @property
    def blank_support(self) -> Fraction:
        return Fraction(self.arc, self.prime)

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        a, place = (columns[name].astype(np.int64)[:, None] for name in ("a", "place"))
        return (place - (a + 1) * cells[None, :]) % self.prime < self.arc

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        counts, word = np.zeros(self.domain.size, np.int64), word_for(self.prime)
        arcs = np.full(ROWS, self.arc, word)
        for first in range(0, len(columns["a"]), ROWS):
            a, place = (columns[name][first : first + ROWS].astype(word) for name in ("a", "place"))
            back = word(self.prime - 1) - a  # the arc's beginning moves on by a with every value, the report stays
            counts += kernels.interval_counts(back, place, arcs[: len(a)], self.prime, self.domain.size)
        return counts

    @property
    def unsupported(self) -> Fraction:
        return all_missed(self.prime, self.domain.size, self.arc)

    @property
    def joint(self) -> bool:
        return self.domain.size <= FEW

    @cached_property
    def _together(self) -> Floats:
        """The probability that a report of value 0 supports both values u and v, for all places u and v on the ring."""
        ring = np.arange(self.prime)
        law = np.where(ring < self.arc, float(self.p) / self.arc, float(1 - self.p) / (self.prime - self.arc))
        found = np.zeros((self.prime, self.prime))
        for a in range(1, self.prime):
            on = ((ring[None, :] - a * ring[:, None]) % self.prime < self.arc).astype(np.float64)
            found += (on * law) @ on.T
        return found / (self.prime - 1)

    def joint_noise(self, shares: Floats, people: float = 1.0) -> Floats:
        size, p, q = self.domain.size, float(self.p), float(self.q)
        shares = shares + (people - shares.sum()) / size  # people of unknown values may have any
        matrix, values = np.zeros((size, size)), np.arange(size)
        for truth, share in enumerate(shares):
            away = (values - truth) % self.prime
            alone = np.where(values == truth, p, q)
            matrix += share * (self._together[np.ix_(away, away)] - np.outer(alone, alone))
        matrix /= (p - q) ** 2
        return np.asarray(matrix)

    @property
    def published(self) -> tuple[str, Fraction]:
        return "uWheel", Fraction(self.arc, self.prime)

    @classmethod
    def recommended(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        share = published_optimum(domain.size, float(odds_below(checked_epsilon(epsilon))), open_share)["l"]
        return cls(domain, epsilon, max(round(share * field_for(domain.size)), 1))

    def least_load(self) -> int:
        return least_stretch(self.prime, self.domain.size, self.arc)

    @classmethod
    def tuned(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        return cls(domain, epsilon, best_arc(domain.size, odds_below(checked_epsilon(epsilon)), Fraction(open_share)))


@lru_cache(maxsize=256)
def best_arc(values: int, odds: Fraction, open_share: Fraction = Fraction(0)) -> int:
    """The arc with the smallest total error.

    >>> from deniable.core.odds import odds_below
    >>> best_arc(1024, odds_below(1.0))
    277
    """
    prime = field_for(values)
    # As for subsets, the error falls and then rises.
    return lowest(range(1, prime), lambda arc: subset_error(values, prime, arc, odds, open_share))
