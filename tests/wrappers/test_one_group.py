"""Answers that are reported together: exact laws, margins and errors, the best groups, and what is refused."""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core import PureProtocol
from deniable.mechanisms.algebra.agreement import agreements, best_agreeing, record_errors, similar
from deniable.mechanisms.algebra.group_design import best_shares, error, whole_weights
from deniable.planning.records import record_options
from deniable.testing import check_mechanism
from tests.examples import PAIR, TOGETHER
from tests.planning.best_channels import best_mean_square, table_gram

YES = dn.Categories(["yes", "no"])
THREE = dn.Vectors([YES] * 3)


def records(*sizes: int) -> dn.Vectors:
    return dn.Vectors([dn.Categories(range(size)) for size in sizes])


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3), (3, 2, 4), (2,) * 5])
def test_similar_records_are_counted(sizes: tuple[int, ...]) -> None:
    alike = [sum(x == 0 for x in each) for each in itertools.product(*map(range, sizes))]
    assert agreements(sizes) == [alike.count(number) for number in range(len(sizes) + 1)]
    for agreeing in range(len(sizes) + 1):
        assert similar(sizes, agreeing) == sum(each >= agreeing for each in alike)


@pytest.mark.parametrize(("sizes", "agreeing"), [((2, 3), 2), ((2, 4), 1), ((2, 2, 2), 2), ((3, 2, 4), 3), ((4, 2, 4), 2)])
def test_the_law_is_what_it_says_and_so_are_its_margins(sizes: tuple[int, ...], agreeing: int) -> None:
    mechanism = dn.WholeRecord(records(*sizes), 1.5, agreeing)
    rows = list(itertools.product(*map(range, sizes)))
    for index, truth in enumerate(rows):
        law = {int.from_bytes(report, "little"): chance for report, chance in dn.law(mechanism, index).items()}
        least = min(law.values())
        for number, row in enumerate(rows):
            alike = sum(x == y for x, y in zip(row, truth, strict=True))
            assert law[number] == least * (mechanism.odds if alike >= agreeing else 1)
        for place, (p, q) in enumerate(mechanism.chances):
            own = [sum(law[n] for n, row in enumerate(rows) if row[place] == value) for value in range(sizes[place])]
            assert own == [p if value == truth[place] else q for value in range(sizes[place])]


def test_large_records_are_proved_without_enumeration() -> None:
    for mechanism in (
        dn.WholeRecord(records(60, 50, 7), 8.0),
        dn.WholeRecord(records(*[2] * 12), 6.0, 10),
        dn.WholeRecord(records(4, 4, 4, 4, 4), 6.0, 4),
        dn.WholeRecord(records(16, 32), 2.0, 1),
        dn.OneGroup.of(records(*[2] * 20), 6.0, [range(10), range(10, 20)]),
        dn.OneGroup.of(records(60, 50, 7), 2.0, [[0, 2], [1], [1, 2]], dn.SubsetSelection),
    ):
        found = dn.certify(mechanism)
        assert found.holds and found.loss.odds == mechanism.loss().odds and "shift" in found.rules


def test_the_variance_of_overlapping_groups_counts_who_was_drawn() -> None:
    """Three people, one in each of three groups, two of which report the first answer: over all draws and all coins."""
    mechanism = TOGETHER["groups-overlapping"]
    assert isinstance(mechanism, dn.OneGroup) and mechanism.weights == (1, 1, 1)
    whole = mechanism.parts[0]
    assert isinstance(whole, dn.WholeRecord)
    (p, q), answers = whole.chances[0], (0, 0, 1)
    moments = [Fraction(0), Fraction(0)]
    orders = list(itertools.permutations(answers))
    for order in orders:
        for bits in itertools.product((0, 1), repeat=2):  # of the people in the first and in the last group
            chance = Fraction(1, len(orders))
            for answer, bit in zip(order[:2], bits, strict=True):
                heads = p if answer == 0 else q
                chance *= heads if bit else 1 - heads
            share = (Fraction(sum(bits), 2) - q) / (p - q)
            moments[0] += chance * share
            moments[1] += chance * share**2
    assert moments[0] == Fraction(2, 3)
    found = mechanism.noise(0, np.array([2 / 3, 1 / 3]), 3, [1, 1, 1])
    assert found[0] == pytest.approx(float(moments[1] - moments[0] ** 2), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 20.0, 60.0])
def test_tiny_and_huge_budgets_keep_every_law(epsilon: float) -> None:
    """The noise of a report is then far above who was drawn, or far below it."""
    for mechanism in (
        dn.WholeRecord(records(3, 2), epsilon),
        dn.WholeRecord(records(2, 2), epsilon, 1),
        dn.FakeAttributes.of(records(2, 2), epsilon),
        dn.OneGroup.of(records(2, 2), epsilon, [[0, 1], [1, 0]], weights=[1, 1]),
        dn.OneGroup.of(records(2, 2), epsilon, [[0, 1], [0]]),
    ):
        check_mechanism(mechanism)


