"""Mechanisms made of mechanisms, and the way back from JSON for all of them."""

import json

from deniable.core.mechanism import Mechanism
from deniable.errors import InvalidParameter
from deniable.mechanisms import FAMILIES, mechanism_from_spec
from deniable.wrappers.attributes import EveryAttribute, FakeAttributes, OneAttribute
from deniable.wrappers.memoized import Memoized
from deniable.wrappers.pilot import Pilot, PilotedEstimate
from deniable.wrappers.published import PublishedUtility
from deniable.wrappers.utility import UtilityOptimized

__all__ = [
    "EveryAttribute",
    "FakeAttributes",
    "Memoized",
    "OneAttribute",
    "Pilot",
    "PilotedEstimate",
    "PublishedUtility",
    "UtilityOptimized",
    "mechanism_from_json",
]

WRAPPERS: dict[str, type[Mechanism]] = {
    family.wire: family
    for family in (UtilityOptimized, PublishedUtility, Memoized, EveryAttribute, OneAttribute, FakeAttributes)
}


def mechanism_from_json(text: str) -> Mechanism:
    """The mechanism that `to_json` described, refused if its law is not the one that this release would run.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms import DirectResponse
    >>> mechanism = DirectResponse(Categories(["yes", "no"]), epsilon=1.0)
    >>> mechanism_from_json(mechanism.to_json()) == mechanism
    True
    """
    try:
        spec = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidParameter("A mechanism is written as JSON. Copy the whole file, as deniable plan wrote it.") from error
    return mechanism_from_spec(spec, FAMILIES | WRAPPERS)
