"""Which mechanism for the mean of vectors, and whether the budget gives more than guessing the middle would."""

import math
from dataclasses import replace

from deniable.core import Candidate, checked_epsilon
from deniable.domains.features import Features
from deniable.errors import InvalidParameter
from deniable.mechanisms.registry import candidates
from deniable.mechanisms.vectors.duchi_vector import DuchiVector
from deniable.mechanisms.vectors.feature_vector import FeatureVector, check_features
from deniable.planning.ranking import EQUAL, Column, Ranking, Row, checked_people, made, people, planned

VectorMechanism = FeatureVector | DuchiVector


def vector_options(domain: Features, epsilon: float, n: int, typical: float | None = None) -> Ranking[VectorMechanism]:
    """Every mechanism for the mean of vectors, the smallest error first: at worst, or for coordinates of a typical size."""
    check_features(domain)
    checked_people(n)
    budget = checked_epsilon(epsilon)

    def row(candidate: Candidate[VectorMechanism]) -> Row[VectorMechanism]:
        mechanism = candidate.made(domain, budget, typical)
        return Row(candidate.name, mechanism, _error(mechanism, n, typical), mechanism.layout.bits)

    rows, remarks = made(candidates("vectors").values(), domain.dimensions, row)
    subject = (
        f"the mean of vectors of {domain.dimensions:,} numbers from {domain.low:g} to {domain.high:g}, epsilon {budget:g} "
        f"for one vector, {people(n)}"
    )
    what = "at worst" if typical is None else f"for coordinates of typical size {typical:g}"
    error = Column("error", f"root mean square error of one coordinate, {what}", ".4g")
    return Ranking(rows, subject, error, remarks=remarks, close=EQUAL)


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
        raise InvalidParameter("The target error must be a positive fraction of the error of guessing.")
    error = vector_options(domain, epsilon, 1, typical).best.error
    return math.ceil((error / (part * guessing_error(domain, typical))) ** 2)


def plan_vectors(
    domain: Features, epsilon: float, n: int = 1, typical: float | None = None, max_bits: int | None = None
) -> VectorMechanism:
    """The best mechanism for the mean of vectors; its `explain()` says whether it is better than not asking at all.

    >>> plan_vectors(Features(768, -1, 1), epsilon=1.0, n=1000).explain().rpartition("bits. ")[2]
    'TOO NOISY: publishing the middle of the range has a smaller error. It takes 14,386 people to halve that error.'
    """
    ranking, guess = vector_options(domain, epsilon, n, typical).within(max_bits), guessing_error(domain, typical)
    needed = people_needed(domain, epsilon, typical)
    if ranking.best.error >= guess:
        words = "TOO NOISY: publishing the middle of the range has a smaller error."
        words += f" It takes {needed:,} people to halve that error."
    else:
        words = f"With {needed:,} people, the error is half of that of publishing the middle of the range."
        words += " A narrower range or fewer dimensions reduce it."
    return planned(replace(ranking, beside=(Row("constant: the middle", None, guess, 0),)), words)
