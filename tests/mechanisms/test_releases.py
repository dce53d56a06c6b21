"""Releases: the exact law of the code, what it costs, and how near to the optimum that is."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.mechanisms.algebra import cover
from deniable.mechanisms.algebra import rings as near_module
from deniable.mechanisms.algebra.cover import representatives
from deniable.mechanisms.algebra.optimal import optimal_channel
from deniable.mechanisms.algebra.repair import TOTAL, repaired
from deniable.mechanisms.releases import coarsened as coarsened_module
from deniable.mechanisms.releases.vector_release import VectorRelease
from tests.examples import INTERVAL, LINE, RANDOM, RELEASES, TIES, UNEVEN
from tests.examples import POINTS as PLANE

EPSILON = 1.5

every_release = pytest.mark.parametrize("name", RELEASES)


def law(mechanism: dn.Mechanism, index: int) -> dict[int, Fraction]:
    """The exact probability of each report, from the code."""
    found = dn.law(mechanism, index)
    values = mechanism.layout.columns(found.reports)["value"].tolist()
    return dict(zip(values, (chance for _, chance in found.items()), strict=True))


@every_release
def test_law_is_the_matrix_and_sums_to_one(name: str) -> None:
    mechanism = RELEASES[name]
    for index in range(mechanism.domain.size):
        chances = law(mechanism, index)
        assert sum(chances.values()) == 1
        row = [float(chances.get(value, Fraction(0))) for value in range(mechanism.cells)]
        np.testing.assert_allclose(mechanism.matrix[index], row, rtol=0, atol=1e-12)


@every_release
def test_released_answers_come_back(name: str) -> None:
    mechanism = RELEASES[name]
    answers = [mechanism.domain.labels[place % mechanism.domain.size] for place in range(40)]
    reports = mechanism.perturb(answers, dn.SeededCoins(1))
    again = mechanism.unpack(mechanism.pack(reports))
    assert mechanism.released(again) == mechanism.released(reports)
    assert set(mechanism.released(reports)) <= set(mechanism.domain.labels)
    assert mechanism.tally(reports).counts.sum() == 40
    with pytest.raises(dn.InvalidReport):
        mechanism.votes({"value": np.array([mechanism.cells], np.uint64)})


@every_release
def test_samples_follow_the_law(name: str) -> None:
    """Fixed seed; every count within 6 standard deviations and 1 of its mean: a false alarm has a chance below 1e-6."""
    mechanism, people = RELEASES[name], 20_000
    index = mechanism.domain.size // 3
    reports = mechanism.perturb([mechanism.domain.labels[index]] * people, dn.SeededCoins(9))
    p = mechanism.matrix[index]
    assert (np.abs(mechanism.count(reports) - people * p) <= 6 * np.sqrt(people * p * (1 - p)) + 1).all()


@every_release
def test_estimates_are_unbiased_or_refused(name: str) -> None:
    """On the expected tally, from the exact law; and what cannot be inverted says which alternatives there are."""
    mechanism, size, n = RELEASES[name], RELEASES[name].domain.size, 1000
    truth = np.arange(1, size + 1) / (size * (size + 1) / 2)
    tally = dn.Tally(mechanism.fingerprint, n, np.asarray(n * truth @ mechanism.matrix))
    if isinstance(mechanism, dn.Coarsened) and mechanism.cells > 1:
        estimate = mechanism.estimate(tally)
        np.testing.assert_allclose(estimate.values, np.bincount(mechanism.nearest, truth), atol=1e-9)
        gain = 1 / float(mechanism.p - mechanism.q)
        means = truth @ mechanism.matrix
        exact = np.diag(means) - (mechanism.matrix * truth[:, None]).T @ mechanism.matrix  # of one report, given the people
        np.testing.assert_allclose(mechanism.predict(truth, n).covariance(), exact * gain**2 / n, atol=1e-12)
    elif mechanism.rank == size:
        np.testing.assert_allclose(mechanism.estimate(tally).values, truth, atol=1e-9)
    else:
        with pytest.raises(dn.InvalidParameter, match=r"em_channel|nothing to estimate"):
            mechanism.estimate(tally)
        with pytest.raises(dn.InvalidParameter, match=r"em_channel|nothing to estimate"):
            mechanism.predict(truth, n)
        assert dn.em_channel(mechanism.matrix, tally.counts, max_rounds=50).values.sum() == pytest.approx(1)
        fit = dn.least_squares(mechanism.matrix, tally.counts, mechanism.domain.labels)
        np.testing.assert_allclose(fit.values @ mechanism.matrix, tally.counts / n, atol=1e-6)
    assert mechanism.rank == np.linalg.matrix_rank(mechanism.matrix, rtol=1e-10)


def test_a_line_cannot_be_inverted_from_two_near_on() -> None:
    assert [dn.Bipartite(LINE, 1.0, near=near).rank for near in range(1, 10)] == list(range(10, 1, -1))
    with pytest.raises(dn.InvalidParameter, match="least_squares"):
        mechanism = dn.Bipartite(LINE, 1.0)
        mechanism.estimate(mechanism.tally(mechanism.perturb([1, 2])))


@pytest.mark.needs("scipy")
def test_near_sets_that_are_a_design_can_be_inverted() -> None:
    """Not every split loses the shares: the lines of the Fano plane as near sets are independent."""
    fano = [{0, 1, 2}, {1, 3, 4}, {2, 3, 5}, {3, 0, 6}, {4, 0, 5}, {5, 1, 6}, {6, 2, 4}]
    losses = [[0.0 if y in block else 1.0 for y in range(7)] for block in fano]
    mechanism = dn.Bipartite(dn.LossMatrix(losses), 1.0)
    assert mechanism.near == 3
    assert mechanism.rank == 7
    # ... and there the coarsened release is not the best: the bipartite one is.
    optimum = dn.ReleaseChannel.optimal(mechanism.domain, 1.0)
    coarse = dn.Coarsened(mechanism.domain, 1.0)
    assert mechanism.expected_loss() == pytest.approx(optimum.expected_loss(), abs=1e-9)
    assert coarse.expected_loss() > 1.05 * mechanism.expected_loss()
    assert dn.plan_release(mechanism.domain, 1.0).wire == "bipartite-1"


@pytest.mark.parametrize("domain", [LINE, UNEVEN, PLANE, TIES], ids=["line", "uneven", "plane", "ties"])
@pytest.mark.parametrize("near", [1, 2, 5, 6])
def test_near_answers_are_the_nearest_with_ties_by_number(domain: dn.Ordered, near: int) -> None:
    mechanism = dn.Bipartite(domain, 1.0, near=near)
    high = mechanism.p / near
    for index in range(domain.size):
        losses = domain.losses(np.array([index]))[0].tolist()
        nearest = sorted(range(domain.size), key=lambda other: (losses[other], other))[:near]
        assert sorted(value for value, chance in law(mechanism, index).items() if chance == high) == sorted(nearest)


def test_taking_all_ties_would_break_the_promise() -> None:
    """The planted bug: rows with more near answers than others have another sum."""

    class Generous(dn.Bipartite):
        def randomize(self, truth: NDArray[np.int64], coins: dn.Coins) -> dict[str, NDArray[np.int64]]:
            place = coins.split(self.p, self.near, self.domain.size - self.near, len(truth))
            extra = coins.toss(Fraction(1, 3), len(truth))
            value = self._rings.member(truth, place)
            return {"value": np.where(extra & (truth == 2), 3, value)}  # one more answer is near to this one

    assert not dn.certify(Generous(dn.Ordered(range(5)), 1.0, near=2)).holds
    assert dn.certify(dn.Bipartite(dn.Ordered(range(5)), 1.0, near=2)).holds


@pytest.mark.parametrize("make", [lambda: dn.Bipartite(PLANE, 1.0, near=4), lambda: dn.Staircase(PLANE, 1.0, [2, 3, 4])])
def test_near_answers_that_are_not_kept_are_found_again(make: object, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = np.arange(500) % 9
    assert callable(make)
    kept = make().perturb(answers, dn.SeededCoins(3)).columns["value"]
    monkeypatch.setattr(near_module, "LARGEST_TABLE", 0)
    monkeypatch.setattr(near_module, "BLOCK", 20)
    np.testing.assert_array_equal(make().perturb(answers, dn.SeededCoins(3)).columns["value"], kept)


def test_representatives_are_looked_at_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [RELEASES[name] for name in ("coarsened plane", "coarsened ties", "coarsened uneven")]
    monkeypatch.setattr(coarsened_module, "BLOCK", 1)
    for mechanism in whole:
        again = dn.Coarsened(mechanism.domain, mechanism.epsilon, mechanism.outputs.tolist())
        np.testing.assert_allclose(again.row_losses(), mechanism.row_losses(), rtol=1e-12)
        np.testing.assert_allclose(again.matrix, mechanism.matrix)


def test_large_lines_are_certified_by_likeness() -> None:
    """Too many pairs to enumerate; all rows are rearrangements of one another, and four are followed in full."""
    mechanism = dn.Bipartite(dn.Ordered(range(20_000)), 1.0)
    certificate = dn.certify(mechanism)
    assert certificate.loss.proof == "proved" and certificate.rules == ("shift",)
    assert certificate.loss.odds == mechanism.odds
    assert certificate.holds


def test_numbers_on_an_interval_go_to_the_nearest_point() -> None:
    mechanism = dn.Bipartite(INTERVAL, 1.0, near=3)
    on_grid = mechanism.perturb([0.0, 1 / 3, -1.0] * 50, dn.SeededCoins(2)).columns["value"]
    between = mechanism.perturb([0.1, 0.3, -0.9] * 50, dn.SeededCoins(2)).columns["value"]
    np.testing.assert_array_equal(on_grid, between)
    with pytest.raises(dn.OutsideDomain):
        mechanism.perturb([1.1])
    with pytest.raises(dn.EmptyBatch):
        mechanism.perturb([])


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("size", [2, 5, 13, 20, 33, 50])
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0, 4.0])
def test_coarsened_is_the_optimum_on_a_line(size: int, epsilon: float) -> None:
    domain = dn.Ordered(range(1, size + 1))
    found = dn.Coarsened(domain, epsilon).expected_loss()
    assert found == pytest.approx(optimal_channel(domain, dn.odds_below(epsilon))[0], abs=1e-7)
    assert found <= dn.Bipartite(domain, epsilon, "mean").expected_loss() + 1e-12


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("seed", range(40))
def test_coarsened_is_the_optimum_for_any_prior_and_rising_loss(seed: int) -> None:
    random = np.random.default_rng(seed)
    size, epsilon = int(random.integers(2, 16)), float(random.choice([0.3, 1.0, 2.0, 4.0]))
    prior = random.dirichlet(np.full(size, 0.6))
    if seed % 4 == 0:
        domain = dn.Ordered(range(size), by_rank=np.cumsum([0, *random.integers(0, 3, size - 2), 1])[:size].tolist())
    else:
        places = np.arange(size) if seed % 2 else np.cumsum(random.integers(1, 6, size))
        domain = dn.Ordered(places, power=float(random.choice([0.5, 1.0, 2.0])))
    found = dn.Coarsened(domain, epsilon, prior=prior).expected_loss(prior)
    assert found == pytest.approx(optimal_channel(domain, dn.odds_below(epsilon), prior)[0], abs=1e-7)


def brute_force(domain: dn.Ordered | dn.Points, odds: Fraction, prior: NDArray[np.float64]) -> float:
    """The best representatives of all subsets."""
    losses, best = domain.losses(np.arange(domain.size)), np.inf
    for count in range(1, domain.size + 1):
        for chosen in itertools.combinations(range(domain.size), count):
            paid = losses[:, chosen]
            cost = prior @ (paid.sum(axis=1) + (float(odds) - 1) * paid.min(axis=1)) / (float(odds) + count - 1)
            best = min(best, float(cost))
    return best


@pytest.mark.parametrize("seed", range(8))
def test_representatives_are_the_best_of_all_subsets(seed: int) -> None:
    random = np.random.default_rng(seed)
    prior, odds = random.dirichlet(np.ones(9)), dn.odds_below(float(random.choice([0.5, 1.5, 3.0])))
    line = dn.Ordered(np.cumsum(random.integers(1, 5, 9)))
    plane = dn.Points(random.random((9, 2)))
    for domain, slack in ((line, 1e-12), (plane, 0.02)):  # in the plane a search by moves may end near the best
        chosen = list(representatives(domain, odds, prior))
        paid = domain.losses(np.arange(9))[:, chosen]
        cost = prior @ (paid.sum(axis=1) + (float(odds) - 1) * paid.min(axis=1)) / (float(odds) + len(chosen) - 1)
        assert cost <= brute_force(domain, odds, prior) * (1 + slack)


def test_a_search_that_would_take_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cover, "LARGEST_SEARCH", 1000)
    assert dn.Coarsened(dn.Ordered(range(200)), 1.0).cells == 2
    with pytest.raises(dn.InvalidParameter, match="too long"):
        dn.Coarsened(dn.Ordered(range(200)), 9.0)


def test_limits_of_large_lines() -> None:
    """Expected losses as a share of the length of the line; the optimum at epsilon 8 by a plain dynamic programme."""
    for epsilon, bipartite, optimum in [(0.25, 0.3101, 0.2466), (1.0, 0.2440, 0.2135), (4.0, 0.0719, 0.0692)]:
        domain = dn.Ordered(range(4000))
        assert dn.Bipartite(domain, epsilon).expected_loss() / 4000 == pytest.approx(bipartite, abs=2e-4)
        assert dn.Coarsened(domain, epsilon).expected_loss() / 4000 == pytest.approx(optimum, abs=2e-4)
    assert dn.Coarsened(dn.Ordered(range(4000)), 8.0).expected_loss() / 4000 == pytest.approx(0.01034, abs=2e-5)
    laplace = dn.ReleaseChannel.laplace(dn.Ordered.grid(0, 1, 401), 1.0)
    assert laplace.expected_loss() == pytest.approx(0.368, abs=2e-3)


@pytest.mark.needs("scipy")
def test_the_worst_answer_fares_best_under_its_own_optimum() -> None:
    """20 points, epsilon 1: direct 8.75, bipartite 7.06, the optimum for equal shares 7.88, for the worst answer 6.01."""
    domain = dn.Ordered(range(20))
    worst = dn.ReleaseChannel.optimal(domain, 1.0, worst=True)
    found = [
        dn.Bipartite(domain, 1.0, near=1).worst_loss(),
        dn.Bipartite(domain, 1.0).worst_loss(),
        dn.Coarsened(domain, 1.0).worst_loss(),
        worst.worst_loss(),
    ]
    assert found == pytest.approx([8.75, 7.06, 7.88, 6.01], abs=5e-3)
    assert dn.plan_release(domain, 1.0, worst=True) == worst
    assert dn.certify(worst).holds


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("worst", [False, True])
def test_the_optimal_channel_is_repaired_exactly(worst: bool) -> None:
    for epsilon in (0.1, 1.0, 6.0):
        mechanism = dn.ReleaseChannel.optimal(PLANE, epsilon, worst=worst)
        value, _ = optimal_channel(PLANE, mechanism.odds, worst=worst)
        certificate = dn.certify(mechanism)
        assert certificate.holds
        assert certificate.loss.odds == mechanism.loss().odds
        assert (mechanism.worst_loss() if worst else mechanism.expected_loss()) == pytest.approx(value, abs=1e-7)


def test_repair_keeps_every_ratio_and_every_sum() -> None:
    random = np.random.default_rng(2)
    for odds in (Fraction(3, 2), dn.odds_below(1.0), Fraction(50)):
        low = random.dirichlet(np.ones(6)) * 0.5
        channel = np.clip(random.uniform(1, float(odds), (6, 6)) * low, low, None)
        channel = low + (channel - low) * (0.5 / (channel - low).sum(axis=1, keepdims=True))
        channel = np.clip(channel, channel.min(axis=0), float(odds) * channel.min(axis=0))
        channel /= channel.sum(axis=1, keepdims=True)
        try:
            weights = np.array(repaired(channel, odds))
        except dn.InvalidParameter:  # the random channel was nowhere near its odds
            continue
        assert (weights.sum(axis=1) == TOTAL).all()
        assert all(
            Fraction(int(high), int(least)) <= odds
            for high, least in zip(weights.max(axis=0), weights.min(axis=0), strict=True)
        )
    with pytest.raises(dn.InvalidParameter, match="repaired"):
        repaired(np.eye(3), Fraction(2))


def test_exponential_and_laplace_are_the_formulas() -> None:
    half, tight = dn.ReleaseChannel.exponential(LINE, 1.0), dn.ReleaseChannel.exponential(LINE, 1.0, tight=True)
    weights = np.exp(-1.0 / 18 * LINE.losses(np.arange(10)))
    np.testing.assert_allclose(half.matrix, weights / weights.sum(axis=1, keepdims=True), atol=1e-12)
    assert half.loss().epsilon() == pytest.approx(0.5, abs=1e-9)
    assert 1 - 1e-9 < tight.loss().epsilon() <= 1
    laplace = dn.ReleaseChannel.laplace(LINE, 1.0)
    assert laplace.loss().epsilon() == pytest.approx(1, abs=1e-9)
    a = np.exp(-1 / 9)
    tail = sum((1 - a) / (1 + a) * a ** abs(3 - y) for y in range(-400, 1))
    assert laplace.matrix[3, 0] == pytest.approx(tail, abs=1e-12)
    assert laplace.matrix[3, 5] == pytest.approx((1 - a) / (1 + a) * a**2, abs=1e-12)


def test_the_published_staircase_costs_more_than_it_says() -> None:
    cells = np.array([0] * 30 + list(range(1, 11)))
    losses = np.where(cells[:, None] == cells, 0.0, 1.0)
    published = dn.ReleaseChannel.staircase_as_published(dn.LossMatrix(losses), 1.0, [0.5])
    certificate = dn.certify(published)
    assert certificate.loss.epsilon() == pytest.approx(1.786, abs=5e-4)
    assert certificate.loss.odds == published.loss().odds
    assert not certificate.holds
    assert published.epsilon == 1.0
    places = dn.Points(np.random.default_rng(7).uniform(-80, 80, (40, 2)), "quadkey")
    tiles = dn.ReleaseChannel.staircase_as_published(places, 1.0, [0, 20, 21])
    assert 1 < tiles.loss().epsilon() <= 2
    assert not dn.certify(tiles).holds
    fixed = dn.Staircase(places, 1.0, [1, 9, 30])
    assert dn.certify(fixed).holds
    with pytest.raises(dn.InvalidParameter, match="increasing"):
        dn.ReleaseChannel.staircase_as_published(places, 1.0, [3, 2])


@pytest.mark.parametrize("sampled", [False, True])
def test_vectors_are_released_coordinate_by_coordinate(sampled: bool) -> None:
    domain = dn.Vectors([dn.Ordered(range(4)), dn.Interval(0, 1, steps=2)])
    make = VectorRelease.one_coordinate if sampled else VectorRelease.of
    mechanism = make(domain, 1.0)
    assert mechanism.loss().epsilon() == pytest.approx(1, abs=1e-9)
    answers = [(3, 0.4), (0, 1.0)] * 100
    reports = mechanism.perturb(answers, dn.SeededCoins(1))
    back = mechanism.released(mechanism.unpack(mechanism.pack(reports)))
    assert back == mechanism.released(reports)
    assert mechanism.tally(reports).counts.sum() == (200 if sampled else 400)
    if sampled:
        assert {place for place, _ in back} == {0, 1}
        assert {value for place, value in back if place == 1} == {0.0, 0.5, 1.0}
    else:
        assert {value for value, _ in back} == {0, 1, 2, 3}
    parts = [part.expected_loss() for part in mechanism.parts]
    assert mechanism.expected_loss() == pytest.approx(sum(parts) / (2 if sampled else 1))
    with pytest.raises(dn.InvalidParameter, match="em_channel"):
        mechanism.estimate(mechanism.tally(reports))
    with pytest.raises(dn.InvalidParameter):
        mechanism.predict([1], 1)
    with pytest.raises(dn.SurveyMismatch):
        mechanism.released(RELEASES["bipartite"].perturb([1]))


class Careless(VectorRelease):
    """Somebody lets the second coordinate show through."""

    def randomize(self, truth: Any, coins: Any) -> Any:
        columns = super().randomize(truth, coins)
        return {**columns, "value1": np.where(truth[:, 0] == 0, truth[:, 1], columns["value1"])}


def test_vectors_are_certified_at_real_size_and_bugs_are_seen() -> None:
    domain = dn.Vectors([dn.Ordered(range(82)), dn.Ordered(range(70)), dn.Ordered(range(900))])
    for mechanism in (VectorRelease.of(domain, 2.0), VectorRelease.one_coordinate(domain, 2.0, dn.Coarsened)):
        certificate = dn.certify(mechanism)
        assert certificate.holds
        assert (certificate.loss.proof, certificate.loss.odds) == ("proved", mechanism.loss().odds)
    found = dn.certify(Careless(domain, 2.0, VectorRelease.of(domain, 2.0).parts))
    assert found.loss.odds is None and not found.holds


def test_budgets_of_coordinates_never_sum_to_more() -> None:
    domain = dn.Vectors([LINE] * 3)
    for shares in (None, [1, 2, 4], [0.1, 0.2, 0.7]):
        mechanism = VectorRelease.of(domain, 1.0, dn.Coarsened, shares)
        assert sum(Fraction(part.epsilon) for part in mechanism.parts) <= 1
        assert mechanism.loss().epsilon() <= 1
    for wrong in ([1, 2], [0, 1, 1]):
        with pytest.raises(dn.InvalidParameter, match="shares"):
            VectorRelease.of(domain, 1.0, shares=wrong)
    with pytest.raises(dn.InvalidParameter, match="in their order"):
        VectorRelease(domain, 1.0, [dn.Bipartite(UNEVEN, 1.0)] * 3)
    with pytest.raises(dn.InvalidParameter, match="one release"):
        VectorRelease(domain, 1.0, [dn.DirectResponse(LINE, 1.0)] * 3)  # type: ignore[list-item]


@pytest.mark.needs("scipy")
def test_comparison_holds_all_side_by_side() -> None:
    comparison = dn.Bipartite(LINE, 1.0, near=6).compare()
    names = [line.name for line in comparison.lines]
    assert {"constant answer", "direct", "exponential", "staircase", "bipartite, min", "coarsened", "optimal"} <= set(names)
    assert names[-1] == "bipartite-1"  # this one, which is none of the others
    assert comparison.bound is not None
    assert comparison.bound == pytest.approx(2.0992, abs=1e-4)
    assert comparison["coarsened"].expected == pytest.approx(comparison.bound)
    assert all(line.expected >= comparison.bound - 1e-9 for line in comparison.lines)
    assert "2 representatives" in str(comparison)
    assert (
        dn.compare_releases(dn.Ordered(range(2000)), 1.0).bound == dn.Coarsened(dn.Ordered(range(2000)), 1.0).expected_loss()
    )
    many = dn.compare_releases(dn.Points(RANDOM.random((80, 2))), 1.0)  # beyond the linear program
    assert many.bound is not None and all(line.expected >= many.bound for line in many.lines)
    assert many["coarsened"].expected < 1.02 * many.bound
    assert "a lower bound for every release with this promise; coarsened is at most" in str(many)


def test_planned_releases_say_why() -> None:
    planned = dn.plan_release(LINE, 1.0)
    assert planned.wire == "coarsened-1"
    assert "coarsened for 10 answers, epsilon 1" in planned.explain()
    assert "constant answer" in planned.explain()
    plane = dn.plan_release(PLANE, 1.0)
    assert plane.expected_loss() <= min(
        dn.Bipartite(PLANE, 1.0, "mean").expected_loss(), dn.Staircase(PLANE, 1.0).expected_loss()
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: dn.Bipartite(LINE, 0.0),
        lambda: dn.Bipartite(LINE, 1.0, "best"),
        lambda: dn.Bipartite(LINE, 1.0, "published"),
        lambda: dn.Bipartite(LINE, 1.0, "min", prior=[0.1] * 10),
        lambda: dn.Bipartite(LINE, 1.0, "mean", prior=[0.2] * 10),
        lambda: dn.Bipartite(LINE, 1.0, near=10),
        lambda: dn.Bipartite(LINE, 1.0, near=-1),
        lambda: dn.Bipartite(LINE, 1.0, near=2.5),  # type: ignore[arg-type]
        lambda: dn.Bipartite(dn.Categories(["a", "b"]), 1.0),
        lambda: dn.Bipartite(dn.Ordered(range(5000)), 1.0).matrix,
        lambda: dn.Staircase(LINE, 1.0, [5, 4]),
        lambda: dn.Staircase(LINE, 1.0, [10]),
        lambda: dn.Staircase(LINE, 1.0, [0, 10]),
        lambda: dn.Staircase(dn.Ordered(range(5000)), 1.0).matrix,
        lambda: dn.Coarsened(LINE, 1.0, [3, 3]),
        lambda: dn.Coarsened(LINE, 1.0, [10]),
        lambda: dn.Coarsened(LINE, 1.0, prior=[1]),
        lambda: dn.Coarsened(LINE, 1.0, [2, 4]).predict([1], 5),
        lambda: dn.Coarsened(dn.Ordered(range(5000), power=2), 1.0),
        lambda: dn.ReleaseChannel.exponential(dn.LossMatrix(np.zeros((3, 3))), 1.0),
        lambda: dn.ReleaseChannel.exponential(dn.Ordered(range(5000)), 1.0),
        lambda: dn.ReleaseChannel.laplace(PLANE, 1.0),
        lambda: dn.ReleaseChannel.optimal(dn.Ordered(range(100)), 1.0),
        lambda: dn.ReleaseChannel(LINE, 1.0, [[1, 1]] * 10),
    ],
)
def test_what_makes_no_sense_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(dn.InvalidParameter):
        make()


def test_reports_of_another_release_are_refused() -> None:
    reports = RELEASES["bipartite"].perturb([1])
    with pytest.raises(dn.SurveyMismatch):
        RELEASES["staircase"].released(reports)
