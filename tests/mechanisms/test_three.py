"""Three-state response: the family, its estimates on the exact law, the best channels and what is refused."""

import itertools
import math
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.domains import domain_from_spec
from deniable.mechanisms.key_value.three_design import least, variance, vertices
from tests.every import EveryCoin
from tests.examples import STATES as CHANNELS

EPSILON = math.log(3)

PRIORS: list[tuple[float, float, float]] = [(0.9, 0.07, 0.03), (0.1, 0.6, 0.3), (0.5, 0.5, 0.0), (0.4, 0.3, 0.3)]

each = pytest.mark.parametrize("name", CHANNELS)


def shares(size: int) -> list[F]:
    weights = [3 * place + 1 for place in range(size)]
    return [F(weight, sum(weights)) for weight in weights]


@each
def test_the_code_has_the_law_of_the_matrix(name: str) -> None:
    mechanism = CHANNELS[name]
    for index, row in enumerate(mechanism.channel):
        law = {report[0]: chance for report, chance in dn.law(mechanism, index).items()}
        assert [law.get(report, F(0)) for report in range(len(row))] == list(row)
        assert sum(row) == 1


@each
def test_people_drawn_at_random_add_the_variance_of_drawing_them(name: str) -> None:
    mechanism = CHANNELS[name]
    size, n = mechanism.domain.size, 50
    truth, rows = shares(size), mechanism.channel
    expected = [float(n * sum(truth[x] * rows[x][y] for x in range(size))) for y in range(size)]
    found = mechanism.estimate(dn.Tally(mechanism.fingerprint, n, np.array(expected)))
    inverse = np.linalg.inv(np.array(rows, float))
    r = np.array(expected) / n
    drawn = inverse.T @ (np.diag(r) - np.outer(r, r)) @ inverse / n
    np.testing.assert_allclose(found.for_population().covariance(), drawn, rtol=1e-9, atol=1e-12)


def all_counts(n: int) -> list[tuple[int, int, int]]:
    return [(n - a - b, a, b) for a, b in itertools.product(range(n + 1), repeat=2) if a + b <= n]


@pytest.mark.parametrize("name", ["ewrr", "dagger", "ddagger", "club", "complement", "weighted"])
@pytest.mark.parametrize("n", [1, 3, 6])
def test_links_are_unbiased_over_every_outcome(name: str, n: int) -> None:
    """Degree, weight and their covariance, summed over all tallies of n people drawn at random, in exact fractions."""
    three = CHANNELS[name]
    assert isinstance(three, dn.ThreeState)
    truth = (F(1, 2), F(3, 10), F(1, 5))
    chances = [sum(truth[x] * three.channel[x][y] for x in range(3)) for y in range(3)]
    moments = np.zeros(5)
    for counts in all_counts(n):
        often = (
            math.factorial(n)
            / math.prod(map(math.factorial, counts))
            * float(math.prod(c**k for c, k in zip(chances, counts, strict=True)))
        )
        found = three.links(dn.Tally(three.fingerprint, n, np.array(counts)))
        f, w = found.frequency.values[0], found.weight.values[0]
        moments += often * np.array([f, w, f * f, w * w, f * w])
    low, high = three.domain.low, three.domain.high
    predicted = three.predict_links((0.5, 0.3, 0.2), n).for_population()
    assert moments[0] == pytest.approx(0.5, abs=1e-12)
    assert moments[1] == pytest.approx(0.3 * high + 0.2 * low, abs=1e-11)
    assert moments[2] - moments[0] ** 2 == pytest.approx(predicted.frequency.standard_error[0] ** 2, rel=1e-9)
    assert moments[3] - moments[1] ** 2 == pytest.approx(predicted.weight.standard_error[0] ** 2, rel=1e-9)
    centre, half = (low + high) / 2, (high - low) / 2
    covariance = centre * predicted.spread.frequency[0] + half * predicted.spread.both[0]
    assert moments[4] - moments[0] * moments[1] == pytest.approx(covariance, rel=1e-9)


