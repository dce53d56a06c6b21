"""Intervals of weights on the exact law of few reports: no simulation."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.arrays import Floats
from deniable.mechanisms.algebra.score_interval import ScoreEstimate, likeliest, stacked

# of 15 reports on a film with stars from 0.5 to 5 at epsilon 2: what a high and a low one add to the weight
PEOPLE, HIGH, LOW = 15, 7.35, 0.73


def every_count() -> tuple[NDArray[np.int64], Floats]:
    """All ways in which 15 reports can fall on neither, high and low, and in how many orders each comes."""
    counts = [(PEOPLE - h - l, h, l) for h in range(PEOPLE + 1) for l in range(PEOPLE + 1 - h)]  # noqa: E741
    orders = [math.factorial(PEOPLE) / math.prod(map(math.factorial, each)) for each in counts]
    return np.array(counts).T, np.array(orders)


def coverage(law: tuple[float, float, float]) -> tuple[float, float]:
    """How often the interval of a weight ends below the truth, and starts above it."""
    counts, orders = every_count()
    chances = np.vstack([counts / PEOPLE, np.zeros(counts.shape[1])])
    adds = stacked((0.0, HIGH, LOW, 0.0), counts.shape[1])
    values = (adds * chances).sum(axis=0)
    spread = (adds**2 * chances).sum(axis=0) - values**2
    told = ScoreEstimate(range(len(values)), values, spread / PEOPLE, PEOPLE, adds=adds, chances=chances, people=PEOPLE)
    low, high = told.interval(0.95)
    assert (low <= values).all() and (values <= high).all()
    often, truth = orders * np.prod(np.array(law)[:, None] ** counts, axis=0), law[1] * HIGH + law[2] * LOW
    assert often.sum() == pytest.approx(1)
    return float(often[high < truth].sum()), float(often[low > truth].sum())


def test_intervals_of_few_reports_hold_the_truth() -> None:
    """Normal intervals hold it in 84 to 94 % of these cases, and mostly lie too low."""
    laws = [(0.75, 0.2, 0.05), (0.6, 0.3, 0.1), (0.5, 0.4, 0.1), (0.55, 0.35, 0.1), (0.4, 0.5, 0.1), (0.65, 0.2, 0.15)]
    missed = np.array([coverage(law) for law in laws])
    assert (missed.sum(axis=1) < 0.065).all() and 0.94 < 1 - missed.sum(axis=1).mean() < 0.965
    assert (missed < 0.05).all()


def test_the_likeliest_law_has_the_mean_and_no_other_is_likelier() -> None:
    chances, adds = np.array([0.5, 0.3, 0.2]), np.array([0.0, 2.0, -1.0])
    for mean in (-0.7, 0.1, 0.4, 1.5):
        law, possible = likeliest(chances[:, None], adds[:, None], np.array([mean]))
        best = law.ravel()
        assert possible.all() and best.sum() == pytest.approx(1) and (best * adds).sum() == pytest.approx(mean)
        for step in (-1e-3, 1e-3):  # along the one direction that keeps both sums
            other = best + step * np.array([3.0, -1.0, -2.0])
            if (other > 0).all():
                assert (chances * np.log(other)).sum() < (chances * np.log(best)).sum()


def test_a_share_that_is_only_rounding_counts_as_none() -> None:
    adds, means = np.tile([[0.0], [2.0], [1.0]], 9), np.linspace(0.1, 1.9, 9)
    none, tiny = (np.tile([[0.7 - rest], [0.3], [rest]], 9) for rest in (0.0, 2e-19))
    assert likeliest(tiny, adds, means)[0] == pytest.approx(likeliest(none, adds, means)[0])


def test_means_outside_what_reports_can_add_are_impossible() -> None:
    chances, adds = np.array([[0.5], [0.3], [0.2]]), np.array([[0.0], [2.0], [-1.0]])
    assert not likeliest(chances, adds, np.array([2.1]))[1].any()
    assert not likeliest(chances, adds, np.array([-1.1]))[1].any()


def test_an_end_that_nobody_named_can_still_have_been_likely() -> None:
    """Two reports, both of neither end: a weight of half of what a high one adds is not ruled out."""
    adds, chances = stacked((0.0, HIGH, LOW, 0.0), 1), stacked((1.0, 0.0, 0.0, 0.0), 1)
    told = ScoreEstimate(["film"], np.zeros(1), np.zeros(1), 2, adds=adds, chances=chances, people=2.0)
    low, high = told.interval(0.95)
    assert low[0] == 0 and high[0] > HIGH / 2
    doubled = told.times(2.0, "total")
    assert doubled.measure == "total" and doubled.interval(0.95)[1] == pytest.approx(2 * high)
