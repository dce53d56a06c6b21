"""Compare what we compute with what a golden file says."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.golden.kinds import KINDS


@dataclass(frozen=True)
class Difference:
    """An entry that we evaluate differently, or not at all (then `got` says why)."""

    id: str
    expected: object
    got: object
    tolerance: object

    def __str__(self) -> str:
        return f"{self.id}: expected {self.expected}, got {self.got}, tolerance {self.tolerance}"


@dataclass
class Outcome:
    """What became of the entries of one file."""

    agreed: int
    differences: list[Difference]
    unknown: dict[str, int]  # kinds we cannot evaluate, and how many entries they have

    @property
    def good(self) -> bool:
        return not self.differences and not self.unknown


def compare(path: Path) -> Outcome:
    """Evaluate every entry of a golden file."""
    outcome = Outcome(0, [], {})
    for entry in json.loads(path.read_text())["entries"]:
        name = entry["quantity"] if "quantity" in entry else entry["kind"]
        try:
            got = KINDS[name](entry["inputs"]) if name in KINDS else None
        except LookupError as reason:
            name, got = str(reason), None
        if got is None:
            outcome.unknown[name] = outcome.unknown.get(name, 0) + 1
        elif all(close(a, b, entry["tol"]) for a, b in leaves(entry["output"], got)):
            outcome.agreed += 1
        else:
            outcome.differences.append(Difference(entry["id"], entry["output"], got, entry["tol"]))
    return outcome


def leaves(expected: object, got: object) -> Iterator[tuple[object, object]]:
    """Pairs of single values; a difference in shape gives a pair that is never close."""
    if isinstance(expected, Mapping) and isinstance(got, Mapping) and expected.keys() == got.keys():
        for key in expected:
            yield from leaves(expected[key], got[key])
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for a, b in zip(expected, got, strict=True):
            yield from leaves(a, b)
    else:
        yield expected, got


def close(expected: Any, got: Any, tolerance: Any) -> bool:
    """Within the entry's tolerance: absolute and relative parts, or one number that is relative above magnitude 1."""
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (expected, got))
    if not numbers:
        return type(expected) is type(got) and expected == got
    if isinstance(tolerance, Mapping):
        return abs(expected - got) <= max(tolerance["abs"], tolerance["rel"] * abs(expected))
    return abs(expected - got) <= tolerance * max(1.0, abs(expected))
