"""Which prefixes to ask for, and how many people for each: found by predicting which strings the search finds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from deniable.core import odds_below
from deniable.core.odds import checked_epsilon
from deniable.discovery.evolution import floors, survival, tail
from deniable.domains.strings import KEY, LONGEST, NORMAL, Strings
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.linear_hash import best_base, noise
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing

KEPT = 1024  # prefixes that go on to the next level
VERIFIED = 40  # strings that are verified, about
SLOTS = 256  # into which people are split, about
PASSING = 2.6  # standard errors that a name needs among the people who verify, about
BITS = {"text": (14, 10, 104), "address": (14, 10, 154), "version": (14, 10, 64), "bytes": (14, 10, 134), KEY: (14, 10, 64)}


@dataclass(frozen=True)
class Design:
    """The bits of each prefix, and the shares of people for each and for verification."""

    bits: tuple[int, ...]
    shares: tuple[float, ...]

    def recall(self, strength: float) -> float:
        """The predicted probability that a string is found whose share is so many standard errors of all people."""
        searching, (roots, lost) = 1 - self.shares[-1], self._floors
        found = survival(roots, lost, strength * math.sqrt(searching))
        return found * tail(PASSING - strength * math.sqrt(self.shares[-1]))

    @cached_property
    def _floors(self) -> tuple[list[float], list[float]]:
        roots = [math.sqrt(share / (1 - self.shares[-1])) for share in self.shares[:-1]]
        return roots, floors(self.bits, roots, KEPT, VERIFIED)

    def needed(self, chance: float = 0.5) -> float:
        """The share, in standard errors, of a string that is found with this probability."""
        low, high = 1.0, 40.0
        while high - low > 0.01:
            middle = (low + high) / 2
            low, high = (middle, high) if self.recall(middle) < chance else (low, middle)
        return high


@lru_cache(maxsize=64)
def best_design(bits: tuple[int, ...]) -> Design:
    """The shares of people for these prefixes with which the rarest strings are found, by coordinate descent.

    >>> design = best_design((14, 24, 34, 44, 54, 64))
    >>> [round(share, 2) for share in design.shares], round(design.needed(), 1)
    ([0.22, 0.15, 0.15, 0.11, 0.09, 0.15, 0.14], 9.7)
    """
    design = Design(bits, _normal([1.0] * len(bits) + [0.12 * len(bits) / 0.88]))
    best, step = design.needed(), 1.3
    while step > 1.05:
        improved = False
        for place in range(len(design.shares)):
            for factor in (step, 1 / step):
                shares = [share * factor if each == place else share for each, share in enumerate(design.shares)]
                other = Design(bits, _normal(shares))
                if (found := other.needed()) < best:
                    design, best, improved = other, found, True
        step = step if improved else math.sqrt(step)
    return design


def _normal(shares: Sequence[float]) -> tuple[float, ...]:
    return tuple(share / sum(shares) for share in shares)


def plan_discovery(
    epsilon: float,
    form: str = "text",
    bits: int | None = None,
    normal: Sequence[str] = NORMAL,
    at_most: int = 1,
) -> PrefixHashing:
    """The mechanism that finds the rarest strings of a form; `bits` is how long a string may be, coded, to be found."""
    if form not in BITS:
        raise InvalidParameter(f"The form of strings must be one of {', '.join(BITS)}.")
    first, step, most = BITS[form]
    most = most if bits is None else bits
    prefixes = [*range(first, most, step), most] if most > first else [most]
    design = best_design(tuple(prefixes))
    base, digits = best_base(odds_below(checked_epsilon(epsilon)))
    weights = [max(1, round(SLOTS * share)) for share in design.shares]
    domain = Strings(form, LONGEST, prefixes, base**digits, normal, at_most)
    return PrefixHashing(domain, epsilon, base, weights)


def published_discovery(epsilon: float, form: str = KEY, bits: int = 64) -> PrefixHashing:
    """Prefix extension as published: steps of eight bits and equal groups, of which the last reports the whole key."""
    prefixes = list(range(8, bits, 8))
    base, digits = best_base(odds_below(checked_epsilon(epsilon)))
    return PrefixHashing(Strings(form, LONGEST, prefixes, base**digits), epsilon, base, [1] * (len(prefixes) + 1))


def standard_error(mechanism: PrefixHashing, people: int) -> float:
    """The standard error of a share if all these people reported on the same cells."""
    return math.sqrt(noise(mechanism.base, float(mechanism.odds)) / people)