def test_fixed_people_vary_less_by_what_drawing_them_adds() -> None:
    three = dn.ThreeState.ewrr(1.0)
    for truth in PRIORS:
        fixed = three.predict_links(truth, 100)
        covariance, drawn = three.predict(truth, 100).covariance(), fixed.for_population()
        degree, weight = np.array([0, 1, 1]), np.array([0, 1, -1])
        assert fixed.spread.frequency[0] == pytest.approx(degree @ covariance @ degree, rel=1e-9)
        assert fixed.spread.signed[0] == pytest.approx(weight @ covariance @ weight, rel=1e-9)
        assert fixed.spread.both[0] == pytest.approx(degree @ covariance @ weight, rel=1e-9, abs=1e-14)
        assert drawn.spread.frequency[0] - fixed.spread.frequency[0] == pytest.approx(truth[0] * (1 - truth[0]) / 100)


def test_weights_between_the_ends_are_right_on_average() -> None:
    """A weight of 0.2 on -1..1 is high with probability 0.6, exactly to 2^-53."""
    three = dn.ThreeState.ewrr(EPSILON)
    coins = EveryCoin()
    three.perturb([0.2], coins)
    coins.follow(np.arange(coins.combinations))
    reports = three.perturb([0.2] * coins.combinations, coins)
    code, table = coins.chances()
    law = [
        sum((table[c] for c, v in zip(code, reports.columns["value"], strict=True) if v == state), F(0))
        for state in range(3)
    ]
    for got, high, low in zip(law, three.channel[1], three.channel[2], strict=True):
        assert abs(got - (F(6, 10) * high + F(4, 10) * low)) < F(1, 2**50)


def test_means_and_fieller_intervals() -> None:
    three = dn.ThreeState.ewrr(2.0)
    found = three.predict_links((0.5, 0.3, 0.2), 10_000)
    mean = found.mean
    assert mean.values[0] == pytest.approx(0.2)
    low, high = mean.interval(0.95)
    # Fieller's ends for normal errors solve (d - r f)^2 = z^2 Var(d - r f); with so many people ours are the same
    z, f, d, spread = 1.959964, 0.5, 0.1, found.spread
    a, b, c = (
        f * f - z**2 * spread.frequency[0],
        f * d - z**2 * spread.both[0],
        d * d - z**2 * spread.signed[0],
    )
    root = math.sqrt(b * b - a * c)
    width = high[0] - low[0]
    assert (low[0], high[0]) == pytest.approx(((b - root) / a, (b + root) / a), abs=width / 50)
    assert high[0] - low[0] == pytest.approx(2 * 1.959964 * mean.standard_error[0], rel=0.01)
    assert mean.bias is not None and abs(mean.bias[0]) < mean.standard_error[0] / 50


def test_a_mean_of_noise_is_refused_and_one_without_ends_has_none() -> None:
    three = dn.ThreeState.ewrr(1.0)
    with pytest.raises(dn.InvalidParameter, match="noise"):
        _ = three.predict_links((0.99, 0.01, 0.0), 100).mean
    barely = three.predict_links((0.9, 0.07, 0.03), 900)
    assert barely.clear.tolist() == [True]
    low, high = barely.mean.interval(0.9999)
    assert (low[0], high[0]) == (-math.inf, math.inf)


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 3.0])
def test_vertices_cost_the_budget_and_span_all_channels(epsilon: float) -> None:
    odds = dn.odds_below(epsilon)
    corners = vertices(epsilon)
    assert (odds / (odds + 2), (odds + 1) / (odds + 2), odds / (odds + 1)) in corners
    assert (odds / (odds + 1), odds / (odds + 1), F(1, 2)) in corners
    assert (F(0), F(1), odds / (odds + 1)) in corners
    assert len(corners) == 6
    for p1, p2, q in corners:
        if p1 + p2 != 1 or (p2 and q != F(1, 2)):
            assert dn.ThreeState(p1, p2, q, epsilon).loss().odds == odds


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 2.0])
def test_no_channel_on_a_grid_beats_the_design(epsilon: float, prior: tuple[float, float, float]) -> None:
    odds, grid = math.exp(epsilon), np.linspace(0.005, 0.995, 23)
    best = {target: least(epsilon, target, prior)[1] for target in ("degree", "weight", "balanced", "mean")}
    for p1, p2, q in itertools.product(grid, grid, np.linspace(0.5, 0.995, 12)):
        fake = (1 - p1) / 2
        columns = [(p1, 1 - p2), (fake, p2 * q, p2 * (1 - q))]
        if all(max(column) <= odds * min(column) for column in columns):
            for target, smallest in best.items():
                assert variance(target, (F(p1), F(p2), F(q)), prior) >= smallest * (1 - 1e-3)


