"""Metric privacy: the law against every pair, the certificate, the optimum, and what keeps the linear program small."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Floats
from deniable.core.odds import exp_below
from deniable.domains.metric import metric_of
from deniable.mechanisms.algebra import metric_program
from deniable.mechanisms.algebra.distances import distances_of, spanner, whole_weights
from deniable.mechanisms.algebra.interior import mixture
from deniable.mechanisms.algebra.metric_bound import proved
from deniable.mechanisms.algebra.metric_columns import Columns, Flow
from deniable.mechanisms.algebra.repair import TOTAL
from deniable.mechanisms.releases.metric_release import MetricRelease
from deniable.mechanisms.releases.staircase import Staircase
from deniable.testing import check_mechanism
from tests.examples import INTERVAL, LINE, TIES, UNEVEN
from tests.examples import POINTS as PLANE

CITY = dn.Points([[48.86 + i / 60, 2.35 + j / 40] for i in range(3) for j in range(4)], "haversine")
GRID = dn.Points([[i, j] for i in range(4) for j in range(4)])
DOMAINS: dict[str, tuple[dn.Domain, float]] = {
    "line": (LINE, 0.3),
    "uneven": (UNEVEN, 0.2),
    "interval": (INTERVAL, 1.5),
    "plane": (PLANE, 3.0),
    "city": (CITY, 0.7),
    "grid": (GRID, 1.0),
    "grid, low": (GRID, 0.4),  # the weights of some columns would be negative
    "sets": (dn.Points([{"a"}, {"a", "b"}, {"b", "c"}, {"c"}, {"a", "c", "d"}], "jaccard"), 2.0),
}
pytestmark = pytest.mark.needs("scipy")
every_domain = pytest.mark.parametrize("name", DOMAINS)


def exact(mechanism: dn.Mechanism) -> list[dict[bytes, Fraction]]:
    """The law of each answer, by following every outcome of the program."""
    return [dict(dn.law(mechanism, index).items()) for index in range(mechanism.domain.size)]


def measured(certificate: dn.Certificate) -> dn.MetricLoss:
    """What the certificate states by distance."""
    assert isinstance(certificate, dn.MetricCertificate) and certificate.metric is not None
    return certificate.metric


def broken_pairs(mechanism: MetricRelease) -> set[tuple[int, int]]:
    """The pairs that exceed e^(epsilon distance), by brute force in fractions."""
    laws, apart = exact(mechanism), distances_of(mechanism.metric)
    found = set()
    for x, y in itertools.permutations(range(len(laws)), 2):
        limit = exp_below(Fraction(mechanism.rate) * Fraction(float(apart[x, y])))
        if any(chance > limit * laws[y].get(report, 0) for report, chance in laws[x].items()):
            found.add((min(x, y), max(x, y)))
    return found


@every_domain
@pytest.mark.parametrize("make", [MetricRelease.laplace, MetricRelease.optimal])
def test_every_pair_keeps_epsilon_times_its_distance(name: str, make: object) -> None:
    mechanism = make(*DOMAINS[name])  # type: ignore[operator]
    certificate = dn.certify(mechanism)
    assert not broken_pairs(mechanism) and certificate.holds and measured(certificate).broken == 0
    # Nothing is left on the table either: the worst pair is at the promise, up to what exact weights cost.
    assert mechanism.rate * (1 - 1e-5) < measured(certificate).per_unit <= mechanism.rate
    assert certificate.loss.epsilon() <= mechanism.rate * measured(certificate).farthest


@every_domain
def test_the_worst_pair_is_that_of_brute_force(name: str) -> None:
    mechanism = MetricRelease.laplace(*DOMAINS[name])
    laws, apart = exact(mechanism), distances_of(mechanism.metric)
    odds = {
        (x, y): max(chance / laws[y][report] for report, chance in laws[x].items())
        for x, y in itertools.permutations(range(len(laws)), 2)
    }
    rates = {pair: math.log(ratio) / apart[pair] for pair, ratio in odds.items()}
    found = dn.metric_loss(mechanism)
    assert found.per_unit == pytest.approx(max(rates.values()), rel=1e-12)
    x, y = (mechanism.domain.labels.index(answer) for answer in found.pair)
    assert found.odds == odds[x, y] and found.distance == pytest.approx(apart[x, y])
    for distance, loss in found.within:
        near = [math.log(ratio) for pair, ratio in odds.items() if apart[pair] <= distance * (1 + 1e-9)]
        assert loss == pytest.approx(max(near), abs=1e-12)


def test_the_law_of_any_mechanism_can_be_measured_by_distance() -> None:
    """A promise for one answer is a promise per unit at the nearest pair; by brute force over the enumerated law."""
    stairs = Staircase(LINE, 1.5)
    laws = exact(stairs)
    rates = [
        math.log(max(laws[x][report] / laws[y][report] for report in laws[x])) / abs(x - y)
        for x, y in itertools.permutations(range(10), 2)
    ]
    assert dn.metric_loss(stairs).per_unit == pytest.approx(max(rates), rel=1e-12)
    ruled_out = dn.FiniteChannel(dn.Ordered(range(2)), 1.0, [[1, 1], [0, 2]])
    assert dn.metric_loss(ruled_out).per_unit is None and "no promise" in str(dn.metric_loss(ruled_out))


def test_the_certificate_refuses_a_law_that_breaks_one_pair() -> None:
    broken = MetricRelease(dn.Ordered(range(3)), 2.0, [[6, 2, 2], [2, 5, 3], [2, 3, 5]], 1.0)
    certificate = dn.certify(broken)
    assert broken_pairs(broken) == {(0, 1)} and measured(certificate).broken == 1
    assert not certificate.holds and certificate.loss.epsilon() <= 2  # the loss without distances is kept
    assert "DOES NOT HOLD" in str(certificate) and "1 pairs of answers exceed" in str(certificate)
    assert certificate.record()["broken_pairs"] == 1 and measured(certificate).pair == (0, 1)
    # Without a promise, a table promises what it keeps.
    own = MetricRelease(broken.domain, 2.0, broken.weights)
    assert dn.certify(own).holds and own.rate == measured(certificate).per_unit and own.rate >= math.log(3)


def test_pairs_beyond_the_promise_are_counted() -> None:
    honest = MetricRelease.laplace(LINE, 0.3)
    weights = [list(row) for row in honest.weights]
    weights[4][0] += weights[3][0] // 1000
    weights[4][4] -= weights[3][0] // 1000
    changed = MetricRelease(LINE, 100.0, weights, 0.3)
    assert measured(dn.certify(changed)).broken == len(broken_pairs(changed)) > 1


def test_a_pair_at_its_limit_is_decided_in_fractions() -> None:
    """Weights at e^epsilon to 15 digits: one more unit in one weight is one too many, which floats cannot see."""
    two, rate = dn.Ordered([0, 1]), 1.0
    low = int(TOTAL / (1 + exp_below(Fraction(1))))
    while Fraction(TOTAL - low, low) > exp_below(Fraction(1)):
        low += 1
    fits = MetricRelease(two, 1.0, [[TOTAL - low, low], [low, TOTAL - low]], rate)
    beyond = MetricRelease(two, 1.0, [[TOTAL - low + 1, low - 1], [low - 1, TOTAL - low + 1]], rate)
    assert measured(dn.certify(fits)).broken == 0
    assert measured(dn.certify(beyond)).broken == 1 and not dn.certify(beyond).holds


@every_domain
def test_the_optimum_lies_between_its_bound_and_laplace(name: str) -> None:
    domain, rate = DOMAINS[name]
    laplace, best = MetricRelease.laplace(domain, rate), MetricRelease.optimal(domain, rate)
    apart = distances_of(best.metric)
    prior = np.full(len(apart), 1 / len(apart))
    optimum = float(metric_program.optimal_channel(apart, rate * apart, prior)[0].sum())
    bound, _ = metric_program.best_channel(apart, rate * apart, prior)
    assert optimum * (1 - 1e-4) <= bound <= optimum * (1 + 1e-7)
    assert bound <= best.expected_loss() <= optimum * (1 + 1e-5)
    assert best.expected_loss() <= laplace.expected_loss() * (1 + 1e-6)
    assert "at most 0.0 % above the best" in best.explain()


@every_domain
def test_columns_come_near_to_the_whole_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is used for many answers, on few: the bound is below the optimum, the law above it, both by little."""
    domain, rate = DOMAINS[name]
    apart = distances_of(metric_of(domain))
    prior = np.arange(1, len(apart) + 1) / np.arange(1, len(apart) + 1).sum()
    optimum = float(metric_program.optimal_channel(apart, rate * apart, prior)[0].sum())
    monkeypatch.setattr(metric_program, "EXACT", 0)
    seen: list[float] = []
    bound, channel = metric_program.best_channel(apart, rate * apart, prior, seen.append)
    np.testing.assert_allclose(channel.sum(axis=1), 1, atol=1e-8)
    assert (channel <= np.exp(rate * apart)[:, :, None] * channel[None] + 1e-9).all()
    assert 0.9 * optimum <= bound <= optimum * (1 + 1e-7)
    assert optimum * (1 - 1e-6) <= float(prior @ (channel * apart).sum(axis=1)) <= 1.03 * optimum
    assert seen == sorted(seen) and 0.85 < seen[-1] <= 1


