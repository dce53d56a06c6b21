"""Which of several items a person has: the share of people who have each."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.core import Answers, Estimate, Label, Mechanism, Permanent
from deniable.domains import KeyValue
from deniable.errors import OutsideDomain
from deniable.mechanisms.key_value.permanent_set import PermanentSet
from deniable.planning.key_value import plan_key_value
from deniable.survey.kinds.kind import Details
from deniable.survey.kinds.ratings import Items


class Set(Items):
    """A list of names; it is randomized as if each item in it had the rating 1."""

    keys = frozenset({"items", "at_most"})

    def domain(self, details: Details) -> KeyValue:
        return self.items(details, "set", 0, 1)

    def hint(self, domain: KeyValue) -> str:
        return f"up to {domain.at_most} of {self.listed(domain)}, separated by commas"

    def describe(self, answer: object) -> str:
        return ", ".join(map(repr, answer if isinstance(answer, dict) else ())) or "nothing"

    def read(self, domain: KeyValue, text: str) -> object:
        found = domain.read(text)
        if found is None or not set(found) <= set(domain.labels):
            raise OutsideDomain("Type names from the list, separated by commas, or nothing.")
        return list(found)

    def pretend(self, domain: KeyValue, random: np.random.Generator, people: int) -> Answers:
        return [[*rated] for rated in self.rated(domain, random, people)]

    def encode(self, answers: Answers) -> Answers:
        return [_each_once(answer) for answer in answers]

    def mechanism(self, domain: KeyValue, details: Details, epsilon: float, people: int) -> Mechanism:
        """The best for frequencies; edition 1 of the planner plans for ratings too, which a set does not have."""
        return plan_key_value(domain, epsilon, people, values=self.edition == 1, edition=self.edition)

    def repeated(self, domain: KeyValue, details: Details, lifetime: float, once: float, people: int) -> Permanent:
        return PermanentSet.twice_randomized(domain, lifetime, once)

    def parts(self, estimate: Any) -> Sequence[Estimate]:
        return [estimate if isinstance(estimate, Estimate) else estimate.frequency]


def _each_once(answer: object) -> dict[Label, float]:
    try:
        if isinstance(answer, list | tuple | set | frozenset):
            return dict.fromkeys(answer, 1.0)
    except TypeError:  # an item that is not a name, such as a list
        pass
    raise OutsideDomain("The answer to this question is a list of names, which may be empty.")
