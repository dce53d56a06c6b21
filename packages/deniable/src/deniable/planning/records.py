"""Several answers of one person: all with a share of the budget each, or with all of it one of them, or a few together."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial

from deniable.core import Candidate, PureProtocol, checked_epsilon, offered, rounded_down
from deniable.domains import Vectors
from deniable.mechanisms.shares.unary import Unary
from deniable.planning.marginal_bound import marginal_bound
from deniable.planning.ranking import EQUAL, UNBIASED, Ranking, Row, checked_people, made, people, planned
from deniable.planning.record_groups import grouped_record
from deniable.planning.shares import options
from deniable.wrappers.every_attribute import EveryAttribute
from deniable.wrappers.fake_attributes import FakeAttributes
from deniable.wrappers.one_attribute import OneAttribute
from deniable.wrappers.record_mechanism import RecordMechanism

GROUPED = "answers in groups, whole budget"  # in the second edition of the planner and later
FAKES = "Each person reports one answer, drawn in secret, and fakes for the others: nobody learns which one is real."
WORDS = {
    "every answer, split budget": "Each answer is reported with its share of the budget, which is enough for so "
    "few answers.",
    "one answer, whole budget": (
        "Each person reports one answer, drawn in public, with the whole budget: fewer reports on each, and far less noise."
    ),
    GROUPED: (
        "Answers are reported in groups, each as one compound answer with the whole budget; where there are several groups, "
        "each person reports one of them, drawn in public."
    ),
    "one answer among fakes, direct": FAKES,
    "one answer among fakes, unary": FAKES,
}


def record_options(domain: Vectors, epsilon: float, n: int, edition: int | None = None) -> Ranking[RecordMechanism]:
    """Every mechanism for records, the smallest error first; within each, the best mechanism for every attribute."""
    checked_people(n)
    parts, budget = domain.parts, checked_epsilon(epsilon)
    share = rounded_down(Fraction(budget) / len(parts))

    @cache
    def best_parts(part_epsilon: float, part_n: int) -> list[PureProtocol]:
        return [options(part, part_epsilon, part_n, edition=edition).best.mechanism for part in parts]  # type: ignore[misc]

    def singles() -> list[PureProtocol]:
        return best_parts(budget, max(1, n // len(parts)))

    makers: tuple[Callable[[Vectors, float], RecordMechanism], ...] = (
        lambda domain, budget: EveryAttribute(domain, budget, best_parts(share, n)),
        lambda domain, budget: OneAttribute(domain, budget, singles()),
        lambda domain, budget: grouped_record(domain, budget, singles()),
        FakeAttributes.of,
        partial(FakeAttributes.of, make=Unary),
    )

    def row(candidate: Candidate[RecordMechanism]) -> Row[RecordMechanism]:
        mechanism = candidate.make(domain, budget)
        return Row(candidate.name, mechanism, mechanism.total_error(n), mechanism.layout.bits)

    every = [Candidate(name, make, since=2 if name == GROUPED else 1) for name, make in zip(WORDS, makers, strict=True)]
    rows, remarks = made(offered(every, edition), len(parts), row)
    subject = f"records of {len(parts)} answers, epsilon {budget:g} for one record, {people(n)}"
    bound = marginal_bound([part.size for part in parts], [(place,) for place in range(len(parts))], budget, n)
    return Ranking(rows, subject, remarks=remarks, close=EQUAL, bound=bound, rivals=UNBIASED)


def plan_records(
    domain: Vectors, epsilon: float, n: int, max_bits: int | None = None, edition: int | None = None
) -> RecordMechanism:
    """The mechanism with the smallest error among those whose reports fit; its `explain()` shows the others."""
    ranking = record_options(domain, epsilon, n, edition).within(max_bits)
    return planned(ranking, f"{WORDS[ranking.best.name]} {ranking.best.mechanism.in_words}")
