"""The bound of records and tables: below the best channel of all, found by brute force, and near it for small budgets."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

import deniable as dn
from deniable.analysis.plan import table_options
from deniable.planning.bounds import share_bound
from deniable.planning.distribution_bounds import question_bound
from deniable.planning.marginal_bound import marginal_bound
from deniable.planning.records import record_options
from deniable.planning.repeated import repeated_options
from tests.planning.best_channels import best_mean_square, table_gram

SINGLE, PAIRS = [(0,), (1,)], [(0, 1), (0, 2), (1, 2)]
CASES: list[tuple[list[int], Sequence[Sequence[int]]]] = [
    ([4], [(0,)]),
    ([2, 2], SINGLE),
    ([2, 3], SINGLE),
    ([2, 2], [(0, 1)]),
    ([2, 2, 2], [(0,), (1,), (2,)]),
    ([2, 2, 2], PAIRS),
    ([2, 2, 2], [(0,), (1, 2)]),
]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 4.0])
@pytest.mark.parametrize(("sizes", "tables"), CASES)
def test_no_channel_is_below_and_the_best_is_near(sizes: list[int], tables: Sequence[Sequence[int]], epsilon: float) -> None:
    gram, cells = table_gram(sizes, tables)
    drawn = sum(1 - 1 / math.prod(sizes[place] for place in table) for table in tables)
    least, most = (found - drawn for found in best_mean_square(gram, math.exp(epsilon)))
    assert most < 1.01 * least  # the search came near enough to compare with
    bound = marginal_bound(sizes, tables, epsilon, 1) ** 2 * cells
    assert 0 < bound <= most * (1 + 1e-9)
    assert bound > (0.75 if epsilon <= 1 else 0.2) * least


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
@pytest.mark.parametrize(("sizes", "n"), [([2, 2], 1), ([4, 6, 2], 10), ([8] * 3, 10_000), ([2, 20], 1000)])
def test_no_candidate_is_below(sizes: list[int], n: int, epsilon: float) -> None:
    domains = [dn.Categories(range(size)) for size in sizes]
    records = record_options(dn.Vectors(domains), epsilon, n)
    assert records.bound == marginal_bound(sizes, [(place,) for place in range(len(sizes))], epsilon, n)
    tables = table_options(domains, epsilon, n)
    assert tables.bound == marginal_bound(sizes, list(itertools.combinations(range(len(sizes)), 2)), epsilon, n)
    for ranking in (records, tables):
        assert ranking.bound is not None and all(row.error >= ranking.bound for row in ranking)


def test_one_question_drawn_in_public_is_the_best_for_small_budgets() -> None:
    """With budgets up to 1, hardly anything is lost by asking each person one of several questions."""
    for sizes in ([2, 2], [16] * 3, [50] * 8):
        ranking = record_options(dn.Vectors([dn.Categories(range(size)) for size in sizes]), 0.5, 10_000)
        above = ranking.above(ranking.best)
        assert ranking.best.name == "one answer, whole budget" and above is not None and above < 1e-4


def test_the_closed_form_is_that_of_the_singular_values() -> None:
    gram, cells = table_gram([2, 3, 4], PAIRS)
    general = question_bound(dn.Workload(gram, "cells", cells), 1.0, 10)
    assert general is not None and marginal_bound([2, 3, 4], PAIRS, 1.0, 10) == pytest.approx(general, rel=1e-6)
    assert marginal_bound([7], [(0,)], 1.0, 10) == pytest.approx(share_bound(7, 1.0, 10), rel=1e-8)


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_bounds_of_shares_are_the_best_channels(size: int, epsilon: float) -> None:
    least, most = best_mean_square(np.eye(size), math.exp(epsilon))
    bound = share_bound(size, epsilon, 1) ** 2 * size + 1 - 1 / size
    assert least * (1 - 1e-9) <= bound <= most * (1 + 1e-9) and most < least * (1 + 1e-5)


def test_one_collection_of_a_repeated_question_is_bounded_by_its_own_budget() -> None:
    for size in (2, 3, 20):
        ranking = repeated_options(dn.Categories(range(size)), 2.0, 1.0, 1000)
        assert ranking.bound == share_bound(size, 1.0, 1000) and all(row.error >= ranking.bound for row in ranking)
        assert "any mechanism with reports of epsilon 1 and an unbiased estimate can have" in ranking.legend()
