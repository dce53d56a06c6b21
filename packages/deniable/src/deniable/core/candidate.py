"""What a family offers to planners: a name, a way to make the mechanism, and for how many values it is worth considering."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LARGEST_DENSE = 1 << 20  # values above which reports with a bit for each value are not considered


@dataclass(frozen=True)
class Candidate:
    """One way to make a mechanism, which planners compare and users choose by name."""

    name: str
    make: Callable[..., Any]  # from a domain and an epsilon
    largest: int | None = None  # values; no limit unless given
