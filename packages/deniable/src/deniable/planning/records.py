"""Several answers of one person: report all with a share of the budget each, or one of them with all of it."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from deniable.core import Candidate, Mechanism, checked_epsilon, rounded_down
from deniable.domains import Vectors
from deniable.mechanisms.shares.unary import Unary
from deniable.planning.marginal_bound import UNBIASED, marginal_bound
from deniable.planning.ranking import EQUAL, Ranking, Row, checked_people, made, people, planned
from deniable.planning.shares import options
from deniable.wrappers.attributes import Attributes
from deniable.wrappers.every_attribute import EveryAttribute
from deniable.wrappers.fake_attributes import FakeAttributes
from deniable.wrappers.one_attribute import OneAttribute

FAKES = "Each person reports one answer, drawn in secret, and fakes for the others: nobody learns which one is real."
WORDS = {
    "every answer, split budget": "Each answer is reported with its share of the budget, which is enough for so "
    "few answers.",
    "one answer, whole budget": (
        "Each person reports one answer, drawn in public, with the whole budget: fewer reports on each, and far less noise."
    ),
    "one answer among fakes, direct": FAKES,
    "one answer among fakes, unary": FAKES,
}


def record_options(domain: Vectors, epsilon: float, n: int) -> Ranking[Attributes]:
    """Every mechanism for records, the smallest error first; within each, the best mechanism for every attribute."""
    checked_people(n)
    parts, budget = domain.parts, checked_epsilon(epsilon)
    share = rounded_down(Fraction(budget) / len(parts))

    def best_parts(part_epsilon: float, part_n: int) -> list[Mechanism]:
        return [options(part, part_epsilon, part_n).best.mechanism for part in parts]

    makers: tuple[Callable[[Vectors, float], Attributes], ...] = (
        lambda domain, budget: EveryAttribute(domain, budget, best_parts(share, n)),  # type: ignore[arg-type]
        lambda domain, budget: OneAttribute(domain, budget, best_parts(budget, max(1, n // len(parts)))),  # type: ignore[arg-type]
        FakeAttributes.of,
        partial(FakeAttributes.of, make=Unary),
    )

    def row(candidate: Candidate[Attributes]) -> Row[Attributes]:
        mechanism = candidate.make(domain, budget)
        return Row(candidate.name, mechanism, mechanism.total_error(n), mechanism.layout.bits)

    rows, remarks = made(map(Candidate, WORDS, makers), len(parts), row)
    subject = f"records of {len(parts)} answers, epsilon {budget:g} for one record, {people(n)}"
    singles = [(place,) for place in range(len(parts))]
    bound = marginal_bound([part.size for part in parts], singles, budget, n)
    return Ranking(rows, subject, remarks=remarks, close=EQUAL, bound=bound, rivals=UNBIASED)


def plan_records(domain: Vectors, epsilon: float, n: int, max_bits: int | None = None) -> Attributes:
    """The mechanism with the smallest error among those whose reports fit; its `explain()` shows the others."""
    ranking = record_options(domain, epsilon, n).within(max_bits)
    parts = ", ".join(part.wire for part in ranking.best.mechanism.parts)
    return planned(ranking, f"{WORDS[ranking.best.name]} The mechanisms of the answers are {parts}.")
