"""Which mechanism for the mean of a number: the smallest variance, at worst or for a prior, beside what is possible."""

import math
from dataclasses import replace
from functools import singledispatch

import numpy as np
from numpy.typing import ArrayLike

from deniable.core import AnyDomain, Candidate, Mechanism, checked_epsilon
from deniable.domains.features import Features, UnitVectors
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.registry import candidates
from deniable.planning import bounds
from deniable.planning.ranking import EQUAL, UNBIASED, Column, Made, Ranking, Row, checked_people, made, people, planned

ROUNDING = 1e-6  # expected standard errors of one report below this share of the interval are rounding


def mean_options(
    domain: Interval,
    epsilon: float,
    n: int = 1,
    prior: ArrayLike | None = None,
    edition: int | None = None,
) -> Ranking[MeanMechanism]:
    """Every mechanism for the mean of a number, the smallest error first: at worst, or under the prior.

    With an edition, only those of this edition of the planner:

    >>> [mean_options(Interval(0, 200_000), epsilon, edition=1).best.mechanism.wire for epsilon in (0.5, 1.0, 2.0, 4.0)]
    ['duchi-1', 'hybrid-1', 'three-outputs-1', 'piecewise-1']
    >>> [mean_options(Interval(0, 200_000), epsilon, edition=2).best.mechanism.wire for epsilon in (0.5, 8.0)]
    ['window-mean-1', 'window-mean-1']
    """
    checked_people(n)
    budget = checked_epsilon(epsilon)

    def row(candidate: Candidate[MeanMechanism]) -> Row[MeanMechanism]:
        mechanism = candidate.made(domain, budget, prior)
        variance = mechanism.worst_variance() if prior is None else _variance(mechanism, prior)
        return Row(candidate.name, mechanism, math.sqrt(variance / n), mechanism.layout.bits)

    rows, remarks = made(candidates("means", edition).values(), domain.size, row)
    subject = f"the mean of numbers from {domain.low:g} to {domain.high:g}, epsilon {budget:g} for one answer, {people(n)}"
    what = "for the worst answers" if prior is None else "expected under the prior"
    return Ranking(
        rows,
        subject,
        Column("error", f"standard error of the mean, {what}", ".4g"),
        remarks=remarks,
        close=EQUAL,
        rivals=UNBIASED,
        unbounded="the bound takes a linear program, which plans of a single question solve",
    )


def plan_mean(
    domain: Interval,
    epsilon: float,
    n: int = 1,
    max_bits: int | None = None,
    prior: ArrayLike | None = None,
    error: float | None = None,
    edition: int | None = None,
) -> MeanMechanism:
    """The best mechanism for the mean of a number; its `explain()` shows the others, and the distance from the bound.

    With an `error`, the one that needs the fewest people for this standard error, whatever their numbers are.

    >>> [plan_mean(Interval(0, 200_000), 1.0, max_bits=bits).wire for bits in (1, 2, 5)]
    ['duchi-1', 'three-outputs-1', 'optimal-mean-1']
    """
    ranking = bounded(mean_options(domain, epsilon, n, prior, edition), domain, epsilon, n, prior).within(max_bits)
    ranking, words = ranking if error is None else aimed_at_mean(ranking, error), ""
    if ranking.bound is not None and epsilon >= bounds.LEAST_EPSILON:
        words = "The best possible error is proved by a linear program, checked in whole numbers."
    return planned(ranking, words)


def bounded(
    ranking: Ranking[MeanMechanism], domain: Interval, epsilon: float, n: int, prior: ArrayLike | None = None
) -> Ranking[MeanMechanism]:
    """The same ranking with the error that is proved to be out of reach, for the worst answers or under the prior."""
    try:
        if prior is None:
            return replace(ranking, bound=bounds.mean_bound(domain, epsilon, n))
        bound = bounds.prior_mean_bound(domain, epsilon, n, prior)
        if bound is None or math.sqrt(n) * bound > ROUNDING * (domain.high - domain.low):
            return replace(ranking, bound=bound, unbounded="nothing above 0 is proved for this prior at this epsilon")
        return replace(ranking, unbounded="an expected error this small is rounding in floats")
    except MissingExtra:
        return replace(ranking, unbounded="the bound needs SciPy: pip install 'deniable[stats]'")
    except InvalidParameter:
        return replace(ranking, unbounded="the linear program for the bound cannot be solved in floats at this epsilon")


def _variance(mechanism: Mechanism, prior: ArrayLike) -> float:
    """The variance of one report under a prior."""
    predicted = mechanism.predict(prior, 1).variance
    assert predicted is not None
    return float(predicted[0])


def aimed_at_mean(ranking: Ranking[Made], error: float) -> Ranking[Made]:
    """The same candidates, of which the best needs the fewest people for this standard error, whatever their numbers are."""
    column = Column("people", f"how many must answer for a standard error of {error:g}")

    def needed(mechanism: Made) -> int | None:
        return people_for_mean(mechanism, error) if isinstance(mechanism, MeanMechanism) else None

    return ranking.aimed(column, needed)


def people_for_mean(mechanism: MeanMechanism, error: float) -> int:
    """How many people it takes for a standard error of at most this much, whatever their numbers are.

    >>> from deniable.mechanisms.means.duchi import Duchi
    >>> people_for_mean(Duchi(Interval(0, 100), 1.0), error=1.0)
    11707
    """
    if not error > 0:
        raise InvalidParameter("The error must be positive, in the units of the question.")
    return math.ceil(mechanism.worst_variance() / error**2)


@singledispatch
def plan_for_mean(
    domain: AnyDomain,
    epsilon: float,
    n: int = 1,
    max_bits: int | None = None,
    prior: ArrayLike | None = None,
    *,
    edition: int | None = None,
) -> Mechanism:
    """The best mechanism for a mean: of a number, or of vectors, where `prior` is the typical size of a coordinate."""
    raise InvalidParameter("A mean needs numbers: give an Interval, such as Interval(0, 100), or Features for vectors.")


plan_for_mean.register(Interval, plan_mean)


@plan_for_mean.register
def _(
    domain: Features,
    epsilon: float,
    n: int = 1,
    max_bits: int | None = None,
    prior: ArrayLike | None = None,
    *,
    edition: int | None = None,
) -> Mechanism:
    from deniable.planning.vectors import plan_vectors  # which other plans need not load

    typical = None if prior is None else float(np.asarray(prior, np.float64))
    return plan_vectors(domain, epsilon, n, typical, max_bits, edition)


@plan_for_mean.register
def _(
    domain: UnitVectors,
    epsilon: float,
    n: int = 1,
    max_bits: int | None = None,
    prior: ArrayLike | None = None,
    *,
    edition: int | None = None,
) -> Mechanism:
    if prior is not None:
        raise InvalidParameter("Vectors of length one are planned for all directions alike. Leave the prior out.")
    from deniable.planning.vectors import plan_units

    return plan_units(domain, epsilon, n, max_bits)
