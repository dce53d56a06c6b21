"""The list of all kinds, which the files beside this one fill."""

from collections.abc import Callable, Mapping
from typing import Any

Evaluate = Callable[[Mapping[str, Any]], object]

KINDS: dict[str, Evaluate] = {}


def kind(name: str) -> Callable[[Evaluate], Evaluate]:
    """Register the function that evaluates entries of this kind."""

    def register(evaluate: Evaluate) -> Evaluate:
        assert name not in KINDS, f"two functions evaluate {name}"
        KINDS[name] = evaluate
        return evaluate

    return register
