"""The kinds of questions: for each, how its lines in the survey become a mechanism, and how a person answers it.

A new kind is one entry in `KINDS`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.domain import Answers, Domain, Label
from deniable.core.estimate import Estimate
from deniable.core.mechanism import Mechanism
from deniable.domains import Categories, Interval
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.planner import plan

Details = Mapping[str, Any]
NO_ANSWER = "(no answer)"


class WrongDetail(InvalidParameter):
    """A line of a question that says something impossible; `key` names the line."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def error_of_shares(mechanism: Mechanism, people: int) -> float:
    """The error to expect of a share, root mean square, if all answers are equally common."""
    size = mechanism.domain.size
    return float(np.sqrt(np.mean(mechanism.predict(np.full(size, 1 / size), people).standard_error ** 2)))


@dataclass(frozen=True)
class Kind:
    """How questions of one kind are made, asked, simulated and summarized."""

    details: frozenset[str]
    domain: Callable[[Details], Domain]
    mechanism: Callable[[Domain, Details, float, int], Mechanism]
    hint: Callable[[Domain], str]
    read: Callable[[Domain, str], object]
    pretend: Callable[[Domain, np.random.Generator, int], Answers]
    more: Callable[[Domain, Estimate], Mapping[str, tuple[float, float]]] = lambda domain, estimate: {}
    error: Callable[[Mechanism, int], float] = error_of_shares


def _choices(details: Details) -> Categories:
    choices = details.get("choices")
    if not isinstance(choices, Sequence) or isinstance(choices, str):
        raise WrongDetail("choices", 'A question of kind "category" needs its choices: choices = ["yes", "no"].')
    labels: list[Label] = list(choices)
    if details.get("optional", False) is True:
        if NO_ANSWER in labels:
            raise WrongDetail("choices", f"{NO_ANSWER!r} stands for silence; leave it out of the choices.")
        labels.append(NO_ANSWER)
    try:
        return Categories(labels, details.get("other"))
    except (InvalidParameter, TypeError) as error:
        raise WrongDetail("choices", str(error)) from None


def _category(domain: Domain, details: Details, epsilon: float, people: int) -> Mechanism:
    sensitive = details.get("sensitive")
    if sensitive is None:
        return plan(domain, epsilon, people)
    if not isinstance(sensitive, list) or not sensitive or any(label not in domain.labels for label in sensitive):
        raise WrongDetail("sensitive", "The sensitive answers are a list of some of the choices.")
    if NO_ANSWER in domain.labels:
        sensitive = [*sensitive, NO_ANSWER]  # who stays silent has a reason
    try:
        return plan(domain, epsilon, people, sensitive=sensitive)
    except InvalidParameter as error:
        raise WrongDetail("sensitive", str(error)) from None


def _choice_hint(domain: Domain) -> str:
    return ", ".join(str(label) for label in domain.labels)


def _read_choice(domain: Domain, text: str) -> object:
    if not text and NO_ANSWER in domain.labels:
        return None
    found = [label for label in domain.labels if str(label) == text]
    if not found:
        raise OutsideDomain("That is not one of the choices. Type one of them as it is written.")
    return found[0]


def _pretend_choice(domain: Domain, random: np.random.Generator, people: int) -> Answers:
    """Some answers are common and some rare, in a shuffled order: shares fall off like 1 / rank."""
    weights = 1.0 / np.arange(1, domain.size + 1)
    random.shuffle(weights)
    drawn = random.choice(domain.size, people, p=weights / weights.sum())
    if isinstance(domain.labels, range):
        return drawn
    return [domain.labels[place] for place in drawn.tolist()]


def _range(details: Details) -> Interval:
    for end in ("low", "high"):
        if isinstance(details.get(end), bool) or not isinstance(details.get(end), int | float):
            raise WrongDetail(end, f'A question of kind "number" needs its {end}, a number: low = 0 and high = 120.')
    try:
        return Interval(details["low"], details["high"], details.get("steps", 1), clip=details.get("clip", True))
    except InvalidParameter as error:
        raise WrongDetail("steps" if "steps" in details else "low", str(error)) from None


def _read_number(domain: Domain, text: str) -> object:
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        raise OutsideDomain("That is not a number. Type it in digits.") from None


def _pretend_number(domain: Domain, random: np.random.Generator, people: int) -> Answers:
    assert isinstance(domain, Interval)
    return np.round(domain.low + (domain.high - domain.low) * random.beta(2, 4, people), 6)


def _mean(domain: Domain, estimate: Estimate) -> Mapping[str, tuple[float, float]]:
    """The mean and its standard error: the points weighted by their shares; right on average, as the rounding is."""
    assert isinstance(domain, Interval)
    points = domain.points
    if estimate.covary is not None:
        error = math.sqrt(max(float(points @ estimate.covariance() @ points), 0.0))
    else:  # no closed form: the sum of all errors is never exceeded
        error = float(np.abs(points) @ estimate.standard_error)
    return {"mean": (float(points @ estimate.values), error)}


def _planned(domain: Domain, details: Details, epsilon: float, people: int) -> Mechanism:
    return plan(domain, epsilon, people)


KINDS: dict[str, Kind] = {
    "category": Kind(
        frozenset({"choices", "sensitive", "other", "optional"}),
        _choices,
        _category,
        _choice_hint,
        _read_choice,
        _pretend_choice,
    ),
    # A grid of one step is one bit: high or low with the probability that is right on average, then randomized.
    "number": Kind(
        frozenset({"low", "high", "steps", "clip"}),
        _range,
        _planned,
        lambda domain: f"a number from {domain.labels[0]:g} to {domain.labels[-1]:g}",
        _read_number,
        _pretend_number,
        _mean,
    ),
}


def kind_named(name: object) -> Kind:
    """The kind of this name; one that this release cannot ask is refused."""
    if not isinstance(name, str) or name not in KINDS:
        raise WrongDetail("kind", f"This release asks questions of kind {', '.join(map(repr, KINDS))}. Use one of them.")
    return KINDS[name]
