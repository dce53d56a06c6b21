"""Which relations a survey is for (`[[table]]` in its file), and how their questions are reported so that they can be seen.

Questions that tables connect are planned together. There are three ways: every answer by itself with split budgets, one
compound question over all combinations, or pairs of answers that people draw in public. The one with the smallest predicted
error of the wanted tables is taken.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.analysis.plan import WORDS, product_errors, rms, table_errors
from deniable.analysis.table import MOST_CELLS
from deniable.core import Domain, Mechanism
from deniable.domains import Product, Vectors
from deniable.errors import InvalidParameter
from deniable.planning.marginal_bound import marginal_bound
from deniable.planning.ranking import UNBIASED, Column, Ranking, Row, people
from deniable.survey.group import compound
from deniable.survey.kinds.choice import Choice
from deniable.survey.kinds.kind import Kind
from deniable.survey.relation import Relation
from deniable.wrappers.one_pair import OnePair

MOST_QUESTIONS = 3  # of one table
MOST_EACH = 128  # answers of a question in a table
PAIRS, COMPOUND, SPLIT = WORDS
SENSITIVE = "only some answers are sensitive, and nothing is proved about tables of those"
ERROR = Column("error", "standard error of a cell in percentage points, root mean square over the wanted tables", ".3g", 100)


@dataclass(frozen=True)
class Part:
    """What is known of one question before it is decided how it is reported."""

    id: str
    kind: Kind[Any]
    domain: Domain
    sensitive: bool
    fixed: bool  # whether the file names its mechanism
    alone: Callable[[float], Mechanism]  # the mechanism for this epsilon, if it is reported by itself


Way = tuple[Mechanism, ...]  # one for each question, or one for all


def check_part(part: Part) -> None:
    """Refuse a question that has no list of answers to tabulate, or too long a one."""
    if not isinstance(part.kind, Choice):
        raise InvalidParameter(
            f"The answers to {part.id!r} are not a list to choose from. A table takes questions of kind category, ordered "
            'or place; ask for bands of numbers with kind = "ordered" and choices.'
        )
    if part.domain.size > MOST_EACH:
        raise InvalidParameter(
            f"{part.id!r} has {part.domain.size:,} answers; a question in a table has at most {MOST_EACH}. Combine rare "
            "answers."
        )


def check_cells(sizes: Sequence[int]) -> None:
    """Refuse a table with too many cells."""
    cells = int(np.prod(sizes, dtype=np.float64))
    if cells > MOST_CELLS:
        raise InvalidParameter(
            f"This table would have {cells:,} cells; at most {MOST_CELLS:,} are estimated. Combine rare answers, or name "
            "fewer questions."
        )


def connected(ids: Sequence[str], relations: Sequence[Relation]) -> list[list[int]]:
    """The places of all questions, those that tables connect together, in the order of their first.

    >>> connected(["a", "b", "c", "d"], [Relation(("a", "d"))])
    [[0, 3], [1], [2]]
    """
    groups = [{place} for place in range(len(ids))]
    for relation in relations:
        touched = [group for group in groups if any(ids[place] in relation.questions for place in group)]
        groups = [group for group in groups if group not in touched] + [set[int]().union(*touched)]
    return sorted(sorted(group) for group in groups)


def places_of(ids: Sequence[str], relations: Sequence[Relation]) -> list[tuple[int, ...]]:
    """The tables that are wanted of these questions, as places among them."""
    return [tuple(ids.index(name) for name in r.questions) for r in relations if set(r.questions) <= set(ids)]


def ways(
    parts: Sequence[Part], tables: Sequence[tuple[int, ...]], epsilons: Sequence[float], whole: float, n: int, together: bool
) -> Ranking[Way]:
    """Every way to report these questions, the smallest predicted error of the wanted tables first.

    `epsilons` are those of the questions by themselves, and `whole` is that of one report on all of them. With `together`
    only the latter is considered: where each person answers a sample, different people would answer the questions.
    """
    rows, remarks = list[Row[Way]](), list[str]()
    for name, make in {PAIRS: _pairs, COMPOUND: _compound, SPLIT: _split}.items():
        try:
            if make is _split and together:
                raise InvalidParameter('With budget = "sampled", different people would answer the questions.')
            if make is not _split:
                _check_together(parts)
            made, errors = make(parts, tables, epsilons if make is _split else [whole], n)
            rows.append(Row(name, made, rms(errors), sum(each.layout.bits for each in made)))
        except InvalidParameter as error:
            remarks.append(f"Left out: {name}. {error}")
    if not rows:
        listed = " and ".join(repr(part.id) for part in parts)
        advice = 'Use budget = "equal", or combine answers.' if together else "Combine answers, or leave the table out."
        raise InvalidParameter(" ".join([f"No mechanism for {listed} gives this table.", *remarks, advice]))
    subject = f"{' and '.join(part.id for part in parts)}, epsilon {whole:g} together, {people(n)}"
    protected = not any(part.sensitive for part in parts)
    bound = marginal_bound([part.domain.size for part in parts], tables, whole, n) if protected else None
    unbounded = "" if protected else SENSITIVE
    return Ranking(
        tuple(rows), subject, error=ERROR, remarks=tuple(remarks), bound=bound, rivals=UNBIASED, unbounded=unbounded
    )


def _check_together(parts: Sequence[Part]) -> None:
    for part in parts:
        if part.sensitive:
            raise InvalidParameter(
                f"Only some answers to {part.id!r} are sensitive, and combinations of answers cannot be partly sensitive. "
                "Leave sensitive out to protect all of them."
            )
        if part.fixed:
            raise InvalidParameter(f"The file names the mechanism of {part.id!r}. Leave it out to report them together.")


Made = tuple[Way, list[Any]]


def _pairs(parts: Sequence[Part], tables: Sequence[tuple[int, ...]], epsilons: Sequence[float], n: int) -> Made:
    if any(len(table) != 2 for table in tables):
        raise InvalidParameter("A table of three questions needs all of them from the same people.")
    mechanism = OnePair(Vectors([part.domain for part in parts]), epsilons[0])
    return (mechanism,), table_errors(mechanism, tables, n)


def _compound(parts: Sequence[Part], tables: Sequence[tuple[int, ...]], epsilons: Sequence[float], n: int) -> Made:
    both = Product([part.domain for part in parts])
    if both.size > MOST_CELLS:
        raise InvalidParameter(f"There would be {both.size:,} combinations; at most {MOST_CELLS:,} are estimated.")
    mechanism = compound(both, epsilons[0], n, parts[0].kind.edition)
    return (mechanism,), table_errors(mechanism, tables, n)


def _split(parts: Sequence[Part], tables: Sequence[tuple[int, ...]], epsilons: Sequence[float], n: int) -> Made:
    mechanisms = tuple(part.alone(epsilon) for part, epsilon in zip(parts, epsilons, strict=True))
    return mechanisms, product_errors(mechanisms, tables, n)
