"""How many keys of a person to let count, from what a few people report on how many they have."""

from collections.abc import Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from deniable.arrays import Floats
from deniable.core import Tally
from deniable.domains.categories import Categories
from deniable.domains.key_value import KeyValue, Pairs
from deniable.mechanisms.key_value.key_value_protocol import total_error
from deniable.mechanisms.shares.subset_selection import SubsetSelection
from deniable.planning.key_value import plan_key_value, prior
from deniable.planning.ranking import checked_people
from deniable.postprocess.base_cut import base_cut

TRIED = 10  # lengths that are compared, at most: more of them among the short ones


class Padding(NamedTuple):
    """The expected effect of counting at most so many keys per person."""

    at_most: int
    kept: float  # the share of all keys of people that count
    error: float  # root mean square of frequency and weight of one key, with the bias that cutting causes


@dataclass(frozen=True)
class PaddingPilot:
    """A pilot that asks a few people how many keys they have, and derives the padding length for everybody else.

    `domain` has the largest number of keys that is considered as its `at_most`. The first people report how many they have,
    with all of `epsilon`, and are not asked again; a twentieth of all people is enough. Short sets are padded and long ones
    are cut to the chosen length: a shorter one has less noise, and a longer one less bias. Cutting must keep a random choice
    (`Pairs.shuffled`).

    >>> pilot = PaddingPilot(KeyValue(range(100), 0, 1, at_most=20), epsilon=2.0)
    >>> tally = pilot.first.tally(pilot.first.perturb(pilot.answers([{1: 0.5}] * 8000 + [{1: 0.5, 2: 1}] * 2000)))
    >>> pilot.rest(tally, n=200_000).at_most <= 5
    True
    """

    domain: KeyValue
    epsilon: float

    @cached_property
    def tried(self) -> list[int]:
        """The lengths that are compared: few, and further apart the longer they are."""
        return sorted({round(self.domain.at_most ** (step / (TRIED - 1))) for step in range(TRIED)})

    @cached_property
    def first(self) -> SubsetSelection:
        """For the first people: the least of the lengths, or none, that holds all their keys."""
        return SubsetSelection(Categories([0, *self.tried]), self.epsilon)

    def answers(self, people: Pairs | Sequence[Sized]) -> list[int]:
        """The answers of people to the first question."""
        found = people.sizes if isinstance(people, Pairs) else np.array([len(each) for each in people], np.int64)
        held = np.array([0, *self.tried])
        return held[np.searchsorted(held, np.minimum(found, self.domain.at_most))].tolist()

    def shown(self, tally: Tally) -> Floats:
        """The share of people with each answer; what is no more than noise counts as zero."""
        shares = np.maximum(base_cut(self.first.estimate(tally)).values, 0)
        return np.asarray(shares / max(float(shares.sum()), 1e-12))

    def lengths(self, tally: Tally, n: int) -> list[Padding]:
        """What to expect of each length that was tried, with n people; for a key that the planner compares by."""
        checked_people(n)
        shares, frequency = self.shown(tally), float(prior(self.domain))
        ends = np.array([0, *self.tried])
        numbers = np.append(0, (ends[1:] + ends[:-1] + 1) / 2)  # the middle of what has the same answer
        held, found = max(float(shares @ numbers), 1e-12), []
        for length in self.tried:
            kept = float(shares @ np.minimum(numbers, length)) / held
            mechanism = plan_key_value(self._cut(length), self.epsilon, n)
            bias = frequency * (1 - kept)
            found.append(
                Padding(length, kept, float(np.sqrt((total_error(mechanism, frequency * kept, 0.0) / n + bias**2) / 2)))
            )
        return found

    def rest(self, tally: Tally, n: int) -> KeyValue:
        """The question for all others, n people: with the length of the smallest error, longer sets cut."""
        return self._cut(min(self.lengths(tally, n), key=lambda each: each.error).at_most)

    def _cut(self, length: int) -> KeyValue:
        return KeyValue(self.domain.labels, self.domain.low, self.domain.high, length, cut=True)
