"""Weighted designs: sets in which every two answers are together equally often, and the smallest error with them."""

import math
from itertools import combinations

import pytest

import deniable as dn
from deniable.core import odds_below
from deniable.mechanisms.algebra.tuning import total_error
from deniable.mechanisms.algebra.weighted_designs import balanced_blocks, is_balanced, multipliers, together
from deniable.mechanisms.registry import mechanism_from_json
from deniable.planning.bounds import share_bound
from deniable.planning.shares import options


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
@pytest.mark.parametrize("d", [3, 4, 6, 9, 10, 12, 20, 50])
def test_the_error_is_the_smallest_possible(d: int, epsilon: float) -> None:
    mechanism = dn.WeightedDesign(dn.Categories(range(d)), epsilon)
    error = math.sqrt(float(total_error(d, mechanism.p, mechanism.q)) / d)
    assert error == pytest.approx(share_bound(d, epsilon, 1), rel=1e-7)
    if d <= 48:  # at most d / 2 blocks, of which each has d shifts
        assert len(mechanism.blocks) <= d // 2 and mechanism.units == (1,)
    certificate = dn.certify(mechanism)
    assert certificate.holds and certificate.loss.odds == odds_below(epsilon)


@pytest.mark.parametrize(("d", "k"), [(6, 2), (6, 3), (8, 3), (9, 4), (10, 3), (49, 3), (60, 4)])
def test_every_two_answers_are_together_equally_often(d: int, k: int) -> None:
    blocks, weights = balanced_blocks(d, k)
    pairs = dict.fromkeys(combinations(range(d), 2), 0)
    for block, weight in zip(blocks, weights, strict=True):
        assert len(set(block)) == k
        for unit in multipliers(d):
            for shift in range(d):
                members = sorted((unit * each + shift) % d for each in block)
                for pair in combinations(members, 2):
                    pairs[pair] += weight
    assert len(set(pairs.values())) == 1


def test_an_odd_number_of_answers_takes_no_more_sets_than_the_theorem_says() -> None:
    for d in (5, 9, 15, 21):
        for k in (2, 3, d // 3):
            blocks, _ = balanced_blocks(d, k)
            assert len(blocks) * d <= d * (d - 1) // 2


def test_blocks_that_are_not_balanced_are_refused() -> None:
    seven = dn.Categories(range(7))
    assert is_balanced(7, [(0, 1, 3)], [1], [1]) and together([(0, 1, 3)], [1], [1], 7)[1:] == [1] * 6
    for blocks, weights, units in (
        ([[0, 1, 2]], [1], [1]),
        ([[0, 1, 3]], [0], [1]),
        ([[0, 1, 3], [0, 1]], [1, 1], [1]),
        ([[0, 1, 3]], [1, 1], [1]),
        ([[0, 1, 1]], [1], [1]),
        ([[0, 1, 7]], [1], [1]),
        ([[0, 1, 3]], [1], []),
        ([[0, 1, 3]], [1], [7]),
    ):
        with pytest.raises(dn.InvalidParameter, match="equally often"):
            dn.WeightedDesign(seven, 1.0, blocks, weights, units)
    for size in (2, 257):
        with pytest.raises(dn.InvalidParameter, match="3 to 256"):
            dn.WeightedDesign(dn.Categories(range(size)), 1.0)


def test_a_description_contains_the_blocks() -> None:
    mechanism = dn.WeightedDesign(dn.Categories(range(10)), 1.0)
    assert mechanism_from_json(mechanism.to_json()) == mechanism


def test_the_planner_takes_it_where_its_reports_are_the_smallest_of_the_best() -> None:
    ten = dn.Categories(range(10))
    planned, first = dn.plan(ten, 1.0, 1000), dn.plan(ten, 1.0, 1000, edition=1)
    assert (planned.wire, planned.layout.bits) == ("weighted-design-1", 6)
    assert (first.wire, first.layout.bits) == ("subset-1", 10)
    assert dn.plan(ten, 1.0, 1000, max_bits=5).wire != "weighted-design-1"
    assert dn.plan(dn.Categories(range(7)), 0.1, 1000).wire == "design-1"  # a plane, which is as good and as small
    assert "Left out: design, weighted" in dn.plan(dn.Categories(range(2)), 1.0, 1000).explain()
    assert "Left out: design, weighted" in dn.plan(dn.Categories(range(257)), 1.0, 1000).explain()


def test_for_sensitive_answers_the_sets_have_the_size_that_subset_selection_has() -> None:
    ranked = {row.name: row for row in options(dn.Categories(range(40)), 1.0, 1000, sensitive=range(10), open_share=0.9)}
    weighted, subset = ranked["design, weighted"], ranked["subset"]
    assert weighted.error == pytest.approx(subset.error, rel=1e-12) and weighted.bits < subset.bits
    assert dn.certify(weighted.mechanism).holds
