"""How to ask for tables: all answers with split budgets, one compound question, or pairs that people draw in public."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from deniable.analysis.decoder import decoder
from deniable.analysis.independence import summing
from deniable.analysis.joint_tally import product_covariance
from deniable.analysis.table import MOST_CELLS
from deniable.arrays import Floats
from deniable.core import Candidate, Domain, Mechanism, checked_epsilon, rounded_down
from deniable.domains import Product, Vectors
from deniable.errors import InvalidParameter
from deniable.planning.ranking import Column, Ranking, Row, checked_people, made, people, planned
from deniable.planning.shares import options
from deniable.wrappers.every_attribute import EveryAttribute
from deniable.wrappers.one_pair import OnePair

ERROR = Column(
    "error", "standard error of a cell in percentage points, root mean square over all tables of pairs", ".3g", 100
)
WORDS = {
    "pairs drawn in public": "Each person draws two questions and reports a hash of both answers; all tables share margins.",
    "compound question": "Each person reports the combination of all answers, with the whole budget.",
    "every answer, split budget": "Each person reports every answer, with a share of the budget for each.",
}


def plan_tables(domains: Iterable[Domain] | Vectors, epsilon: float, n: int, max_bits: int | None = None) -> Mechanism:
    """The mechanism with the smallest predicted error of all tables of pairs of these questions; `explain()` shows others.

    >>> from deniable.domains import Categories
    >>> plan_tables([Categories(range(4))] * 10, epsilon=1.0, n=100_000).wire
    'one-pair-1'
    """
    ranking = table_options(domains, epsilon, n).within(max_bits)
    return planned(ranking, WORDS[ranking.best.name])


def table_options(domains: Iterable[Domain] | Vectors, epsilon: float, n: int) -> Ranking[Mechanism]:
    """Every way to ask for the tables, the smallest predicted error first, for equally common answers."""
    checked_people(n)
    rows = domains if isinstance(domains, Vectors) else Vectors(domains)
    if len(rows.parts) < 2:
        raise InvalidParameter("Tables need two questions or more.")
    budget = checked_epsilon(epsilon)
    share = rounded_down(Fraction(budget) / len(rows.parts))

    def compound(domain: Vectors, epsilon: float) -> Mechanism:
        both = Product(domain.parts)
        if both.size > MOST_CELLS:
            raise InvalidParameter(f"It would have {both.size:,} answers; at most {MOST_CELLS:,} are tabulated.")
        return options(both, epsilon, n).best.mechanism

    def every(domain: Vectors, epsilon: float) -> Mechanism:
        parts: Any = [options(part, share, n).best.mechanism for part in domain.parts]
        return EveryAttribute(domain, epsilon, parts)

    makers: tuple[Callable[[Vectors, float], Mechanism], ...] = (OnePair, compound, every)

    def row(candidate: Candidate) -> Row[Mechanism]:
        mechanism = candidate.make(rows, budget)
        return Row(candidate.name, mechanism, table_error(mechanism, n), mechanism.layout.bits)

    found, remarks = made(map(Candidate, WORDS, makers), 0, row)
    subject = f"tables of {len(rows.parts)} questions, epsilon {budget:g} for one person, {people(n)}"
    return Ranking(found, subject, error=ERROR, remarks=remarks)


@singledispatch
def table_error(mechanism: Mechanism, n: int) -> float:
    """The root mean square error of a cell over all tables of pairs, for n people with equally common answers."""
    assert isinstance(mechanism.domain, Product)
    return _compound_error(mechanism, mechanism.domain.shape, n)


@table_error.register
def _(mechanism: OnePair, n: int) -> float:
    return mechanism.total_error(n)


@table_error.register
def _(mechanism: EveryAttribute, n: int) -> float:
    return _product_error([decoder(part) for part in mechanism.parts], n)


def _product_error(parts: Sequence[Any], n: int) -> float:
    noise, alike = list[Floats](), dict[tuple[str, str], Floats]()
    for first, second in itertools.combinations(parts, 2):
        key = first.fingerprint, second.fingerprint
        if key not in alike:
            even = np.full((first.size, second.size), 1 / (first.size * second.size))
            alike[key] = _for_people(product_covariance([first, second], even), even.ravel())
        noise.append(alike[key])
    return float(np.sqrt(np.mean(np.concatenate(noise)) / n))


def _compound_error(mechanism: Mechanism, shape: tuple[int, ...], n: int) -> float:
    size = int(np.prod(shape))
    even = np.full(size, 1 / size)
    covariance = np.tensordot(even, decoder(mechanism).squares, 1) - np.outer(even, even)
    noise = []
    for pair in itertools.combinations(range(len(shape)), 2):
        onto = summing(shape, pair)
        noise.append(_for_people(onto @ covariance @ onto.T, onto @ even))
    return float(np.sqrt(np.mean(np.concatenate(noise)) / n))


def _for_people(covariance: Floats, shares: Floats) -> Floats:
    """The variances about these people, without those of drawing them."""
    return np.diag(covariance) - shares * (1 - shares)