def test_groups_are_averaged_by_what_they_say() -> None:
    """The second answer is in a group of its own and in one of three: the estimate is the best average of both."""
    mechanism = TOGETHER["groups-similar"]
    assert isinstance(mechanism, dn.OneGroup)
    alone, whole = mechanism.parts
    assert isinstance(alone, PureProtocol) and isinstance(whole, dn.WholeRecord)
    people, reports = 900, [300, 600]
    counts = np.array([140, 160, 290, 310, 250, 350, 400, 200, *reports])
    found = mechanism.estimate(dn.Tally(mechanism.fingerprint, people, counts)).values[2:4]
    variance = [float(each.noise(np.array([0.5]))[0]) + 0.25 for each in (alone, whole.margin(1))]
    weights = [many / own for many, own in zip(reports, variance, strict=True)]
    first, second = alone.debias(counts[:2], 300) / 300, whole.margin(1).debias(counts[4:6], 600) / 600
    assert found == pytest.approx((weights[0] * first + weights[1] * second) / sum(weights), rel=1e-12)
    noise = mechanism.noise(1, np.array([0.5, 0.5]), people, reports)[0]
    for other in (0.9, 1.1):  # any other average has a larger variance
        mixed = np.array([weights[0] * other, weights[1]]) / (weights[0] * other + weights[1])
        drawn = 0.25 * people / (people - 1)
        squares = [w * w * (v - 0.25 + drawn) / m for w, v, m in zip(mixed, variance, reports, strict=True)]
        assert noise < sum(squares) - drawn / people


@pytest.mark.parametrize("name", TOGETHER)
def test_many_people_agree_with_the_prediction(name: str) -> None:
    """Mean over 60 collections within 6 standard errors for each of 5 to 7 shares: false alarm below 1e-7."""
    mechanism, coins = TOGETHER[name], dn.SeededCoins(8)
    people = [mechanism.domain.answer(person % mechanism.domain.size) for person in range(1200)]
    truth = np.concatenate([np.full(part.size, 1 / part.size) for part in mechanism.domain.parts])
    found = [mechanism.estimate(mechanism.tally(mechanism.perturb(people, coins))).values for _ in range(60)]
    predicted = mechanism.predict(truth, 1200).standard_error
    assert (np.abs(np.mean(found, axis=0) - truth) < 6 * predicted / math.sqrt(60)).all()
    assert (np.abs(np.std(found, axis=0) / predicted - 1) < 0.55).all()


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0, 4.0])
@pytest.mark.parametrize("sizes", [[2, 2], [2, 3], [2, 2, 2], [2, 4]])
def test_no_channel_of_all_is_better(sizes: list[int], epsilon: float) -> None:
    """The best channel by brute force, of any shape: the plan is within half a percent of its squared error."""
    gram, cells = table_gram(sizes, [(place,) for place in range(len(sizes))])
    least, _ = best_mean_square(gram, math.exp(epsilon))
    least -= sum(1 - 1 / size for size in sizes)
    best = record_options(records(*sizes), epsilon, 10**6).best
    assert least * (1 - 1e-6) <= best.error**2 * 10**6 * cells <= least * 1.005


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 3.0, 6.0])
@pytest.mark.parametrize("sizes", [[2] * 8, [3, 5], [4] * 3, [2, 3, 20], [2, 2, 5, 10]])
def test_groups_have_the_smallest_error_and_are_proved(sizes: list[int], epsilon: float) -> None:
    ranking = record_options(records(*sizes), epsilon, 10_000)
    rows = {row.name: row for row in ranking}
    own = rows.get("answers in groups, whole budget")
    if own is None:  # nothing is gained
        assert "groups of one answer are best" in " ".join(ranking.remarks) and len(set(sizes)) == 1
        return
    assert own.error == min(row.error for row in ranking) == own.mechanism.total_error(10_000)
    assert dn.certify(own.mechanism).holds
    assert dn.mechanism_from_json(own.mechanism.to_json()).fingerprint == own.mechanism.fingerprint


def test_the_best_number_of_equal_answers_is_taken() -> None:
    for sizes, epsilon in (((2,) * 8, 6.0), ((2,) * 8, 8.0), ((4,) * 5, 6.0), ((2, 4, 16), 1.0), ((16, 16), 0.5)):
        chosen = dn.WholeRecord(records(*sizes), epsilon)
        errors = {t: dn.WholeRecord(records(*sizes), epsilon, t).total_error(100) for t in range(1, len(sizes) + 1)}
        assert chosen.total_error(100) == min(errors.values()) == errors[chosen.agreeing]
        assert sum(record_errors(sizes, chosen.agreeing, float(chosen.odds))) == pytest.approx(
            chosen.total_error(1) ** 2 * sum(sizes) + sum(1 - 1 / size for size in sizes), rel=1e-12
        )
    assert best_agreeing((2,) * 13, 400.0, 4096) == 13 != best_agreeing((2,) * 13, 400.0, 8192)
    assert dn.WholeRecord(records(*[2] * 13), 6.0).agreeing == 13 and dn.WholeRecord(records(*[3] * 6), 6.0).agreeing == 6


