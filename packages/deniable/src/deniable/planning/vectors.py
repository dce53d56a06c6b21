"""Which mechanism for the mean of vectors, in a box or of length one, and whether it is better than guessing the middle."""

import math
from contextlib import suppress
from dataclasses import replace
from functools import partial

from deniable.core import Candidate, checked_epsilon
from deniable.domains.features import Features, UnitVectors, check_unit_vectors
from deniable.errors import InvalidParameter, MissingExtra
from deniable.mechanisms.registry import candidates
from deniable.mechanisms.vectors.duchi_vector import DuchiVector
from deniable.mechanisms.vectors.feature_vector import FeatureVector, check_features
from deniable.mechanisms.vectors.privunit import PrivUnit
from deniable.mechanisms.vectors.unit_axes import UnitAxes
from deniable.mechanisms.vectors.unit_codes import UnitCodes
from deniable.planning.ranking import CLOSE, EQUAL, Column, Ranking, Row, checked_people, made, people, planned
from deniable.planning.typical_bound import typical_bound
from deniable.planning.vector_bounds import box_bound, unit_bound

MANY, FEW_DIMENSIONS = 2048, 256  # directions that are drawn one by one, and dimensions up to which that is quick enough
LEAST = 1e-12  # typical sizes below this share of the range are zero: none but guessing comes near
UNBIASED = "any mechanism whose reports are decoded without bias"
VectorMechanism = FeatureVector | DuchiVector


def vector_options(
    domain: Features, epsilon: float, n: int, typical: float | None = None, edition: int | None = None
) -> Ranking[VectorMechanism]:
    """Every mechanism for the mean of vectors, the smallest error first: at worst, or for coordinates of a typical size."""
    check_features(domain)
    checked_people(n)
    budget = checked_epsilon(epsilon)
    if typical is not None and not 0 <= typical <= (domain.high - domain.low) / 2:
        raise InvalidParameter("The typical size of a coordinate lies between 0 and half of the range.")

    def row(candidate: Candidate[VectorMechanism]) -> Row[VectorMechanism]:
        mechanism = candidate.made(domain, budget, typical)
        return Row(candidate.name, mechanism, _error(mechanism, n, typical), mechanism.layout.bits)

    rows, remarks = made(candidates("vectors", edition).values(), domain.dimensions, row)
    subject = (
        f"the mean of vectors of {domain.dimensions:,} numbers from {domain.low:g} to {domain.high:g}, epsilon {budget:g} "
        f"for one vector, {people(n)}"
    )
    what = "at worst" if typical is None else f"for coordinates of typical size {typical:g}"
    error = Column("error", f"root mean square error of one coordinate, {what}", ".4g")
    bound = box_bound(domain, budget, n) if typical is None else typical_bound(domain, budget, n, typical)
    rivals = UNBIASED if typical is None else f"{UNBIASED}, on average over all signs of its coordinates,"
    unbounded = "no bound above 0 is proved at this epsilon"
    return Ranking(rows, subject, error, remarks=remarks, close=EQUAL, bound=bound, rivals=rivals, unbounded=unbounded)


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
    guess = guessing_error(domain, typical)
    if guess < LEAST * (domain.high - domain.low):
        raise InvalidParameter(
            "Coordinates of this typical size are the middle of the range; no number of people is enough."
        )
    return math.ceil((vector_options(domain, epsilon, 1, typical).best.error / (part * guess)) ** 2)


def plan_vectors(
    domain: Features,
    epsilon: float,
    n: int = 1,
    typical: float | None = None,
    max_bits: int | None = None,
    edition: int | None = None,
) -> VectorMechanism:
    """The best mechanism for the mean of vectors; its `explain()` says whether it is better than not asking at all.

    >>> plan_vectors(Features(768, -1, 1), epsilon=1.0, n=1000).explain().rpartition("bits. ")[2]
    'TOO NOISY: publishing the middle of the range has a smaller error. It takes 14,386 people to halve that error.'
    """
    ranking, guess = vector_options(domain, epsilon, n, typical, edition).within(max_bits), guessing_error(domain, typical)
    words = "TOO NOISY: publishing the middle of the range has a smaller error."
    if guess >= LEAST * (domain.high - domain.low):
        needed = people_needed(domain, epsilon, typical)
        words += f" It takes {people(needed)} to halve that error."
        if ranking.best.error < guess:
            words = f"With {people(needed)}, the error is half of that of publishing the middle of the range."
            words += " A narrower range or fewer dimensions reduce it."
    return planned(replace(ranking, beside=(Row("constant: the middle", None, guess, 0),)), words)


def unit_options(domain: UnitVectors, epsilon: float, n: int) -> Ranking[UnitCodes]:
    """Every certified mechanism for the mean of vectors of length one, beside PrivUnit, whose privacy rests on a theorem.

    Where the axes of a rotation are too few, in few dimensions or with a large budget, so that their squared error is more
    than 1.5 % above the bound, many directions of their own are tried too.
    """
    check_unit_vectors(domain)
    checked_people(n)
    budget, d = checked_epsilon(epsilon), domain.dimensions

    def row(candidate: Candidate[UnitCodes]) -> Row[UnitCodes]:
        mechanism = candidate.make(domain, budget)
        return Row(candidate.name, mechanism, math.sqrt(mechanism.error / (d * n)), mechanism.layout.bits)

    bound, axes = unit_bound(domain, budget, n), Candidate("unit axes", UnitAxes)
    offered = [axes, Candidate("unit codes", UnitCodes)]
    if d <= FEW_DIMENSIONS and row(axes).error ** 2 > CLOSE * bound**2:
        offered.append(Candidate(f"unit codes, {MANY:,}", partial(UnitCodes, codes=MANY)))
    rows, remarks = made(offered, d, row)
    beside: tuple[Row[None], ...] = ()
    with suppress(MissingExtra):
        rival = PrivUnit(domain, budget)
        beside = (Row("PrivUnit, a theorem", None, math.sqrt((rival.length**-2 - 1) / (d * n)), rival.layout.bits),)
    subject = f"the mean of vectors of {d:,} numbers and length one, epsilon {budget:g} for one vector, {people(n)}"
    error = Column("error", "root mean square error of one coordinate, for random directions", ".4g")
    return Ranking(rows, subject, error, (), beside, remarks, EQUAL, bound=bound, rivals=UNBIASED)


def plan_units(domain: UnitVectors, epsilon: float, n: int = 1, max_bits: int | None = None) -> UnitCodes:
    """The best certified mechanism for the mean of vectors of length one; its `explain()` shows the bound of PrivUnit.

    >>> plan_units(UnitVectors(300), epsilon=4.0, n=1000).wire
    'unit-axes-1'
    """
    words = "The best possible error is that of PrivUnit in exact arithmetic, computed in whole numbers."
    return planned(unit_options(domain, epsilon, n).within(max_bits), words)
