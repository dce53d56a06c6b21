"""Which mechanism for the mean of vectors, and whether the budget gives more than guessing the middle would."""

import math
from contextlib import suppress
from dataclasses import dataclass

from deniable.core.odds import checked_epsilon
from deniable.domains.features import Features
from deniable.errors import InvalidParameter
from deniable.mechanisms.vectors.duchi_vector import DuchiVector
from deniable.mechanisms.vectors.feature_vector import FeatureVector, check_features

VectorMechanism = FeatureVector | DuchiVector


@dataclass(frozen=True)
class VectorOption:
    """One mechanism for the mean of vectors, and its root mean square error for a coordinate, in the question's units."""

    name: str
    mechanism: VectorMechanism
    error: float
    bits: int


def vector_options(domain: Features, epsilon: float, n: int, typical: float | None = None) -> list[VectorOption]:
    """Every mechanism for the mean of vectors, the smallest error first: at worst, or for coordinates of a typical size."""
    check_features(domain)
    checked_epsilon(epsilon)
    if n < 1:
        raise InvalidParameter("A plan needs the number of people who will answer, at least 1.")
    made: dict[str, VectorMechanism] = {
        "sampled coordinates": FeatureVector(domain, epsilon),
        "all signs together": DuchiVector(domain, epsilon),
    }
    if typical is not None:
        made["sampled coordinates"] = FeatureVector.typical(domain, epsilon, typical)
    if domain.dimensions > 1:
        with suppress(InvalidParameter):  # too many coordinates for the budget
            made["all coordinates, budget split"] = FeatureVector.composed(domain, epsilon)
    found = [VectorOption(name, each, _error(each, n, typical), each.layout.bits) for name, each in made.items()]
    return sorted(found, key=lambda option: (option.error, option.bits))


def _error(mechanism: VectorMechanism, n: int, typical: float | None) -> float:
    if typical is None:
        return math.sqrt(mechanism.worst_variance() / n)
    domain = mechanism.domain
    vector = [(domain.low + domain.high) / 2 + typical] * domain.dimensions
    variance = mechanism.predict([vector], n).variance
    assert variance is not None
    return math.sqrt(float(variance[0]))


def guessing_error(domain: Features, typical: float | None = None) -> float:
    """The error of publishing the middle of the range without asking anybody: at worst half of the range."""
    return (domain.high - domain.low) / 2 if typical is None else typical


def people_needed(domain: Features, epsilon: float, typical: float | None = None, part: float = 0.5) -> int:
    """How many people it takes until the error is this part of what guessing the middle has.

    >>> people_needed(Features(768, -1, 1), 1.0)
    14386
    """
    if not part > 0:
        raise InvalidParameter("The error wanted must be a positive part of the error of guessing.")
    error = vector_options(domain, epsilon, 1, typical)[0].error
    return math.ceil((error / (part * guessing_error(domain, typical))) ** 2)


def plan_vectors(domain: Features, epsilon: float, n: int = 1, typical: float | None = None) -> VectorMechanism:
    """The best mechanism for the mean of vectors; its `explain()` says whether it is better than not asking at all.

    >>> print(plan_vectors(Features(768, -1, 1), epsilon=1.0, n=1000).explain().splitlines()[-2])
    HOPELESS: publishing the middle has the smaller error. It takes 14,386 people to get to half of that.
    """
    ranked = vector_options(domain, epsilon, n, typical)
    best, guess = ranked[0], guessing_error(domain, typical)
    size = "at worst" if typical is None else f"for coordinates of typical size {typical:g}"
    lines = [
        f"{best.name} for the mean of vectors of {domain.dimensions:,} numbers from {domain.low:g} to {domain.high:g}, "
        f"epsilon {float(epsilon):g} for one vector, {n:,} people",
        f"{'':1} {'mechanism':30} {'error':>10} {'bits':>8}",
    ]
    for option in ranked:
        lines.append(f"{'*' if option is best else '':1} {option.name:30} {option.error:10.4g} {option.bits:8,}")
    lines.append(f"  {'the middle, asking nobody':30} {guess:10.4g} {0:8,}")
    needed = people_needed(domain, epsilon, typical)
    if best.error >= guess:
        lines.append(
            f"HOPELESS: publishing the middle has the smaller error. It takes {needed:,} people to get to half of that."
        )
    else:
        lines.append(f"It takes {needed:,} people to get to half of the error of publishing the middle.")
    lines.append(f"error: root mean square for one coordinate, {size}; a narrower range or fewer dimensions make it smaller")
    return best.mechanism.because("\n".join(lines))
