"""Rounds: later ones look where earlier ones point, and all of them are estimated together."""

from collections.abc import Callable

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Floats
from deniable.core import Tally
from deniable.mechanisms.distributions.distribution_mechanism import DistributionMechanism
from deniable.mechanisms.distributions.rounds import Round

SIZE = 64
LINE = dn.Ordered(range(SIZE))
BELL = np.exp(-(((np.arange(SIZE) - 25) / 9) ** 2) / 2)
SHARES = BELL / BELL.sum()


def expected(mechanism: DistributionMechanism, people: float, shares: Floats = SHARES) -> Tally:
    return Tally(mechanism.fingerprint, round(people), np.rint(people * shares @ mechanism.matrix).astype(np.int64))


def collected(mechanism: DistributionMechanism, people: int, random: np.random.Generator) -> tuple[Tally, Floats]:
    """A tally of people who are drawn from the shares, and how many have each answer."""
    held = random.multinomial(people, SHARES)
    reports = [random.multinomial(many, row) for many, row in zip(held, mechanism.matrix, strict=True)]
    return Tally(mechanism.fingerprint, people, np.sum(reports, axis=0)), held.astype(np.float64)


class TestNextRound:
    def test_expected_tallies_lead_to_the_quantiles(self) -> None:
        rounds: list[Round] = []
        for _ in range(3):
            mechanism = dn.next_round(LINE, 1.0, 10**7, [0.25, 0.5], rounds)
            rounds.append((mechanism, expected(mechanism, 10**7)))
            assert dn.certify(mechanism).holds
        assert rounds[0][0].wire != "cuts-1"
        upto = np.cumsum(SHARES)
        for mechanism, _ in rounds[1:]:
            assert isinstance(mechanism, dn.Cuts)
            for row in mechanism.cuts:
                assert np.abs(upto[np.array(row) - 1] - [0.25, 0.5]).max() < 0.025
        found = dn.combined(rounds)
        np.testing.assert_allclose(found.raw, SHARES, atol=1e-5)
        assert found.quantile(0.5) == np.searchsorted(upto, 0.5)

    def test_the_same_tallies_give_the_same_mechanism(self) -> None:
        first = dn.next_round(LINE, 1.0, 1000)
        tally, _ = collected(first, 1000, np.random.default_rng(1))
        second, again = (dn.next_round(LINE, 1.0, 1000, (0.5,), [(first, tally)]) for _ in range(2))
        assert second.fingerprint == again.fingerprint
        assert dn.mechanism_from_json(second.to_json()).fingerprint == second.fingerprint

    def test_rounds_without_reports_count_as_none(self) -> None:
        first = dn.next_round(LINE, 1.0, 1000)
        empty = Tally(first.fingerprint, 0, np.zeros(first.cells, np.int64))
        assert dn.next_round(LINE, 1.0, 1000, (0.5,), [(first, empty)]).fingerprint == first.fingerprint

    @pytest.mark.parametrize("size", [2, 3, 17, 300])
    @pytest.mark.parametrize("quantiles", [[0.5], [0.1, 0.5, 0.9], [0.01, 0.02, 0.03]])
    def test_rounds_are_proved_at_every_size(self, size: int, quantiles: list[float]) -> None:
        domain = dn.Interval(0, 1, steps=size - 1)
        first = dn.Hierarchy.of(domain, 0.7, [size])
        tally = expected(first, 10**5, np.full(size, 1 / size))
        second = dn.next_round(domain, 0.7, 100, quantiles, [(first, tally)])
        certificate = dn.certify(second)
        assert certificate.holds and certificate.loss.proof == "proved"


