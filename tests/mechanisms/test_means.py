"""Mechanisms for a mean, on their exact laws: unbiased to the last digit, with exact variances."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.algebra.mean_formulas import HYBRID_FROM, gaussian_scale
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.mechanisms.registry import candidates
from deniable.planning.bounds import mean_bound, prior_mean_bound
from deniable.planning.means import mean_options, people_for_mean, plan_mean
from research import mean_formulas as formulas
from tests.examples import MEANS as EXAMPLES
from tests.examples import SMALL

EPSILON = math.log(3)
EXACT = [name for name in EXAMPLES if name != "laplace"]
every_example = pytest.mark.parametrize("name", EXAMPLES)


def exact_variance(mechanism: MeanMechanism, index: int) -> Fraction:
    """The variance of a report at a point of the grid, where the interval is [-1, 1]."""
    pairs = zip(mechanism.row(index), mechanism.centred, strict=True)
    return sum((chance * value**2 for chance, value in pairs), Fraction(0)) - mechanism.point(index) ** 2


@every_example
def test_the_law_of_the_code_is_the_declared_row(name: str) -> None:
    mechanism = EXAMPLES[name]
    for index in range(mechanism.domain.size):
        row = mechanism.row(index)
        assert sum(row) == 1
        law = {int.from_bytes(report, "little"): chance for report, chance in dn.law(mechanism, index).items()}
        assert law == {cell: chance for cell, chance in enumerate(row) if chance}
        np.testing.assert_allclose(mechanism.chances(index), [float(chance) for chance in row], rtol=1e-13)


@pytest.mark.parametrize("name", EXACT)
def test_the_mean_report_is_the_truth_exactly(name: str) -> None:
    mechanism = EXAMPLES[name]
    for index in range(mechanism.domain.size):
        pairs = zip(mechanism.row(index), mechanism.centred, strict=True)
        assert sum(chance * value for chance, value in pairs) == mechanism.point(index)


@every_example
def test_variance_and_absolute_error_are_those_of_the_law(name: str) -> None:
    mechanism = EXAMPLES[name]
    half = Fraction(mechanism.domain.high - mechanism.domain.low) / 2
    for index, number in enumerate(mechanism.domain.labels):
        row, x = mechanism.row(index), mechanism.point(index)
        error = sum(chance * abs(value - x) for chance, value in zip(row, mechanism.centred, strict=True))
        exact = exact_variance(mechanism, index)
        assert mechanism.variance(number) == pytest.approx(float(half**2 * exact), rel=1e-10, abs=1e-12)
        assert mechanism.absolute_error(number) == pytest.approx(float(half * error), rel=1e-10)


@every_example
def test_worst_variance_is_the_largest_anywhere(name: str) -> None:
    mechanism = EXAMPLES[name]
    found = [mechanism.variance(x) for x in np.linspace(mechanism.domain.low, mechanism.domain.high, 2001)]
    assert max(found) <= mechanism.worst_variance() * (1 + 1e-12)
    assert mechanism.worst_variance() == pytest.approx(max(found), rel=1e-4)


@every_example
def test_the_stated_variance_is_that_of_the_reports(name: str) -> None:
    mechanism = EXAMPLES[name]
    shares = np.arange(1, mechanism.domain.size + 1, dtype=np.float64)
    shares /= shares.sum()
    cells = sum(share * mechanism.chances(index) for index, share in enumerate(shares))
    n = 1000
    estimate = mechanism.estimate(dn.Tally(mechanism.fingerprint, n, np.asarray(cells) * n))
    predicted = mechanism.predict(shares, n)
    assert estimate.measure == predicted.measure == "mean"
    assert predicted.values[0] == pytest.approx(shares @ mechanism.domain.points, rel=1e-9)
    # The variance of reports is that of the noise and that of the true numbers.
    true = shares @ mechanism.domain.points**2 - (shares @ mechanism.domain.points) ** 2
    assert estimate.variance is not None and predicted.variance is not None
    assert estimate.variance[0] == pytest.approx((predicted.variance[0] + true / n) * n / (n - 1), rel=1e-9)


@pytest.mark.parametrize("name", list(candidates("means")))
def test_a_collection_comes_near_the_truth(name: str) -> None:
    """Fixed coins; six standard errors would be passed by chance once in 5e8."""
    mechanism = candidates("means")[name].make(dn.Interval(0, 200_000), 1.0)
    salaries = np.linspace(20_000, 90_000, 40_000) + 0.37
    estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(salaries, dn.SeededCoins(3))))
    assert abs(estimate.values[0] - salaries.mean()) < 6 * estimate.standard_error[0]


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0])
def test_fine_grids_reach_the_published_variances(epsilon: float) -> None:
    """Duchi's and the three outputs' are the same on any even grid; the others tend to theirs."""
    grid, worst = dn.Interval(-1, 1), formulas.worst_variances(epsilon)
    assert dn.Duchi(grid, epsilon).worst_variance() == pytest.approx(worst["DM"], rel=1e-9)
    assert dn.ThreeOutputs(grid, epsilon).worst_variance() == pytest.approx(worst["ThreeOutputs"], rel=1e-9)
    assert dn.Piecewise.original(grid, epsilon).worst_variance() == pytest.approx(worst["PM"], rel=0.02)
    assert dn.Hybrid(grid, epsilon).worst_variance() == pytest.approx(worst["HM"], rel=0.02)
    assert dn.Piecewise(grid, epsilon).worst_variance() == pytest.approx(worst["PM_SUB"], rel=0.01)


def test_the_table_of_worst_variances() -> None:
    """DM, PM, HM, three outputs, PM-SUB and Laplace on [-1, 1], to four digits."""
    table = {
        0.1: (400.7, 533.2, 400.7, 400.7, 533.1, 800),
        0.5: (16.67, 21.22, 16.67, 16.67, 21.08, 32),
        1: (4.683, 5.224, 4.289, 4.455, 5.082, 8),
        2: (1.724, 1.228, 1.042, 1.000, 1.105, 2),
        3: (1.221, 0.493, 0.432, 0.456, 0.394, 0.889),
        5: (1.027, 0.130, 0.122, 0.274, 0.0761, 0.32),
        8: (1.001, 0.0253, 0.0249, 0.251, 0.00876, 0.125),
        10: (1.000, 0.00911, 0.00905, 0.250, 0.00222, 0.08),
    }
    for epsilon, row in table.items():
        assert list(formulas.worst_variances(epsilon).values()) == pytest.approx(row, rel=5e-3)


def test_finer_grids_come_closer() -> None:
    goal = formulas.worst_variances(3.0)["PM_SUB"]
    gaps = [
        abs(dn.Piecewise(dn.Interval(-1, 1, steps=s), 3.0, round(s / math.e), 1).worst_variance() - goal) for s in (64, 4096)
    ]
    assert gaps[1] < gaps[0] / 20


def test_the_hybrid_begins_where_its_variance_crosses_that_of_duchi() -> None:
    assert formulas.crossover("HM_formula", "DM", 0.4, 1.0) == HYBRID_FROM


@pytest.mark.parametrize("epsilon", [0.8, 1.0, 1.3, 1.6, 1.7])
def test_the_share_of_zeros_is_the_best(epsilon: float) -> None:
    """Other shares are worse in the worst case."""
    grid = dn.Interval(-1, 1, steps=64)
    best = dn.ThreeOutputs(grid, epsilon)
    for other in (Fraction(-1, 50), Fraction(1, 50)):
        a = best.a + other
        if 0 <= a <= best.odds / (best.odds + 2):
            assert dn.ThreeOutputs(grid, epsilon, a).worst_variance() > best.worst_variance()


@pytest.mark.parametrize(
    ("epsilon", "wire"),
    [
        (0.6, "duchi-1"),
        (0.62, "hybrid-1"),
        (1.59, "hybrid-1"),
        (1.62, "three-outputs-1"),
        (2.55, "three-outputs-1"),
        (2.58, "piecewise-1"),
    ],
)
def test_the_best_published_mechanism_switches_at_the_right_budgets(epsilon: float, wire: str) -> None:
    published = [row for row in mean_options(dn.Interval(0, 200_000), epsilon) if row.name not in ("optimal", "window")]
    assert published[0].mechanism.wire == wire


@pytest.mark.needs("scipy")
def test_the_plan_explains_itself() -> None:
    mechanism = dn.plan(dn.Interval(0, 200_000), epsilon=1.0, n=1000, target="mean")
    assert mechanism.wire == "optimal-mean-1"
    lines = mechanism.explain().splitlines()
    assert lines[1].split()[3] == "above" and lines[2].startswith("* optimal")
    assert [line.split()[0] for line in lines[3:5]] == ["window", "hybrid"]
    assert [float(line.split()[4 + line.startswith("*") - 1].rstrip("%")) for line in lines[2:5]] == [0.1, 0.6, 7.6]
    prior = np.zeros(1025)
    prior[512] = 1  # everybody is in the middle: three outputs can say so
    fitted = dn.plan(dn.Interval(0, 200_000), epsilon=2.0, target="mean", prior=prior)
    assert fitted.wire == "three-outputs-1" and "0.0%" in fitted.explain().splitlines()[2]
    assert "proved by a linear program" in fitted.explain()
    assert plan_mean(dn.Interval(0, 1), 4.0, max_bits=1).wire == "duchi-1"


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_nothing_published_beats_the_bound(epsilon: float) -> None:
    grid = dn.Interval(-1, 1, steps=16)
    bound = mean_bound(grid, epsilon, 1) ** 2
    for mean in candidates("means").values():
        assert mean.make(grid, epsilon).worst_variance() >= bound, mean.name
    best = dn.MeanChannel.optimal(grid, epsilon)
    certificate = dn.certify(best)
    assert certificate.holds and certificate.loss.odds == best.loss().odds
    assert certificate.slack < 1e-6
    for index in range(17):
        pairs = zip(best.row(index), best.centred, strict=True)
        assert abs(sum(chance * value for chance, value in pairs) - best.point(index)) < Fraction(1, 10**12)


@pytest.mark.needs("scipy")
def test_a_prior_only_helps() -> None:
    grid = dn.Interval(-1, 1, steps=8)
    prior = np.array([0, 0, 1, 4, 10, 4, 1, 0, 0]) / 20
    fitted, worst = dn.MeanChannel.optimal(grid, 1.0, prior), dn.MeanChannel.optimal(grid, 1.0)
    variances = [mechanism.predict(prior, 1).variance for mechanism in (fitted, worst, dn.Duchi(grid, 1.0))]
    assert variances[0] is not None and variances[1] is not None and variances[2] is not None
    assert variances[0][0] <= variances[1][0] * (1 + 1e-9) < variances[2][0]
    bound = (prior_mean_bound(grid, 1.0, 1, prior) or 0) ** 2
    assert 0.995 * variances[0][0] < bound < variances[0][0]


def test_laplace_noise_cut_at_the_ends_is_unbiased_and_better() -> None:
    for epsilon in (0.5, 1.0, 4.0):
        mechanism = dn.MeanChannel.laplace(dn.Interval(-1, 1, steps=64), epsilon)
        means = [float(mechanism.chances(index) @ mechanism.numbers) for index in range(65)]
        np.testing.assert_allclose(means, mechanism.domain.points, rtol=0, atol=1e-10)
        assert mechanism.worst_variance() < formulas.laplace(epsilon)["var"]
        assert dn.certify(mechanism).slack < 1e-9


def test_gaussian_noise_does_not_keep_epsilon_but_nearly_always() -> None:
    mechanism = dn.MeanChannel.gaussian(dn.Interval(-1, 1, steps=16), 1.0, delta=1e-3)
    assert not dn.certify(mechanism).holds
    assert mechanism.delta(1.0) == pytest.approx(1e-3, rel=1e-2)
    assert mechanism.delta(2.0) < 1e-6
    assert mechanism.worst_variance() == pytest.approx(gaussian_scale(1.0, 1e-3) ** 2, rel=1e-2)


def test_people_for_a_mean() -> None:
    mechanism = dn.Duchi(dn.Interval(-1, 1), 1.0)
    n = people_for_mean(mechanism, 0.05)
    assert mechanism.worst_variance() / n <= 0.05**2 < mechanism.worst_variance() / (n - 1)


def test_bit_sampling_is_duchis_law_on_the_sign() -> None:
    bits, duchi = EXAMPLES["bits"], dn.Duchi(dn.Interval(-1, 1, steps=7), EPSILON)
    for index in range(8):
        assert sum(bits.row(index)[1::2]) == duchi.row(index)[1]


class Biased(dn.Duchi):
    """A planted bug: the number is rounded to the nearer end, without a coin."""

    wire = "biased-1"

    def row(self, index: int) -> tuple[Fraction, Fraction]:
        up = self.odds / (self.odds + 1) if 2 * index > self.domain.steps else 1 / (self.odds + 1)
        return 1 - up, up


def test_a_biased_mechanism_would_be_noticed() -> None:
    mechanism = Biased(SMALL, EPSILON)
    pairs = zip(mechanism.row(1), mechanism.centred, strict=True)
    assert sum(chance * value for chance, value in pairs) != mechanism.point(1)
    law = {int.from_bytes(report, "little"): chance for report, chance in dn.law(mechanism, 1).items()}
    assert law != dict(enumerate(mechanism.row(1)))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: dn.Duchi(dn.Categories(["a", "b"]), 1.0), "Interval"),  # type: ignore[arg-type]
        (lambda: dn.Duchi(SMALL, 0.0), "Epsilon"),
        (lambda: dn.ThreeOutputs(SMALL, 1.0, Fraction(9, 10)), "share of zeros"),
        (lambda: dn.ThreeOutputs(SMALL, 1.0, 0.5), "Fraction"),  # type: ignore[arg-type]
        (lambda: dn.Piecewise(SMALL, 1.0, 0, 3), "at least one place"),
        (lambda: dn.Piecewise(SMALL, 1.0, 1.5, 3), "whole numbers"),  # type: ignore[arg-type]
        (lambda: dn.Piecewise(SMALL, 1.0, 1 << 21, 1), "at most"),
        (lambda: dn.BitSampling(SMALL, 1.0), "2\\^b - 1"),
        (lambda: dn.MeanChannel(dn.Interval(0, 1, steps=1), 1.0, [[3, 1], [1, 3]], [-1.0, 1.0]), "biased"),
        (lambda: dn.MeanChannel(dn.Interval(0, 1, steps=1), 1.0, [[3, 1]], [-2.0, 2.0]), "row of weights"),
        (lambda: dn.MeanChannel.laplace(dn.Interval(0, 1, steps=4096), 1.0), "at most 512"),
        (lambda: dn.MeanChannel.gaussian(SMALL, 1.0, delta=0.0), "Delta"),
        (lambda: dn.plan(dn.Categories(["a", "b"]), 1.0, target="mean"), "Interval"),
        (lambda: dn.plan(SMALL, 1.0, target="median"), "A plan needs one target"),  # type: ignore[call-overload]
        (lambda: dn.plan(SMALL, 1.0, 0, target="mean"), "at least 1"),
        (lambda: plan_mean(SMALL, 1.0, max_bits=0), "0 bits"),
        (lambda: people_for_mean(dn.Duchi(SMALL, 1.0), 0.0), "positive"),
        (lambda: dn.Duchi(SMALL, 1.0).predict([1.0], 5), "sum to 1"),
        (lambda: dn.Duchi(SMALL, 1.0).predict([0.2] * 5, 0), "one person"),
        (lambda: formulas.crossover("DM", "PM", 3.0, 4.0), "do not cross"),
        (lambda: formulas.crossover("DM", "XX", 3.0, 4.0), "formulas for"),
        (lambda: formulas.sampled_variance("XX", 3, 1.0, 0.0), "formulas for"),
    ],
)
def test_what_makes_no_sense_is_refused(make: object, says: str) -> None:
    with pytest.raises(dn.InvalidParameter, match=says):
        make()  # type: ignore[operator]


@pytest.mark.needs("scipy")
def test_priors_and_reports_of_the_bound_are_checked() -> None:
    for bad in ([0.5, 0.5], [1.0, 0, 0, 0, 0.5]):
        with pytest.raises(dn.InvalidParameter, match="prior"):
            dn.MeanChannel.optimal(SMALL, 1.0, bad)
    with pytest.raises(dn.InvalidParameter, match="3 to 1001"):
        dn.MeanChannel.optimal(SMALL, 1.0, outputs=2)


def test_numbers_that_are_none_are_refused_and_not_repeated() -> None:
    mechanism = dn.Duchi(dn.Interval(0, 100), 1.0)
    for bad in (float("nan"), float("inf"), -13.5, 100.25):
        with pytest.raises(dn.OutsideDomain) as refused:
            mechanism.perturb([bad])
        assert "13.5" not in str(refused.value) and "100.25" not in str(refused.value)


def test_impossible_reports_are_refused() -> None:
    mechanism = dn.ThreeOutputs(SMALL, 1.0)
    with pytest.raises(dn.InvalidReport):
        mechanism.votes({"value": np.array([3], np.uint8)})
    changed = json.loads(mechanism.to_json()) | {"a": "1/3"}
    assert dn.mechanism_from_json(json.dumps(changed)) != mechanism
    with pytest.raises(dn.InvalidParameter, match="do not fit"):
        dn.mechanism_from_json(json.dumps(changed | {"odds": "2"}))
