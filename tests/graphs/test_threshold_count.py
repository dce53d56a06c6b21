"""Counts of people above a threshold: their intervals hold on the exact law of the noise, whatever the graph is."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Floats
from deniable.graphs.degree_counts import DegreeReports
from deniable.graphs.threshold_count import EXACT, ThresholdCount, stray_law
from deniable.mechanisms.sparse.noisy_count import NoisyCount


def count(people: int, below: int, at: int, above: int, noise: NoisyCount) -> ThresholdCount:
    """From numbers that are just these, for the threshold 10."""
    rest = people - below - at - above
    return ThresholdCount.of(np.repeat([0, 9, 10, 11], [rest, below, at, above]), 10, noise)


def strays(number: int, ratio: float) -> Iterator[tuple[int, int, int, float]]:
    """How many strays report next to the threshold on their side, on the other, and beyond, with what probability."""
    for near in range(number + 1):
        for other in range(number - near + 1):
            far = number - near - other
            ways = math.comb(number, near) * math.comb(number - near, other)
            yield near, other, far, ways * (1 - ratio) ** near * (ratio * (1 - ratio)) ** other * ratio ** (2 * far)


def coverage(people: int, truth: int, up: int, down: int, noise: NoisyCount) -> float:
    """How often the interval holds, given the numbers of strays."""
    ratio, total = 1 / float(noise.odds), 0.0
    for near, other, beyond, chance in strays(up, ratio):
        for near_down, other_down, _, chance_down in strays(down, ratio):
            found = count(people, near + other_down, other + near_down, beyond + truth - down, noise)
            total += chance * chance_down * (found.low <= truth <= found.high)
    return total


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize(("people", "truth"), [(300, 0), (300, 1), (300, 3), (400, 200), (300, 299), (300, 300)])
def test_intervals_hold_however_many_strays_there_are(epsilon: float, people: int, truth: int) -> None:
    """Any graph is a mixture of these cases, each of which is gone through outcome by outcome."""
    noise = NoisyCount(epsilon / 2)
    for up, down in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 3), (3, 0), (2, 2), (2, 3), (6, 0), (0, 6), (5, 1)):
        if up <= people - truth and down <= truth:
            assert coverage(people, truth, up, down, noise) >= 0.945


def test_one_hub_of_a_star_among_300_people() -> None:
    """Everybody else has one neighbour, and rarely reports 9 or more: the exact coverage of the interval."""
    noise, people, truth = NoisyCount(0.5), 300, 1
    ratio = 1 / float(noise.odds)
    stray = ratio**8 / (1 + ratio)
    total = 0.0
    for up in range(16):  # more have a probability below 1e-5
        chance = math.comb(people - truth, up) * stray**up * (1 - stray) ** (people - truth - up)
        total += chance * coverage(people, truth, up, 0, noise)
    assert total >= 0.95
    assert count(300, 1, 1, 1, noise).interval() != (0.0, 300.0)


@pytest.mark.parametrize(("up", "down"), [(0, 0), (3, 0), (0, 2), (2, 2)])
def test_the_law_of_strays(up: int, down: int) -> None:
    """It is that of all outcomes; the mean is none, and the variance known."""
    ratio = 0.6
    half = ratio / (1 - ratio) ** 2
    errors, chances = stray_law(ratio, up, down)
    assert chances.sum() == pytest.approx(1)
    assert errors @ chances == pytest.approx(0, abs=1e-9)
    assert errors**2 @ chances == pytest.approx(half * (1 + half) * (1 - ratio**2) * (up + down), abs=1e-9)
    for near, other, far, chance in strays(up, ratio):
        for near_down, other_down, far_down, chance_down in strays(down, ratio):
            across, along = other - near - other_down + near_down, other + far - other_down - far_down
            same = np.abs(errors - half * across - along) < 1e-9
            assert chances[same].sum() >= chance * chance_down * (1 - 1e-9)


def test_the_estimate_is_the_unbiased_one() -> None:
    def many(d: Floats) -> Floats:
        return np.where(d >= 10, 1.0, 0.0)

    noise = NoisyCount(0.5)
    noisy = np.array([*range(-5, 40), *([9, 10, 10] * 5)])
    found, total = ThresholdCount.of(noisy, 10, noise), DegreeReports(noisy, noise).total(many, len(noisy), "people")
    assert found.raw == pytest.approx(total.raw)
    assert found.standard_error == pytest.approx(total.standard_error)


def test_with_many_strays_the_interval_is_that_of_a_normal_error() -> None:
    noise = NoisyCount(0.5)
    found = count(20_000, 400, 400, 9_000, noise)
    assert EXACT < 800
    low, high = found.interval()
    assert low == pytest.approx(found.raw - 1.96 * found.standard_error, abs=2)
    assert high == pytest.approx(found.raw + 1.96 * found.standard_error, abs=2)
    narrow = found.interval(0.5)
    assert low < narrow[0] < found.value < narrow[1] < high
    assert found.clear and str(found).startswith(f"{found.value:,.0f} people with 10 or more neighbours")


def test_ends() -> None:
    noise = NoisyCount(1.0)
    nobody, everybody = count(50, 0, 0, 0, noise), count(50, 0, 0, 50, noise)
    assert nobody.low == 0 and 0 < nobody.high < 10 and not nobody.clear
    assert everybody.high == 50 and 40 < everybody.low < 50 and everybody.clear
    with pytest.raises(dn.InvalidParameter, match="Confidence"):
        nobody.interval(1.0)
