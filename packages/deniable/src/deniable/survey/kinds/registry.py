"""Every kind of question by its name: ours, and those that other packages register.

A package registers its own with an entry point:

    [project.entry-points."deniable.kinds"]
    "colour" = "my_package.colour:Colour"
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint
from typing import Any

from deniable.errors import InvalidParameter
from deniable.plugins import registered
from deniable.survey.kinds.kind import Kind, WrongDetail

GROUP = "deniable.kinds"
OURS = {
    "category": "survey.kinds.category:Category",
    "number": "survey.kinds.number:Number",
    "features": "survey.kinds.features:Features",
    "friends": "survey.kinds.friends:Friends",
    "ordered": "survey.kinds.ordered:Ordered",
    "place": "survey.kinds.place:Place",
    "ratings": "survey.kinds.ratings:Ratings",
    "set": "survey.kinds.set:Set",
    "sparse-set": "survey.kinds.sparse_set:SparseSet",
    "text": "survey.kinds.text:Text",
}


@cache
def kinds() -> Mapping[str, EntryPoint]:
    """All registered kinds by name, not yet loaded."""
    return registered(GROUP, OURS)


@cache
def _loaded(name: str, edition: int) -> Kind[Any]:
    made: object = kinds()[name].load()()
    if not isinstance(made, Kind):
        raise InvalidParameter(f"The entry point {name!r} of {GROUP} does not name a kind of question.")
    made.edition = edition
    return made


def kind_named(name: object, edition: int = 1) -> Kind[Any]:
    """The kind of this name, for surveys of an edition of the planner; raises `WrongDetail` if none is installed."""
    if not isinstance(name, str) or name not in kinds():
        raise WrongDetail("kind", f"kind must be one of {', '.join(map(repr, kinds()))}.")
    return _loaded(name, edition)
