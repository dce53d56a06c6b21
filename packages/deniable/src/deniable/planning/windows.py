"""A question of which any w periods in a row may cost epsilon: who reports when, and with how much of it."""

from dataclasses import dataclass

import numpy as np

from deniable.core import Domain, Mechanism
from deniable.core.odds import SMALLEST_EPSILON
from deniable.errors import InvalidParameter
from deniable.planning.planner import plan
from deniable.planning.ranking import checked_people
from deniable.planning.shares import best_for_shares, options


@dataclass(frozen=True)
class WindowPlan:
    """One report in `span` periods with the whole budget, compared with a report in every period with a part of it.

    Errors are of a share, or of a mean in units of the range, root mean square, in one period. `flat` is that of the average
    of `span` periods in which nothing changes, as adaptive publication comes to it: then everybody has reported once.
    """

    mechanism: Mechanism
    span: int
    error: float
    divided: float
    above: float | None = None  # how far the squared error is above the best that so many reports allow, at most

    @property
    def flat(self) -> float:
        """The error of the average over a span."""
        return float(self.error / np.sqrt(self.span))

    @property
    def gain(self) -> float:
        """How many times smaller the variance is than with a divided budget."""
        return (self.divided / self.error) ** 2

    def explain(self) -> str:
        """The comparison in a sentence each."""
        return (
            f"Each person reports in one of {self.span} periods, drawn once, with the whole budget: error "
            f"{100 * self.error:.3g} in a period. A report in every period with a part of the budget would have an error of "
            f"{100 * self.divided:.3g}, {self.gain:.3g} times the variance. While nothing changes, adaptive publication "
            f"averages periods: error {100 * self.flat:.3g} after {self.span} of them.{self._from_best()}"
        )

    def _from_best(self) -> str:
        if self.above is None:
            return ""
        return (
            f" The squared error in a period is at most {self.above:.1%} above the best possible for that many reports with "
            "the whole budget."
        )


def plan_windows(domain: Domain, epsilon: float, span: int, n: int = 10_000) -> WindowPlan:
    """The best mechanism for shares when any `span` periods in a row may cost `epsilon`.

    >>> from deniable.domains import Categories
    >>> round(plan_windows(Categories(range(10)), epsilon=1.0, span=20, n=100_000).gain, 1)
    22.3
    """
    checked_people(n)
    if span < 2:
        raise InvalidParameter("A span has at least two periods. For one report in every period use plan.")
    own = max(1, n // span)
    share = epsilon / span
    planned = max(share, SMALLEST_EPSILON)
    part = plan(domain, planned, n)
    ranking = options(domain, epsilon, own)
    whole = best_for_shares(ranking, own)
    even = np.full(domain.size, 1 / domain.size)
    error, divided = (_rms(mechanism, even, size) for mechanism, size in ((whole, own), (part, n)))
    # Errors of small budgets grow as these shrink.
    return WindowPlan(whole, span, error, divided * planned / share, ranking.above(ranking.best))


def _rms(mechanism: Mechanism, truth: np.ndarray, n: int) -> float:
    return float(np.sqrt(np.mean(mechanism.predict(truth, n).standard_error ** 2)))
