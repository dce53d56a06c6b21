"""The length that sets of keys are padded to, chosen from a few private reports."""

import numpy as np
import pytest

import deniable as dn
from deniable.planning.padding import TRIED, PaddingPilot
from research.experiments.padding import people, sizes


class TestChoice:
    domain = dn.KeyValue(range(60), 0, 1, at_most=30)

    def test_it_is_nearly_as_good_as_knowing(self) -> None:
        """The real error, bias included, is measured for the chosen and for the largest length, over 20 collections."""
        n, pilot = 20_000, PaddingPilot(self.domain, 2.0)
        first = sizes(1000, 1)
        tally = pilot.first.tally(pilot.first.perturb(pilot.answers(people(first, 60, 2)), dn.SeededCoins(3)))
        chosen = pilot.rest(tally, n)
        assert 2 <= chosen.at_most <= 7 and chosen.cut
        held = people(sizes(n, 4), 60, 5)
        truth = np.bincount(held.keys, minlength=60) / n
        missed = {}
        for domain in (chosen, self.domain):
            mechanism = dn.plan(domain, 2.0, n)
            found = [
                mechanism.estimate(mechanism.tally(mechanism.perturb(held, dn.SeededCoins(seed)))).frequency.values
                for seed in range(20)
            ]
            missed[domain.at_most] = float(np.mean((np.array(found) - truth) ** 2))
        assert missed[chosen.at_most] < 0.6 * missed[30]

    def test_many_people_afford_a_longer_one(self) -> None:
        pilot = PaddingPilot(self.domain, 2.0)
        tally = pilot.first.tally(pilot.first.perturb(pilot.answers(people(sizes(3000, 1), 60, 2)), dn.SeededCoins(3)))
        short, long = (pilot.rest(tally, n).at_most for n in (1000, 100_000_000))
        assert short < long
        lengths = pilot.lengths(tally, 1000)
        assert len(lengths) <= TRIED and lengths[0].at_most == 1 and lengths[-1].at_most == 30
        assert lengths[-1].kept == pytest.approx(1.0) and all(0 < each.kept <= 1 and each.error > 0 for each in lengths)
        assert [each.kept for each in lengths] == sorted(each.kept for each in lengths)

    def test_answers_and_shares(self) -> None:
        pilot = PaddingPilot(dn.KeyValue(["a", "b", "c"], 0, 1, 2), 8.0)
        assert pilot.answers([{}, {"a": 1}, {"a": 1, "b": 1, "c": 1}]) == [0, 1, 2]
        assert PaddingPilot(self.domain, 1.0).answers(people(np.array([0, 1, 4, 29, 30]), 60, 1)) == [0, 1, 5, 30, 30]
        tally = pilot.first.tally(pilot.first.perturb([0] * 500 + [2] * 1500, dn.SeededCoins(1)))
        shares = pilot.shown(tally)
        assert shares.sum() == pytest.approx(1) and (shares >= 0).all() and shares[2] == pytest.approx(0.75, abs=0.05)

    def test_nobody_has_keys(self) -> None:
        """No key is lost by cutting, so that the shortest length is taken."""
        pilot = PaddingPilot(dn.KeyValue(range(10), 0, 1, 4), 10.0)
        tally = pilot.first.tally(pilot.first.perturb([0] * 2000, dn.SeededCoins(1)))
        assert pilot.rest(tally, 1000).at_most == 1

    def test_the_loss_is_that_of_one_report(self) -> None:
        pilot = PaddingPilot(self.domain, 1.0)
        assert (
            pilot.first.loss().epsilon() <= 1 and dn.certify(PaddingPilot(dn.KeyValue(range(3), 0, 1, 2), 1.0).first).holds
        )
