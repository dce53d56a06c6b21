"""Estimates: errors that fit what happens, the optimal subset size, cleaning, pictures."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.algebra.tuning import total_error
from deniable.mechanisms.registry import candidates
from deniable.mechanisms.shares import subset_selection as subset
from tests.examples import EXAMPLES
from tests.families import answers

SHARES = [0.5, 0.3, 0.2]
COLOURS = dn.Categories(["red", "green", "blue"])


@pytest.mark.parametrize("values", [2, 3, 4, 7, 16, 60])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 4.0, 8.0])
def test_subset_size_is_the_integer_optimum_of_the_exact_error(values: int, epsilon: float) -> None:
    odds = dn.odds_below(epsilon)
    best = min(range(1, values), key=lambda size: total_error(values, *subset.chance(values, size, odds)))
    mechanism = dn.SubsetSelection(dn.Categories(range(values)), epsilon)
    assert mechanism.size == best
    variance = mechanism.predict([1 / values] * values, 1).variance
    assert variance is not None
    assert variance.sum() == pytest.approx(float(total_error(values, mechanism.p, mechanism.q)), rel=1e-12)


def test_subset_error_equals_published_optima() -> None:
    """n times the mean squared error per value, to the four digits of the published table."""
    for epsilon, values, size, error in [
        (0.5, 16, 6, 13.715),
        (1, 16, 4, 3.186),
        (1, 1024, 275, 3.675),
        (2, 128, 15, 0.705),
        (4, 16, 1, 0.0402),
    ]:
        mechanism = dn.SubsetSelection(dn.Categories(range(values)), epsilon)
        assert mechanism.size == size
        assert float(total_error(values, mechanism.p, mechanism.q)) / values == pytest.approx(error, rel=2e-3)


def test_measured_error_is_the_predicted_one() -> None:
    """The mean of 400 standardised squared errors lies within 1 +- 0.45: beyond 6 standard deviations, under 1e-6."""
    for name, mechanism in EXAMPLES.items():
        people = answers(mechanism, 2000)
        truth = np.bincount(mechanism.domain.index(people), minlength=mechanism.domain.size) / 2000
        predicted = mechanism.predict(truth, 2000).variance
        assert predicted is not None
        coins = dn.SeededCoins(name.encode())
        scores = []
        for _ in range(400):
            estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(people, coins)))
            scores.append((estimate.values[0] - truth[0]) ** 2 / predicted[0])
        assert abs(np.mean(scores) - 1) < 0.45, name


@pytest.mark.parametrize(
    ("name", "size"),
    [(name, size) for name, each in candidates().items() for size in (16, 128, 1024) if size <= (each.largest or size)],
)
def test_measured_error_is_the_predicted_one_at_real_sizes(name: str, size: int) -> None:
    """The summed squared error of 40 collections, beside its prediction.

    It is a sum of 40 size squares; were they independent its relative standard deviation would be sqrt(2 / (40 size)).
    Neighbouring cells of a report are slightly dependent, so eight of these are allowed: a false alarm below 1e-6.
    """
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        mechanism = candidates()[name].make(dn.Categories(range(size)), epsilon)
        people = np.arange(2000) ** 2 % size
        truth = np.bincount(people, minlength=size) / len(people)
        coins = dn.SeededCoins(f"{name} {size} {epsilon}".encode())
        measured = 0.0
        for _ in range(40):
            estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(people, coins)))
            measured += float(((estimate.values - truth) ** 2).sum())
        predicted = 40 * float((mechanism.predict(truth, len(people)).standard_error ** 2).sum())
        assert abs(measured / predicted - 1) < 8 * math.sqrt(2 / (40 * size))


def test_variance_estimate_is_never_negative_and_unbiased() -> None:
    mechanism = dn.DirectResponse(COLOURS, 1.0)
    for counts in ([0, 0, 10], [10, 0, 0], [3, 3, 4]):
        estimate = mechanism.estimate(dn.Tally(mechanism.fingerprint, 10, np.array(counts)))
        assert (estimate.standard_error >= 0).all()
    # E[variance estimate] = variance at the truth, over every outcome for two people.
    law = [[float(mechanism.p if x == y else mechanism.q) for y in range(3)] for x in range(3)]
    mean = np.zeros(3)
    for a, b in itertools.product(range(3), repeat=2):
        estimate = mechanism.estimate(dn.Tally(mechanism.fingerprint, 2, np.bincount([a, b], minlength=3)))
        mean += law[0][a] * law[1][b] * estimate.standard_error**2
    np.testing.assert_allclose(mean, mechanism.predict([0.5, 0.5, 0], 2).standard_error ** 2, rtol=1e-12)


def test_intervals_are_normal() -> None:
    estimate = dn.Unary(COLOURS, 1.0).predict(SHARES, 1000)
    low, high = estimate.interval(0.95)
    np.testing.assert_allclose(high - low, 2 * 1.959963984540054 * estimate.standard_error, rtol=1e-12)
    np.testing.assert_allclose((high + low) / 2, SHARES)


def test_intervals_that_hold_together_are_wider() -> None:
    """Sidak: each of m at confidence c^(1/m), so that m independent ones hold together with confidence c."""
    estimate = dn.Unary(COLOURS, 1.0).predict(SHARES, 1000)
    low, high = estimate.interval(0.95, together=True)
    each = estimate.interval(0.95 ** (1 / 3))
    np.testing.assert_allclose([low, high], each, rtol=1e-12)
    assert (high > estimate.interval(0.95)[1]).all()
    assert estimate.largest(2) == [0, 1]
    assert estimate.top(2) == [estimate.labels[0], estimate.labels[1]]


@pytest.mark.needs("scipy")
def test_exact_intervals_invert_the_binomial_tails() -> None:
    mechanism = dn.DirectResponse(COLOURS, 1.0)
    p, q = float(mechanism.p), float(mechanism.q)
    counts, n, confidence = [0, 7, 5], 12, 0.9

    def at_least(count: int, rate: float) -> float:
        return sum(math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(count, n + 1))

    tally = dn.Tally(mechanism.fingerprint, n, np.array(counts))
    for together, tail in ((False, 0.05), (True, 0.05 / 3)):
        low, high = mechanism.exact_interval(tally, confidence, together)
        assert low[0] == pytest.approx(-q / (p - q))
        for count, bottom, top in zip(counts, low * (p - q) + q, high * (p - q) + q, strict=True):
            assert count == 0 or at_least(count, bottom) == pytest.approx(tail, rel=1e-9)
            assert 1 - at_least(count + 1, top) == pytest.approx(tail, rel=1e-9)


@pytest.mark.needs("scipy")
def test_exact_intervals_cover_for_fixed_people_too() -> None:
    """The exact coverage, summed over all outcomes: 3 of 8 people have the value, reports are not identically drawn."""
    mechanism = EXAMPLES["warner"]
    p, q = float(mechanism.p), float(mechanism.q)
    chances = np.array([1.0])
    for rate in [p] * 3 + [q] * 5:
        chances = np.convolve(chances, [1 - rate, rate])
    covered = 0.0
    for count, chance in enumerate(chances):
        tally = dn.Tally(mechanism.fingerprint, 8, np.array([count, 8 - count]))
        low, high = mechanism.exact_interval(tally, 0.9)
        covered += chance * (low[0] <= 3 / 8 <= high[0])
    assert covered >= 0.9


def test_population_error_is_that_of_a_simple_random_sample() -> None:
    """With the truth drawn at random, a count is binomial: its variance is known without our formula."""
    mechanism = dn.SubsetSelection(dn.Categories(range(5)), 1.0, 2)
    truth, n = np.array([0.1, 0.2, 0.3, 0.4, 0.0]), 300
    estimate = mechanism.predict(truth, n).for_population()
    p, q = float(mechanism.p), float(mechanism.q)
    rate = q + truth * (p - q)
    assert estimate.variance is not None
    np.testing.assert_allclose(estimate.variance, rate * (1 - rate) / (n * (p - q) ** 2), rtol=1e-12)
    np.testing.assert_allclose(np.diag(estimate.covariance()), estimate.variance, rtol=1e-12)
    # A report always supports two values, so the estimates sum to one whatever happens.
    assert abs(estimate.covariance().sum()) < 1e-12


def test_norm_sub_is_the_closest_point_of_the_simplex() -> None:
    random = np.random.default_rng(1)
    for _ in range(200):
        raw = random.normal(0.2, 0.3, 5)
        estimate = dn.Estimate(range(5), raw, raw**2, 10)
        clean = dn.norm_sub(estimate)
        assert clean.values.min() >= 0
        assert clean.values.sum() == pytest.approx(1, abs=1e-12)
        # Optimality: all positive values moved by the same amount, those at zero by no less.
        shift = raw - clean.values
        positive = clean.values > 0
        assert np.ptp(shift[positive]) < 1e-12
        assert (shift[~positive] <= shift[positive][0] + 1e-12).all()
        with pytest.raises(dn.InvalidParameter, match="raw estimate"):
            clean.interval()
        with pytest.raises(dn.InvalidParameter):
            clean.covariance()
        np.testing.assert_array_equal(estimate.values, raw)


def test_em_raises_the_likelihood_in_every_round() -> None:
    mechanism = dn.SubsetSelection(dn.Categories(range(6)), 1.0, 2)
    reports = mechanism.perturb(np.arange(300) % 4, dn.SeededCoins(9))
    supported = mechanism.supports(reports.columns, np.arange(6))
    odds = float(mechanism.odds)

    def likelihood(rounds: int) -> float:
        shares = dn.em(mechanism, reports, max_rounds=rounds).values
        return float(np.log(1 + (odds - 1) * (supported @ shares)).sum())

    steps = [likelihood(rounds) for rounds in (1, 2, 4, 8, 32, 128)]
    assert steps == sorted(steps)
    told: list[int] = []
    clean = dn.em(mechanism, reports, progress=lambda turn, change: told.append(turn))
    assert told == list(range(1, len(told) + 1))
    assert clean.values.sum() == pytest.approx(1)
    # At the maximum no direction helps: the gradient is the same on the support and smaller off it.
    gradient = (supported / (1 + (odds - 1) * (supported @ clean.values))[:, None]).sum(axis=0)
    inside = clean.values > 1e-3
    assert np.ptp(gradient[inside]) < 1e-3 * gradient[inside].mean()
    assert (gradient[~inside] < gradient[inside].mean() * (1 + 1e-3)).all()


def test_em_of_a_channel_is_em_of_its_reports() -> None:
    """Direct response as a matrix, and a channel that cannot be inverted, which unbiased estimates cannot use."""
    mechanism = dn.DirectResponse(COLOURS, 1.0)
    reports = mechanism.perturb(["red"] * 50 + ["blue"] * 30, dn.SeededCoins(3))
    channel = np.full((3, 3), float(mechanism.q)) + np.eye(3) * float(mechanism.p - mechanism.q)
    from_counts = dn.em_channel(channel, mechanism.count(reports), COLOURS.labels)
    np.testing.assert_allclose(from_counts.values, dn.em(mechanism, reports).values, atol=1e-9)
    assert from_counts.labels == COLOURS.labels
    blurred = dn.em_channel([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [30, 30, 40])
    np.testing.assert_allclose(blurred.values, [0.3, 0.3, 0.4])


@pytest.mark.parametrize(
    ("channel", "counts"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], [1, 1]),
        ([[1.5, -0.5], [0.5, 0.5]], [1, 1]),
        ([0.5, 0.5], [1, 1]),
        ([[0.5, 0.5]], [1, 1, 1]),
        ([[0.5, 0.5]], [1, -1]),
        ([[1.0, 0.0]], [1, 1]),
        ([[math.nan, 0.5]], [1, 1]),
    ],
)
def test_channels_that_are_none_are_refused(channel: Any, counts: list[int]) -> None:
    with pytest.raises(dn.InvalidParameter):
        dn.em_channel(channel, counts)
    with pytest.raises(dn.EmptyBatch):
        dn.em_channel([[0.5, 0.5]], [0, 0])


def test_base_cut_keeps_what_is_surely_there() -> None:
    mechanism = dn.SubsetSelection(dn.Categories(range(50)), 1.0)
    truth = np.zeros(50)
    truth[:2] = 0.5
    estimate = mechanism.predict(truth, 20_000)
    cut = dn.base_cut(estimate)
    assert np.flatnonzero(cut.values).tolist() == [0, 1]
    # Noise alone, six standard errors apart from the threshold's own: everything is cut with the confidence asked for.
    noise = dn.Estimate(range(50), 3.0 * np.sqrt(np.ones(50)), np.ones(50), 10)
    assert dn.base_cut(noise, 0.95).values.max() == 0  # the threshold is 3.08 for 50 values
    assert dn.base_cut(noise, 0.90).values.min() == 3.0  # and 2.86 here


def test_em_refuses_senseless_stops() -> None:
    mechanism = dn.DirectResponse(COLOURS, 1.0)
    reports = mechanism.perturb(["red"])
    for arguments in ({"max_rounds": 0}, {"tolerance": 0.0}, {"tolerance": math.nan}):
        with pytest.raises(dn.InvalidParameter):
            dn.em(mechanism, reports, **arguments)


@pytest.mark.needs("matplotlib")
def test_plot_shows_bars_with_errors() -> None:
    from matplotlib.patches import Rectangle

    estimate = dn.Unary(COLOURS, 1.0).predict(SHARES, 1000)
    axes = estimate.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["red", "green", "blue"]
    bars = [bar for bar in axes.patches if isinstance(bar, Rectangle)]
    assert [round(bar.get_width()) for bar in bars] == [50, 30, 20]
    assert "1,000 people" in axes.get_xlabel()
    assert "95% intervals" in axes.get_xlabel()
    assert "intervals" not in dn.norm_sub(estimate).plot(ax=axes).get_xlabel()
    many = dn.DirectResponse(dn.Categories(range(100)), 1.0).predict([0.01] * 100, 1000)
    assert many.plot(top=10).get_title() == "100 answers in 10 bins"


def test_warner_is_direct_response_to_two_values() -> None:
    mechanism = EXAMPLES["warner"]
    assert (mechanism.p, mechanism.q) == (Fraction(3, 4), Fraction(1, 4))
    tally = dn.Tally(mechanism.fingerprint, 100, np.array([60, 40]))
    np.testing.assert_allclose(mechanism.estimate(tally).values, [0.7, 0.3])


def test_unary_probabilities_of_the_papers() -> None:
    optimized, symmetric = dn.Unary(COLOURS, 1.0), dn.Unary.symmetric(COLOURS, 1.0)
    assert optimized.p == Fraction(1, 2)
    assert float(optimized.q) == pytest.approx(1 / (math.e + 1), rel=1e-14)
    root = math.exp(0.5)
    assert symmetric.p + symmetric.q == 1
    assert float(symmetric.p) == pytest.approx(root / (root + 1), rel=1e-14)
    assert dn.Unary(COLOURS, 1.0, Fraction(3, 4)).loss().odds == dn.odds_below(1.0)
