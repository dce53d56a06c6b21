"""PCKV-UE in a few bits, without loss: a place on a small ring, more often than not one on the arc of the sampled pair."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import Candidate, Coins, Columns, Layout, Number, PrivacyLoss, checked_epsilon, odds_below
from deniable.domains.key_value import KeyValue, Pairs
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.fields import is_prime
from deniable.mechanisms.algebra.linear_hash import MOST_CELLS, product, supporters
from deniable.mechanisms.algebra.tuning import is_whole, lowest
from deniable.mechanisms.key_value.padded_protocol import Chances, PaddedProtocol, expected

MOST_PLACES = 1 << 14
EXTRA_BITS = 3  # beyond those that the odds need
AT_ONCE = 1 << 20  # reports times keys that are compared together


@dataclass(frozen=True)
class PairWheel(PaddedProtocol):
    """A public linear hash puts every key on a ring of P places, P a prime; report a place.

    A key names its high end by the `near` places from its own on, and its low end by as many that begin `apart` later. The
    places of the sampled end are `odds` times as likely as the others; padding is one more key, which nobody counts. The
    distance of two keys on the ring is uniform over the public row. So a report names the ends of every key as a row of
    PCKV-UE with two bits for each does, with

        kept = apart odds / T    both = (near - apart) odds / T    flipped = apart / T    T = near odds + P - near
        noise = apart / P        noise_both = (near - apart) / P

    exactly, and takes log2(P) bits beside the row. Without numbers, P is the largest prime with three bits more than
    odds + 1 needs, and `near` and `apart` have the smallest variance of frequency and weight together for a rare key.
    `frequencies` has both ends in the same place, which says nothing about values.
    Gu, Li, Cheng, Xiong, Cao 2020 (PCKV); Wang et al. 2020 (Wheel); Feldman, Talwar 2021 (public seeds).
    """

    domain: KeyValue
    epsilon: float
    places: int = 0
    near: int = 0
    apart: int = -1
    wire = "pair-wheel-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(map(is_whole, (self.places, self.near, self.apart))):
            raise InvalidParameter("`places`, `near` and `apart` must be whole numbers. Leave them out to get the best.")
        if self.places == 0:
            self._fix(places=largest_prime(self.odds))
        if not 3 <= self.places <= MOST_PLACES or not is_prime(self.places):
            raise InvalidParameter(f"`places` must be an odd prime number up to {MOST_PLACES:,}.")
        if 0 <= self.near < self.places and -1 <= self.apart <= self.places // 2:
            near, apart = best_arcs(self.places, self.odds, self.domain.at_most, "balanced", self.near, self.apart)
            self._fix(near=near, apart=apart)
        if not 1 <= self.near < self.places or not 0 <= self.apart <= min(self.near, self.places - self.near):
            raise InvalidParameter(
                "`near` must be at least 1 and below `places`, and `apart` from 0 to the smaller of `near` and "
                "`places` - `near`."
            )

    @classmethod
    def frequencies(cls, domain: KeyValue, epsilon: float, places: int = 0) -> "PairWheel":
        """Without a word about values: both ends of a key have the same places, and all of the budget is for the keys."""
        odds = odds_below(checked_epsilon(epsilon))
        places = places or largest_prime(odds)
        return cls(domain, epsilon, places, *best_arcs(places, odds, domain.at_most, "frequency", 0, 0))

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (
            Candidate("pair wheel", cls, target="balanced"),
            Candidate("pair wheel, frequency", cls.frequencies, target="frequency"),
        )

    @cached_property
    def digits(self) -> int:
        """How many digits modulo P a key has, with one more key for padding."""
        return next(count for count in range(1, 64) if self.places**count > self.keys)

    @cached_property
    def chances(self) -> Chances:
        return Chances(*_law(self.places, self.near, self.apart, self.odds))

    @property
    def layout(self) -> Layout:
        return Layout((Number("row", self.places**self.digits), Number("place", self.places)))

    def randomize(self, truth: Pairs, coins: Coins) -> Mapping[str, Ints]:
        n, inside = len(truth), self.near * self.odds / (self.near * self.odds + self.places - self.near)
        row = coins.public(self.places**self.digits, n)
        real, key, up = self.sampled_pair(truth, coins)
        start = product(np.where(real, key, self.keys), row, self.places, self.digits)
        moved = coins.split(inside, self.near, self.places - self.near, n)
        return {"row": row, "place": (start + np.where(up, 0, self.apart) + moved) % self.places}

    def named(self, columns: Mapping[str, Any], key: Any, high: int) -> Any:
        return self._named_from(columns["place"] - product(key, columns["row"], self.places, self.digits), high)

    def _named_from(self, away: Any, high: int) -> Any:
        """Whether an end is named by a place so far from that of its key, in either direction."""
        return (away + (0 if high else self.places - self.apart) + self.places) % self.places < self.near

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        row, place = (columns[name].astype(np.int64) for name in ("row", "place"))
        if self.places ** (self.digits + 1) > MOST_CELLS:
            return self._compared(row, place)
        every = np.bincount(row * self.places + place, minlength=self.places ** (self.digits + 1)).reshape(-1, self.places)
        ends = []
        for first in (0, self.apart):
            arcs = np.zeros_like(every)
            for step in range(first, first + self.near):  # a report votes for the ends that begin up to an arc before it
                arcs += np.roll(every, -step, axis=1)
            ends.append(np.rint(supporters(arcs, self.places, self.digits)[: self.keys]).astype(np.int64))
        return np.concatenate(ends)

    def _compared(self, row: Ints, place: Ints) -> Ints:
        """The votes of rows that are too many for a histogram: every report beside every key."""
        keys, sums = np.arange(self.keys)[None, :], np.zeros((2, self.keys), np.int64)
        step = max(1, AT_ONCE // self.keys)
        for start in range(0, len(row), step):
            part = slice(start, start + step)
            away = place[part, None] - product(keys, row[part, None], self.places, self.digits)
            ends: tuple[Bools, Bools] = (self._named_from(away, 1), self._named_from(away, 0))
            sums += [named.sum(axis=0, dtype=np.int64) for named in ends]
        return sums.ravel()

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds, protects="any two sets of pairs")


def largest_prime(odds: Fraction) -> int:
    """The largest prime with so many bits that the odds need, and three more.

    >>> [largest_prime(odds_below(epsilon)) for epsilon in (0.5, 1.0, 4.0, 8.0)]
    [31, 31, 509, 16381]
    """
    most = min(MOST_PLACES, 1 << math.ceil(math.log2(odds + 1)) + EXTRA_BITS)
    return next(number for number in range(most, 1, -1) if is_prime(number))


@lru_cache(maxsize=256)
def best_arcs(places: int, odds: Fraction, at_most: int, target: str, near: int = 0, apart: int = -1) -> tuple[int, int]:
    """How many places name an end, and how far apart the two ends begin, for the smallest error of a rare key.

    Both are searched among all whole numbers unless they are given: the error falls and then rises with either.
    """

    def error(near: int, apart: int) -> float:
        law = tuple(map(float, _law(places, near, apart, float(odds))))
        return expected(law, at_most, 0.01, 0.0, target)

    def best_apart(near: int) -> int:
        most = min(near, places - near)
        return apart if apart >= 0 else lowest(range(0 if target == "frequency" else 1, most + 1), partial(error, near))

    most = places - max(apart, 1)
    nearest = near or lowest(range(max(1, apart), most + 1), lambda near: error(near, best_apart(near)))
    return nearest, best_apart(nearest)


def _law(places: int, near: int, apart: int, odds: Any) -> Iterator[Any]:
    total = near * odds + places - near
    yield from (apart * odds / total, apart / total, (near - apart) * odds / total)
    yield from (Fraction(apart, places), Fraction(near - apart, places))
