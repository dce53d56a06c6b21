"""Longitudinal collection: the law of one report, of all reports ever, and the memory on the device."""

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.shares.direct_response import moved
from deniable.privacy.memoized import check_rounds
from tests.every import kept_law
from tests.examples import EPSILON, shares

TWO, THREE, FIVE = (dn.Categories(range(size)) for size in (2, 3, 5))
EVER = math.log(9)  # for all reports ever; EPSILON, the logarithm of 3, for one
MADE = {
    "direct": dn.Memoized.direct(THREE, EVER, EPSILON),
    "published": dn.Memoized.direct_as_published(FIVE, EVER, EPSILON),
    "symmetric": dn.Memoized.symmetric(THREE, EVER, 2 * math.log(2) - 0.1),
    "optimized": dn.Memoized.optimized(THREE, EVER, EPSILON),
    "rappor": dn.Memoized.rappor(THREE, Fraction(1, 2), Fraction(1, 2), Fraction(3, 4)),
    "hashing": dn.Memoized.hashing(FIVE, EVER, EPSILON, 3),
    "binary": dn.Memoized.binary_hashing(FIVE, EVER, EPSILON),
    "kept": dn.Memoized(dn.SubsetSelection(FIVE, EPSILON, 2)),
}
every = pytest.mark.parametrize("name", MADE)


def sure(odds: Fraction | None) -> Fraction:
    assert odds is not None
    return odds


def products(mechanism: dn.Memoized, index: int) -> dict[bytes, Fraction]:
    """The law of one report as the product of two channels: that of the kept answer, then that of the second round."""
    out: dict[bytes, Fraction] = {}
    for kept, chance in dn.law(mechanism.base, index).items():
        for report, again in kept_law(mechanism, kept).items():
            out[report] = out.get(report, Fraction(0)) + chance * again
    return out


@every
def test_one_report_is_the_product_of_two_channels(name: str) -> None:
    mechanism = MADE[name]
    for index in range(mechanism.domain.size):
        assert dict(dn.law(mechanism, index).items()) == products(mechanism, index)


@every
def test_both_losses_are_those_of_the_code(name: str) -> None:
    mechanism = MADE[name]
    once, ever = dn.certify(mechanism), dn.certify_ever(mechanism)
    assert once.loss.odds == mechanism.loss().odds and once.holds
    assert ever.loss.odds == mechanism.lifetime_loss().odds and ever.holds
    assert ever.loss.unit == "all reports ever on one value"
    assert sure(once.loss.odds) <= sure(ever.loss.odds)


def test_budgets_are_reached() -> None:
    assert MADE["direct"].loss().odds == MADE["optimized"].loss().odds == MADE["hashing"].loss().odds == 3
    for name in ("direct", "optimized", "hashing", "binary", "symmetric", "rappor"):
        assert MADE[name].lifetime_loss().odds == 9
    assert dn.Memoized.symmetric(THREE, EVER, EPSILON).loss().epsilon() == pytest.approx(EPSILON, abs=1e-12)


@pytest.mark.parametrize("size", [2, 3, 5, 20])
def test_the_published_second_round_of_direct_response_is_noisier_than_it_needs_to_be(size: int) -> None:
    """Its formula leaves the other values out: right for two, and below the claimed loss for more."""
    domain = dn.Categories(range(size))
    published, exact = dn.Memoized.direct_as_published(domain, 2.0, 1.0), dn.Memoized.direct(domain, 2.0, 1.0)
    # the formula of the paper, in floats
    e1, e = math.e, math.e**2
    p2 = (e1 * e - 1) / (-size * e1 + (size - 1) * e + e1 + e1 * e - 1)
    assert float(published.stay) == pytest.approx(p2, rel=1e-12)
    assert exact.loss().odds == dn.odds_below(1.0)
    if size == 2:
        assert published.loss().odds == exact.loss().odds
    else:
        assert sure(published.loss().odds) < sure(exact.loss().odds) and published.worst_noise() > exact.worst_noise()


def test_rappor_has_the_losses_of_its_paper() -> None:
    """Erlingsson et al. 2014 for one hash: epsilon of all reports 2 ln((1 - f/2) / (f/2)), of one the formula below."""
    f, p, q = Fraction(1, 2), Fraction(1, 2), Fraction(3, 4)
    q_star = f * (p + q) / 2 + (1 - f) * q
    p_star = f * (p + q) / 2 + (1 - f) * p
    mechanism = MADE["rappor"]
    assert mechanism.lifetime_loss().odds == ((1 - f / 2) / (f / 2)) ** 2
    assert mechanism.loss().odds == q_star * (1 - p_star) / (p_star * (1 - q_star))


