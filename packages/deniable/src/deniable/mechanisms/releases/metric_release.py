"""Releases under metric privacy: the nearer two answers are to each other, the less a report distinguishes them."""

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints, Progress
from deniable.core import Domain, PrivacyLoss
from deniable.core.odds import SMALLEST_EPSILON
from deniable.domains.metric import Metric, checked_prior, metric_of
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.distances import distances_of, laplace_channel, steepest, whole_weights
from deniable.mechanisms.algebra.metric_program import best_channel
from deniable.mechanisms.releases.release_table import ReleaseTable
from deniable.mechanisms.shares.finite_channel import worst_odds

LARGEST_RATE = 1e9  # beyond, nothing is hidden even where the unit is far too large


@dataclass(frozen=True)
class Accuracy:
    """The expected loss of a release, and the smallest that any with the same promise can have, as far as it is proved."""

    expected: float
    bound: float
    even: bool  # whether answers are equally common, or as a prior says

    @property
    def above(self) -> float | None:
        """How far the loss is above the smallest possible, at most; 0.01 is one percent. None where nothing is proved."""
        return max(0.0, self.expected / self.bound - 1) if self.bound > 0 else None

    def record(self) -> dict[str, object]:
        """The same as plain data."""
        return {"expected_loss": self.expected, "bound": self.bound or None, "above_bound": self.above, "even": self.even}


class Proved:
    """What is known of a release besides its law, such as how good it is; no part of what is sent."""

    accuracy: Accuracy | None = None


@dataclass(frozen=True)
class MetricRelease(ReleaseTable, Proved):
    """A release from a table of whole weights that promises epsilon per unit of distance.

    No report is more than e^(per_unit d) times as likely under one answer as under another at distance d
    (d_X-privacy, Chatzikokolakis et al. 2013; for places geo-indistinguishability, Andres et al. 2013). `epsilon` is what
    the report costs between the two answers that it distinguishes best, usually the farthest: the loss without distances.
    Without `per_unit`, a table promises what it keeps. Positions that are moved to the nearest answer are protected as it.

    >>> from deniable.domains import Ordered
    >>> ages = MetricRelease.laplace(Ordered(range(18, 100)), 0.1)
    >>> ages.promise(), round(ages.epsilon, 3)
    ('two answers 10 apart: odds at most e^1; 50 apart: e^5', 8.1)
    """

    per_unit: float | None = None
    wire = "metric-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._fix(per_unit=own_rate(self.table.weights, self.metric) if self.per_unit is None else self.rate)

    @property
    def rate(self) -> float:
        """The promised epsilon per unit of distance."""
        return checked_rate(self.per_unit)

    @classmethod
    def laplace(cls, domain: Domain, per_unit: float) -> "MetricRelease":
        """The Laplace law on the answers of the domain: probabilities proportional to c_z exp(-theta d(x, z)).

        On a line this is the truncated geometric law. In the plane it is the planar Laplace law with weights c_z that make
        up for the edge. theta is the whole epsilon per unit where such weights exist, else as large as can be.
        """
        apart = distances_of(metric_of(domain))
        return cls._of(domain, per_unit, apart, laplace_channel(apart, checked_rate(per_unit)))

    @classmethod
    def optimal(
        cls,
        domain: Domain,
        per_unit: float,
        prior: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> "MetricRelease":
        """The smallest expected loss under the prior: exactly for up to 64 answers, else the best mixture of many columns.

        After Bordenabe, Chatzikokolakis, Palamidessi 2014. Needs SciPy (extra `stats`). `explain()` says how far it is at
        most from the best possible, which is proved for any number of answers. `progress` is called with the share done.
        """
        apart = distances_of(metric_of(domain))
        shares = checked_prior(prior, len(apart))
        bound, channel = best_known(apart, checked_rate(per_unit), shares, progress)
        return cls._of(domain, per_unit, apart, channel)._known(shares, bound, prior is None)

    def bounded(self, prior: ArrayLike | None = None, progress: Progress | None = None) -> "MetricRelease":
        """The same release with how far it is at most from the best possible, for its `accuracy` and its certificate.

        `optimal` has it already. It takes the same linear program, and so as long. Needs SciPy (extra `stats`).
        """
        apart = distances_of(self.metric)
        shares = checked_prior(prior, len(apart))
        bound, _ = best_channel(apart, self.rate * apart, shares, progress)
        return self._known(shares, bound, prior is None)

    def _known(self, shares: Floats, bound: float, even: bool) -> "MetricRelease":
        found = Accuracy(self.expected_loss(shares), bound, even)
        known = self.because(distance_to(found.expected, bound, self.metric.unit))
        known._fix(accuracy=found)
        return known

    @classmethod
    def _of(cls, domain: Domain, per_unit: float, apart: Floats, channel: Floats) -> "MetricRelease":
        weights = whole_weights(channel, per_unit * apart)
        epsilon = max(PrivacyLoss(worst_odds(weights)).epsilon(), SMALLEST_EPSILON)
        return cls(domain, epsilon, weights.tolist(), per_unit)

    @property
    def remark(self) -> str:
        return self.promise()

    def promise(self) -> str:
        """What is promised, in words, for two distances that occur."""
        return promised(self.rate, float(self.metric.losses(np.arange(self.domain.size)).max()), self.metric.unit)


def promised(per_unit: float, farthest: float, unit: str = "") -> str:
    """A promise per unit of distance in words, for two round distances up to the farthest.

    >>> promised(0.5, 30.0, "km")
    'two answers 1 km apart: odds at most e^0.5; 5 km apart: e^2.5'
    """
    near = 10.0 ** math.floor(math.log10(farthest / 5))
    unit = unit and f" {unit}"
    return (
        f"two answers {near:g}{unit} apart: odds at most e^{per_unit * near:g}; "
        f"{5 * near:g}{unit} apart: e^{per_unit * 5 * near:g}"
    )


def distance_to(loss: float, bound: float, unit: str = "") -> str:
    """How far an expected loss is from one that no release with the same promise can beat, in words.

    >>> distance_to(2.3, 2.25, "km")
    'expected loss 2.3 km, at most 2.2 % above the best that any release with this promise can have'
    """
    shown = f"expected loss {loss:.4g}{unit and f' {unit}'}"
    if bound <= 0:
        return f"{shown}; no bound on the best possible release with this promise is proved"
    above = max(0.0, loss / bound - 1)
    return f"{shown}, at most {100 * above:.1f} % above the best that any release with this promise can have"


def best_known(apart: Floats, rate: float, shares: Floats, progress: Progress | None = None) -> tuple[float, Floats]:
    """What `best_channel` finds; where the losses are below the solver's tolerance, the Laplace law if that is better."""
    bound, channel = best_channel(apart, rate * apart, shares, progress)
    return bound, min(channel, laplace_channel(apart, rate), key=lambda each: float(shares @ (each * apart).sum(axis=1)))


def own_rate(weights: Ints, metric: Metric) -> float:
    """The epsilon per unit of distance that a table keeps."""
    found = steepest(weights, distances_of(metric))
    if found.rate is None:
        raise InvalidParameter("A report of this table can rule out an answer, so no epsilon per unit is large enough.")
    return found.rate


def checked_rate(per_unit: float | None) -> float:
    """An epsilon per unit of distance as a float, refused if it is none."""
    if isinstance(per_unit, bool) or not isinstance(per_unit, Real) or not 0 < per_unit <= LARGEST_RATE:
        raise InvalidParameter(
            f"Epsilon per unit of distance must be a positive number up to {LARGEST_RATE:g}, for example 0.5 per kilometre."
        )
    return float(per_unit)
