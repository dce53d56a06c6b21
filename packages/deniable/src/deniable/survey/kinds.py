"""The kinds of questions: for each, how its lines in the survey become a mechanism, and how a person answers it.

A new kind is one entry in `KINDS`.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from deniable.core.domain import Answers, Domain, Label
from deniable.core.estimate import Estimate
from deniable.core.mechanism import Additive, Mechanism
from deniable.domains import Categories, Interval
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.planning import plan
from deniable.survey.features import FEATURES
from deniable.survey.kind import (
    NO_ANSWER,
    Details,
    Kind,
    WrongDetail,
    choice_hint,
    error_of_means,
    error_of_shares,
    for_mean,
    mean_of,
    planned,
    pretend_choice,
    read_choice,
)
from deniable.survey.ratings import RATINGS, SET
from deniable.survey.scales import ORDERED, PLACE
from deniable.survey.sparse_sets import SPARSE_SET

FINE = 1024  # steps of a grid on which a mean is told


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
    try:
        return plan(domain, epsilon, people, sensitive=sensitive_of(details))
    except InvalidParameter as error:
        raise WrongDetail("sensitive", str(error)) from None


def sensitive_of(details: Details) -> list[Label]:
    """The answers that are protected where the others may be told; silence too, since who stays silent has a reason."""
    sensitive = details.get("sensitive") or []
    return [*sensitive, NO_ANSWER] if sensitive and details.get("optional", False) is True else list(sensitive)


def _range(details: Details) -> Interval:
    for end in ("low", "high"):
        if isinstance(details.get(end), bool) or not isinstance(details.get(end), int | float):
            raise WrongDetail(end, f'A question of kind "number" needs its {end}, a number: low = 0 and high = 120.')
    try:
        return Interval(details["low"], details["high"], details.get("steps", FINE), clip=details.get("clip", True))
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


def _number(domain: Domain, details: Details, epsilon: float, people: int) -> Mechanism:
    """The mean alone, as well as can be; where steps are given, the shares of the points, and the mean from them."""
    return planned(domain, details, epsilon, people) if "steps" in details else for_mean(domain, details, epsilon, people)


def _number_error(mechanism: Mechanism, people: int) -> float:
    return error_of_shares(mechanism, people) if isinstance(mechanism, Additive) else error_of_means(mechanism, people)


def _number_parts(estimate: Estimate) -> Sequence[Estimate]:
    return [] if estimate.measure == "mean" else [estimate]


def _mean(domain: Domain, estimate: Estimate) -> Mapping[str, tuple[float, float]]:
    """Right on average, as the rounding to the points is."""
    assert isinstance(domain, Interval)
    if estimate.measure == "mean":
        return {"mean": (float(estimate.values[0]), float(estimate.standard_error[0]))}
    return mean_of(domain.points, estimate)


KINDS: dict[str, Kind] = {
    "category": Kind(
        frozenset({"choices", "sensitive", "other", "optional"}),
        _choices,
        _category,
        choice_hint,
        read_choice,
        pretend_choice,
    ),
    "number": Kind(
        frozenset({"low", "high", "steps", "clip"}),
        _range,
        _number,
        lambda domain: f"a number from {domain.labels[0]:g} to {domain.labels[-1]:g}",
        _read_number,
        _pretend_number,
        _mean,
        _number_error,
        _number_parts,
    ),
    "features": FEATURES,
    "ordered": ORDERED,
    "place": PLACE,
    "ratings": RATINGS,
    "set": SET,
    "sparse-set": SPARSE_SET,
}


def kind_named(name: object) -> Kind:
    """The kind of this name; one that this release cannot ask is refused."""
    if not isinstance(name, str) or name not in KINDS:
        raise WrongDetail("kind", f"This release asks questions of kind {', '.join(map(repr, KINDS))}. Use one of them.")
    return KINDS[name]