@pytest.mark.parametrize("name", ["direct", "binary"])
def test_two_reports_on_one_value_cost_less_than_the_kept_answer(name: str) -> None:
    """The exact law of two reports: more than one report gives away, less than the kept answer would."""
    mechanism = MADE[name]

    def pairs(index: int) -> dict[tuple[bytes, bytes], Fraction]:
        out: dict[tuple[bytes, bytes], Fraction] = {}
        for kept, chance in dn.law(mechanism.base, index).items():
            second = kept_law(mechanism, kept).items()
            for (first, a), (again, b) in itertools.product(second, second):
                out[first, again] = out.get((first, again), Fraction(0)) + chance * a * b
        return out

    laws = [pairs(index) for index in range(mechanism.domain.size)]
    worst = max(one[key] / other[key] for one in laws for other in laws for key in one if key in other)
    assert sure(mechanism.loss().odds) < worst < sure(mechanism.lifetime_loss().odds)


def history(mechanism: dn.Memoized, values: tuple[int, ...]) -> dict[tuple[bytes, ...], Fraction]:
    """The exact law of the reports on a history of values, each kept once."""
    out: dict[tuple[bytes, ...], Fraction] = {}
    different = sorted(set(values))
    kept_laws = [list(dn.law(mechanism.base, value).items()) for value in different]
    for combination in itertools.product(*kept_laws):
        kept = {value: row for value, (row, _) in zip(different, combination, strict=True)}
        chance = math.prod((own for _, own in combination), start=Fraction(1))
        sent = [list(kept_law(mechanism, kept[value]).items()) for value in values]
        for reports in itertools.product(*sent):
            key = tuple(row for row, _ in reports)
            out[key] = out.get(key, Fraction(0)) + chance * math.prod((own for _, own in reports), start=Fraction(1))
    return out


def worst(one: dict[tuple[bytes, ...], Fraction], other: dict[tuple[bytes, ...], Fraction]) -> Fraction | None:
    if any(not other.get(key) for key, chance in one.items() if chance):
        return None
    return max(chance / other[key] for key, chance in one.items())


def test_values_that_change_at_known_times_cost_once_more_each() -> None:
    plain = dn.Memoized(dn.DirectResponse(TWO, EPSILON))
    assert worst(history(plain, (0, 1)), history(plain, (1, 0))) == 9 == plain.lifetime_loss(2).odds
    noisy = dn.Memoized.direct(TWO, EVER, EPSILON)
    odds = worst(history(noisy, (0, 0, 1, 1)), history(noisy, (1, 1, 0, 0)))
    assert sure(odds) < sure(noisy.lifetime_loss(2).odds)


def test_the_change_itself_is_not_hidden() -> None:
    """Without a second round two unlike reports prove a change; with one, the bound holds and grows with every report."""
    plain, noisy = dn.Memoized(dn.DirectResponse(TWO, EPSILON)), dn.Memoized.direct(TWO, EVER, EPSILON)
    assert worst(history(plain, (0, 1)), history(plain, (0, 0))) is None
    assert plain.stream_loss(2).odds is None
    seen = []
    for reports in (1, 2, 3):
        changed, same = (0,) * reports + (1,) * reports, (0,) * (2 * reports)
        odds = worst(history(noisy, changed), history(noisy, same))
        assert odds is not None and odds <= sure(noisy.stream_loss(2 * reports).odds)
        seen.append(odds)
    assert seen[0] < seen[1] < seen[2]


