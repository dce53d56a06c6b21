"""An open share that nobody knows: a few people answer first, and the rest are asked as suits the share they show."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from deniable.core import Domain, Estimate, PureProtocol, Tally
from deniable.errors import SurveyMismatch
from deniable.wrappers.utility_optimized import OPEN_SHARE, UtilityOptimized


@dataclass(frozen=True, eq=False)
class PilotedEstimate(Estimate):
    """An estimate in two steps, and the cost of not knowing the open share."""

    open_share: float = 0.0  # as the first people showed it
    open_share_error: float = 0.0  # its standard error
    extra: float = 0.0  # how much larger the total variance is than if all had been asked as the rest were


@dataclass(frozen=True)
class Pilot:
    """The mechanism for the first people, and from their tally the one for all others.

    A twentieth of all people is enough for the first step: what it costs is that they are asked with parameters for another
    open share, and their answers are kept. Both estimates are unbiased, and the answer for all is their mean by number of
    people: that is what all of them together hold, which a mean weighted by variances would not be.

    >>> from deniable.domains import Categories
    >>> from deniable.mechanisms.shares.subset_selection import SubsetSelection
    >>> pilot = Pilot(SubsetSelection, Categories(range(40)), list(range(25)), epsilon=1.0)
    >>> pilot.first.base.size
    9
    """

    base: type[PureProtocol] | Callable[[Domain, float], PureProtocol]
    domain: Domain
    sensitive: Collection[object] = field(hash=False)
    epsilon: float
    open_share: float = OPEN_SHARE

    @cached_property
    def first(self) -> UtilityOptimized:
        """For the first people."""
        return UtilityOptimized(self.base, self.domain, self.sensitive, self.epsilon, self.open_share)

    def shown(self, tally: Tally) -> tuple[float, float]:
        """The open share that the first people show, clipped to 0 to 1, and its standard error."""
        self.first.check_tally(tally)
        chance, disclosing = self.first.disclosed_share, int(tally.counts[self.first.base.cells :].sum())
        share = float(np.clip(disclosing / (tally.n * chance), 0, 1))
        return share, float(np.sqrt(share * (1 - chance) / (tally.n * chance)))

    def rest(self, tally: Tally) -> UtilityOptimized:
        """For everybody else, once the first have answered."""
        return UtilityOptimized(self.base, self.domain, self.sensitive, self.epsilon, round(self.shown(tally)[0], 4))

    def estimate(self, tally: Tally, rest: Tally) -> PilotedEstimate:
        """The shares among all people, from the tallies of both steps."""
        second = self.rest(tally)
        if rest.fingerprint != second.fingerprint:
            raise SurveyMismatch("The second tally must come from pilot.rest(first tally).")
        early, late, total = self.first.estimate(tally), second.estimate(rest), tally.n + rest.n
        weights = tally.n / total, rest.n / total
        values = weights[0] * early.values + weights[1] * late.values
        variance = weights[0] ** 2 * early.standard_error**2 + weights[1] ** 2 * late.standard_error**2

        def covary() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
            return weights[0] ** 2 * early.covariance() + weights[1] ** 2 * late.covariance()

        share, error = self.shown(tally)
        ratio = self.first.total_noise(share) / second.total_noise(share)
        known = early.covary is not None and late.covary is not None
        return PilotedEstimate(
            self.domain.labels,
            values,
            variance,
            total,
            covary if known else None,
            open_share=share,
            open_share_error=error,
            extra=weights[0] * (ratio - 1),
        )
