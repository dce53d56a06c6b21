"""How to evaluate each kind of golden entry through the public API; a family of mechanisms adds its kinds here."""

from collections.abc import Callable, Mapping
from typing import Any

import deniable as dn

Evaluate = Callable[[Mapping[str, Any]], object]

KINDS: dict[str, Evaluate] = {}


def kind(name: str) -> Callable[[Evaluate], Evaluate]:
    """Register the function that evaluates entries of this kind."""

    def register(evaluate: Evaluate) -> Evaluate:
        KINDS[name] = evaluate
        return evaluate

    return register


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


@kind("rr_probs")
def rr_probs(inputs: Mapping[str, Any]) -> object:
    """k-ary randomized response."""
    mechanism = dn.DirectResponse(dn.Categories(range(inputs["values"])), inputs["eps_rr"])
    return {"p": float(mechanism.p), "q": float(mechanism.q)}