def proved_in_fractions(columns: Columns, prices: Floats, flows: list[Flow]) -> Fraction:
    """What prices and flows prove, by the definition: how much prices must fall, in fractions."""
    weights, short = [Fraction(float(weight)) for weight in columns.weights], Fraction(0)
    for flow in flows:
        left = [
            Fraction(float(columns.prior[x])) * Fraction(float(columns.losses[x, flow.release])) - Fraction(float(prices[x]))
            for x in range(columns.size)
        ]
        for u, v, amount in zip(flow.sources.tolist(), flow.targets.tolist(), flow.amounts.tolist(), strict=True):
            left[v] -= Fraction(amount)
            left[u] += Fraction(amount) / (exp_below(Fraction(float(columns.limits[u, v]))) * (1 + Fraction(1, 10**15)))
        short = max(short, *(-rest / weight for rest, weight in zip(left, weights, strict=True)))
    return sum((Fraction(float(price)) for price in prices), Fraction(0)) - short * sum(weights)


def test_the_bound_is_that_of_its_definition_in_fractions() -> None:
    """Whole numbers prove no more than fractions do, and hardly less; for prices of no use too."""
    apart, draws = distances_of(PLANE), np.random.default_rng(2)
    size = len(apart)
    columns = Columns(apart, 3.0 * apart, draws.dirichlet(np.ones(size)))
    best, _ = metric_program.optimal_channel(apart, columns.limits, columns.prior)
    for prices in (best, 0.9 * best, best * draws.uniform(0.8, 1.1, size), np.zeros(size)):
        guesses = np.vstack([np.ones(size), columns.gains])
        flows = [each.flow for each in columns.priced(prices, np.arange(size), guesses, 0.0)]
        found, exact_value = proved(columns, prices, flows), float(proved_in_fractions(columns, prices, flows))
        assert exact_value - 1e-6 <= found <= exact_value * (1 + 1e-12) + 1e-12
    assert proved(columns, best, []) < 0  # without flows, prices prove nothing


