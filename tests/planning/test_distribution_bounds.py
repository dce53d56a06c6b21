"""Bounds of distributions: never beaten, by any channel, and not far from our own."""

import math

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.algebra.information import most_information
from deniable.planning.distribution_bounds import fitted_bound, question_bound
from deniable.planning.distributions import distribution_options, precision
from deniable.planning.maps import map_options
from tests.planning.test_vector_bounds import channels


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_no_channel_is_below(epsilon: float) -> None:
    """For the questions of the workload, and for the fitted distribution function of smooth and of spiky numbers."""
    size, n, asked = 6, 5000, dn.Workload.prefixes(6)
    known = {kind: precision(size, kind, False) for kind in ("smooth", "spiky")}
    least, fitted = question_bound(asked, epsilon, n), {kind: fitted_bound(each, epsilon, n) for kind, each in known.items()}
    assert least is not None
    for channel in channels(size, epsilon, 5):
        information = (channel / channel.mean(0)) @ channel.T
        told = np.trace(information) - information.mean() * size
        assert told <= float(most_information(size, dn.odds_below(epsilon))) * (1 + 1e-6)
        if np.linalg.eigvalsh(information)[0] > 1e-6:
            noise = np.linalg.inv(information) - np.eye(size) / size
            assert math.sqrt(asked.mean_square(noise) / n) >= least
        for kind, bound in fitted.items():
            spread = np.linalg.inv(n * information + 10 * n + known[kind])
            sums = np.cumsum(np.cumsum(spread, axis=0), axis=1).diagonal()
            assert bound is not None
            assert float(np.sqrt(2 / np.pi * np.maximum(sums, 0)).mean()) >= bound


@pytest.mark.parametrize("target", ["distribution", "quantiles", "ranges"])
def test_every_candidate_is_above_and_the_best_is_not_far(target: str) -> None:
    for size, epsilon, most in ((8, 0.5, 1.45), (32, 1.0, 1.45), (64, 2.0, 1.7)):
        ranked = distribution_options(dn.Ordered(range(size)), epsilon, 20_000, target)
        assert ranked.bound is not None
        assert all(row.error >= ranked.bound for row in ranked)
        above = ranked.above(ranked[0])
        assert above is not None and 1 + above < most


def test_questions_of_a_person_s_own_are_bounded_too() -> None:
    """The shares themselves: then the bound is that of shares, which subset selection meets."""
    from deniable.planning.bounds import share_bound

    for size in (3, 10, 40):
        asked = dn.Workload(np.eye(size))
        assert question_bound(asked, 1.0, 100) == pytest.approx(share_bound(size, 1.0, 100), rel=1e-6)


def test_circles_and_maps_have_a_bound_and_unknown_settings_none() -> None:
    for ranked in (
        distribution_options(dn.Ordered(range(24)), 1.0, 1000, "ranges", circular=True),
        distribution_options(dn.Ordered(range(24)), 1.0, 1000, circular=True),
        map_options(dn.Product([dn.Interval(0, 1, steps=3), dn.Interval(0, 1, steps=3)]), 1.0, 1000),
    ):
        assert ranked.bound is not None and all(row.error >= ranked.bound for row in ranked)
        assert "can have" in ranked.legend()
    prior = np.full(8, 1 / 8)
    assert distribution_options(dn.Ordered(range(8)), 1.0, 1000, "ranges", prior).bound is None
    assert question_bound(dn.Workload.prefixes(2000), 1.0, 10) is None