def test_a_bucket_that_is_kept_already_costs_nothing_more() -> None:
    mechanism = MADE["hashing"]
    assert mechanism.lifetime_loss(2).odds == 81 and mechanism.lifetime_loss(5).odds == 9**3
    assert MADE["binary"].lifetime_loss(5).odds == 81
    assert MADE["direct"].lifetime_loss(3).odds == 9**3


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("name", ["direct", "rappor", "binary"])
def test_the_error_of_an_average_is_that_of_the_exact_law(name: str, rounds: int) -> None:
    mechanism, n = MADE[name], 100
    size, truth = mechanism.domain.size, shares(mechanism.domain.size)
    variance = np.zeros(size)
    for index in range(size):
        mean, square = [Fraction(0)] * size, [Fraction(0)] * size
        for kept, chance in dn.law(mechanism.base, index).items():
            second = kept_law(mechanism, kept)
            columns = mechanism.layout.columns(np.array([list(row) for row in second], np.uint8))
            supported = mechanism.supports(columns, np.arange(size))
            for cell in range(size):
                heads = sum((own for own, bit in zip(second.values(), supported[:, cell], strict=True) if bit), Fraction(0))
                mean[cell] += chance * heads
                square[cell] += chance * (heads**2 + heads * (1 - heads) / rounds)
        slope = mechanism.p - mechanism.q
        variance += [float(truth[index] * (square[cell] - mean[cell] ** 2) / slope**2 / n) for cell in range(size)]
    predicted = mechanism.predict_average(np.array(truth, np.float64), n, rounds)
    np.testing.assert_allclose(predicted.standard_error**2, variance, rtol=1e-12)
    if rounds == 1:
        single = mechanism.predict(np.array(truth, np.float64), n)
        np.testing.assert_allclose(predicted.standard_error, single.standard_error, rtol=1e-12)


def test_many_bits_are_certified_at_a_few_cells() -> None:
    large = dn.Memoized.optimized(dn.Categories(range(300)), 2.0, 1.0)
    found = dn.certify(large)
    assert (
        found.loss.proof == "proved"
        and found.rules == ("marked cell",)
        and found.loss.odds == large.loss().odds
        and found.holds
    )
    small = MADE["rappor"]
    assert dn.certify(small).loss.odds == dn.certify(small, "enumerated").loss.odds


class Forgetful(dn.Memoized):
    """Planted: a bit of another value depends on the value."""

    def randomize(self, truth, coins):  # type: ignore[no-untyped-def]
        cells: Any = super().randomize(truth, coins)["cells"]
        return {"cells": cells.with_bit(1, truth % 2 == 1)}


def test_planted_bugs_are_found() -> None:
    base = dn.Unary(dn.Categories(range(300)), 2.0)
    with pytest.raises(dn.NotCertifiable):
        dn.certify(Forgetful(base, Fraction(3, 4), Fraction(1, 4)))
    with pytest.raises(dn.NotCertifiable):
        check_rounds(Forgetful(base, Fraction(3, 4), Fraction(1, 4)))

    class Fresh(dn.Memoized):
        """Planted: what is sent comes from a fresh answer, not from the kept one."""

        def randomize(self, truth, coins):  # type: ignore[no-untyped-def]
            return {"value": moved(truth, self.p, 3, coins)}

    fresh = Fresh(dn.DirectResponse(THREE, EVER), Fraction(1, 2))
    assert dn.certify(fresh).holds  # one report alone is as it should be
    with pytest.raises(dn.NotCertifiable):
        dn.certify_ever(fresh)


def test_collections_of_the_same_people_agree_with_the_prediction() -> None:
    """Of 200 estimates of a share, each the mean of 5 collections; a right one is outside 6 standard errors in 2e-9."""
    mechanism, people, rounds = dn.Memoized.direct(THREE, 2.0, 1.0), 2000, 5
    values = np.arange(people) % 3
    coins, found = dn.SeededCoins(4), []
    for _ in range(200):
        kept = mechanism.keep(values, coins)
        found.append(
            np.mean(
                [mechanism.estimate(mechanism.tally(mechanism.report(kept, coins))).values for _ in range(rounds)], axis=0
            )
        )
    predicted = mechanism.predict_average(np.full(3, 1 / 3), people, rounds)
    assert predicted.variance is not None
    error = np.mean(found, axis=0) - np.bincount(values) / people
    assert (np.abs(error) < 6 * np.sqrt(predicted.variance / 200)).all()
    # a variance from 200 draws has a relative error of 10 %
    np.testing.assert_allclose(np.var(found, axis=0), predicted.variance, rtol=0.6)


# The memory on the device


@every
def test_reports_from_a_memory_can_be_counted(name: str, tmp_path: Path) -> None:
    mechanism = MADE[name]
    memory = dn.Memory(mechanism, tmp_path / "memory.json")
    reports = dn.concatenate([memory.report(mechanism.domain.answer(0), dn.SeededCoins(round)) for round in range(5)])
    assert mechanism.tally(mechanism.unpack(mechanism.pack(reports))).n == 5
    assert memory.distinct == 1 and memory.loss().odds == mechanism.lifetime_loss().odds
    assert (tmp_path / "memory.json").stat().st_mode & 0o077 == 0