def test_the_best_column_is_that_of_all_pairs() -> None:
    """Against one program with every pair; what is proved is no more, and the column keeps every pair."""
    from scipy.optimize import linprog

    apart, draws = distances_of(GRID), np.random.default_rng(7)
    size = len(apart)
    columns = Columns(apart, 0.6 * apart, np.full(size, 1 / size))
    prices = draws.uniform(0.5, 1.5, size) * 1.2 / size
    rows = np.zeros((size * size, size))
    for place, (u, v) in enumerate(itertools.product(range(size), repeat=2)):
        rows[place, u] += columns.gains[u, v]
        rows[place, v] -= 1
    guesses = np.vstack([np.ones(size), columns.gains])
    for found, release in zip(columns.priced(prices, np.array([5, 0, 10]), guesses, 0.0), (5, 0, 10), strict=True):
        above = columns.paid[:, release] - prices
        whole = linprog(above * size, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=columns.weights[None], b_eq=[1.0])
        assert found.least <= whole.fun / size + 1e-9
        assert (found.column[:, None] * columns.gains <= found.column * (1 + 1e-12)).all()
        assert above @ found.column / (columns.weights @ found.column) >= whole.fun / size - 1e-9


def test_the_optimum_is_that_of_the_whole_program() -> None:
    """Spanner and added pairs against one linear program with every pair of every column."""
    from scipy.optimize import linprog

    domain, rate = PLANE, 3.0
    apart = distances_of(domain)
    size, prior = len(apart), np.arange(1, 10) / 45
    rows = []
    for x, y in itertools.permutations(range(size), 2):
        for z in range(size):
            row = np.zeros((size, size))
            row[x, z], row[y, z] = 1, -math.exp(rate * apart[x, y])
            rows.append(row.ravel())
    sums = np.kron(np.eye(size), np.ones((1, size)))
    cost = (prior[:, None] * apart).ravel()
    whole = linprog(cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(size))
    assert metric_program.optimal_channel(apart, rate * apart, prior)[0].sum() == pytest.approx(whole.fun, rel=1e-7)
    assert MetricRelease.optimal(domain, rate, prior).expected_loss(prior) == pytest.approx(whole.fun, rel=1e-6)


