"""Cyclic difference sets: k residues modulo v, among whose differences every residue but zero occurs lambda times.

Two shifts x + D and y + D of such a set D share exactly lambda elements: the shifts are the blocks of a symmetric design.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import Spec
from deniable.core.spec import whole
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.fields import Polynomial, is_prime, prime_power, primitive_polynomial, sequence
from deniable.mechanisms.algebra.transforms import ShiftedSums

LARGEST = 1 << 24  # residues of which a table is kept


class DifferenceSet(ABC):
    """A family and its parameters. `members` makes the set, `verified` makes and checks it."""

    family: ClassVar[str]
    v: int

    @property
    @abstractmethod
    def k(self) -> int:
        """How many elements the set has."""

    @property
    def shared(self) -> int:
        """How many elements two different shifts have in common: lambda."""
        return self.k * (self.k - 1) // (self.v - 1)

    @abstractmethod
    def members(self) -> Bools:
        """Which residues are in the set."""

    def parameters(self) -> dict[str, object]:
        """What fixes the set for ever, as plain data."""
        return {"family": self.family, "v": self.v, "k": self.k, "lambda": self.shared}


@dataclass(frozen=True)
class Singer(DifferenceSet):
    """The points of a hyperplane in the projective space of dimension t - 1 over GF(q), a prime power (Singer 1938).

    v = (q^t - 1) / (q - 1), k = (q^(t-1) - 1) / (q - 1), lambda = (q^(t-2) - 1) / (q - 1). Element i is in the set if a^i
    lies in the hyperplane, a being a root of `polynomial` over F_p, where q = p^m. That is read off the sequence s of one
    linear functional over F_p: powers of a^v make up GF(q), so all their multiples of a^i are in the functional's kernel if
    s_i, s_(i + v), ..., s_(i + (m - 1) v) are zero.

    >>> np.flatnonzero(Singer(2, 3).members())
    array([0, 1, 3])
    """

    q: int
    t: int
    v: int = field(init=False, repr=False)
    family = "singer"

    def __post_init__(self) -> None:
        whole = all(isinstance(number, int) and not isinstance(number, bool) for number in (self.q, self.t))
        if not whole or self.q < 2 or self.t < 3 or self.q ** (min(self.t, 64) - 1) > LARGEST or not prime_power(self.q):
            raise InvalidParameter(
                f"A Singer design needs a prime power q, a t of at least 3 and q^(t - 1) of at most {LARGEST}, "
                "for example q = 4 and t = 6."
            )
        object.__setattr__(self, "v", (self.q**self.t - 1) // (self.q - 1))

    @property
    def k(self) -> int:
        return (self.q ** (self.t - 1) - 1) // (self.q - 1)

    @property
    def polynomial(self) -> Polynomial:
        """The primitive polynomial of degree m t over F_p."""
        p, m = self._prime_power
        return primitive_polynomial(p, m * self.t)

    @property
    def _prime_power(self) -> tuple[int, int]:
        found = prime_power(self.q)
        assert found is not None
        return found

    def members(self) -> Bools:
        p, m = self._prime_power
        zero = sequence(self.polynomial, p, m * self.v).reshape(m, self.v) == 0
        return np.logical_and.reduce(zero)

    def parameters(self) -> dict[str, object]:
        return {**super().parameters(), "q": self.q, "t": self.t, "polynomial": list(self.polynomial)}


@dataclass(frozen=True)
class OfSize(DifferenceSet):
    """A family with at most one set for each modulus."""

    v: int
    needs: ClassVar[str]

    def __post_init__(self) -> None:
        whole = isinstance(self.v, int) and not isinstance(self.v, bool)
        if not whole or not 2 <= self.v <= LARGEST or next(self.sizes(self.v)) != self.v:
            raise InvalidParameter(f"A {self.family} design needs {self.needs}, and at most {LARGEST} points.")

    @staticmethod
    @abstractmethod
    def sizes(least: int) -> Iterator[int]:
        """All the moduli of this family that are at least this large, in order."""

    @abstractmethod
    def elements(self) -> Ints:
        """The residues in the set, in any order."""

    def members(self) -> Bools:
        table = np.zeros(self.v, np.bool_)
        table[self.elements()] = True
        return table


class Trivial(OfSize):
    """Zero alone: (v, 1, 0)."""

    family, needs = "trivial", "at least 2 points"

    @staticmethod
    def sizes(least: int) -> Iterator[int]:
        return itertools.count(max(least, 2))

    @property
    def k(self) -> int:
        return 1

    def elements(self) -> Ints:
        return np.zeros(1, np.int64)


class Paley(OfSize):
    """The squares modulo a prime v = 3 mod 4 (Paley 1933): (v, (v - 1) / 2, (v - 3) / 4).

    >>> np.flatnonzero(Paley(11).members())
    array([1, 3, 4, 5, 9])
    """

    family, needs = "paley", "a prime number of points that is 3 modulo 4, at least 7"

    @staticmethod
    def sizes(least: int) -> Iterator[int]:
        return (v for v in itertools.count(max(least, 7)) if v % 4 == 3 and is_prime(v))

    @property
    def k(self) -> int:
        return (self.v - 1) // 2

    def elements(self) -> Ints:
        return np.arange(1, self.v) ** 2 % self.v


class TwinPrimes(OfSize):
    """Modulo v = r (r + 2), both prime: multiples of r + 2, and units that are squares modulo both or neither.

    It has the same k and lambda as a Paley design (Stanton, Sprott 1958).
    """

    family, needs = "twin-primes", "r (r + 2) points, both prime"

    @staticmethod
    def sizes(least: int) -> Iterator[int]:
        roots = itertools.count(max(math.isqrt(least) - 1, 3))
        return (r * (r + 2) for r in roots if r * (r + 2) >= least and is_prime(r) and is_prime(r + 2))

    @property
    def k(self) -> int:
        return (self.v - 1) // 2

    def elements(self) -> Ints:
        r, x = math.isqrt(self.v), np.arange(self.v)
        square, twin_square = (np.isin(x % n, np.arange(1, n) ** 2 % n) for n in (r, r + 2))
        unit = (x % r > 0) & (x % (r + 2) > 0)
        return np.flatnonzero((unit & (square == twin_square)) | (x % (r + 2) == 0))


class Quartic(OfSize):
    """The fourth powers modulo a prime v = 4 a^2 + 1, or modulo v = 4 a^2 + 9 with zero, a odd (Chowla 1944; Lehmer 1953).

    (v, (v - 1) / 4, (v - 5) / 16), or with zero (v, (v + 3) / 4, (v + 3) / 16).
    """

    family, needs = "quartic", "a prime number of points that is 4 a^2 + 1 or 4 a^2 + 9 with a odd, at least 13"

    @staticmethod
    def sizes(least: int) -> Iterator[int]:
        roots = itertools.count(max(math.isqrt(max(least - 9, 0) // 4) // 2 * 2 - 1, 1), 2)
        found = (4 * a * a + extra for a in roots for extra in (1, 9))
        return (v for v in found if v >= max(least, 13) and is_prime(v))

    @property
    def _with_zero(self) -> bool:
        return self.v % 16 == 13  # 4 a^2 is 4 modulo 16

    @property
    def k(self) -> int:
        return (self.v + 3) // 4 if self._with_zero else (self.v - 1) // 4

    def elements(self) -> Ints:
        first = 0 if self._with_zero else 1
        return (np.arange(first, self.v) ** 2 % self.v) ** 2 % self.v


BY_SIZE: dict[str, type[OfSize]] = {family.family: family for family in (Trivial, Paley, TwinPrimes, Quartic)}


def difference_set(parameters: Spec) -> DifferenceSet:
    """The difference set that `parameters` described.

    >>> difference_set({"family": "singer", "q": 4, "t": 6}).v
    1365
    """
    family: Any = parameters["family"]
    if family == Singer.family:
        return Singer(whole(parameters, "q"), whole(parameters, "t"))
    if family not in BY_SIZE:
        known = ", ".join([Singer.family, *BY_SIZE])
        raise InvalidParameter(f"There is no such family of designs in this release; it has {known}.")
    return BY_SIZE[family](whole(parameters, "v"))


@lru_cache(maxsize=8)
def verified(design: DifferenceSet) -> ShiftedSums:
    """The sums over all shifts of the set, once it is made and every difference counted."""
    sums = ShiftedSums(design.members())
    check_differences(sums, design.k)
    return sums


def check_differences(sums: ShiftedSums, k: int) -> None:
    """Refuse a set that does not have k elements, or some differences more often than others."""
    v, differences = len(sums.member), sums(sums.member.astype(np.int64))
    if differences[0] != k or np.any(differences[1:] * (v - 1) != k * (k - 1)):
        raise InvalidParameter("This is not a difference set: some differences occur more often than others.")


def candidates(least: int, most: int) -> Iterator[DifferenceSet]:
    """The designs with `least` to `most` points among which the best is to be found.

    Of every family but Singer's only the smallest: its share k / v does not change much, and more points add error.
    """
    for family in BY_SIZE.values():
        if (v := next(family.sizes(least))) <= most:
            yield family(v)
    for t in range(3, most.bit_length() + 1):
        for q in range(2, round(most ** (1 / (t - 1))) + 1):
            if least <= (q**t - 1) // (q - 1) <= most and prime_power(q):
                yield Singer(q, t)
