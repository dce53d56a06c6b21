"""What a family offers to planners: a name, a way to make the mechanism, and when it is worth considering."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from deniable.core.domain import AnyDomain

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from deniable.core.mechanism import Mechanism

    Made = TypeVar("Made", bound=Mechanism, default=Mechanism, covariant=True)
else:
    from typing import TypeVar

    Made = TypeVar("Made")

LARGEST_DENSE = 1 << 20  # values above which reports with a bit for each value are not considered


@dataclass(frozen=True)
class Candidate(Generic[Made]):
    """One way to make a mechanism, which planners compare and users choose by name."""

    name: str
    make: Callable[..., Made]  # from a domain and an epsilon
    largest: int | None = None  # values; no limit unless given
    target: str | None = None  # what it is best for, where mechanisms of one question have different aims
    prior: str | None = None  # the keyword under which `make` takes what is known about the answers

    def made(self, domain: AnyDomain, epsilon: float, prior: object = None) -> Made:
        """The mechanism; what is known about the answers is left out where this candidate cannot use it."""
        return self.make(domain, epsilon, **({} if prior is None or self.prior is None else {self.prior: prior}))
