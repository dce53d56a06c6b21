"""Questions over time: smoothing, changes, differences and weekdays, against exact calculations."""

import math

import numpy as np
import pytest

import deniable as dn
from deniable.analysis.changes import FALSE_ALARMS, contrast, jumps, lengths, named_by, threshold
from deniable.analysis.smoothing import filtered, smoothed
from deniable.analysis.trend import Trend
from deniable.errors import EmptyBatch, InvalidParameter

MECHANISM = dn.DirectResponse(dn.Categories(["yes", "no"]), 2.0)
PEOPLE = 20_000


def tallies(truth: np.ndarray, random: np.random.Generator) -> dict[int, dn.Tally]:
    """What so many other people report in each period."""
    found, p, q = {}, float(MECHANISM.p), float(MECHANISM.q)
    for day, share in enumerate(truth.tolist()):
        yes = random.binomial(PEOPLE, share)
        votes = int(random.binomial(yes, p) + random.binomial(PEOPLE - yes, q))
        found[day] = dn.Tally(MECHANISM.fingerprint, PEOPLE, np.array([votes, PEOPLE - votes]))
    return found


def test_the_smoother_is_the_exact_conditional_mean_of_a_random_walk() -> None:
    """Against the normal equations of the model, solved as one dense system; periods are missing."""
    random = np.random.default_rng(1)
    periods = np.array([0, 1, 2, 5, 6, 9, 10, 11])
    steps = np.concatenate([[0.0], random.normal(0, 8, len(periods) - 1)])
    variance = random.uniform(0.2, 2.0, (len(periods), 1))
    values = np.cumsum(steps)[:, None] + random.normal(0, np.sqrt(variance))
    level = smoothed(periods, values, variance)
    precision = np.diag(1 / variance[:, 0])
    for place, step in enumerate(np.diff(periods)):
        weight = 1 / (float(level.moves[0]) * step)
        precision[place : place + 2, place : place + 2] += weight * np.array([[1, -1], [-1, 1]])
    exact = np.linalg.inv(precision)
    assert level.values[:, 0] == pytest.approx(exact @ (values[:, 0] / variance[:, 0]))
    assert level.variance[:, 0] == pytest.approx(np.diag(exact))


def test_a_flat_series_is_averaged_and_a_moving_one_is_followed() -> None:
    random, days = np.random.default_rng(2), np.arange(120)
    flat = random.normal(0, 1, (120, 1))
    level = smoothed(days, flat, np.ones((120, 1)))
    assert level.moves[0] == 0 and level.values[:, 0] == pytest.approx(np.full(120, flat.mean()))
    moving = 5 * np.sin(days / 4)[:, None]
    followed = filtered(days, moving + random.normal(0, 1, (120, 1)), np.ones((120, 1)))
    assert np.mean((followed.values - moving)[20:] ** 2) < 1.05


