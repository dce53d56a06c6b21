"""Items that people rate, or have: how many do, and how they rate them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.core.domain import Answers, Domain, Label
from deniable.core.estimate import Estimate
from deniable.core.mechanism import Mechanism
from deniable.domains import KeyValue
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.survey.kind import Details, Kind, WrongDetail, planned


def _items(details: Details) -> KeyValue:
    items = details.get("items")
    if isinstance(items, str) or not isinstance(items, Sequence):
        raise WrongDetail("items", 'A question of kind "ratings" needs its items: items = ["Alien", "Brazil"].')
    for end in ("low", "high"):
        if isinstance(details.get(end), bool) or not isinstance(details.get(end), int | float):
            raise WrongDetail(end, f'A question of kind "ratings" needs its {end}est rating, a number.')
    try:
        return KeyValue(items, details["low"], details["high"], details.get("at_most", len(items)))
    except (InvalidParameter, TypeError) as error:
        raise WrongDetail("at_most" if "at_most" in details else "items", str(error)) from None


def _hint(domain: Domain) -> str:
    assert isinstance(domain, KeyValue)
    shown = ", ".join(map(str, domain.labels[:8])) + (", ..." if len(domain.labels) > 8 else "")
    example = f"{domain.labels[0]} = {domain.high:g}"
    return f"ratings from {domain.low:g} to {domain.high:g} of up to {domain.at_most} of {shown}, as in {example}"


def _read(domain: Domain, text: str) -> object:
    """Pairs as in "Alien = 4, Brazil = 2.5"; nothing is nothing rated."""
    names, found = {str(label): label for label in domain.labels}, {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = (part.strip() for part in pair.partition("="))
        try:
            found[names[name]] = float(number)
        except (KeyError, ValueError):
            raise OutsideDomain("Type ratings as in: Alien = 4, Brazil = 2.5, with names from the list.") from None
    return found


def _pretend(domain: Domain, random: np.random.Generator, people: int) -> Answers:
    return _rated(domain, random, people)


def _rated(domain: Domain, random: np.random.Generator, people: int) -> list[dict[Label, float]]:
    """A few items each, some much rated and some little; every item has a rating of its own that people lean to."""
    assert isinstance(domain, KeyValue)
    keys, span = len(domain.labels), domain.high - domain.low
    weights, liking = 1.0 / np.arange(1, keys + 1), random.random(keys)
    answers: list[dict[Label, float]] = []
    for rated in random.integers(0, min(domain.at_most, keys) + 1, people):
        chosen = random.choice(keys, rated, replace=False, p=weights / weights.sum())
        values = domain.low + span * np.clip(liking[chosen] + random.normal(0, 0.2, rated), 0, 1)
        answers.append({domain.labels[place]: round(float(value), 6) for place, value in zip(chosen, values, strict=True)})
    return answers


def _error(mechanism: Mechanism, people: int) -> float:
    """Of a frequency, root mean square, if everybody rates one item and none more than another."""
    assert isinstance(mechanism.domain, KeyValue)
    keys, middle = len(mechanism.domain.labels), (mechanism.domain.low + mechanism.domain.high) / 2
    truth = np.column_stack([np.full(keys, 1 / keys), np.full(keys, middle)])
    predicted: Any = mechanism.predict(truth, people)
    return float(np.sqrt(np.mean(predicted.frequency.standard_error**2)))


def _parts(estimate: Any) -> Sequence[Estimate]:
    """How many rate each item, and the mean rating of those that are rated by more than the noise."""
    return [estimate.frequency, estimate.mean] if estimate.clear.any() else [estimate.frequency]


RATINGS = Kind(
    frozenset({"items", "low", "high", "at_most"}), _items, planned, _hint, _read, _pretend, error=_error, parts=_parts
)


def _things(details: Details) -> KeyValue:
    return _items({"items": None, **details, "low": 0, "high": 1})


def _held(answer: object) -> object:
    """A list of names is one of items that are there; each counts once."""
    try:
        if isinstance(answer, list | tuple | set | frozenset):
            return dict.fromkeys(answer, 1.0)
    except TypeError:  # a name that is none, such as a list
        pass
    raise OutsideDomain("Which of these a person has is a list of names, which may be empty.")


def _read_names(domain: Domain, text: str) -> object:
    names = {str(label): label for label in domain.labels}
    found = [part.strip() for part in text.split(",") if part.strip()]
    if not set(found) <= set(names):
        raise OutsideDomain("Type names from the list with commas between them, or nothing.")
    return [names[name] for name in found]


def _pretend_sets(domain: Domain, random: np.random.Generator, people: int) -> Answers:
    return [[*rated] for rated in _rated(domain, random, people)]


def _set_hint(domain: Domain) -> str:
    assert isinstance(domain, KeyValue)
    shown = ", ".join(map(str, domain.labels[:8])) + (", ..." if len(domain.labels) > 8 else "")
    return f"up to {domain.at_most} of {shown}, with commas between them"


SET = Kind(
    frozenset({"items", "at_most"}),
    _things,
    planned,
    _set_hint,
    _read_names,
    _pretend_sets,
    error=_error,
    parts=lambda estimate: [estimate.frequency],
    given=_held,
)
