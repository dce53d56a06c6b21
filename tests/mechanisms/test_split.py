"""How many answers are near: every rule against Algorithm 2 in whole numbers or fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.arrays import Ints
from deniable.mechanisms.algebra.split import (
    line_split,
    mean_split,
    published_split,
    row_split,
    smallest_splits,
)

GRID = [place / 20 for place in range(1, 161)]


def exact_row_split(losses: list[Fraction], odds: Fraction) -> int:
    """Algorithm 1 from its definition: the smallest number of near answers with the smallest expected loss."""
    row = sorted(losses)
    costs = [(odds * sum(row[:near]) + sum(row[near:])) / (odds * near + len(row) - near) for near in range(1, len(row) + 1)]
    return costs.index(min(costs)) + 1


def sides(size: int) -> tuple[Ints, Ints]:
    """A and B of every point of the line 1..size and every number of near points, in whole numbers."""
    rows = np.sort(np.abs(np.arange(size)[:, None] - np.arange(size)[None, :]), axis=1)
    place, sums = np.arange(1, size + 1), np.cumsum(rows, axis=1)
    return (place - 1) * rows - (sums - rows), (sums[:, -1:] - sums) - (size - place) * rows


def test_the_line_rule_is_algorithm_two_up_to_400_points() -> None:
    """63,840 cases in whole numbers. A never falls and B never rises, so one test at m and one at m + 1 settle each; and
    the printed Algorithm 3 is one too large in 16,023 of them."""
    too_large = 0
    for size in range(2, 401):
        left, right = sides(size)
        assert (np.diff(left, axis=1) >= 0).all()
        assert (np.diff(right, axis=1) <= 0).all()
        for epsilon in GRID:
            odds = dn.odds_below(epsilon)
            near = line_split(size, odds)
            p, q = odds.numerator, odds.denominator
            assert p * int(left.max()) < 2**62
            assert near == 1 or (left[:, near - 1] * p < right[:, near - 1] * q).all()
            assert near == size or not (left[:, near] * p < right[:, near] * q).all()
            assert published_split(size, epsilon) - near in (0, 1)
            too_large += published_split(size, epsilon) > near
    assert too_large == 16_023


@pytest.mark.parametrize("odds", [Fraction(3), Fraction(9, 4), Fraction(4), Fraction(101, 100), Fraction(25, 9)])
def test_the_line_rule_at_the_edge_of_a_knife(odds: Fraction) -> None:
    """Odds at which two numbers are equally good: the smaller one is taken, as Algorithm 1 does."""
    for size in range(2, 40):
        rows = [[Fraction(abs(x - y)) for y in range(size)] for x in range(size)]
        assert line_split(size, odds) == min(exact_row_split(row, odds) for row in rows)
    assert line_split(4, Fraction(3)) == 1


losses = st.lists(st.integers(0, 8), min_size=2, max_size=9)


@settings(deadline=None)
@given(losses, st.fractions(Fraction(51, 50), 50, max_denominator=60))
def test_one_row_is_split_as_in_fractions(row: list[int], odds: Fraction) -> None:
    """Small whole numbers make many ties."""
    expected = exact_row_split([Fraction(loss) for loss in row], odds)
    assert row_split(row, odds) == expected
    assert row_split([loss / 3 for loss in row], odds) == exact_row_split([Fraction(loss / 3) for loss in row], odds)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 12), st.integers(0, 10**6), st.fractions(Fraction(51, 50), 50, max_denominator=60))
def test_all_rows_in_one_pass(size: int, seed: int, odds: Fraction) -> None:
    random = np.random.default_rng(seed)
    matrix = random.integers(0, 6, (size, size)) * (1 - np.eye(size))
    domain = dn.LossMatrix(matrix)
    exact = [exact_row_split([Fraction(float(loss)) for loss in row], odds) for row in matrix]
    assert [row_split(row, odds) for row in matrix] == exact
    assert smallest_splits(domain, [odds, odds * 2])[0] == min(exact)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=11),
    st.sampled_from([0.5, 1.0, 2.0]),
    st.sampled_from([0.3, 1.0, 2.5]),
)
def test_uneven_lines_and_other_powers(gaps: list[int], power: float, epsilon: float) -> None:
    domain, odds = dn.Ordered(np.cumsum([0, *gaps]), power=power), dn.odds_below(epsilon)
    exact = [exact_row_split([Fraction(float(x)) for x in row], odds) for row in domain.losses(np.arange(domain.size))]
    assert smallest_splits(domain, [odds]) == [min(exact)]


@pytest.mark.parametrize("kind", ["line", "squares", "uneven", "plane", "matrix"])
def test_the_mean_rule_has_the_smallest_expected_loss(kind: str) -> None:
    random = np.random.default_rng(5)
    domain = {
        "line": dn.Ordered(range(14)),
        "squares": dn.Ordered(range(14), power=2),
        "uneven": dn.Ordered(np.cumsum(random.integers(1, 9, 14))),
        "plane": dn.Points(random.random((14, 2))),
        "matrix": dn.LossMatrix(random.integers(1, 9, (14, 14)) * (1 - np.eye(14))),
    }[kind]
    for epsilon in (0.4, 1.0, 3.0):
        for prior in (None, random.dirichlet(np.ones(14))):
            costs = [dn.Bipartite(domain, epsilon, near=near).expected_loss(prior) for near in range(1, 14)]
            chosen = mean_split(domain, dn.odds_below(epsilon), prior)
            assert costs[chosen - 1] == pytest.approx(min(costs), rel=1e-12)


def test_the_smallest_split_never_makes_an_answer_fare_worse_than_direct_response() -> None:
    random = np.random.default_rng(6)
    for _ in range(40):
        domain = dn.LossMatrix(random.integers(1, 9, (9, 9)) * (1 - np.eye(9)))
        epsilon = float(random.choice([0.2, 1.0, 3.0]))
        direct = dn.Bipartite(domain, epsilon, near=1).row_losses()
        assert (dn.Bipartite(domain, epsilon).row_losses() <= direct + 1e-12).all()


def test_the_published_split_does() -> None:
    """75 points, epsilon 7.9: one row is 47.9 % worse off, and the average 23.6 %."""
    domain = dn.Ordered(range(75))
    published, direct = dn.Bipartite.as_published(domain, 7.9), dn.Bipartite(domain, 7.9, near=1)
    assert (published.near, published.rule, dn.Bipartite(domain, 7.9).near) == (2, "published", 1)
    assert published.expected_loss() / direct.expected_loss() == pytest.approx(1.236, abs=5e-4)
    assert (published.row_losses() / direct.row_losses()).max() == pytest.approx(1.479, abs=5e-4)
    assert published.loss().odds == published.odds  # only the usefulness suffers
    with pytest.raises(dn.InvalidParameter, match="equidistant"):
        dn.Bipartite.as_published(dn.Ordered([1, 2, 5]), 1.0)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_the_gain_over_direct_response_tends_to_its_limit(epsilon: float) -> None:
    """(7 x + 9) / (4 (x + 1)^2), x = e^(epsilon / 2); the difference falls as 1 / N."""
    x = math.exp(epsilon / 2)
    limit = (7 * x + 9) / (4 * (x + 1) ** 2)
    apart = []
    for size in (1_000, 10_000, 100_000):
        domain = dn.Ordered(range(size))
        ratio = dn.Bipartite(domain, epsilon).expected_loss() / dn.Bipartite(domain, epsilon, near=1).expected_loss()
        apart.append(abs(ratio - limit))
        assert apart[-1] < 20 / size * x
    assert apart[2] < apart[0]


def test_large_lines_have_the_limit_share() -> None:
    assert line_split(10**9, dn.odds_below(1.0)) == pytest.approx(10**9 / (math.exp(0.5) + 1), rel=1e-6)
    assert line_split(10**6, dn.odds_below(1e-6)) == 499_999
    assert line_split(2, dn.odds_below(100.0)) == 1
