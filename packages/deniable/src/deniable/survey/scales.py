"""Answers that have an order or a place: their shares."""

from collections.abc import Mapping

import numpy as np

from deniable.core.domain import Domain
from deniable.core.estimate import Estimate
from deniable.domains import Ordered, Points
from deniable.errors import InvalidParameter
from deniable.survey.kind import Details, Kind, WrongDetail, choice_hint, mean_of, planned, pretend_choice, read_choice


def _order(details: Details) -> Ordered:
    choices, ends = details.get("choices"), (details.get("low"), details.get("high"))
    whole = all(isinstance(end, int) and not isinstance(end, bool) for end in ends)
    key = "low" if choices is None else "choices"
    if isinstance(choices, list) == whole:
        raise WrongDetail(key, 'A question of kind "ordered" needs its choices in order, or whole numbers low and high.')
    try:
        return Ordered(choices if isinstance(choices, list) else range(details["low"], details["high"] + 1))
    except (InvalidParameter, TypeError) as error:
        raise WrongDetail(key, str(error)) from None


def _middle(domain: Domain, estimate: Estimate) -> Mapping[str, tuple[float, float]]:
    """The mean, where the answers are numbers."""
    if any(isinstance(label, str) for label in domain.labels):
        return {}
    return mean_of(np.array(domain.labels, np.float64), estimate)


def _places(details: Details) -> Points:
    names, points = details.get("places"), details.get("points")
    if not isinstance(names, list) or not isinstance(points, list) or len(names) != len(points):
        raise WrongDetail(
            "points",
            'A question of kind "place" needs its places, a list of names, and points, as many [latitude, longitude].',
        )
    try:
        return Points(np.array(points, np.float64), "haversine", labels=names)
    except (InvalidParameter, TypeError, ValueError) as error:
        raise WrongDetail("points", str(error)) from None


ORDERED = Kind(frozenset({"choices", "low", "high"}), _order, planned, choice_hint, read_choice, pretend_choice, _middle)
PLACE = Kind(frozenset({"places", "points"}), _places, planned, choice_hint, read_choice, pretend_choice)
