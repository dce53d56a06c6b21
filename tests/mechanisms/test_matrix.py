"""Explicit finite channels: the code draws from exactly these weights, and says when they cannot be inverted."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.core.weights import WeightTable
from deniable.mechanisms.shares.finite_channel import equal_sums
from tests.examples import CHANNELS

THREE = dn.Categories(["a", "b", "c"])
SQUARE, WIDE, SINGULAR = CHANNELS.values()
TRUTH = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]


class Each(dn.SeededCoins):
    """Uniform draws that come up every way, in order."""

    def below(self, n: int, size: int) -> NDArray[np.int64]:
        return np.arange(size) % n


@pytest.mark.parametrize("rows", [[[6, 3, 1], [2, 5, 3]], [[0, 7, 0, 0], [7, 0, 0, 0]], [[1, 0, 2, 0, 4]], [[2**62, 5, 1]]])
def test_every_draw_falls_on_its_weight(rows: list[list[int]]) -> None:
    table = WeightTable(rows)
    if table.total < 100:
        for row, weights in enumerate(rows):
            drawn = Each(1).pick_each(table, np.full(table.total, row))
            assert np.bincount(drawn, minlength=len(weights)).tolist() == weights
    numbers = np.array([0, table.total - 1, rows[0][0]], np.int64)[: 2 if rows[0][0] == table.total else 3]
    edges = list(itertools.accumulate(rows[0]))
    expected = [next(j for j, edge in enumerate(edges) if edge > number) for number in numbers]
    assert table.find(np.zeros(len(numbers), np.int64), numbers).tolist() == expected


def test_rows_of_a_batch_have_their_own_weights() -> None:
    """Fixed seed; each count is within 6 standard deviations, so a false alarm has a chance below 1e-7."""
    rows = np.arange(60_000) % 3
    drawn = dn.SeededCoins(4).pick_each(SQUARE.table, rows)
    for row in range(3):
        counts, p = np.bincount(drawn[rows == row], minlength=3), SQUARE.matrix[row]
        assert (np.abs(counts - 20_000 * p) < 6 * np.sqrt(20_000 * p * (1 - p))).all()


@pytest.mark.parametrize("mechanism", [SQUARE, WIDE, SINGULAR], ids=["square", "wide", "singular"])
def test_the_law_of_the_code_is_the_table(mechanism: dn.FiniteChannel) -> None:
    for index in range(3):
        law = dict(dn.law(mechanism, index).items())
        assert law == {bytes([j]): chance for j, chance in enumerate(mechanism.channel[index]) if chance}


def test_a_table_that_breaks_its_promise_fails() -> None:
    broken = dn.FiniteChannel(THREE, 0.5, SQUARE.weights)
    assert broken.loss().odds == 4
    assert not dn.certify(broken).holds
    ruled_out = dn.FiniteChannel(THREE, 5.0, [[2, 1], [1, 2], [3, 0]])
    assert ruled_out.loss().odds is None
    assert dn.certify(ruled_out).loss.odds is None
    never = dn.FiniteChannel(THREE, 1.0, [[2, 0, 1], [1, 0, 2], [1, 0, 2]])  # a column that no value sends
    assert never.loss().odds == dn.certify(never).loss.odds == 2


@pytest.mark.parametrize("mechanism", [SQUARE, WIDE], ids=["square", "wide"])
def test_the_error_of_an_expected_tally_is_the_predicted_one(mechanism: dn.FiniteChannel) -> None:
    n = 900
    expected = [n * sum(f * row[j] for f, row in zip(TRUTH, mechanism.channel, strict=True)) for j in range(mechanism.cells)]
    estimate = mechanism.estimate(dn.Tally(mechanism.fingerprint, n, np.array(expected, np.float64)))
    predicted = mechanism.predict([float(f) for f in TRUTH], n)
    np.testing.assert_allclose(estimate.standard_error, predicted.standard_error, rtol=1e-9)


def test_a_singular_channel_has_no_unbiased_estimate_but_others() -> None:
    tally = SINGULAR.tally(SINGULAR.perturb(["a", "b", "c"] * 50, dn.SeededCoins(1)))
    with pytest.raises(dn.InvalidParameter, match="em_channel"):
        SINGULAR.estimate(tally)
    with pytest.raises(dn.InvalidParameter, match="least_squares"):
        SINGULAR.predict([0.2, 0.3, 0.5], 10)
    expected = [
        Fraction(2, 5) * a + Fraction(3, 5) * b for a, b in zip(SINGULAR.channel[0], SINGULAR.channel[1], strict=True)
    ]
    counts = [float(1000 * share) for share in expected]
    for fit in (dn.em_channel(SINGULAR.matrix, counts), dn.least_squares(SINGULAR.matrix, counts, THREE.labels)):
        assert fit.values[1] == pytest.approx(0.6, abs=1e-5)  # "a" and "c" cannot be told apart; "b" can
        assert fit.values.sum() == pytest.approx(1)
        np.testing.assert_allclose(fit.values @ SINGULAR.matrix, np.array(counts) / 1000, atol=1e-6)


def test_least_squares_stays_on_the_simplex_and_refuses_nonsense() -> None:
    fit = dn.least_squares(SQUARE.matrix, [9, 0, 1])  # more of the first report than any shares explain
    assert fit.values.min() >= 0
    assert fit.values.sum() == pytest.approx(1)
    best = min(
        ((np.array([a, b, 100 - a - b]) / 100 @ SQUARE.matrix - [0.9, 0, 0.1]) ** 2).sum()
        for a in range(101)
        for b in range(101 - a)
    )
    assert ((fit.values @ SQUARE.matrix - [0.9, 0, 0.1]) ** 2).sum() <= best + 1e-9
    with pytest.raises(dn.InvalidParameter):
        dn.least_squares([[0.5, 0.4]], [1, 2])
    with pytest.raises(dn.InvalidParameter):
        dn.least_squares(SQUARE.matrix, [1, 2, 3], max_rounds=0)


@pytest.mark.parametrize(
    "rows",
    [
        *([], [[1, 2]], [[1, 2], [1, 2], [1, 1]], [[1, 2], [1, 2], [3]], [[1.5, 1.5]] * 3, [[-1, 4]] * 3, [[0, 0]] * 3),
        *([[2**62, 2**62]] * 3, [[2**64, 1]] * 3, [[3], [3], [3]], [["1", "2"]] * 3),
    ],
)
def test_impossible_weights_are_refused(rows: list[list[int]]) -> None:
    with pytest.raises(dn.InvalidParameter):
        dn.FiniteChannel(THREE, 1.0, rows)


def test_rows_of_fractions_get_one_sum() -> None:
    channel = dn.FiniteChannel.from_rows(THREE, 1.0, [[Fraction(1, 2), Fraction(1, 2)], [1, 2], [2, 1]])
    assert channel.weights == ((3, 3), (2, 4), (4, 2))
    bad: list[list[list[Fraction]]] = [[], [[Fraction(0)]], [[Fraction(-1), Fraction(2)]]]
    for rows in [*bad, [[Fraction(1, 3**30), Fraction(1)], [Fraction(1, 2**62), Fraction(1)]]]:
        with pytest.raises(dn.InvalidParameter):
            equal_sums(rows)


def test_reports_that_cannot_be_are_refused() -> None:
    with pytest.raises(dn.InvalidReport):
        SQUARE.votes({"value": np.array([3], np.uint8)})
    with pytest.raises(dn.InvalidParameter):
        SQUARE.predict([1, 1, 1], 10)
    with pytest.raises(dn.InvalidParameter):
        SQUARE.predict([1, 0, 0], 0)


def test_planted_bug_is_found() -> None:
    """A table whose code prefers the truth a little more than it says."""

    class Greedy(dn.FiniteChannel):
        def randomize(self, truth: NDArray[np.int64], coins: dn.Coins) -> dict[str, NDArray[np.int64]]:
            honest = coins.toss(Fraction(1, 100), len(truth))
            return {"value": np.where(honest, truth, coins.pick_each(self.table, truth))}

    greedy = Greedy(THREE, 1.5, SQUARE.weights)
    assert Counter([dn.certify(greedy).holds, dn.certify(SQUARE).holds]) == {True: 1, False: 1}