@pytest.mark.parametrize("prior", PRIORS)
def test_variance_of_a_design_is_that_of_the_channel(prior: tuple[float, float, float]) -> None:
    three = dn.ThreeState.club(F(4, 5), F(3, 5), F(3, 4))
    point = (three.p1, three.p2, three.q)
    covariance = three.predict(prior, 1).for_population().covariance()
    assert variance("degree", point, prior) == pytest.approx(covariance[0, 0])
    assert variance("high", point, prior) == pytest.approx(covariance[1, 1])
    assert variance("balanced", point, prior) == pytest.approx(np.trace(covariance))
    assert variance("weight", point, prior) == pytest.approx(np.array([0, 1, -1]) @ covariance @ np.array([0, 1, -1]))


def test_published_optima() -> None:
    """n x variance at sparse and dense shares, to the digits of a table found by search."""
    sparse, dense = PRIORS[0], PRIORS[1]
    for epsilon, target, first, second in [
        (0.5, "degree", 4.01, 4.01),
        (0.5, "high", 6.47, 7.46),
        (0.5, "balanced", 20.6, 21.0),
        (0.5, "weight", 16.7, 16.6),
        (1, "balanced", 4.54, 4.90),
        (1, "mean", 372, 6.50),
        (4, "balanced", 0.261, 0.617),
    ]:
        assert least(epsilon, target, sparse)[1] == pytest.approx(first, rel=5e-3)
        assert least(epsilon, target, dense)[1] == pytest.approx(second, rel=5e-3)


def test_designs_say_why_and_refuse_what_they_lost() -> None:
    degree = dn.ThreeState.design(1.0, "degree")
    assert "weights cannot be estimated" in degree.explain() and degree.loss().odds == dn.odds_below(1.0)
    tally = degree.tally(degree.perturb([None, 1.0, -1.0] * 1000, dn.SeededCoins(1)))
    assert abs(degree.links(tally).frequency.values[0] - 2 / 3) < 6 * degree.links(tally).frequency.standard_error[0]
    with pytest.raises(dn.InvalidParameter, match="values"):
        _ = degree.links(tally).weight
    with pytest.raises(dn.InvalidParameter, match="weight"):
        degree.estimate(tally)
    with pytest.raises(dn.InvalidParameter, match="weight"):
        degree.predict([1, 0, 0], 5)
    weight = dn.ThreeState.design(0.5, "weight", (0.1, 0.6, 0.3))
    assert "degrees cannot be estimated" in weight.explain() and weight.p1 == 0
    with pytest.raises(dn.InvalidParameter, match="weights only"):
        _ = weight.links(weight.tally(weight.perturb([1.0, None]))).frequency
    assert dn.ThreeState.design(1.0) == dn.ThreeState.ewrr(1.0)
    assert dn.ThreeState.design(2.0, "mean", (0.9, 0.07, 0.03)).loss().epsilon() <= 2.0
    assert dn.DirectResponse(dn.Categories(range(3)), 1.0).p == dn.ThreeState.ewrr(1.0).p1


