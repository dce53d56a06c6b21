"""Every kind of question by its name: ours, and those that other packages register.

A package registers its own with an entry point:

    [project.entry-points."deniable.kinds"]
    "colour" = "my_package.colour:Colour"
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from deniable.errors import InvalidParameter
from deniable.survey.kinds.kind import Kind, WrongDetail

GROUP = "deniable.kinds"
OURS = {
    "category": "category:Category",
    "number": "number:Number",
    "features": "features:Features",
    "ordered": "ordered:Ordered",
    "place": "place:Place",
    "ratings": "ratings:Ratings",
    "set": "set:Set",
    "sparse-set": "sparse_set:SparseSet",
}


@cache
def kinds() -> Mapping[str, EntryPoint]:
    """All registered kinds by name, not yet loaded. Ours come first and cannot be replaced."""
    ours = (EntryPoint(name, f"deniable.survey.kinds.{place}", GROUP) for name, place in OURS.items())
    theirs = (entry for entry in entry_points(group=GROUP) if entry.name not in OURS)
    return {entry.name: entry for entry in (*ours, *theirs)}


@cache
def _loaded(name: str) -> Kind[Any]:
    made: object = kinds()[name].load()()
    if not isinstance(made, Kind):
        raise InvalidParameter(f"The entry point {name!r} of {GROUP} does not name a kind of question.")
    return made


def kind_named(name: object) -> Kind[Any]:
    """The kind of this name; raises `WrongDetail` if none is installed."""
    if not isinstance(name, str) or name not in kinds():
        raise WrongDetail("kind", f"kind must be one of {', '.join(map(repr, kinds()))}.")
    return _loaded(name)
