"""Ratings of some of several items: how many rate each, and the mean rating."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.arrays import Floats
from deniable.core import Answers, Estimate, Label, Mechanism
from deniable.domains import KeyValue
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.survey.kinds.kind import Details, Kind, WrongDetail, need_numbers, rms


class Items(Kind[KeyValue]):
    """Up to `at_most` of several items. People may have several, so shares do not sum to one."""

    def items(self, details: Details, kind: str, low: float, high: float) -> KeyValue:
        """The sets of these items, with values from `low` to `high`."""
        items = details.get("items")
        if isinstance(items, str) or not isinstance(items, Sequence):
            raise WrongDetail("items", f'A question of kind "{kind}" needs items, such as items = ["Alien", "Brazil"].')
        try:
            return KeyValue(items, low, high, details.get("at_most", len(items)))
        except (InvalidParameter, TypeError) as error:
            raise WrongDetail("at_most" if "at_most" in details else "items", str(error)) from None

    def listed(self, domain: KeyValue) -> str:
        """The first items."""
        return ", ".join(map(str, domain.labels[:8])) + (", ..." if len(domain.labels) > 8 else "")

    def rated(self, domain: KeyValue, random: np.random.Generator, people: int) -> list[dict[Label, float]]:
        """A few items each, some popular and some not; people's ratings of an item scatter around a typical one."""
        keys, span = len(domain.labels), domain.high - domain.low
        weights, liking = 1.0 / np.arange(1, keys + 1), random.random(keys)
        answers: list[dict[Label, float]] = []
        for rated in random.integers(0, min(domain.at_most, keys) + 1, people):
            chosen = random.choice(keys, rated, replace=False, p=weights / weights.sum())
            values = domain.low + span * np.clip(liking[chosen] + random.normal(0, 0.2, rated), 0, 1)
            answers.append(
                {domain.labels[place]: round(float(value), 6) for place, value in zip(chosen, values, strict=True)}
            )
        return answers

    def error(self, domain: KeyValue, mechanism: Mechanism, people: int) -> float:
        """Of a frequency, if people have one item on average and all are equally common."""
        keys, middle = len(domain.labels), (domain.low + domain.high) / 2
        predicted = mechanism.predict(np.column_stack([np.full(keys, 1 / keys), np.full(keys, middle)]), people)
        return rms(self.parts(predicted)[0])

    def cleaned(self, domain: KeyValue, part: Estimate) -> Floats:
        return np.clip(part.values, 0, 1) if part.measure == "share" else self.within(domain, part.values)

    def range(self, domain: KeyValue) -> tuple[float, float]:
        return domain.low, domain.high


class Ratings(Items):
    """A rating from `low` to `high` of each item that a person knows."""

    keys = frozenset({"items", "low", "high", "at_most"})

    def domain(self, details: Details) -> KeyValue:
        need_numbers(details, "ratings", "low", "high")
        return self.items(details, "ratings", details["low"], details["high"])

    def hint(self, domain: KeyValue) -> str:
        example = f"{domain.labels[0]} = {domain.high:g}"
        return (
            f"ratings from {domain.low:g} to {domain.high:g} of up to {domain.at_most} of {self.listed(domain)}, "
            f"such as {example}"
        )

    def describe(self, answer: object) -> str:
        rated = answer if isinstance(answer, dict) else {}
        return ", ".join(f"{item} = {value:g}" for item, value in rated.items()) or "no ratings"

    def read(self, domain: KeyValue, text: str) -> object:
        """Pairs as in "Alien = 4, Brazil = 2.5"; an empty text rates nothing."""
        found = domain.read(text)
        if found is None or not set(found) <= set(domain.labels):
            raise OutsideDomain("Type ratings like this: Alien = 4, Brazil = 2.5. Use names from the list.")
        return found

    def pretend(self, domain: KeyValue, random: np.random.Generator, people: int) -> Answers:
        return self.rated(domain, random, people)

    def parts(self, estimate: Any) -> Sequence[Estimate]:
        """How many rate each item, and the mean ratings where the frequency stands out from the noise."""
        return [estimate.frequency, estimate.mean] if estimate.clear.any() else [estimate.frequency]