@pytest.mark.parametrize("dilation", [1.0, 1.2, 1.5, 3.0])
def test_ways_along_a_spanner_are_short(dilation: float) -> None:
    """All ways by Floyd and Warshall; on a grid, dilation 1 drops the edges that others make up."""
    for domain in (GRID, PLANE, CITY):
        apart = distances_of(domain)
        first, second = spanner(apart, dilation)
        ways = np.where(np.eye(len(apart), dtype=bool), 0.0, np.inf)
        ways[first, second] = ways[second, first] = apart[first, second]
        for middle in range(len(apart)):
            ways = np.minimum(ways, ways[:, [middle]] + ways[middle])
        assert (ways <= dilation * apart * (1 + 1e-9)).all() and (ways >= apart * (1 - 1e-9)).all()
    assert len(spanner(distances_of(GRID), 1.0)[0]) < 120 == 16 * 15 // 2


def test_the_law_on_a_line_is_the_truncated_geometric_one() -> None:
    """Inside (1 - a) / (1 + a) a^|x - z|, at the ends a^|x - z| / (1 + a), with a = e^-epsilon (Ghosh et al. 2009)."""
    mechanism, ratio, own = MetricRelease.laplace(LINE, 0.3), math.exp(-0.3), np.arange(10)
    wanted = (1 - ratio) / (1 + ratio) * ratio ** np.abs(own[:, None] - own)
    wanted[:, [0, -1]] /= 1 - ratio
    np.testing.assert_allclose(mechanism.matrix, wanted, rtol=1e-8)


@pytest.mark.parametrize(
    "places", [[[48.8, 2.25], [48.801, 2.251], [-33.8, 151.2]], [[48.8, 2.25], [48.81, 2.25], [40.7, -74]]]
)
@pytest.mark.parametrize("rate", [0.5, 1.0, 5.0, 1000.0])
def test_places_far_apart_are_told_apart(places: list[list[float]], rate: float) -> None:
    """Their probabilities are below the smallest float; what is nearest to them must not be lowered for it."""
    world = dn.Points(places, "haversine")
    for mechanism in (MetricRelease.laplace(world, rate), MetricRelease.optimal(world, rate)):
        assert mechanism.matrix[2, 2] > 0.999 and dn.certify(mechanism).holds
        assert mechanism.expected_loss() <= 0.34 * distances_of(world)[0, 1]


def test_a_comparison_without_a_bound_says_so() -> None:
    world = dn.Points([[0, 0], [0, 180], [90, 0]], "haversine")
    assert "to the bound: not shown, because no bound above 0 is known" in str(dn.compare_metric_releases(world, 0.5))


def test_more_answers_than_the_whole_program_takes() -> None:
    places = dn.Points(np.random.default_rng(3).random((80, 2)) * 9)
    best, laplace = MetricRelease.optimal(places, 0.8), MetricRelease.laplace(places, 0.8)
    certificate = dn.certify(best)
    assert certificate.holds and best.rate == 0.8
    assert best.expected_loss() < laplace.expected_loss()
    compared = dn.compare_metric_releases(places, 0.8)
    assert compared.bound is not None and compared.bound <= best.expected_loss() <= 1.07 * compared.bound
    assert "linear program over columns" in str(compared) and "above the best" in best.explain()


