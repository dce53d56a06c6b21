"""All tables of pairs: the law is proved, estimates are unbiased, their covariances are exact, and the error is small."""

import itertools
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.tally import Tally
from deniable.wrappers.one_pair import Tables
from tests.examples import EPSILON

MADE = {
    "two": dn.OnePair(dn.Vectors([dn.Categories(range(2)), dn.Categories(range(3))]), EPSILON),
    "lines": dn.OnePair(dn.Vectors([dn.Categories(range(3)), dn.Categories(range(4))]), 1.0, 4, 4, 2, 1),
    "merged": dn.OnePair(dn.Vectors([dn.Categories(range(2))] * 3), 1.0, 5, 3, 1, 1),
    "power": dn.OnePair(dn.Vectors([dn.Categories(range(2)), dn.Categories(range(3))]), 1.0, 8, 3, 1, 0),
}
TEN = dn.OnePair(dn.Vectors([dn.Categories(range(4))] * 10), 1.0)


def joint(mechanism: dn.OnePair) -> Any:
    shares = np.random.default_rng(5).dirichlet(np.ones(mechanism.domain.size))
    return shares.reshape(mechanism.sizes)


def tables(mechanism: dn.OnePair) -> list[Any]:
    whole, axes = joint(mechanism), range(len(mechanism.sizes))
    return [whole.sum(axis=tuple(set(axes) - set(pair))).ravel() for pair in itertools.combinations(axes, 2)]


def single_reports(mechanism: dn.OnePair) -> tuple[Any, Any]:
    """Every report that can occur with its probability among people with these answers, and what it votes for."""
    chances: dict[bytes, float] = {}
    for index, share in enumerate(joint(mechanism).ravel()):
        for report, chance in dn.law(mechanism, index).items():
            chances[report] = chances.get(report, 0.0) + share * float(chance)
    rows = np.frombuffer(b"".join(chances), np.uint8).reshape(len(chances), -1)
    columns = mechanism.layout.columns(rows)
    votes = [mechanism.votes({name: column[p : p + 1] for name, column in columns.items()}) for p in range(len(rows))]
    return np.array(list(chances.values())), np.array(votes, np.float64)


@pytest.mark.parametrize("name", MADE)
def test_the_declared_loss_is_that_of_the_law(name: str) -> None:
    mechanism = MADE[name]
    enumerated, proved = dn.certify(mechanism, "enumerated"), dn.certify(mechanism)
    assert enumerated.loss.odds == proved.loss.odds == mechanism.loss().odds
    assert proved.holds and proved.loss.proof == "proved"


@pytest.mark.parametrize("name", MADE)
def test_estimates_are_unbiased_and_covariances_exact(name: str) -> None:
    """Every group is an experiment of its own: given how many report in each, means and covariances follow from the law."""
    mechanism, truth = MADE[name], tables(MADE[name])
    chance, votes = single_reports(mechanism)
    size, groups = mechanism.edges[-1], len(mechanism.groups)
    reports = 1000.0 * mechanism.group_shares
    seen = [
        (chance * votes[:, size + g]) @ votes[:, a:b] / mechanism.group_shares[g]
        for g, (a, b) in enumerate(itertools.pairwise(mechanism.edges))
    ]

    def solved(means: list[Any]) -> list[Any]:
        counts = np.concatenate([*(10_000_000 * each for each in means), np.full(groups, 10_000_000)])
        return [np.array(each) for each in mechanism._solved(counts, 10_000_000 * groups).tables]

    weighted = Tables(mechanism, truth, np.full(groups, 1e7), groups)
    assert all(np.allclose(a, b, atol=1e-12) for a, b in zip(solved(seen), truth, strict=True))
    # The estimate is linear in what each group saw, so its covariance is a sum over groups.
    zero = solved([np.zeros_like(each) for each in seen])
    for place in range(len(truth)):
        wanted = np.zeros((len(truth[place]),) * 2)
        for group, own in enumerate(seen):
            onto = np.stack(
                [
                    solved([unit if g == group else np.zeros_like(each) for g, each in enumerate(seen)])[place] - zero[place]
                    for unit in np.eye(len(own))
                ],
                axis=1,
            )
            start, end = mechanism.edges[group], mechanism.edges[group + 1]
            inside = votes[:, size + group] == 1
            own_chance, own_votes = chance[inside] / chance[inside].sum(), votes[inside][:, start:end]
            spread = (own_votes.T * own_chance) @ own_votes - np.outer(own, own)
            wanted += onto @ spread @ onto.T / 1e7
        assert np.allclose(weighted.covariance(place), wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())
    predicted = mechanism.predict(np.concatenate(truth), 1000)
    variance = np.concatenate([np.diag(Tables(mechanism, truth, reports, 1000).covariance(p)) for p in range(len(truth))])
    values = np.concatenate(truth)
    assert predicted.variance is not None
    assert np.allclose(predicted.variance, variance - values * (1 - values) / 1000)


