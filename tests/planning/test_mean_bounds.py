"""The least error of a mean: no law is below it, at any budget or under any prior, and the best ones are near it."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Floats
from deniable.mechanisms.algebra.concave_sum import largest_sum
from deniable.mechanisms.algebra.density_program import density_proof
from deniable.mechanisms.algebra.mean_density import POWERS, DensityProof
from deniable.mechanisms.algebra.mean_formulas import suboptimal
from deniable.mechanisms.algebra.mean_prior import BITS, Groups, PriorProof, prior_variance, proofs
from deniable.mechanisms.means.mean_mechanism import MeanMechanism
from deniable.planning.bounds import LARGE_EPSILON, mean_bound, prior_mean_bound
from deniable.planning.means import mean_options, plan_mean

LINE = dn.Interval(-1, 1, steps=64)


def test_the_largest_sum_is_that_of_all_places() -> None:
    random = np.random.default_rng(3)
    y = np.linspace(-30, 30, 60_001)[:, None]
    for _ in range(60):
        size = int(random.integers(1, 7))
        a, b = random.integers(-900, 900, size), random.integers(-900, 900, size)
        m = random.integers(0, 200, size) * random.integers(0, 2, size)
        m[0] = 200  # else there may be no largest
        more = int(random.integers(0, 50))
        found = largest_sum([(int(p), int(q), int(r)) for p, q, r in zip(a, b, m, strict=True)], 1, more)
        each = a + b * y - m * y**2
        reached = (each + more * np.maximum(each, 0)).sum(axis=1)
        if found is None or reached.argmax() in (0, len(y) - 1):
            continue
        assert max(0.0, reached.max()) <= found <= max(0.0, reached.max()) * (1 + 1e-3) + 2


def test_a_sum_without_a_largest_value_has_none() -> None:
    assert largest_sum([(0, 1, 0)], 1, 1) is None and largest_sum([(0, 0, -1)], 1, 1) is None
    assert largest_sum([(5, 0, 0)], 1, 2) == 15 and largest_sum([(-5, 0, 0)], 1, 2) == 0


def sums_of(proof: DensityProof, y: Floats) -> Floats:
    """F of a proof, by adding up many numbers in floats."""
    x = np.linspace(-float(proof.cut), float(proof.cut), 20_001)
    f = sum(float(w) * x ** (2 * k) for k, w in zip(POWERS, proof.w, strict=True)) * (x[1] - x[0])
    f[[0, -1]] /= 2
    total = np.zeros(len(y))
    for place, report in enumerate(y):
        g = f * (float(proof.r) - float(proof.s) * x * report - (x - report) ** 2)
        single = [
            float(a + side * b * Fraction(report) - m * Fraction(report) ** 2)
            for _, a, b, m in proof.single
            for side in (1, -1)
        ]
        both = np.append(g, single)
        total[place] = both.sum() + (float(proof.odds) - 1) * np.maximum(both, 0).sum()
    return total


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("epsilon", [4.5, 6.0, 9.0, 21.0])
def test_a_proof_for_large_budgets_is_one_as_floats_see_it(epsilon: float) -> None:
    proof = density_proof(epsilon)
    assert proof.holds()
    width = math.exp(-epsilon / 3)
    y = np.concatenate([np.linspace(0, 1, 101), 1 + width * np.linspace(-5, 5, 101), np.linspace(1.5, 20, 20)])
    assert sums_of(proof, np.abs(y)).max() <= 1e-6
    weights = sum(2 * w * proof.cut ** (2 * k + 1) / (2 * k + 1) for k, w in zip(POWERS, proof.w, strict=True))
    assert weights + 2 * sum(m for *_, m in proof.single) == 1


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("epsilon", [6.0, 30.0])
def test_a_changed_proof_for_large_budgets_does_not_hold(epsilon: float) -> None:
    proof = density_proof(epsilon)
    more = Fraction(102, 100)
    assert not replace(proof, odds=proof.odds * more).holds()
    assert not replace(proof, r=proof.r * more).holds()
    assert not replace(proof, w=(proof.w[0] * more, *proof.w[1:])).holds()
    assert not replace(proof, start=proof.start * Fraction(1, 2), end=proof.start * Fraction(1, 2)).holds()
    for place, (x, a, b, m) in enumerate(proof.single):
        parts = list(proof.single)
        for changed in ((x, a + 1, b, m), (x, a, b, -m - 1), (x, a, b, m + 1)):
            parts[place] = changed
            assert not replace(proof, single=tuple(parts)).holds()


@pytest.mark.needs("scipy")
def test_the_bound_falls_with_the_budget_and_has_no_gap() -> None:
    budgets = [
        0.005,
        0.02,
        0.5,
        1.0,
        2.0,
        3.0,
        4.0,
        4.49,
        LARGE_EPSILON,
        5.0,
        5.99,
        6.0,
        6.01,
        8.0,
        12.0,
        20.0,
        20.1,
        40.0,
        100.0,
    ]
    bounds = {epsilon: mean_bound(LINE, epsilon, 1) ** 2 for epsilon in budgets}
    assert all(bounds[high] < bounds[low] for low, high in pairwise(budgets))
    for low, high in ((4.49, LARGE_EPSILON), (5.99, 6.0), (6.0, 6.01), (20.0, 20.1)):
        assert bounds[high] > bounds[low] * math.exp(-0.9 * (high - low)) * 0.995


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("epsilon", [4.5, 5.3, 6.0, 7.0, 8.0, 10.0, 13.0, 17.0, 25.0, 60.0, 100.0])
def test_no_mechanism_is_below_at_a_large_budget(epsilon: float) -> None:
    for steps in (2, 7, 64):
        ranking = mean_options(dn.Interval(-1, 1, steps), epsilon)
        assert min(row.error for row in ranking) >= mean_bound(dn.Interval(-1, 1, steps), epsilon, 1)


@pytest.mark.needs("scipy")
@pytest.mark.parametrize(("epsilon", "above"), [(5.0, 0.02), (6.0, 0.025), (8.0, 0.06)])
def test_the_best_law_is_near_the_bound_at_a_large_budget(epsilon: float, above: float) -> None:
    best = dn.OptimalMean.best(dn.Interval(-1, 1), epsilon).worst_variance()
    assert best <= (1 + above) * mean_bound(LINE, epsilon, 1) ** 2


@pytest.mark.needs("scipy")
def test_the_published_window_is_a_third_above() -> None:
    """Its variance tends to 5/3 e^(-2 epsilon / 3), and the bound to 1.2159 of them."""
    for epsilon, above in ((10.0, 1.361), (60.0, 1.371)):
        assert suboptimal(epsilon, 1.0) / mean_bound(LINE, epsilon, 1) ** 2 == pytest.approx(above, abs=1e-3)


PRIORS = {
    "even": np.full(9, 1 / 9),
    "middle": np.array([0, 0, 1, 4, 10, 4, 1, 0, 0]) / 20,
    "low": np.array([5, 4, 3, 2, 1, 1, 0, 0, 0]) / 16,
    "ends": np.array([1, 0, 0, 0, 0, 0, 0, 0, 1]) / 2,
    "one": np.eye(9)[2],
}


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("epsilon", [0.03, 0.5, 1.0, 2.0, 4.0, 6.0])
def test_under_a_prior_the_best_channel_of_all_is_at_the_bound(name: str, epsilon: float) -> None:
    """On nine points no point is grouped with another; the channel is that of the linear program with many reports."""
    grid = dn.Interval(-1, 1, steps=8)
    best = dn.MeanChannel.optimal(grid, epsilon, PRIORS[name], outputs=201).predict(PRIORS[name], 1).variance
    assert best is not None
    bound = (prior_mean_bound(grid, epsilon, 1, PRIORS[name]) or 0) ** 2
    assert 0.985 * best[0] <= bound <= best[0] * (1 + 1e-9)


def variances_of(mechanism: MeanMechanism) -> Floats:
    """The variance at each point of the grid, added up without cancellation: at large budgets it is tiny."""
    centred = np.array([float(value) for value in mechanism.centred])
    points = np.linspace(-1, 1, mechanism.domain.size)
    return np.array([mechanism.chances(index) @ (centred - x) ** 2 for index, x in enumerate(points)])


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("epsilon", [0.003, 0.1, 1.0, 3.0, 4.5, 7.0, 9.5, 12.0, 20.0, 60.0])
def test_under_no_prior_is_a_mechanism_below(epsilon: float) -> None:
    random = np.random.default_rng(4)
    for steps in (1, 3, 40) if epsilon < 15 else (1, 5):  # where there are many thousands of reports
        domain = dn.Interval(-1, 1, steps)
        noise = [variances_of(row.mechanism) for row in mean_options(domain, epsilon)]
        for concentration in (0.02, 0.3, 3.0):
            prior = random.dirichlet(np.full(steps + 1, concentration))
            bound = float(prior_variance(prior.tolist(), epsilon))
            for variances in noise:
                assert prior @ variances >= bound * (1 - 1e-9)


@pytest.mark.needs("scipy")
def test_groups_lose_little() -> None:
    """Points near each other count as one, here 33 of them in 16 groups: the bound is near the best channel of all."""
    grid = dn.Interval(-1, 1, steps=32)
    for shape in (np.ones(33), np.exp(-((np.linspace(-1, 1, 33) / 0.2) ** 2) / 2)):
        prior = shape / shape.sum()
        assert not Groups.of(prior.tolist(), 16, ends=True).exact
        best = dn.MeanChannel.optimal(grid, 2.0, prior).predict(prior, 1).variance
        bound = prior_mean_bound(grid, 2.0, 1, prior)
        assert best is not None and bound is not None and 0.98 * best[0] <= bound**2 <= best[0]


def test_a_group_has_the_mean_and_the_shares_of_its_points() -> None:
    shares = [0.125, 0.25, 0.0, 0.125, 0.5]
    groups = Groups.of(shares, 2, ends=True)
    assert (
        sum(groups.m) == 1 << BITS
        and list(groups.z[:2]) == [Fraction(-1), Fraction(1)]
        and list(groups.m[:2]) == [0, 0]
        and not groups.exact
    )
    numbers = [Fraction(place - 2, 2) for place in range(5)]
    mean = sum(m * z for z, m in zip(groups.z, groups.m, strict=True)) / (1 << BITS)
    assert mean == sum(Fraction(share) * x for share, x in zip(shares, numbers, strict=True))
    assert groups.squares == sum(Fraction(share) * x * x for share, x in zip(shares, numbers, strict=True))
    assert Groups.of(shares, 9, ends=False).exact


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("epsilon", [1.0, 5.0, 12.0])
def test_a_proof_under_a_prior_is_one_as_floats_see_it_and_a_changed_one_is_not(epsilon: float) -> None:
    for proof in proofs(PRIORS["low"].tolist(), epsilon):
        assert proof.holds()
        a, b, m = (np.array([math.ldexp(each, -BITS) for each in part]) for part in (proof.a, proof.b, proof.m))
        y = np.linspace(-40, 40, 200_001)[:, None]
        each = a + b * y - m * y**2
        total = (each + (math.exp(epsilon) - 1) * np.maximum(each, 0)).sum(axis=1)
        assert total.max() <= 1e-9
        room = (1 << BITS) // 50
        assert not replace(proof, a=tuple(each + room for each in proof.a)).holds()
        assert not replace(proof, odds=2 * proof.odds).holds() or epsilon == 12.0
        assert replace(proof, a=tuple(each + room for each in proof.a)).bound > proof.bound


def test_a_proof_that_can_never_hold_is_not_made_valid() -> None:
    proof = PriorProof(2 << BITS, (Fraction(0),), (1 << BITS,), (0,), (1 << BITS,), Fraction(0))
    assert not proof.holds() and proof.made_valid([0]) is None
    made = proof.made_valid([1 << BITS])
    assert made is not None and made.holds() and made.bound == 0


def test_a_prior_must_fit_the_grid() -> None:
    for prior in ([1.0], [0.5, -0.5, 1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]):
        with pytest.raises(dn.InvalidParameter, match="3 non-negative shares"):
            prior_mean_bound(dn.Interval(0, 1, 2), 1.0, 1, prior)


@pytest.mark.needs("scipy")
def test_the_bound_is_in_the_units_of_the_question() -> None:
    wide = prior_mean_bound(dn.Interval(0, 200, 8), 1.0, 25, PRIORS["middle"])
    unit = prior_mean_bound(dn.Interval(-1, 1, 8), 1.0, 1, PRIORS["middle"])
    assert wide is not None and unit is not None and wide == pytest.approx(20 * unit)
    assert "above: squared error, at most this far above" in plan_mean(dn.Interval(0, 200), 25.0).explain()
    assert "is rounding in floats" in plan_mean(dn.Interval(0, 200, 8), 60.0, prior=PRIORS["even"]).explain()