def test_shares_of_groups_are_the_best() -> None:
    """No other shares are better, on a grid; where groups have attributes in common, too."""
    for known in (np.diag([1.0, 0.2, 0.5]), np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 0.5], [0.3, 0.0, 0.4], [0.1, 0.1, 0.1]])):
        least = error(known, best_shares(known))
        grid = [np.array(each) for each in itertools.product(range(1, 9), repeat=len(known))]
        assert min(error(known, each) for each in grid) >= least * (1 - 1e-5)
        assert error(known, np.array(whole_weights(known, 256), float)) <= 1.01 * least  # each is drawn at least 1 in 256
    assert sum(whole_weights(np.eye(200), 256)) == 200
    for refused in (np.eye(300), np.array([[1.0, 0.0], [1.0, 0.0]])):
        with pytest.raises(dn.InvalidParameter):
            whole_weights(refused, 256)


def test_reports_of_whole_records_give_tables() -> None:
    mechanism = dn.WholeRecord(PAIR, 3.0)
    people = [("yes", "a")] * 3000 + [("no", "b")] * 2000 + [("no", "c")] * 1000
    reports = mechanism.perturb(people, dn.SeededCoins(3))
    table = dn.crosstab(reports, mechanism, 0, 1)
    truth = np.array([[0.5, 0, 0], [0, 1 / 3, 1 / 6]])
    assert (np.abs(table.shares - truth) < 6 * table.standard_error.reshape(2, 3)).all()  # below 1e-7
    margins = mechanism.estimate(mechanism.tally(reports)).values
    assert table.shares.sum(axis=1) == pytest.approx(margins[:2]) and table.shares.sum(axis=0) == pytest.approx(margins[2:])
    with pytest.raises(dn.InvalidParameter):
        dn.crosstab(mechanism.tally(reports), mechanism, 0, 1)
    similar = TOGETHER["whole-similar"]
    with pytest.raises(dn.InvalidParameter):
        dn.crosstab(similar.perturb([(0, 3)] * 9, dn.SeededCoins(3)), similar, 0, 1)


def test_bad_parameters_and_reports_are_refused() -> None:
    for domain, agreeing in (
        (records(2), 0),
        (PAIR, 3),
        (PAIR, -1),
        (PAIR, True),
        (records(*[2] * 13), 5),
        (records(3, 3, 3), 2),
        (YES, 0),
    ):
        with pytest.raises(dn.InvalidParameter):
            dn.WholeRecord(domain, 1.0, agreeing)  # type: ignore[arg-type]
    with pytest.raises(dn.InvalidParameter):
        dn.WholeRecord(records(*[2] * 32), 1.0)
    for groups in (
        [],
        [[0, 1, 2]],
        [[0, 1]],
        [[0, 1], [3]],
        [[0], [1, 1, 2]],
        [[], [0, 1, 2]],
        [[0], [1]],
        [[True, 1], [2]],
    ):
        with pytest.raises(dn.InvalidParameter):
            dn.OneGroup.of(THREE, 1.0, groups)
    whole, one = dn.WholeRecord(dn.Vectors([YES, YES]), 1.0), dn.DirectResponse(YES, 1.0)
    for parts, weights in (
        ([one, whole], [1, 1]),
        ([whole], [1, 1]),
        ([whole, one], [1]),
        ([whole, one], [1, 0]),
        ([whole, one], [1.0, 1]),
        ([whole, one], [200, 57]),
        ([whole, dn.DirectResponse(dn.Categories(range(3)), 1.0)], [1, 1]),
    ):
        with pytest.raises(dn.InvalidParameter):
            dn.OneGroup(THREE, 1.0, parts, [[0, 1], [2]], weights)  # type: ignore[arg-type]
    made = dn.OneGroup(THREE, 1.0, [whole, one], [[0, 1], [2]], [2, 1])
    for slot, report in ((3, 0), (0, 4), (2, 2)):
        columns = {"slot": np.array([slot], np.uint8), "report": np.array([[report]], np.uint8)}
        with pytest.raises(dn.InvalidReport):
            made.votes(columns)
    lonely = made.tally(made.perturb([("yes", "no", "no")], dn.SeededCoins(1)))
    with pytest.raises(dn.EmptyBatch):
        made.estimate(lonely)


def test_numbers_of_numpy_are_as_good() -> None:
    record = records(2, 2, 3)
    plain = dn.OneGroup.of(record, 1.0, [[0, 1], [2]], weights=[2, 1])
    groups: Any = [np.array([0, 1]), np.array([2])]
    given = dn.OneGroup.of(record, 1.0, groups, weights=np.array([2, 1]))  # type: ignore[arg-type]
    assert given.fingerprint == plain.fingerprint and given == plain
    similar = dn.WholeRecord(records(2, 4), 1.0, np.int64(1))  # type: ignore[arg-type]
    assert similar.fingerprint == dn.WholeRecord(records(2, 4), 1.0, 1).fingerprint
