"""Which mechanism for the mean of a number: the smallest variance, at worst or for a prior, beside what is possible."""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache, singledispatch

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats
from deniable.core import AnyDomain, Candidate, Mechanism, checked_epsilon
from deniable.domains.features import Features, UnitVectors
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.means.mean_channel import MeanChannel
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.registry import candidates
from deniable.planning import bounds
from deniable.planning.ranking import EQUAL, Column, Made, Ranking, Row, checked_people, made, people, planned

COARSE = 16  # steps of the grid on which the bound is worked out; a finer one changes it by less than one percent


def mean_options(
    domain: Interval,
    epsilon: float,
    n: int = 1,
    prior: ArrayLike | None = None,
    offered: Iterable[Candidate[MeanMechanism]] | None = None,
) -> Ranking[MeanMechanism]:
    """Every mechanism for the mean of a number, or those offered, the smallest error first: at worst, or under the prior."""
    checked_people(n)
    budget = checked_epsilon(epsilon)

    def row(candidate: Candidate[MeanMechanism]) -> Row[MeanMechanism]:
        mechanism = candidate.made(domain, budget, prior)
        variance = mechanism.worst_variance() if prior is None else _variance(mechanism, prior)
        return Row(candidate.name, mechanism, math.sqrt(variance / n), mechanism.layout.bits)

    rows, remarks = made(candidates("means").values() if offered is None else offered, domain.size, row)
    subject = f"the mean of numbers from {domain.low:g} to {domain.high:g}, epsilon {budget:g} for one answer, {people(n)}"
    what = "for the worst answers" if prior is None else "expected under the prior"
    return Ranking(
        rows,
        subject,
        Column("error", f"standard error of the mean, {what}", ".4g"),
        remarks=remarks,
        close=EQUAL,
        unbounded="the bound takes a linear program, which plans of a single question solve",
    )


def plan_mean(
    domain: Interval,
    epsilon: float,
    n: int = 1,
    max_bits: int | None = None,
    prior: ArrayLike | None = None,
    error: float | None = None,
) -> MeanMechanism:
    """The best mechanism for the mean of a number; its `explain()` shows the others, and the distance from the bound.

    With an `error`, the one that needs the fewest people for this standard error, whatever their numbers are.

    >>> [plan_mean(Interval(0, 200_000), 1.0, max_bits=bits).wire for bits in (1, 2, 5)]
    ['duchi-1', 'three-outputs-1', 'optimal-mean-1']
    """
    ranking = bounded(mean_options(domain, epsilon, n, prior), domain, epsilon, n, prior).within(max_bits)
    ranking, words = ranking if error is None else aimed_at_mean(ranking, error), ""
    if ranking.bound is not None and epsilon >= bounds.LEAST_EPSILON:
        words = "The best possible error is proved by a linear program, checked in whole numbers."
    elif ranking.beside:
        words = f"The bound is the best of all channels, by linear programming on {COARSE} steps (MeanChannel.optimal)."
    return planned(ranking, words)


def plan_brief_mean(domain: Interval, epsilon: float, n: int = 1) -> MeanMechanism:
    """The best mechanism for a mean among those that epsilon fixes, without a table of weights: what survey files have.

    >>> [plan_brief_mean(Interval(0, 200_000), epsilon).wire for epsilon in (0.5, 1.0, 2.0, 4.0)]
    ['duchi-1', 'hybrid-1', 'three-outputs-1', 'piecewise-1']
    """
    brief = [candidate for name, candidate in candidates("means").items() if name != "optimal"]
    return planned(mean_options(domain, epsilon, n, offered=brief))


def bounded(
    ranking: Ranking[MeanMechanism], domain: Interval, epsilon: float, n: int, prior: ArrayLike | None = None
) -> Ranking[MeanMechanism]:
    """The same ranking with the error that is proved to be out of reach, or why none is.

    Under a prior it stands beside the best of all channels on a coarse grid, which comes close and proves nothing.
    """
    try:
        if prior is None:
            return replace(ranking, bound=bounds.mean_bound(domain, epsilon, n))
        best = Row("bound", None, math.sqrt(mean_bound(domain, epsilon, prior) / n), 0)
        return replace(
            ranking, beside=(best,), unbounded=f"under a prior the bound is known on {COARSE} steps only, without proof"
        )
    except MissingExtra:
        return replace(ranking, unbounded="the bound needs SciPy: pip install 'deniable[stats]'")
    except InvalidParameter:
        return replace(ranking, unbounded=f"the bound is proved for epsilon up to {bounds.MOST_EPSILON:g} only")


def mean_bound(domain: Interval, epsilon: float, prior: ArrayLike | None = None) -> float:
    """The variance of one report that no unbiased channel can beat, up to the coarseness of the grid it is computed on.

    For the worst case it is taken over the points of that grid, and the rounding between them is left out.
    """
    steps, half = min(COARSE, domain.steps), (domain.high - domain.low) / 2
    if prior is None:
        return half**2 * _worst_bound(steps, epsilon)
    shares = _coarser(np.asarray(prior, np.float64), steps)
    best = MeanChannel.optimal(Interval(-1, 1, steps=steps), epsilon, shares)
    return half**2 * _variance(best, shares)


@lru_cache(maxsize=64)
def _worst_bound(steps: int, epsilon: float) -> float:
    """The bound for numbers from -1 to 1. Survey files are planned whenever they are read."""
    coarse = Interval(-1, 1, steps=steps)
    best = MeanChannel.optimal(coarse, epsilon)
    return float((best.second_moments - np.linspace(-1, 1, coarse.size) ** 2).max())


def _variance(mechanism: Mechanism, prior: ArrayLike) -> float:
    """The variance of one report under a prior."""
    predicted = mechanism.predict(prior, 1).variance
    assert predicted is not None
    return float(predicted[0])


def _coarser(shares: Floats, steps: int) -> Floats:
    """The shares at the points of a coarser grid, when each number is rounded to it by a coin."""
    position = np.linspace(0, steps, len(shares))
    below = np.minimum(position.astype(np.int64), steps - 1)
    out = np.bincount(below, shares * (1 - (position - below)), steps + 1)
    out += np.bincount(below + 1, shares * (position - below), steps + 1)
    return out / out.sum()


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
    domain: AnyDomain, epsilon: float, n: int = 1, max_bits: int | None = None, prior: ArrayLike | None = None
) -> Mechanism:
    """The best mechanism for a mean: of a number, or of vectors, where `prior` is the typical size of a coordinate."""
    raise InvalidParameter("A mean needs numbers: give an Interval, such as Interval(0, 100), or Features for vectors.")


plan_for_mean.register(Interval, plan_mean)


@plan_for_mean.register
def _(
    domain: Features, epsilon: float, n: int = 1, max_bits: int | None = None, prior: ArrayLike | None = None
) -> Mechanism:
    from deniable.planning.vectors import plan_vectors  # which other plans need not load

    return plan_vectors(domain, epsilon, n, None if prior is None else float(np.asarray(prior, np.float64)), max_bits)


@plan_for_mean.register
def _(
    domain: UnitVectors, epsilon: float, n: int = 1, max_bits: int | None = None, prior: ArrayLike | None = None
) -> Mechanism:
    if prior is not None:
        raise InvalidParameter("Vectors of length one are planned for all directions alike. Leave the prior out.")
    from deniable.planning.vectors import plan_units

    return plan_units(domain, epsilon, n, max_bits)
