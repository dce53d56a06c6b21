"""Liars: the worst report is really the worst, patterns are reported only if honest people cannot give them."""

import itertools
import math

import numpy as np
import pytest

import deniable as dn
from deniable.core.bits import PackedBits
from deniable.core.pure import PureProtocol
from deniable.core.reports import Reports
from deniable.privacy.law import law
from deniable.privacy.liars import LISTED_BITS, _profiles, every_report, extremes, profile_counts
from tests.examples import EXAMPLES

SIX = dn.Categories(range(6))
SMALL: dict[str, PureProtocol] = {
    name: each
    for name, each in EXAMPLES.items()
    if isinstance(each, PureProtocol) and each.layout.bits <= LISTED_BITS and each.domain.size <= 12
}


class TestWorstGain:
    @pytest.mark.parametrize("name", sorted(SMALL))
    def test_no_report_does_more(self, name: str) -> None:
        """Every report is tried: with one target the closed form is attained, with several it is never passed."""
        mechanism = SMALL[name]
        said = every_report(mechanism)
        for targets in range(1, min(4, mechanism.domain.size)):
            most, least, exact = extremes(mechanism, targets)
            chosen = [list(each) for each in itertools.combinations(range(mechanism.domain.size), targets)]
            sums = np.array([said[:, each].sum(axis=1) for each in chosen])
            assert sums.max() <= most + 1e-9 and sums.min() >= least - 1e-9
            if exact:
                assert sums.max() == pytest.approx(most) and sums.min() == pytest.approx(least)
            assert exact or targets > 1

    def test_the_attack_reaches_it(self) -> None:
        """Fakes that support the target, among honest people who do not hold it, on expected counts."""
        mechanism, n, m = dn.Unary(SIX, 1.0), 900, 100
        expected = np.full(6, n * float(mechanism.q))
        expected[1] = n * float(mechanism.p)
        after = mechanism.debias((expected + m * np.eye(6)[0]).astype(np.float64), n + m) / (n + m)
        assert after[0] == pytest.approx(dn.worst_gain(mechanism, m, n).gain)
        dropped = mechanism.debias(expected, n + m) / (n + m)
        assert 1 - dropped[1] == pytest.approx(dn.worst_gain(mechanism, m, n).drop)

    def test_other_mechanisms_are_tried_report_by_report(self) -> None:
        mechanism = dn.FiniteChannel(dn.Categories(range(3)), 1.0, [[4, 3, 2], [2, 4, 3], [3, 2, 4]])
        said = every_report(mechanism)
        assert extremes(mechanism)[0] == pytest.approx(said[:, 0].max())
        assert extremes(mechanism)[2] is True

    def test_more_privacy_gives_liars_more(self) -> None:
        weights = [dn.worst_gain(dn.SubsetSelection(SIX, epsilon), 1, 100).weight for epsilon in (0.5, 1.0, 2.0, 4.0)]
        assert weights == sorted(weights, reverse=True) and weights[-1] > 1

    def test_words(self) -> None:
        said = str(dn.worst_gain(dn.Unary(SIX, 1.0), 10, 990, targets=2))
        assert "10 false reports among 990" in said and "2 values together" in said

    def test_refusals(self) -> None:
        for given in ((-1, 10, 1), (1, 0, 1), (1, 10, 0), (1, 10, 7)):
            with pytest.raises(dn.InvalidParameter):
                dn.worst_gain(dn.Unary(SIX, 1.0), *given)
        with pytest.raises(dn.InvalidParameter, match="at most 12 bits"):
            dn.worst_gain(dn.PCKVUnary(dn.KeyValue(list(range(20)), -1, 1, at_most=2), 1.0), 1, 10)
        with pytest.raises(dn.InvalidParameter, match="shares of people"):
            dn.worst_gain(dn.Duchi(dn.Interval(0, 1, 4), 1.0), 1, 10)


class TestSuspicions:
    @pytest.mark.parametrize("name", sorted(name for name, each in EXAMPLES.items() if isinstance(each, PureProtocol)))
    def test_honest_people_raise_none(self, name: str) -> None:
        """Two kinds of populations, each with a false alarm in 10^9: together far below one in 10^6."""
        mechanism = EXAMPLES[name]
        assert isinstance(mechanism, PureProtocol)
        labels = list(mechanism.domain.labels)
        for turn, answers in enumerate((labels[:1] * 2_000, (labels * 2_000)[:2_000])):
            assert dn.suspicions(mechanism, mechanism.perturb(answers, dn.SeededCoins(turn)), 1e-9) == []

    @pytest.mark.parametrize("name", sorted(SMALL))
    def test_the_likeliest_report(self, name: str) -> None:
        mechanism = SMALL[name]
        known = mechanism.likeliest
        chances = [max(chance for _, chance in law(mechanism, index).items()) for index in range(mechanism.domain.size)]
        assert known is None or known == max(chances)

    def test_ones_everywhere(self) -> None:
        """The maximal gain attack on unary encoding with many targets: too many ones."""
        mechanism = dn.Unary(dn.Categories(range(64)), 1.0)
        honest = mechanism.perturb([0] * 10_000, dn.SeededCoins(1))
        fakes = PackedBits.pack(np.ones((300, 64), np.bool_)).bytes
        together = Reports(
            mechanism.fingerprint, mechanism.layout, {"cells": np.concatenate([honest.columns["cells"], fakes])}
        )
        said = " ".join(map(str, dn.suspicions(mechanism, together)))
        assert "votes" in said and "copies" in said and "false alarm" in said

    def test_a_seed_too_often(self) -> None:
        mechanism = dn.LocalHashing(dn.Categories(range(1000)), 1.0)
        honest = mechanism.perturb([0] * 10_000, dn.SeededCoins(1))
        columns = {name: np.concatenate([column, np.repeat(column[:1], 8)]) for name, column in honest.columns.items()}
        found = dn.suspicions(mechanism, Reports(mechanism.fingerprint, mechanism.layout, columns))
        assert [each.what for each in found] == ["copies of the same report"]
        assert found[0].seen == 9 and found[0].allowed < 6

    def test_counts_that_no_population_gives(self) -> None:
        mechanism = dn.DirectResponse(SIX, 1.0)
        fakes = Reports(mechanism.fingerprint, mechanism.layout, {"value": np.zeros(1_000, np.uint8)})
        said = " ".join(map(str, dn.suspicions(mechanism, fakes)))
        assert "most supporters" in said and "do not support" in said

    def test_liars_who_follow_the_protocol_are_not_seen(self) -> None:
        mechanism = dn.Unary(SIX, 1.0)
        reports = mechanism.perturb([0] * 5_000 + [5] * 500, dn.SeededCoins(3))
        assert dn.suspicions(mechanism, reports) == []

    def test_refusal(self) -> None:
        mechanism = dn.Unary(SIX, 1.0)
        with pytest.raises(dn.InvalidParameter, match="false alarm"):
            dn.suspicions(mechanism, mechanism.perturb([0]), 0.0)


