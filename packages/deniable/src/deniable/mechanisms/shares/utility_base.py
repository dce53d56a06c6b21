"""What the published utility-optimized response asks of the mechanism for the sensitive answers."""

from abc import abstractmethod
from fractions import Fraction
from typing import Self

from deniable.core import Domain, PureProtocol


class UtilityBase(PureProtocol):
    """A mechanism for shares of which He et al. have made a utility-optimized one: uSS, uUE, uLH or uWheel."""

    @property
    @abstractmethod
    def published(self) -> tuple[str, Fraction]:
        """The name of the published mechanism, and the parameter that its formulas are in: k, p, g or l."""

    @classmethod
    def recommended(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        """With the parameter that the paper recommends for the sensitive values, if this share of people have others."""
        return cls.tuned(domain, epsilon, open_share)

    @abstractmethod
    def least_load(self) -> int:
        """How few values a report can support: where a hash function gives one of its buckets little to hide among."""