def test_the_certificate_states_the_loss_by_distance() -> None:
    mechanism = MetricRelease.laplace(CITY, 0.5)
    certificate = dn.certify(mechanism)
    text = str(certificate)
    assert "epsilon 0.5 per km of distance: two answers 1 km apart: odds at most e^0.5; 5 km apart: e^2.5" in text
    assert "by distance" in text and "by distance" in certificate._repr_html_()
    record = json.loads(json.dumps(certificate.record()))
    assert record["holds"] and record["per_unit"] <= 0.5 == record["promised_per_unit"]
    assert record["distance_unit"] == "km" and record["broken_pairs"] == 0
    odds = Fraction(record["worst_per_unit"]["odds"])
    assert math.log(odds) / record["worst_per_unit"]["distance"] == pytest.approx(record["per_unit"])
    assert [loss for _, loss in record["within"]] == sorted(loss for _, loss in record["within"])
    again = dn.mechanism_from_json(mechanism.to_json())
    assert again == mechanism and dn.certify(again, "enumerated").record()["odds"] == record["odds"]


def test_the_certificate_states_how_far_a_release_is_from_the_best_possible() -> None:
    best, laplace = MetricRelease.optimal(CITY, 0.5), MetricRelease.laplace(CITY, 0.5)
    assert best.accuracy is not None and best.accuracy.above is not None and best.accuracy.above < 1e-5
    assert best.accuracy.expected == best.expected_loss() >= best.accuracy.bound > 0
    text = str(dn.certify(best))
    assert "at most 0.0 % above the best that any release with this promise can have, for equally common answers" in text
    assert "km apart: e^(0.5 d)" in text and text.count("km apart: epsilon ") == 8
    record = json.loads(json.dumps(dn.certify(best).record()))
    assert record["accuracy"] == {"expected_loss": best.expected_loss(), "even": True} | {
        "bound": best.accuracy.bound,
        "above_bound": best.accuracy.above,
    }
    plain = dn.certify(laplace)
    assert "accuracy" not in plain.record() and "was not computed" in str(plain)
    known = laplace.bounded()
    assert known == laplace and known.fingerprint == laplace.fingerprint and laplace.accuracy is None
    assert known.accuracy is not None and known.accuracy.above is not None
    assert known.accuracy.bound == pytest.approx(best.accuracy.bound) and known.accuracy.above > 0.01
    assert f"at most {100 * known.accuracy.above:.1f} % above the best" in str(dn.certify(known))
    again = dn.mechanism_from_json(best.to_json())  # how good it is, is no part of what is sent
    assert isinstance(again, MetricRelease) and again == best and again.accuracy is None
    prior = np.arange(1.0, CITY.size + 1) / np.arange(1.0, CITY.size + 1).sum()
    assert "as common as its prior says" in str(dn.certify(MetricRelease.optimal(CITY, 0.5, prior)))


def test_check_mechanism_passes_on_optimal_releases() -> None:
    assert "unbiased" not in check_mechanism(MetricRelease.laplace(CITY, 2.0))
    assert set(check_mechanism(MetricRelease.optimal(UNEVEN, 0.2))) <= {"unbiased", "variance", "support", "likelihood"}


def test_comparison_keeps_one_promise() -> None:
    compared = dn.compare_metric_releases(GRID, 1.0)
    assert compared["optimal"].expected <= compared["laplace"].expected <= compared["exponential"].expected
    assert compared.bound == pytest.approx(compared["optimal"].expected, rel=1e-6)
    assert "epsilon 1 per unit" in str(compared) and "epsilon 1, that of the nearest two" in str(compared)


@pytest.mark.parametrize(
    ("domain", "rate", "words"),
    [
        (TIES, 1.0, "same in both directions"),
        (dn.Ordered(range(5), power=2), 1.0, "through a third answer is shorter"),
        (dn.Categories(["a", "b"]), 1.0, "no distances"),
        (dn.Ordered(range(2000)), 1.0, "at most 1,024 answers"),
        (LINE, 0.0, "positive number"),
        (LINE, math.inf, "positive number"),
        (LINE, True, "positive number"),
        (LINE, 1e-7, "too little for exact weights"),
    ],
)
def test_what_cannot_be_promised_is_refused(domain: dn.Domain, rate: float, words: str) -> None:
    with pytest.raises(dn.InvalidParameter, match=words):
        MetricRelease.laplace(domain, rate)


