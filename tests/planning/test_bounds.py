"""Bounds that are printed beside plans: reached where they should be, and never beaten, by any law."""

import math

import numpy as np
import pytest

import deniable as dn
from deniable.planning import options
from deniable.planning.bounds import share_bound


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 2.5, 8.0, 90.0])
@pytest.mark.parametrize("size", [2, 3, 5, 16, 100, 1024])
def test_subset_selection_reaches_the_bound_and_nothing_is_below(size: int, epsilon: float) -> None:
    domain, bound = dn.Categories(range(size)), share_bound(size, epsilon, 1000)
    ranked = options(domain, epsilon, 1000)
    assert all(row.error >= bound * (1 - 1e-12) for row in ranked)
    (subset,) = [row for row in ranked if row.name == "subset"]
    assert subset.error == pytest.approx(bound, rel=1e-6)  # odds are fractions just below e^epsilon


def best_error(channel: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> float:
    """The error of the best unbiased estimate from many reports of a channel, at equal shares, less that of sampling."""
    size = len(channel)
    scores = channel - channel.mean(0)
    information = (scores / channel.mean(0)) @ scores.T
    variances = 1 / np.linalg.eigvalsh(information)[1:]
    return math.sqrt(max(0.0, (variances.sum() - (1 - 1 / size)) / size))


@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_no_channel_is_below(size: int) -> None:
    """Random laws with this epsilon, extreme ones among them; the last column makes rows sum to one."""
    random = np.random.default_rng(1)
    for epsilon in (0.2, 1.0, 3.0):
        for place in range(300):
            likelihoods = np.exp(epsilon * (random.integers(0, 2, (size, 40)) if place % 2 else random.random((size, 40))))
            weights = random.dirichlet(np.full(40, 0.1))
            channel = np.concatenate([likelihoods * weights, np.roll(likelihoods * weights, 1, 0)], 1)
            for turn in range(2, size):  # all rotations: every row has the same sum
                channel = np.concatenate([channel, np.roll(likelihoods * weights, turn, 0)], 1)
            channel /= channel.sum(1, keepdims=True)
            assert (channel.max(0) <= math.exp(epsilon) * channel.min(0) * (1 + 1e-9)).all()
            assert best_error(channel) >= share_bound(size, epsilon, 1) * (1 - 1e-9)


def test_a_plan_says_how_far_it_is_from_the_best_possible() -> None:
    mechanism = dn.plan(dn.Categories(range(16)), 1.0, 5000)
    assert "above: squared error, at most so much above the best that any mechanism can have" in mechanism.explain()
    (chosen,) = [line.split() for line in mechanism.explain().splitlines() if line.startswith("*")]
    assert chosen[1:5] == ["wheel", "2.54", "1.011x", "1.1%"]
    ranked = options(dn.Categories(range(16)), 1.0, 5000, sensitive=[1, 2])
    assert ranked.bound is None and "above" not in ranked.table()  # this bound is for answers that are all protected
    assert "above_bound" in options(dn.Categories(range(16)), 1.0, 5000).records()[0]


def test_one_answer_needs_no_report() -> None:
    assert share_bound(1, 1.0, 10) == 0.0
