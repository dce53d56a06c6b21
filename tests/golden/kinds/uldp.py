"""Utility-optimized mechanisms, and the base mechanisms that they are made of."""

from collections.abc import Mapping
from typing import Any

import deniable as dn
from tests.golden.kinds.registry import kind


@kind("base_pq")
def base_pq(inputs: Mapping[str, Any]) -> object:
    """The probabilities that a report supports the true value and another one."""
    domain, epsilon = dn.Categories(range(inputs["s"])), inputs["eps"]
    mechanism: dn.SubsetSelection
    match inputs["mechanism"]:
        case "SS":
            mechanism = dn.SubsetSelection(domain, epsilon, inputs["k"])
        case other:
            raise LookupError(f"base_pq of {other}")
    return {"p": float(mechanism.p), "q": float(mechanism.q)}