def test_a_table_that_rules_out_an_answer_promises_nothing() -> None:
    with pytest.raises(dn.InvalidParameter, match="rule out"):
        MetricRelease(dn.Ordered(range(2)), 1.0, [[1, 1], [0, 2]])
    certificate = dn.certify(MetricRelease(dn.Ordered(range(2)), 1.0, [[1, 1], [0, 2]], 1.0))
    assert not certificate.holds and "unbounded" in str(certificate) and certificate.record()["per_unit"] is None


def test_whole_weights_repair_what_a_solver_leaves() -> None:
    """A channel that is off by 1e-6 comes back within the limits, near itself, with whole rows."""
    apart = distances_of(PLANE)
    mechanism = MetricRelease.laplace(PLANE, 3.0)
    noisy = mechanism.matrix + 1e-6 * np.random.default_rng(5).random(mechanism.matrix.shape)
    weights = whole_weights(noisy, 3.0 * apart)
    assert (weights.sum(axis=1) == TOTAL).all() and np.abs(weights / TOTAL - mechanism.matrix).max() < 1e-3
    assert not broken_pairs(MetricRelease(PLANE, 30.0, weights.tolist(), 3.0))
    with pytest.raises(dn.InvalidParameter, match="too far"):
        whole_weights(np.eye(9), 1e-4 * apart)


def test_the_interior_path_finds_the_optimum_of_a_program() -> None:
    """Against HiGHS, for dense programs with known solutions; prices are dual solutions."""
    from scipy.optimize import linprog

    draws = np.random.default_rng(11)
    for rows, count in ((5, 12), (20, 80)):
        matrix, costs = draws.random((rows, count)), draws.random(count)
        sums = matrix @ draws.random(count)
        wanted, found = linprog(costs, A_eq=matrix, b_eq=sums), mixture(matrix, sums, costs)
        assert found.cost == pytest.approx(wanted.fun, rel=1e-5) and found.weights.min() >= 0
        np.testing.assert_allclose(matrix @ found.weights, sums, atol=1e-8)
        assert (found.prices @ matrix <= costs + 1e-5).all()
        assert float(sums @ found.prices) == pytest.approx(wanted.fun, rel=1e-5)
    with pytest.raises(dn.InvalidParameter, match="not solved"):
        mixture(np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([1.0, 2.0]), np.ones(2))


@pytest.mark.parametrize("per_unit", [2.0, 8.0, 20.0])
def test_far_answers_do_not_stop_the_linear_program(per_unit: float) -> None:
    """Places 1 to 17 km apart, whose odds may differ by e^40 and more; the best is never behind the Laplace law."""
    places = dn.Points([[1.0 * i, 5.0 * (i % 4)] for i in range(9)])
    best, laplace = dn.MetricRelease.optimal(places, per_unit), dn.MetricRelease.laplace(places, per_unit)
    assert dn.certify(best).holds and best.expected_loss() <= laplace.expected_loss() * (1 + 1e-9)


@pytest.mark.parametrize(
    ("places", "per_unit", "people"),
    [
        ([0, 14, 16, 21, 35, 38], 2.0, [0, 3, 0, 5, 0, 3]),
        ([1, 7, 9, 18, 24, 26, 36], 4.0, [5, 5, 2, 0, 0, 1, 3]),
        ([11, 32, 34, 36, 37], 4.0, [0, 0, 0, 1, 0]),
    ],
)
def test_nor_do_far_answers_that_nobody_has(places: list[int], per_unit: float, people: list[int]) -> None:
    """The solver fails at the largest odds, by one way or by both; odds that are not as large keep the promise too."""
    prior = np.array(people) / sum(people)
    best = dn.MetricRelease.optimal(dn.Points([(place, 0) for place in places]), per_unit, prior)
    assert dn.certify(best).holds and best.accuracy is not None
    assert best.accuracy.bound <= best.accuracy.expected <= 1e-3


@pytest.mark.parametrize("size", [5, 70])
def test_what_everybody_has_is_released_without_a_loss(size: int) -> None:
    places, everybody = dn.Points([(place % 9, place // 9) for place in range(size)]), np.eye(size)[3]
    best = dn.MetricRelease.optimal(places, 1.0, everybody)
    assert best.expected_loss(everybody) < 1e-9 and dn.certify(best).holds
    assert best.accuracy is not None and best.accuracy.bound == 0 and best.accuracy.above is None
    known = dn.MetricRelease.laplace(places, 1.0).bounded(everybody).accuracy
    assert known is not None and known.bound == 0 < known.expected
