"""What answers may be, one kind of domain per file, and the way back from plain data."""

from collections.abc import Callable, Mapping
from typing import Any

from deniable.core import AnyDomain, Spec
from deniable.domains.categories import Categories
from deniable.domains.codes import SignMagnitude
from deniable.domains.features import Features, UnitVectors
from deniable.domains.interval import Interval
from deniable.domains.key_value import KeyValue, Pairs
from deniable.domains.link import Link
from deniable.domains.loss_matrix import LossMatrix
from deniable.domains.ordered import Ordered
from deniable.domains.points import Points
from deniable.domains.product import Product
from deniable.domains.quadkey import quadkey
from deniable.domains.sparse_vector import SparseVector
from deniable.domains.vectors import Vectors
from deniable.errors import InvalidParameter

KINDS: dict[str, Callable[[Mapping[str, Any]], AnyDomain]] = {
    "categories": Categories.from_spec,
    "features": Features.from_spec,
    "interval": Interval.from_spec,
    "losses": LossMatrix.from_spec,
    "ordered": Ordered.from_spec,
    "points": Points.from_spec,
    "product": Product.from_spec,
    "vectors": Vectors.from_spec,
    "sign-magnitude": SignMagnitude.from_spec,
    "unit-vectors": UnitVectors.from_spec,
    "key-value": KeyValue.from_spec,
    "link": Link.from_spec,
    "sparse-vector": SparseVector.from_spec,
    "members": lambda spec: _members(spec),
    "strings": lambda spec: _strings(spec),
    "listed-strings": lambda spec: _listed_strings(spec),
}


def _strings(spec: Spec) -> AnyDomain:
    from deniable.domains.strings import Strings  # which few need

    return Strings.from_spec(spec)


def _members(spec: Spec) -> AnyDomain:
    from deniable.domains.members import Members  # which few need

    return Members.from_spec(spec)


def _listed_strings(spec: Spec) -> AnyDomain:
    from deniable.domains.listed_strings import ListedStrings  # which few need

    return ListedStrings.from_spec(spec)


def domain_from_spec(spec: Spec) -> AnyDomain:
    """The domain that `spec()` described."""
    kind = spec.get("kind")
    if kind not in KINDS:
        raise InvalidParameter(f'A domain needs a "kind": {", ".join(KINDS)}.')
    return KINDS[kind](spec)