class TestIntervalWithLiars:
    @pytest.mark.parametrize("make", [dn.DirectResponse, dn.Unary, dn.SubsetSelection])
    def test_it_holds_against_the_worst(self, make: type[PureProtocol]) -> None:
        """A thousand liars all for value 0, which nobody holds: only the wide interval holds the truth."""
        mechanism = make(SIX, 1.0)  # type: ignore[call-arg]
        honest = mechanism.perturb([1, 2, 3, 4, 5] * 4_000, dn.SeededCoins(1))
        counts = mechanism.count(honest).copy()
        counts[0] += 1_000
        tally = dn.Tally(mechanism.fingerprint, len(honest) + 1_000, counts)
        assert mechanism.estimate(tally).interval(0.999)[0][0] > 0.05
        low, high = dn.interval_with_liars(mechanism, tally, 1_000, 0.999)
        assert low[0] == 0.0 and low[1] < 0.2 < high[1]

    def test_without_liars_it_is_the_usual_one(self) -> None:
        mechanism = dn.Unary(SIX, 1.0)
        tally = mechanism.tally(mechanism.perturb([0, 1] * 5_000, dn.SeededCoins(1)))
        usual, wide = mechanism.estimate(tally).interval(0.95), dn.interval_with_liars(mechanism, tally, 0)
        assert np.allclose(wide[0], np.clip(usual[0], 0, 1)) and np.allclose(wide[1], np.clip(usual[1], 0, 1))
        with pytest.raises(dn.InvalidParameter, match="number of false reports"):
            dn.interval_with_liars(mechanism, tally, 10_000)
        assert math.isfinite(wide[0].sum())


class TestProfiles:
    @pytest.mark.parametrize("name", sorted(name for name, each in SMALL.items() if len(each.profile_law)))
    def test_their_law_is_the_same_for_every_value(self, name: str) -> None:
        """Enumerated: the exact probability of every profile, under every value."""
        mechanism = SMALL[name]
        for index in range(mechanism.domain.size):
            chances = np.zeros(len(mechanism.profile_law))
            for report, chance in law(mechanism, index).items():
                row = np.frombuffer(report, np.uint8)[None, :]
                chances[mechanism.profiles(mechanism.layout.columns(row))[0]] += float(chance)
            assert chances == pytest.approx(mechanism.profile_law, abs=1e-9)

    def test_some_family_has_them(self) -> None:
        assert {type(each).__name__ for each in SMALL.values() if len(each.profile_law)} >= {"Unary", "LocalHashing"}

    def test_reports_with_the_target_alone_are_seen_where_only_tallies_are_kept(self) -> None:
        """Five in a hundred reports with one bit: their number of ones gives them away, not the counts."""
        mechanism = dn.Unary(dn.Categories(range(64)), 1.0)
        honest = mechanism.perturb(np.arange(9_500) % 64, dn.SeededCoins(1))
        fakes = PackedBits.pack(np.tile(np.eye(64, dtype=np.bool_)[5], (500, 1))).bytes
        columns = {"cells": np.concatenate([honest.columns["cells"], fakes])}
        seen = profile_counts(mechanism, columns)
        tally = mechanism.tally(Reports(mechanism.fingerprint, mechanism.layout, columns))
        found = dn.suspicions_of_tally(mechanism, tally, seen)
        assert "deviation of report profiles from their law" in [each.what for each in found]
        assert sum(each.error for each in found) <= 1e-6

    def test_the_bound_on_false_alarms_holds(self) -> None:
        """At an error of 1/10 the exact probability of an alarm is below it: all outcomes of 40 reports, two profiles."""
        chances, n = np.array([0.3, 0.7]), 40
        exact = [math.comb(n, k) * 0.3**k * 0.7 ** (n - k) for k in range(n + 1)]
        alarms = [bool(_profiles(chances, np.array([k, n - k]), 0.1)) for k in range(n + 1)]
        assert any(alarms) and not alarms[12]
        assert sum(chance for chance, alarm in zip(exact, alarms, strict=True) if alarm) <= 0.1