def test_the_published_region_does_not_hold() -> None:
    published = dn.ThreeState.dagger_as_published(F(4, 10), F(7, 10), 1.0)
    certificate = dn.certify(published)
    assert not certificate.holds and certificate.loss.odds == F(14, 3) == published.loss().odds
    assert certificate.loss.epsilon() == pytest.approx(1.5404, abs=1e-4)
    assert dn.mechanism_from_json(published.to_json()) == published
    with pytest.raises(dn.InvalidParameter):
        dn.ThreeState.dagger(F(4, 10), F(7, 10), 1.0)
    with pytest.raises(dn.InvalidParameter, match="outside"):
        dn.ThreeState.dagger_as_published(F(9, 10), F(9, 10), 1.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: dn.ThreeState.club(F(1, 2), F(1, 2), F(3, 4)),
        lambda: dn.ThreeState.club(F(3, 4), F(3, 4), F(1, 2)),
        lambda: dn.ThreeState.ddagger(F(1, 2), F(3, 4)),
        lambda: dn.ThreeState.dagger(F(3, 4), F(1, 3)),
        lambda: dn.ThreeState(F(1, 2), F(1, 2), F(1, 2)),
        lambda: dn.ThreeState.club(F(1), F(1), F(1)),
        lambda: dn.ThreeState(0.5, F(1, 2), F(3, 4)),  # type: ignore[arg-type]
        lambda: dn.ThreeState.design(1.0, "speed"),  # type: ignore[arg-type]
        lambda: dn.ThreeState.design(1.0, "weight", (0.5, 0.5, 0.5)),
        lambda: dn.EqualWeight(dn.Categories(range(4)), F(1, 4)),
        lambda: dn.EqualWeight(dn.Categories(range(4)), F(1)),
        lambda: dn.EqualWeight(dn.Categories(range(4)), F(3, 4), 0.5),
        lambda: dn.ThreeState.ewrr(1.0).predict([0.5, 0.6, 0.1], 10),
        lambda: dn.ThreeState.ewrr(1.0).predict([0.5, 0.4, 0.1], 0),
        lambda: dn.Link(1, 1),
    ],
)
def test_impossible_parameters_are_refused(make: Any) -> None:
    with pytest.raises(dn.InvalidParameter):
        make()


@pytest.mark.parametrize("answers", [[2.0], [float("nan")], ["x"], [[1.0], [1.0, 2.0]], [True, None]])
def test_impossible_links_are_refused_without_their_value(answers: list[object]) -> None:
    for rule in (dn.Link().index, lambda values: dn.Link().place(values, dn.SeededCoins(1))):
        with pytest.raises(dn.OutsideDomain) as refused:
            rule(answers)
        assert "2.0" not in str(refused.value)


def test_links_come_back_from_their_description() -> None:
    assert domain_from_spec(dn.Link(0, 5).spec()) == dn.Link(0, 5)


@pytest.mark.needs("matplotlib")
def test_feasible_regions_are_drawn() -> None:
    figure = dn.feasible_regions(1.0, steps=41)
    assert [axes.get_title() for axes in figure.axes] == ["RR3-dagger", "RR3-ddagger"]
    inside = [axes.collections[0].get_paths() for axes in figure.axes]
    # a point that the published bound allows and the exact loss does not, and the best point
    assert not any(path.contains_point((0.4, 0.7)) for path in inside[0])
    assert any(path.contains_point((0.55, 0.55)) for path in inside[0])


def test_former_names_still_work() -> None:
    for three in (dn.ThreeState.ewrr(1.0), dn.ThreeState.design(1.0, "degree"), dn.ThreeState.design(1.0, "weight")):
        with pytest.warns(DeprecationWarning, match="estimates_"):
            former = three.tells_degree, three.tells_weight
        assert former == (three.estimates_degree, three.estimates_weight)