def people(n: int) -> Any:
    random = np.random.default_rng(3)
    common = random.integers(0, 4, n)
    other = random.choice(4, (n, 10), p=[0.5, 0.25, 0.15, 0.1])
    return np.where(random.random((n, 10)) < 0.4, common[:, None], other)


def test_the_error_of_all_45_tables_is_small() -> None:
    """10 questions of 4 answers, 100,000 people, epsilon 1. The mean of 720 squares varies by about 6 %."""
    assert (TEN.order, TEN.buckets, TEN.pair_slots, TEN.single_slots) == (4, 4, 1, 1)
    assert TEN.total_error(100_000) < 0.0281
    rows = people(100_000)
    estimate = TEN.estimate(TEN.tally(TEN.perturb(rows, dn.SeededCoins(1))))
    truth = np.concatenate([np.bincount(4 * rows[:, a] + rows[:, b], minlength=16) for a, b in TEN.pairs]) / len(rows)
    assert np.sqrt(np.mean((estimate.values - truth) ** 2)) < 0.030
    assert estimate.variance is not None
    # 720 squares in units of their variances, of which some 435 are independent: 1 +- 0.07, seven deviations are allowed
    assert abs(np.mean((estimate.values - truth) ** 2 / estimate.variance) - 1) < 0.5


def test_compound_questions_about_drawn_pairs_are_less_accurate() -> None:
    """Each pair gets a 45th of the people, whose drawing adds to the error: 3.8 points, as the page says."""
    compound, people = dn.SubsetSelection(dn.Categories(range(16)), 1.0), 100_000 / 45
    noise = compound.predict(np.full(16, 1 / 16), 1).variance
    assert noise is not None
    drawn = 1 / 16 * 15 / 16
    assert f"{100 * np.sqrt((noise.mean() + drawn) / people):.1f}" == "3.8"


def test_margins_are_the_same_in_all_tables() -> None:
    tables = dn.crosstabs(TEN.perturb(people(20_000), dn.SeededCoins(2)), TEN, names=[f"q{i}" for i in range(10)])
    assert len(tables) == 45
    for name in ("q0", "q7"):
        margins = [table.margins()[name].values for table in tables if name in table.questions]
        assert len(margins) == 9 and all(np.allclose(margins[0], each, atol=1e-12) for each in margins)
        assert np.isclose(margins[0].sum(), 1)


def test_tallies_add_and_the_mechanism_is_restored() -> None:
    rows = people(4000)
    reports = TEN.perturb(rows, dn.SeededCoins(4))
    assert TEN.tally(reports[:1000]) + TEN.tally(reports[1000:]) == TEN.tally(reports)
    assert dn.mechanism_from_json(TEN.to_json()) == TEN
    assert len(TEN.unpack(TEN.pack(reports))) == 4000
    assert Tally.from_json(TEN.tally(reports).to_json()) == TEN.tally(reports)


def test_bad_parameters_are_refused() -> None:
    pair = dn.Vectors([dn.Categories(range(2))] * 2)
    for arguments, words in (
        ((dn.Vectors([dn.Categories(range(2))]), 1.0), "2 to 64 questions"),
        ((dn.Vectors([dn.Categories(range(2)), dn.Categories(range(21))]), 1.0), "at most 20 answers; one has 21"),
        ((pair, 1.0, 6, 2, 1, 1), "a prime number"),
        ((pair, 1.0, 5, 6, 1, 1), "a prime number"),
        ((pair, 1.0, 2, 2, 1, 0), "say nothing about the margins"),
        ((pair, 1.0, -1), "whole numbers"),
    ):
        with pytest.raises(dn.InvalidParameter, match=words):
            dn.OnePair(*arguments)
    with pytest.raises(dn.InvalidParameter, match="720 shares"):
        TEN.predict([0.5, 0.5], 10)
    with pytest.raises(dn.EmptyBatch, match="no reports"):
        TEN.estimate(TEN.tally(TEN.perturb(people(1))))
