"""A question that is asked repeatedly: which permanent answer, and which second round."""

from collections.abc import Sequence
from dataclasses import dataclass

from deniable.core import LARGEST_DENSE, Candidate, Domain, offered
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import total_error
from deniable.planning.bounds import share_bound
from deniable.planning.ranking import EQUAL, Column, Ranking, Row, checked_people, counted, made, people, planned
from deniable.wrappers.memoized import Memoized


@dataclass(frozen=True)
class RepeatedCandidate(Candidate[Memoized]):
    """A candidate made from a domain, the epsilon of all reports on one value and that of one report."""

    choices: int | None = None  # at most so many permanent answers are drawn, however often the value changes


REPEATED = (
    RepeatedCandidate("direct twice (L-GRR)", Memoized.direct),
    RepeatedCandidate("unary, symmetric twice (L-SUE)", Memoized.symmetric, LARGEST_DENSE),
    RepeatedCandidate("unary, optimized first (L-OSUE)", Memoized.optimized, LARGEST_DENSE),
    RepeatedCandidate("hashing, two buckets (BiLOLOHA)", Memoized.binary_hashing, choices=2),
    RepeatedCandidate("hashing, best buckets (OLOLOHA)", Memoized.hashing),
)
UNLINKABLE, LINKABLE = REPEATED[:3], REPEATED[3:]  # by hashing: a report names the function that a person keeps
EVER = Column("ever", "epsilon of all reports that a person ever sends", ".3g")


def repeated_options(
    domain: Domain,
    epsilon: float,
    once: float,
    n: int = 10_000,
    changes: int = 1,
    candidates: Sequence[RepeatedCandidate] = REPEATED,
    edition: int | None = None,
) -> Ranking[Memoized]:
    """Every mechanism for a question that is asked repeatedly, the smallest error of one collection first."""
    checked_people(n)
    if changes < 1:
        raise InvalidParameter("Each person needs at least one value.")

    def row(candidate: Candidate[Memoized]) -> Row[Memoized]:
        assert isinstance(candidate, RepeatedCandidate)
        each = epsilon / min(changes, candidate.choices or changes)
        if once >= each:
            raise InvalidParameter(
                f"The epsilon of one report must be below {each:g}, the epsilon of all reports on one value, and "
                f"not {once:g}."
            )
        mechanism = candidate.make(domain, each, once)
        if mechanism.lifetime_loss(changes).epsilon() > epsilon * (1 + 1e-12):
            mechanism = candidate.make(domain, each * (1 - 1e-12), once)
        error = (float(total_error(domain.size, mechanism.p, mechanism.q)) / (n * domain.size)) ** 0.5
        ever = mechanism.lifetime_loss(changes).epsilon()
        return Row(candidate.name, mechanism, error, mechanism.layout.bits, {EVER.name: ever})

    rows, remarks = made(offered(candidates, edition), domain.size, row)
    subject = (
        f"{domain.size:,} values, epsilon {epsilon:g} for all reports ever of a person who has had "
        f"{counted(changes, 'value')}, {once:g} for one report, {people(n)}"
    )
    bound = share_bound(domain.size, once, n)  # of one collection, whatever else is kept
    rivals = f"any mechanism with reports of epsilon {once:g} and an unbiased estimate"
    return Ranking(rows, subject, columns=(EVER,), remarks=remarks, close=EQUAL, bound=bound, rivals=rivals)


def plan_repeated(domain: Domain, epsilon: float, once: float, n: int = 10_000, changes: int = 1) -> Memoized:
    """The mechanism with the smallest error of one collection, `epsilon` for all reports ever and `once` for each alone.

    With `changes`, the number of different values that a person may have over time: `epsilon` is then for all of them
    together, so that it is divided by their number, or with hashing by at most the number of buckets.

    >>> from deniable.domains import Categories
    >>> plan_repeated(Categories(range(4)), epsilon=2.0, once=1.0).base.wire
    'direct-1'
    """
    ranking = repeated_options(domain, epsilon, once, n, changes)
    words = (
        "The device draws a permanent answer once, keeps it, and randomizes it again for every report. However many reports "
        "are collected, they disclose no more than the permanent answer would. An observer may notice that a value changed."
    )
    if ranking.best.name in {each.name for each in LINKABLE}:
        words += " The reports name the hash function that a person keeps, so all reports of a person can be linked."
    return planned(ranking, words)
