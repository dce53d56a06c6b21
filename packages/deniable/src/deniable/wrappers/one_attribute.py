"""Records: one answer, drawn in public, is randomized with the whole budget."""

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.core import PureProtocol
from deniable.domains.vectors import Vectors
from deniable.mechanisms.shares.direct_response import DirectResponse
from deniable.wrappers.attributes import Attributes, Maker
from deniable.wrappers.one_drawn import OneDrawn


@dataclass(frozen=True)
class OneAttribute(OneDrawn, Attributes):
    """One answer, drawn at random and in public, is reported with the whole budget: sampling (SMP).

    The odds of a record are those of one answer. Hiding the other answers does not improve the worst case: the drawn answer
    may be the one that differs.
    """

    domain: Vectors
    epsilon: float
    parts: Sequence[PureProtocol]
    wire = "one-attribute-1"

    @classmethod
    def of(cls, domain: Vectors, epsilon: float, make: Maker = DirectResponse) -> "OneAttribute":
        """The same kind of mechanism for every attribute, each with the whole budget."""
        return cls(domain, epsilon, [make(part, epsilon) for part in domain.parts])

    @property
    def members(self) -> Sequence[Sequence[int]]:
        return [(place,) for place in range(len(self.parts))]

    @property
    def drawing(self) -> tuple[str, Sequence[int]]:
        return "which", range(len(self.parts))
