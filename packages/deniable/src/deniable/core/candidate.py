"""What a family offers to planners: a name, a way to make the mechanism, and when it is worth considering."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deniable.core.domain import Domain

LARGEST_DENSE = 1 << 20  # values above which reports with a bit for each value are not considered


@dataclass(frozen=True)
class Candidate:
    """One way to make a mechanism, which planners compare and users choose by name."""

    name: str
    make: Callable[..., Any]  # from a domain and an epsilon
    largest: int | None = None  # values; no limit unless given
    target: str | None = None  # what it is best for, where mechanisms of one question have different aims
    prior: str | None = None  # the keyword under which `make` takes what is known about the answers

    def made(self, domain: Domain, epsilon: float, prior: object = None) -> Any:
        """The mechanism; what is known about the answers is left out where this candidate cannot use it."""
        return self.make(domain, epsilon, **({} if prior is None or self.prior is None else {self.prior: prior}))
