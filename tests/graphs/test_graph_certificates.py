"""Certificates of counts: what one edge spends is within epsilon, and is what the noise has."""

import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.graphs import certify_count, cores
from deniable.graphs.certificates import _PARTS, GraphCertificate, Spent
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.noisy_count import NoisyCount


@pytest.mark.parametrize("count", _PARTS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.7, 8.0])
def test_no_more_than_epsilon_is_spent(count: str, epsilon: float) -> None:
    found = certify_count(count, epsilon)
    assert found.holds and found.spent > 0.9 * Fraction(epsilon)
    said = found.statement(1000)
    assert "any one person" in said and "999 times as large" in said and str(found).startswith(count)
    assert found.proof == ("theorem" if count in ("clustering", "triangles", "common") else "exact")


def test_what_is_spent_is_what_the_noise_has() -> None:
    """The odds of the noises that the counts draw from, as often as an edge is in them."""
    odds = {
        "edges": [NoisyCount(1.0).odds],
        "stars": [NoisyCount(0.5).odds] * 2,
        "cycles": [CoordinateResponse.of(1.0).odds],
        "core": [NoisyCount(cores.DEGREES / 2).odds] * 2 + [NoisyCount((1 - cores.DEGREES) / 4).odds] * 4,
    }
    for count, all_odds in odds.items():
        exact = sum(math.log(each) for each in all_odds)
        assert float(certify_count(count, 1.0).spent) == pytest.approx(exact, rel=1e-9)


def test_triangles_with_their_plan() -> None:
    graph = dn.Graph.of(np.argwhere(np.triu(np.ones((30, 30)), 1)), 30)
    plan = dn.estimate_triangles(graph, 2.0, coins=dn.SeededCoins(1)).plan
    assert certify_count("triangles", 2.0, plan).holds
    assert not certify_count("triangles", 1.0, plan).holds


def test_one_that_does_not_hold() -> None:
    assert not GraphCertificate("edges", 1.0, (Spent("a", 0.6), Spent("b", 0.6))).holds
    with pytest.raises(dn.InvalidParameter, match="not known"):
        certify_count("squares", 1.0)
    with pytest.raises(dn.InvalidParameter):
        certify_count("edges", 0.0)
