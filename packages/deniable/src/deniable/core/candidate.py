"""What a family offers to planners: a name, a way to make the mechanism, and when it is worth considering.

A survey file that is not registered is planned whenever it is read. Its mechanisms, and so its fingerprint, which people may
have seen, must not depend on the release that reads it. So a file names an edition of the planner, whose candidates never
change: what is added later states the edition that has it first.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from deniable.core.domain import AnyDomain
from deniable.errors import InvalidParameter

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from deniable.core.mechanism import Mechanism

    Made = TypeVar("Made", bound=Mechanism, default=Mechanism, covariant=True)
else:
    from typing import TypeVar

    Made = TypeVar("Made")

LARGEST_DENSE = 1 << 20  # values above which reports with a bit for each value are not considered
NEWEST_EDITION = 2  # of the planner of survey files


def checked_edition(edition: object) -> int:
    """An edition of the planner that this release has."""
    if isinstance(edition, bool) or not isinstance(edition, int) or not 1 <= edition <= NEWEST_EDITION:
        raise InvalidParameter(
            f"This release has editions 1 to {NEWEST_EDITION} of the planner. Write one of them, or upgrade deniable if the "
            "survey was planned by a later one."
        )
    return edition


@dataclass(frozen=True)
class Candidate(Generic[Made]):
    """One way to make a mechanism, which planners compare and users choose by name."""

    name: str
    make: Callable[..., Made]  # from a domain and an epsilon
    largest: int | None = None  # values; no limit unless given
    target: str | None = None  # what it is best for, where mechanisms of one question have different aims
    prior: str | None = None  # the keyword under which `make` takes what is known about the answers
    since: int | None = 1  # the edition of the planner of survey files that has it first; None if they never have it

    def made(self, domain: AnyDomain, epsilon: float, prior: object = None) -> Made:
        """The mechanism; what is known about the answers is left out where this candidate cannot use it."""
        return self.make(domain, epsilon, **({} if prior is None or self.prior is None else {self.prior: prior}))


C = TypeVar("C", bound=Candidate)


def offered(candidates: Iterable[C], edition: int | None) -> list[C]:
    """The candidates that an edition of the planner considers; None considers all, for plans outside of survey files."""
    if edition is None:
        return [*candidates]
    newest = checked_edition(edition)
    return [candidate for candidate in candidates if candidate.since is not None and candidate.since <= newest]