def test_the_same_answer_is_kept_for_the_same_value(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    plain = dn.Memoized(dn.DirectResponse(dn.Categories(range(1000)), 1.0))
    first = [int(dn.Memory(plain, path).report(7).columns["value"][0]) for _ in range(5)]
    assert len(set(first)) == 1
    other = int(dn.Memory(plain, path).report(8).columns["value"][0])
    assert [int(dn.Memory(plain, path).report(7).columns["value"][0]) for _ in range(2)] == first[:2]
    assert int(dn.Memory(plain, path).report(8).columns["value"][0]) == other
    memory = dn.Memory(plain, path)
    assert memory.distinct == 2 and memory.loss().odds == plain.lifetime_loss(2).odds
    assert "2 kept answers" in memory.loss().unit


def test_a_hash_function_is_kept_for_ever(tmp_path: Path) -> None:
    mechanism, path = dn.Memoized.binary_hashing(dn.Categories(range(50)), 2.0, 1.0), tmp_path / "memory.json"
    reports = [dn.Memory(mechanism, path).report(value) for value in range(50)]
    assert len({(int(each.columns["a"][0]), int(each.columns["b"][0])) for each in reports}) == 1
    memory = dn.Memory(mechanism, path)
    assert memory.distinct == 2 and memory.loss().odds == dn.odds_below(2.0) ** 2


def test_a_memory_without_a_file_starts_empty() -> None:
    memory = dn.Memory(MADE["direct"])
    assert memory.loss().odds == 1
    memory.report(0)
    assert memory.distinct == 1
    assert dn.Memory(MADE["direct"]).distinct == 0


def test_reports_of_a_memory_have_the_law_of_the_mechanism() -> None:
    """4,000 memories of one report each, three outcomes: 6 standard errors are exceeded with probability below 1e-8."""
    mechanism, coins = MADE["direct"], dn.SeededCoins(9)
    told = [int(dn.Memory(mechanism).report(1, coins).columns["value"][0]) for _ in range(4000)]
    share = np.bincount(told, minlength=3) / 4000
    expected = np.array([float(mechanism.q), float(mechanism.p), float(mechanism.q)])
    assert (np.abs(share - expected) < 6 * np.sqrt(expected * (1 - expected) / 4000)).all()


def test_bad_memories_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.json"
    dn.Memory(MADE["direct"], path).report(0)
    with pytest.raises(dn.SurveyMismatch):
        dn.Memory(MADE["optimized"], path).report(0)
    assert json.loads(path.read_text())["mechanism"] == MADE["direct"].fingerprint
    with pytest.raises(dn.OutsideDomain):
        dn.Memory(MADE["direct"], path).report("elsewhere")
    path.write_text("{}")
    with pytest.raises(dn.InvalidParameter, match="memory"):
        dn.Memory(MADE["direct"], path).report(0)
    with pytest.raises(dn.InvalidParameter):
        dn.Memory(dn.DirectResponse(TWO, 1.0))  # type: ignore[arg-type]


def test_bad_parameters_are_refused() -> None:
    for once in (2.0, 3.0, 0.0, -1.0):
        with pytest.raises(dn.InvalidParameter):
            dn.Memoized.direct(TWO, 2.0, once)
    base = dn.DirectResponse(THREE, 1.0)
    for stay, rise in ((Fraction(1, 2), Fraction(1, 3)), (Fraction(1, 3), Fraction(0)), (Fraction(2), Fraction(0))):
        with pytest.raises(dn.InvalidParameter):
            dn.Memoized(base, stay, rise)
    with pytest.raises(dn.InvalidParameter):
        dn.Memoized(dn.Memoized(base))
    with pytest.raises(dn.InvalidParameter):
        dn.Memoized(dn.SubsetSelection(THREE, 1.0), Fraction(3, 4))
    with pytest.raises(dn.InvalidParameter):
        dn.Memoized(dn.Unary(THREE, 1.0), Fraction(1, 2), Fraction(0))
    with pytest.raises(dn.InvalidParameter):
        dn.Memoized.rappor(THREE, Fraction(0), Fraction(1, 2), Fraction(3, 4))
    mechanism = MADE["direct"]
    with pytest.raises(dn.SurveyMismatch):
        mechanism.report(mechanism.perturb([0]))
    with pytest.raises(dn.InvalidParameter):
        mechanism.lifetime_loss(0)
    with pytest.raises(dn.InvalidParameter):
        mechanism.stream_loss(0)
    with pytest.raises(dn.InvalidParameter):
        mechanism.predict_average([1, 0, 0], 10, 0)
