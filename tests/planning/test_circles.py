"""Means of answers that go round: the best arc, its bound, and how tallies are read."""

import math

import numpy as np
import pytest

import deniable as dn
from deniable.planning.circles import arc_gain, circle_options
from deniable.planning.distribution_bounds import fitted_bound
from deniable.planning.distributions import distribution_options, precision
from tests.planning.test_vector_bounds import channels, least_square


@pytest.mark.parametrize("size", [3, 4, 7, 24])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_no_channel_is_below_and_the_best_arc_meets_it(size: int, epsilon: float) -> None:
    angles = np.arange(size) * 2 * np.pi / size
    points = np.stack([np.cos(angles), np.sin(angles)], 1)
    ranked = circle_options(dn.Ordered(range(size)), epsilon, 1)
    assert ranked.bound is not None
    least = 2 * ranked.bound**2 + 1
    assert all(least_square(channel, points) >= least * (1 - 1e-9) for channel in channels(size, epsilon, 8))
    assert least_square(ranked.best.mechanism.matrix, points) == pytest.approx(least, rel=1e-6)
    assert ranked.best.name == "best arc"
    assert 2 * ranked.best.error**2 + 1 == pytest.approx(least, rel=1e-6)


def test_a_collection_finds_the_hour() -> None:
    """Fixed coins; place and agreement are less than six standard errors off, which chance does not do once in 2e8."""
    hours = dn.Ordered(range(24))
    mechanism = dn.plan(hours, 1.0, 40_000, target="mean", circular=True)
    assert isinstance(mechanism, dn.SquareWave)
    assert "any mechanism whose reports are decoded without bias" in mechanism.explain()
    answers = np.random.default_rng(3).normal(23.5, 2, 40_000).round().astype(int) % 24
    truth = complex(np.exp(2j * np.pi * answers / 24).mean())
    found = dn.mean_direction(mechanism, mechanism.tally(mechanism.perturb(answers.tolist(), dn.SeededCoins(4))))
    place = math.atan2(truth.imag, truth.real) * 24 / (2 * math.pi)
    assert abs((found.place - place + 12) % 24 - 12) < 6 * found.standard_error < 0.5
    assert abs(found.agreement - abs(truth)) < 6 * found.spread


def test_what_does_not_go_round_is_refused() -> None:
    with pytest.raises(dn.InvalidParameter, match=r"[Cc]ircular"):
        dn.plan(dn.Interval(0, 1), 1.0, 10, target="mean", circular=True)
    line = dn.SquareWave(dn.Ordered(range(8)), 1.0)
    with pytest.raises(dn.InvalidParameter, match=r"[Cc]ircular"):
        dn.mean_direction(line, line.tally(line.perturb([1, 2], dn.SeededCoins(1))))
    assert arc_gain(24, 12, 1.0) == 0


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("kind", ["smooth", "spiky"])
def test_no_channel_on_a_circle_is_below_the_bound_of_distributions(kind: str, epsilon: float) -> None:
    size, n = 6, 5000
    known = precision(size, kind, True)
    bound = fitted_bound(known, epsilon, n)
    assert bound is not None
    for channel in channels(size, epsilon, 5):
        information = (channel / channel.mean(0)) @ channel.T
        spread = np.linalg.inv(n * information + 10 * n + known)
        sums = np.cumsum(np.cumsum(spread, axis=0), axis=1).diagonal()
        assert float(np.sqrt(2 / np.pi * np.maximum(sums, 0)).mean()) >= bound


@pytest.mark.parametrize("size", [12, 24, 64])
def test_plans_for_distributions_on_a_circle_are_not_far_from_the_bound(size: int) -> None:
    ranked = distribution_options(dn.Ordered(range(size)), 1.0, 10_000, circular=True)
    above = ranked.above(ranked[0])
    assert ranked.bound is not None and all(row.error >= ranked.bound for row in ranked)
    assert above is not None and above < 0.35
