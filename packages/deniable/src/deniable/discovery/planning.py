"""Which prefixes to ask for, and how many people for each: found by predicting which strings the search finds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from statistics import NormalDist

from deniable.core import odds_below
from deniable.core.odds import checked_epsilon
from deniable.discovery.evolution import floors, survival, tail
from deniable.domains.strings import KEY, LONGEST, NORMAL, Strings
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.linear_hash import best_base, noise
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing

KEPT = 1024  # prefixes that go on to the next level
WIDE = 8192  # the same in the last search, when the most frequent strings are subtracted
RIVALS = 40  # strings at most that may be one and the same frequent string, since they have most of its prefixes
VERIFIED_EACH = 25  # strings that are verified for each that is to be found, at most
VERIFIED = 200  # strings that are verified, about
SLOTS = 256  # into which people are split, about
PASSING = 2.6  # standard errors that a name needs among the people who verify, about
BITS = {"text": 104, "address": 154, "version": 64, "bytes": 134, KEY: 64}  # of the longest prefix
FIRST, STEPS = (14, 16, 18), (8, 9, 10)  # bits of the first prefix, and that each other adds at most: what a search can try
VERIFYING = (0.08, 0.1, 0.12, 0.14, 0.16)


@dataclass(frozen=True)
class Design:
    """The bits of each prefix, and the shares of people for each and for verification."""

    bits: tuple[int, ...]
    shares: tuple[float, ...]

    def recall(self, strength: float) -> float:
        """The predicted probability that a string is found whose share is so many standard errors of all people."""
        searching, (roots, lost) = 1 - self.shares[-1], self._floors
        found = survival(roots, lost, strength * math.sqrt(searching), self.bits[-1]) * self.ahead(strength)
        return found * tail(PASSING - strength * math.sqrt(self.shares[-1]))

    def ahead(self, strength: float) -> float:
        """The probability that a string is ahead of almost all that share its first prefixes and that nobody has.

        Only the groups of longer prefixes distinguish them. The hardest comparison stands for all, since they depend on
        each other.
        """
        found, share = 1.0, 1 - self.shares[-1]
        for bits, own in zip(self.bits[:-1], self.shares[:-2], strict=True):
            share = max(share - own, 0.0)
            found = min(found, tail(_rivals(self.bits[-1] - bits) - strength * math.sqrt(share)))
        return found

    @cached_property
    def _floors(self) -> tuple[list[float], list[float]]:
        roots = [math.sqrt(share / (1 - self.shares[-1])) for share in self.shares[:-1]]
        return roots, floors(self.bits, roots, WIDE, VERIFIED)

    def needed(self, chance: float = 0.5) -> float:
        """The share, in standard errors, of a string that is found with this probability."""
        low, high = 1.0, 40.0
        while high - low > 0.01:
            middle = (low + high) / 2
            low, high = (middle, high) if self.recall(middle) < chance else (low, middle)
        return high


@cache
def _rivals(bits: int) -> float:
    """The score that as many of the strings with so many more bits exceed by chance as are verified beside a string."""
    expected = RIVALS / 2.0**bits
    return -NormalDist().inv_cdf(expected) if expected < 0.5 else -math.inf


def design_of(bits: Sequence[int], verifying: float) -> Design:
    """Groups in proportion to the bits that each prefix adds, beside those who verify.

    Then no comparison of a string with those that share some of its prefixes is harder than another: b bits that are left
    need t^2 W > 2 b log 2, if the groups of longer prefixes have a share W of the people.
    """
    added = [after - before for before, after in pairwise((0, *bits))]
    return Design(tuple(bits), (*((1 - verifying) * each / bits[-1] for each in added), verifying))


@lru_cache(maxsize=64)
def best_design(most: int) -> Design:
    """The prefixes of strings of so many bits, and the groups, with which the rarest strings are found.

    >>> design = best_design(64)
    >>> design.bits, [round(share, 2) for share in design.shares], round(design.needed(), 1)
    ((14, 24, 34, 44, 54, 64), [0.19, 0.13, 0.13, 0.13, 0.13, 0.13, 0.14], 10.0)
    """
    tried = {_spread(first, step, most) for first in FIRST for step in STEPS}
    designs = [design_of(bits, share) for bits in sorted(tried) for share in VERIFYING]
    return min(designs, key=lambda each: (round(20 * each.needed()), len(each.bits), each.bits, -each.shares[-1]))


def _spread(first: int, step: int, most: int) -> tuple[int, ...]:
    """Prefixes of `first` to `most` bits, evenly spread, with steps of at most `step` bits."""
    steps = max(0, -(-(most - first) // step))
    return tuple(first + round(place * (most - first) / steps) for place in range(steps + 1)) if steps else (most,)


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
    most = BITS[form] if bits is None else bits
    if not 1 <= most <= 8 * LONGEST:
        raise InvalidParameter(f"Strings are found by prefixes of 1 to {8 * LONGEST} bits.")
    design = best_design(most)
    base, digits = best_base(odds_below(checked_epsilon(epsilon)))
    weights = [max(1, round(SLOTS * share)) for share in design.shares]
    domain = Strings(form, LONGEST, design.bits, base**digits, normal, at_most)
    chosen = PrefixHashing(domain, epsilon, base, weights)
    return chosen.because(
        f"{chosen.wire} for {form} of up to {most} bits, coded: prefixes of {', '.join(map(str, design.bits))} bits, and "
        f"{design.shares[-1]:.0%} of people who verify. Of the designs that were tried, it is predicted to find the rarest "
        "strings. The distance from the best possible is not known: there is no bound for the search for unknown strings."
    )


def published_discovery(epsilon: float, form: str = KEY, bits: int = 64) -> PrefixHashing:
    """Prefix extension as published: steps of eight bits and equal groups, of which the last reports the whole key."""
    prefixes = list(range(8, bits, 8))
    base, digits = best_base(odds_below(checked_epsilon(epsilon)))
    return PrefixHashing(Strings(form, LONGEST, prefixes, base**digits), epsilon, base, [1] * (len(prefixes) + 1))


def rarest(mechanism: PrefixHashing, people: int) -> float:
    """The share of a string that is found with probability 1/2, if so many people report and its code is the longest."""
    design = Design(tuple(mechanism.domain.prefixes), tuple(mechanism.shares.tolist()))
    return min(1.0, design.needed() * standard_error(mechanism, people))


def standard_error(mechanism: PrefixHashing, people: int) -> float:
    """The standard error of a share if all these people reported on the same cells."""
    return math.sqrt(noise(mechanism.base, float(mechanism.odds)) / people)
