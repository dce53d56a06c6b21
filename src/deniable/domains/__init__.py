"""What answers may be, one kind of domain per file, and the way back from plain data."""

from collections.abc import Callable, Mapping
from typing import Any

from deniable.core.domain import Domain
from deniable.domains.categories import Categories
from deniable.domains.interval import Interval
from deniable.domains.sparse_vector import SparseVector
from deniable.errors import InvalidParameter

__all__ = ["Categories", "Interval", "SparseVector", "domain_from_spec"]

KINDS: dict[str, Callable[[Mapping[str, Any]], Domain]] = {
    "categories": Categories.from_spec,
    "interval": Interval.from_spec,
    "sparse-vector": SparseVector.from_spec,
}


def domain_from_spec(spec: Mapping[str, Any]) -> Domain:
    """The domain that `spec()` described."""
    kind = spec.get("kind")
    if kind not in KINDS:
        raise InvalidParameter(f'A domain needs a "kind": {", ".join(KINDS)}.')
    return KINDS[kind](spec)
