"""Local hashing: report which bucket the true answer falls into, under a hash function that every report chooses anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil
from typing import Self, cast

import numpy as np

from deniable import kernels
from deniable.arrays import Bools, Floats, Ints, Whole
from deniable.core import Candidate, Coins, Columns, Domain, Layout, Number, checked_epsilon, odds_below
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.affine import ROWS, all_missed, field_for, least_stretch, word_for
from deniable.mechanisms.algebra.tuning import Real, hidden_share, is_whole, open_error
from deniable.mechanisms.algebra.utility_formulas import published_optimum
from deniable.mechanisms.shares.utility_base import UtilityBase

MOST_BUCKETS = 1 << 20  # that are tried when the best number is asked for


@dataclass(frozen=True)
class LocalHashing(UtilityBase):
    """Report a, b and the bucket of h = (a x + b) mod P out of g, which is randomized by direct response.

    a from 1 to P - 1 and b from 0 to P - 1 are uniform and public, P is a prime of at least d, and the bucket is h g // P.
    p = odds / (odds + g - 1) and q = c p + (1 - c) / (odds + g - 1), where c is the probability that two values share a
    bucket, exactly: below 1 / g, since buckets are as even as they can be. Wang et al. 2017 (OLH), with a hash family in
    the place of a hash that only looks random, so that nothing is left to bias the estimate. Buckets of 0 ask for the best
    number. There are no `pairs`: whether a report supports three values at once depends on which three they are.
    """

    domain: Domain
    epsilon: float
    buckets: int = 0
    wire = "hashing-1"
    keeps_public = True
    derived = ("odds", "prime")

    def __post_init__(self) -> None:
        super().__post_init__()
        if is_whole(self.buckets):
            self._fix(buckets=int(self.buckets) or best_buckets(self.domain.size, self.odds))
        if not is_whole(self.buckets) or not 2 <= self.buckets <= self.prime:
            raise InvalidParameter(
                f"There must be 2 to {self.prime} buckets for {self.domain.size} values. "
                "Leave them out to get the best number."
            )

    @classmethod
    def binary(cls, domain: Domain, epsilon: float) -> "LocalHashing":
        """Two buckets, so that the answer itself takes one bit (BLH; Bassily, Smith 2015)."""
        return cls(domain, epsilon, 2)

    @cached_property
    def prime(self) -> int:
        """The size of the field, P."""
        return field_for(self.domain.size)

    @cached_property
    def p(self) -> Fraction:
        return chance(self.prime, Fraction(self.buckets), self.odds)[0]

    @cached_property
    def q(self) -> Fraction:
        return chance(self.prime, Fraction(self.buckets), self.odds)[1]

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (Candidate("hashing, binary", cls.binary), Candidate("hashing, optimized", cls))

    @property
    def work(self) -> int:
        return self.domain.size

    @property
    def layout(self) -> Layout:
        """The field "a" holds a - 1."""
        return Layout((Number("a", self.prime - 1), Number("b", self.prime), Number("bucket", self.buckets)))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        a, b = coins.public(self.prime - 1, len(truth)), coins.public(self.prime, len(truth))
        moved = self._bucket(a, b, truth) + coins.split(self.p, 1, self.buckets - 1, len(truth))  # 0 is the truth
        return {"a": a, "b": b, "bucket": moved % self.buckets}

    def blank(self, size: int, coins: Coins) -> Mapping[str, Ints]:
        a, b = coins.public(self.prime - 1, size), coins.public(self.prime, size)
        return {"a": a, "b": b, "bucket": coins.below(self.buckets, size)}

    @property
    def blank_support(self) -> Fraction:
        return Fraction(1, self.buckets)

    def _bucket(self, a: Ints, b: Ints, values: Ints) -> Ints:
        """`a` as in the report, one less than the factor."""
        return ((a + 1) * values + b) % self.prime * self.buckets // self.prime

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        a, b, bucket = (columns[name].astype(np.int64)[:, None] for name in ("a", "b", "bucket"))
        return self._bucket(a, b, cells[None, :]) == bucket

    def votes(self, columns: Columns) -> Ints:
        self.layout.check(columns)
        counts, word = np.zeros(self.domain.size, np.int64), word_for(self.prime)
        # Bucket y holds the residues from ceil(y P / g), so those of values it supports, less that, are below its load.
        edges = -(-np.arange(self.buckets + 1) * self.prime // self.buckets)
        loads, starts = np.diff(edges).astype(word), (self.prime - edges[:-1]).astype(word)
        for first in range(0, len(columns["a"]), ROWS):
            a, b, bucket = (columns[name][first : first + ROWS] for name in ("a", "b", "bucket"))
            start = b + starts[bucket]
            start = np.minimum(start, start - word(self.prime))  # below 0 it wraps around, to more
            counts += kernels.interval_counts(a + word(1), start, loads[bucket], self.prime, self.domain.size)
        return counts

    @property
    def profile_law(self) -> Floats:
        # The true bucket is that of a uniform residue, whatever the value, since b is uniform.
        shares = np.diff(-(-np.arange(self.buckets + 1) * self.prime // self.buckets)) / self.prime
        other = float((1 - self.p) / (self.buckets - 1))
        return np.asarray(shares * float(self.p) + (1 - shares) * other, np.float64)

    def profiles(self, columns: Columns) -> Ints:
        return columns["bucket"].astype(np.int64)

    @property
    def unsupported(self) -> Fraction:
        load, left = divmod(self.prime, self.buckets)
        few, many = (all_missed(self.prime, self.domain.size, places) for places in (load, load + 1))
        return (few * (self.buckets - left) + many * left) / self.buckets

    @property
    def choice(self) -> tuple[str, int]:
        return "bucket", self.buckets

    @property
    def most_kept(self) -> int:
        return self.buckets

    def kept_under(self, index: Whole, public: Sequence[Whole]) -> Whole:
        a, b = public
        return self._bucket(cast(Ints, a), cast(Ints, b), cast(Ints, index))

    @property
    def published(self) -> tuple[str, Fraction]:
        return "uLH", Fraction(self.buckets)

    @classmethod
    def recommended(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        g = published_optimum(domain.size, float(odds_below(checked_epsilon(epsilon))), open_share)["g"]
        return cls(domain, epsilon, min(max(round(g), 2), field_for(domain.size)))

    def least_load(self) -> int:
        lengths = np.diff(-(-np.arange(self.buckets + 1) * self.prime // self.buckets))
        return min(least_stretch(self.prime, self.domain.size, length) for length in set(lengths.tolist()))

    @property
    def likeliest(self) -> Fraction:
        return self.p / (self.prime * (self.prime - 1))

    @classmethod
    def tuned(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        return cls(domain, epsilon, best_buckets(domain.size, odds_below(checked_epsilon(epsilon)), Fraction(open_share)))


def chance(prime: int, buckets: Real, odds: Real) -> tuple[Real, Real]:
    """The probabilities that the reported one of `buckets` holds the true value, and a given other one."""
    load, left = divmod(prime, buckets)  # `left` buckets hold one residue more than the others
    shared = load * (prime + left - buckets)  # ordered pairs of residues in one bucket, out of P (P - 1)
    other = 1 / (odds + buckets - 1)
    return odds * other, (1 + shared * (odds - 1) / (prime * (prime - 1))) * other


@lru_cache(maxsize=256)
def best_buckets(values: int, odds: Fraction, open_share: Fraction = Fraction(0)) -> int:
    """The number with the smallest total error: found in floating point, then settled exactly among those that seem equal.

    >>> from deniable.core.odds import odds_below
    >>> best_buckets(1024, odds_below(1.0))
    4
    """
    prime = field_for(values)
    # The best lies near odds + 1; four times as many make the error half as large again, more than uneven loads can.
    buckets = np.arange(2, min(prime, MOST_BUCKETS, ceil(4 * (odds + 1))) + 1, dtype=np.float64)
    errors = _error(values, prime, buckets, np.array(float(odds)), np.array(float(open_share)))
    near = map(Fraction, buckets[errors <= errors.min() * (1 + 1e-12)])
    return int(min(near, key=lambda number: _error(values, prime, number, odds, open_share)))


def _error(values: int, prime: int, buckets: Real, odds: Real, open_share: Real) -> Real:
    p, q = chance(prime, buckets, odds)
    return open_error(values, p, q, odds, hidden_share(p, odds, 1 / buckets), open_share)