class TestCombined:
    def test_one_round_is_the_distribution_itself(self) -> None:
        mechanism = dn.Hierarchy.comb(LINE, 1.0)
        tally = expected(mechanism, 5000)
        alone, same = mechanism.distribution(tally), dn.combined([(mechanism, tally)])
        np.testing.assert_allclose(same.raw, alone.raw, atol=1e-10)
        np.testing.assert_allclose(same.covariance, alone.covariance, rtol=1e-6, atol=1e-12)

    def test_the_covariance_is_that_of_the_law(self) -> None:
        """Exactly: rounds of 2 and 3 people on three answers, over all assignments of five people and all reports."""
        line = dn.Ordered(range(3))
        first, second = dn.Hierarchy.of(line, 1.0, [3]), dn.Cuts(line, 1.0, [[1]], [1])
        n = np.array([200, 300])
        held = np.array([250, 150, 100])
        shares = held / 500
        tallies = [expected(each, people, shares) for each, people in zip((first, second), n, strict=True)]
        found = dn.combined([(first, tallies[0]), (second, tallies[1])])
        weights = [each.matrix for each in (first, second)]
        stacked = np.concatenate([n[0] / 500 * weights[0], n[1] / 500 * weights[1]], axis=1)
        scale = 1 / stacked.mean(axis=0)
        inverse = np.linalg.solve((stacked * scale) @ stacked.T, stacked * scale)
        # Given who is in a round, its reports vary about their law; who is in it varies as a draw without replacement.
        wanted, start = np.zeros((3, 3)), 0
        maps = []
        for people, law in zip(n, weights, strict=True):
            part = inverse[:, start : start + law.shape[1]] / 500
            start += law.shape[1]
            noise = np.diag(shares @ law) - (law.T * shares) @ law
            wanted += people * part @ noise @ part.T
            maps.append(part @ law.T)  # what one person with each answer adds
        drawn = (np.diag(shares) - np.outer(shares, shares)) * 500 / 499 * n[0] * (1 - n[0] / 500)
        wanted += (maps[0] - maps[1]) @ drawn @ (maps[0] - maps[1]).T  # those who are not in the first are in the second
        np.testing.assert_allclose(found.covariance, wanted, rtol=0.01, atol=1e-7)

    def test_intervals_hold_over_rounds(self) -> None:
        """100 times three rounds: 95 % intervals hold 95 times or more often; below 83 is beyond chance (1e-6)."""
        random, held = np.random.default_rng(4), 0
        first = dn.Hierarchy.comb(LINE, 1.0)
        for _ in range(100):
            tally, people = collected(first, 3000, random)
            rounds: list[Round] = [(first, tally)]
            everybody = people
            for _ in range(2):
                mechanism = dn.next_round(LINE, 1.0, 3000, (0.5,), rounds)
                tally, people = collected(mechanism, 3000, random)
                rounds.append((mechanism, tally))
                everybody = everybody + people
            low, high = dn.combined(rounds).quantile(0.5).interval(0.95)
            held += low <= np.searchsorted(np.cumsum(everybody), everybody.sum() / 2) <= high
        assert held >= 83


@pytest.mark.parametrize(
    "make",
    [
        lambda: dn.Cuts(LINE, 1.0, [], []),
        lambda: dn.Cuts(LINE, 1.0, [[3]], [0]),
        lambda: dn.Cuts(LINE, 1.0, [[3], [4, 5]], [1, 1]),
        lambda: dn.Cuts(LINE, 1.0, [[5, 4]], [1]),
        lambda: dn.Cuts(LINE, 1.0, [[0]], [1]),
        lambda: dn.Cuts(LINE, 1.0, [[SIZE]], [1]),
        lambda: dn.Cuts(LINE, 1.0, [[]], [1]),
        lambda: dn.next_round(LINE, 1.0, 100, []),
        lambda: dn.next_round(LINE, 1.0, 100, [1.0]),
        lambda: dn.combined([]),
        lambda: dn.combined([(m := dn.Cuts(LINE, 1.0, [[3]], [1]), expected(m, 1000))]),
        lambda: dn.combined(
            [
                (m := dn.Hierarchy.comb(each, 1.0), expected(m, 100, np.full(each.size, 1 / each.size)))
                for each in (LINE, dn.Ordered(range(16)))
            ]
        ),
    ],
)
def test_what_cannot_be(make: Callable[[], object]) -> None:
    with pytest.raises(dn.InvalidParameter):
        make()