def test_noise_that_is_kept_does_not_average_out() -> None:
    """Intervals of the smoothed level hold for a panel that keeps its answers, and for people who come and go."""
    mechanism = dn.Memoized.direct(dn.Categories(["yes", "no"]), 2.0, 1.0)
    n, covered = 2000, {"same": 0, "other": 0}
    for run in range(60):
        coins, answers = dn.SeededCoins(run), ["yes"] * (n // 4) + ["no"] * (n - n // 4)
        kept = mechanism.keep(answers, coins)
        for who in covered:
            found = {}
            for day in range(15):
                own = kept if who == "same" else mechanism.keep(answers, coins)
                found[day] = mechanism.tally(mechanism.report(own, coins))
            low, high = dn.trend(mechanism, found).interval(0.95)
            covered[who] += int(low[7, 0] <= 0.25 <= high[7, 0])
    # Of 60 intervals that each hold with 95 %, fewer than 46 do so less often than once in 10^6 (binomial).
    assert all(number >= 46 for number in covered.values())


def test_no_change_is_named_in_flat_series_and_a_real_one_is_by_the_day_that_can_be_calculated() -> None:
    random = np.random.default_rng(3)
    flat = [dn.trend(MECHANISM, tallies(np.full(40, 0.1), random)).changes() for _ in range(20)]
    assert not any(flat)  # the probability of one is at most 20 * 1e-4
    truth = np.concatenate([np.full(30, 0.10), np.linspace(0.10, 0.12, 30)])
    trend = dn.trend(MECHANISM, tallies(truth, random))
    (first, *_) = trend.changes()
    day = named_by(truth, trend.reports.astype(float), trend.fresh[:, 0], trend.kept[:, 0], 2, power=0.999999)
    assert day is not None and first.named <= day and first.since >= 25 and first.difference > 0
    assert first.low < 0.02 and "rose in period" in str(first)


def test_the_threshold_spends_no_more_than_the_rate() -> None:
    spent = sum(
        2 * len(lengths(t + 1)) * 3 * 0.5 * math.erfc(threshold(t + 1, len(lengths(t + 1)), 3, FALSE_ALARMS) / math.sqrt(2))
        for t in range(1, 5000)
    )
    assert spent < FALSE_ALARMS


def test_a_comparison_counts_kept_noise_of_both_sides_in_full() -> None:
    weights, fresh, kept = np.ones(6), np.full(6, 1.0), np.full(6, 0.25)
    assert contrast(weights, fresh, kept, 4, 5) == pytest.approx(math.sqrt(1 / 4 + 1 / 2 + 0.25 + 0.25))
    step = np.concatenate([np.zeros(50), np.full(50, 0.9)])
    assert jumps(step, np.ones(100), np.full(100, 0.01), np.zeros(100))
    assert not jumps(step, np.ones(100), np.full(100, 0.01), np.full(100, 0.04))


def test_changes_are_the_first_comparisons_beyond_their_thresholds() -> None:
    coins, found = np.random.default_rng(8), 0
    for size in (1, 2, 3, 17, 60):
        values = np.cumsum(coins.choice([0.0, 0.1], size, p=[0.9, 0.1])) + coins.normal(0, 0.02, size)
        weights, fresh = coins.integers(50, 500, size).astype(float), coins.uniform(2e-4, 6e-4, size)
        kept, expected, start = np.full(size, 1e-5), [], 0
        for now in range(1, size):
            tried = [now + 1 - length for length in lengths(now + 1 - start)]
            sides = [(slice(start, split), slice(split, now + 1)) for split in tried]
            means = [[np.average(values[part], weights=weights[part]) for part in each] for each in sides]
            own = slice(start, None)
            errors = [contrast(weights[own], fresh[own], kept[own], split - start, now - start) for split in tried]
            scores = [abs(late - early) / error for (early, late), error in zip(means, errors, strict=True)]
            if max(scores, default=0.0) > threshold(now + 1, max(len(tried), 1), 2, FALSE_ALARMS):
                start = tried[int(np.argmax(scores))]
                expected.append((start, now))
        assert [(jump.since, jump.named) for jump in jumps(values, weights, fresh, kept, 2)] == expected
        found += len(expected)
    assert found >= 5


def test_two_periods_are_compared() -> None:
    trend = dn.trend(MECHANISM, tallies(np.array([0.1, 0.1, 0.3]), np.random.default_rng(4)))
    moved = trend.difference(0, 2)
    low, high = moved.interval(1 - 1e-9)
    assert low[0] < 0.2 < high[0] and moved.variance == pytest.approx(trend.variance[0] + trend.variance[2])
    with pytest.raises(InvalidParameter, match="period 9"):
        trend.difference(0, 9)


def test_weekdays_are_told_apart_once_there_are_four_weeks() -> None:
    days = np.arange(63)
    truth = 0.3 + 0.05 * (days % 7 == 5) + 0.0005 * days
    trend = dn.trend(MECHANISM, tallies(truth, np.random.default_rng(5)))
    week = trend.weekdays(first=0)  # of the answer "no", which is the most frequent
    low, high = week.interval(1 - 1e-9)
    assert list(week.labels)[5] == "Saturday" and high[5] < 0
    assert low[5] < -0.05 * 6 / 7 < high[5] and low[0] < 0.05 / 7 < high[0]
    short = dn.trend(MECHANISM, tallies(truth[:20], np.random.default_rng(5)))
    with pytest.raises(EmptyBatch, match="34 daily periods"):
        short.weekdays()


def test_rows_and_refusals() -> None:
    trend = dn.trend(MECHANISM, tallies(np.full(3, 0.2), np.random.default_rng(6)))
    rows = trend.rows()
    assert len(rows) == 6 and rows[0]["low"] < rows[0]["value"] < rows[0]["high"]  # type: ignore[operator]
    with pytest.raises(EmptyBatch):
        dn.trend(MECHANISM, {})
    with pytest.raises(InvalidParameter, match="false-alarm"):
        trend.changes(false_alarms=0)
    assert isinstance(trend, Trend) and trend.plot().get_ylabel() == "% of people"
