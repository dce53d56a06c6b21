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
from deniable.planning.marginal_bound import marginal_bound
from deniable.planning.ranking import UNBIASED, Column, Ranking, Row, checked_people, made, people, planned
from deniable.planning.shares import options
from deniable.wrappers.every_attribute import EveryAttribute
from deniable.wrappers.one_pair import Group, OnePair, Tables

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
    pairs = itertools.combinations(range(len(rows.parts)), 2)
    bound = marginal_bound([part.size for part in rows.parts], pairs, budget, n)
    return Ranking(found, subject, error=ERROR, remarks=remarks, bound=bound, rivals=UNBIASED)


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
    return rms(compound_errors(mechanism, list(itertools.combinations(range(len(shape)), 2)), n))


@singledispatch
def table_errors(mechanism: Mechanism, tables: Sequence[Sequence[int]], n: int) -> list[Floats]:
    """The standard errors of the cells of these tables, which are places of questions, for equally common answers."""
    return compound_errors(mechanism, tables, n)


@table_errors.register
def _(mechanism: OnePair, tables: Sequence[Sequence[int]], n: int) -> list[Floats]:
    even = [np.full(a * b, 1 / (a * b)) for a, b in (pair_shape(mechanism, pair) for pair in mechanism.pairs)]
    found, pairs = Tables(mechanism, even, n * mechanism.group_shares, n), [tuple(pair) for pair in mechanism.pairs]
    places = [pairs.index((min(table), max(table))) for table in tables]
    return [np.sqrt(np.diag(found.covariance(at)) - even[at] * (1 - even[at]) / n) for at in places]


def compound_errors(mechanism: Mechanism, tables: Sequence[Sequence[int]], n: int) -> list[Floats]:
    """The same of a compound question."""
    assert isinstance(mechanism.domain, Product)
    shape, size = mechanism.domain.shape, mechanism.domain.size
    even = np.full(size, 1 / size)
    covariance = decoder(mechanism).mean_square(even) - np.outer(even, even)
    ontos = [summing(shape, table) for table in tables]
    return [np.sqrt(np.maximum(_for_people(onto @ covariance @ onto.T, onto @ even), 0) / n) for onto in ontos]


def product_errors(mechanisms: Sequence[Mechanism], tables: Sequence[Sequence[int]], n: int) -> list[Floats]:
    """The same of questions that are reported one by one."""
    parts, found = [decoder(each) for each in mechanisms], list[Floats]()
    for table in tables:
        own = [parts[place] for place in table]
        even = np.full([each.size for each in own], 1 / np.prod([each.size for each in own]))
        found.append(np.sqrt(_for_people(product_covariance(own, even), even.ravel()) / n))
    return found


def rms(errors: Sequence[Floats]) -> float:
    """The root of the mean square of the errors of all cells."""
    return float(np.sqrt(np.mean(np.concatenate(errors) ** 2)))


def pair_shape(mechanism: OnePair, pair: Group) -> tuple[int, int]:
    """How many answers the two questions of a pair have."""
    assert pair.second is not None
    return mechanism.sizes[pair.first], mechanism.sizes[pair.second]


def _for_people(covariance: Floats, shares: Floats) -> Floats:
    """The variances about these people, without those of drawing them."""
    return np.diag(covariance) - shares * (1 - shares)
