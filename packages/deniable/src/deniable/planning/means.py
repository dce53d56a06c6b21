"""Which mechanism for the mean of a number: the smallest variance, at worst or for a prior, beside what is possible."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats
from deniable.core.domain import Domain
from deniable.core.mechanism import Mechanism
from deniable.core.odds import checked_epsilon
from deniable.domains.features import Features
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.means.duchi import Duchi
from deniable.mechanisms.means.hybrid import Hybrid
from deniable.mechanisms.means.mean_channel import MeanChannel
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.means.piecewise import Piecewise
from deniable.mechanisms.means.three_outputs import ThreeOutputs
from deniable.planning.vectors import plan_vectors

COARSE = 16  # steps of the grid on which the bound is worked out; a finer one changes it by less than one percent

# In the order of their reports, so that of two equally good ones the smaller is taken.
MEANS: dict[str, Callable[[Interval, float], MeanMechanism]] = {
    "Duchi": Duchi,
    "three outputs": ThreeOutputs,
    "piecewise, suboptimal": Piecewise,
    "piecewise, original": Piecewise.original,
    "hybrid": Hybrid,
}


@dataclass(frozen=True)
class MeanOption:
    """One mechanism for a mean, and what it would give."""

    name: str
    mechanism: MeanMechanism
    variance: float  # of one report: the largest over the interval, or the mean under the prior
    bits: int


def mean_options(domain: Domain, epsilon: float, prior: ArrayLike | None = None) -> list[MeanOption]:
    """Every mechanism for the mean of a number, the smallest variance first."""
    checked_epsilon(epsilon)
    if not isinstance(domain, Interval):
        raise InvalidParameter("A mean is of numbers: give an Interval, such as Interval(0, 100), or Features for vectors.")
    found = []
    for name, make in MEANS.items():
        mechanism = make(domain, epsilon)
        if prior is None:
            variance = mechanism.worst_variance()
        else:
            predicted = mechanism.predict(prior, 1).variance
            assert predicted is not None
            variance = float(predicted[0])
        found.append(MeanOption(name, mechanism, variance, mechanism.layout.bits))
    # Duchi's variance is met by others where they become it; then rounding must not decide.
    return sorted(found, key=lambda option: (float(f"{option.variance:.9e}"), option.bits))


def plan_mean(
    domain: Domain, epsilon: float, n: int = 1, max_bits: int | None = None, prior: ArrayLike | None = None
) -> MeanMechanism:
    """The best published mechanism for the mean of a number; its `explain()` shows the others, and the bound.

    >>> [plan_mean(Interval(0, 200_000), epsilon).wire for epsilon in (0.5, 1.0, 2.0, 4.0)]
    ['duchi-1', 'hybrid-1', 'three-outputs-1', 'piecewise-1']
    """
    if n < 1:
        raise InvalidParameter("A plan needs the number of people who will answer, at least 1.")
    ranked = mean_options(domain, epsilon, prior)
    assert isinstance(domain, Interval)
    fitting = [option for option in ranked if max_bits is None or option.bits <= max_bits]
    if not fitting:
        raise InvalidParameter(f"No mechanism for a mean can report in {max_bits} bits; Duchi's takes one.")
    best = fitting[0]
    what = "largest" if prior is None else "expected"
    lines = [
        f"{best.name} for the mean of numbers from {domain.low:g} to {domain.high:g}, epsilon {float(epsilon):g} for one "
        f"answer, {n:,} {'person' if n == 1 else 'people'}",
        f"{'':1} {'mechanism':22} {what + ' error':>14} {'to the best':>11} {'bits':>5}",
    ]
    rows = [(option.name, option.variance, option.bits, option is best) for option in ranked]
    try:
        bound = mean_bound(domain, epsilon, prior)
    except MissingExtra:
        lines_after = "the bound needs scipy: pip install 'deniable[stats]'"
    else:
        rows.append(("bound", bound, 0, False))
        lines_after = f"bound: the best of all channels, by linear programming on {COARSE} steps (MeanChannel.optimal)"
    for name, variance, bits, chosen in rows:
        ratio, size = variance / ranked[0].variance, f"{bits:5,}" if bits else ""
        lines.append(f"{'*' if chosen else '':1} {name:22} {math.sqrt(variance / n):14.4g} {ratio:10.3f}x {size}".rstrip())
    lines.append(f"error: standard error of the mean; to the best: ratio of squared errors; {lines_after}")
    return best.mechanism.because("\n".join(lines))


def mean_bound(domain: Interval, epsilon: float, prior: ArrayLike | None = None) -> float:
    """The variance of one report that no unbiased channel can beat, up to the coarseness of the grid it is computed on.

    For the worst case it is taken over the points of that grid, and the rounding between them is left out.
    """
    coarse = Interval(-1, 1, steps=min(COARSE, domain.steps))
    half = (domain.high - domain.low) / 2
    if prior is None:
        best = MeanChannel.optimal(coarse, epsilon)
        return half**2 * float((best.second_moments - np.linspace(-1, 1, coarse.size) ** 2).max())
    shares = _coarser(np.asarray(prior, np.float64), coarse.steps)
    best = MeanChannel.optimal(coarse, epsilon, shares)
    predicted = best.predict(shares, 1).variance
    assert predicted is not None
    return half**2 * float(predicted[0])


def _coarser(shares: Floats, steps: int) -> Floats:
    """The shares at the points of a coarser grid, when each number is rounded to it by a coin."""
    position = np.linspace(0, steps, len(shares))
    below = np.minimum(position.astype(np.int64), steps - 1)
    out = np.bincount(below, shares * (1 - (position - below)), steps + 1)
    out += np.bincount(below + 1, shares * (position - below), steps + 1)
    return out / out.sum()


def people_for_mean(mechanism: MeanMechanism, error: float) -> int:
    """How many people it takes for a standard error of at most this much, whatever their numbers are.

    >>> people_for_mean(Duchi(Interval(0, 100), 1.0), error=1.0)
    11707
    """
    if not error > 0:
        raise InvalidParameter("The error must be positive, in the units of the question.")
    return math.ceil(mechanism.worst_variance() / error**2)


def plan_for_mean(
    domain: Domain, epsilon: float, n: int = 1, max_bits: int | None = None, prior: ArrayLike | None = None
) -> Mechanism:
    """The best mechanism for a mean: of a number, or of vectors, where `prior` is the typical size of a coordinate."""
    if not isinstance(domain, Features):
        return plan_mean(domain, epsilon, n, max_bits, prior)
    if max_bits is not None:
        raise InvalidParameter("For vectors the size of a report follows from the budget. Leave max_bits out.")
    return plan_vectors(domain, epsilon, n, None if prior is None else float(np.asarray(prior, np.float64)))
