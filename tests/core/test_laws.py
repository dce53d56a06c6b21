"""What must hold for every mechanism, on the exact law of its code rather than on samples."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import deniable as dn
from deniable.core.mechanism import PureProtocol
from tests.examples import ALL as EXAMPLES
from tests.examples import shares

every_example = pytest.mark.parametrize("name", EXAMPLES)


@cache
def votes(name: str, index: int) -> tuple[tuple[tuple[bool, ...], Fraction], ...]:
    """Every report on a value: which values it supports, and its probability."""
    mechanism = EXAMPLES[name]
    law = dn.law(mechanism, index)
    columns = mechanism.layout.columns(law.reports)
    supported = mechanism.supports(columns, np.arange(mechanism.domain.size))
    return tuple((tuple(row), chance) for row, (_, chance) in zip(supported.tolist(), law.items(), strict=True))


def support(name: str, index: int, *cells: int) -> Fraction:
    """The exact probability that a report on a value supports all these cells."""
    return sum((chance for row, chance in votes(name, index) if all(row[cell] for cell in cells)), Fraction(0))


@every_example
def test_law_sums_to_one(name: str) -> None:
    for index in range(EXAMPLES[name].domain.size):
        assert sum(chance for _, chance in dn.law(EXAMPLES[name], index).items()) == 1


@every_example
def test_worst_ratio_of_the_code_equals_the_declared_loss(name: str) -> None:
    certificate = dn.certify(EXAMPLES[name], "enumerated")
    assert certificate.loss.odds == EXAMPLES[name].loss().odds
    assert certificate.holds
    assert certificate.slack >= 0


@every_example
def test_worst_pair_and_report_have_that_ratio(name: str) -> None:
    mechanism = EXAMPLES[name]
    certificate = dn.certify(mechanism, "enumerated")
    first, second = (mechanism.domain.labels.index(value) for value in certificate.worst_pair)
    report = bytes.fromhex(certificate.worst_report)
    ratio = dict(dn.law(mechanism, first).items())[report] / dict(dn.law(mechanism, second).items())[report]
    assert ratio == certificate.loss.odds


@every_example
def test_certificate_for_large_instances_equals_the_enumeration(name: str) -> None:
    mechanism = EXAMPLES[name]
    assert dn.certify(mechanism, mechanism.loss().proof).loss.odds == dn.certify(mechanism, "enumerated").loss.odds


@every_example
def test_p_q_and_pairs_are_those_of_the_code(name: str) -> None:
    mechanism = EXAMPLES[name]
    for x in range(mechanism.domain.size):
        for y in range(mechanism.domain.size):
            assert support(name, x, y) == (mechanism.p if x == y else mechanism.q)
            for z in range(y if mechanism.pairs else 0):
                assert support(name, x, y, z) == mechanism.pairs[0 if x in (y, z) else 1]  # type: ignore[index]


@every_example
def test_guess_is_that_of_the_best_observer(name: str) -> None:
    """Over all reports, the largest probability among the values, each with the same prior."""
    mechanism = EXAMPLES[name]
    laws = [dict(dn.law(mechanism, index).items()) for index in range(mechanism.domain.size)]
    exact = sum(max(law.get(report, Fraction(0)) for law in laws) for report in set().union(*laws)) / len(laws)
    assert mechanism.guess() == pytest.approx(float(exact), rel=1e-12)


@every_example
def test_support_is_worth_the_odds(name: str) -> None:
    """What expectation maximisation rests on: a report is `odds` times as likely under the values that it supports."""
    mechanism = EXAMPLES[name]
    laws = [dict(dn.law(mechanism, index).items()) for index in range(mechanism.domain.size)]
    for position, (supported, _) in enumerate(votes(name, 0)):
        report = list(laws[0])[position]
        chances = {bool(bit): law[report] for bit, law in zip(supported, laws, strict=True)}
        if len(chances) == 2:
            assert chances[True] == chances[False] * mechanism.loss().odds  # type: ignore[operator]
        for bit, law in zip(supported, laws, strict=True):
            assert law[report] == chances[bit]


@every_example
def test_estimate_of_the_expected_tally_is_the_truth(name: str) -> None:
    mechanism, truth = EXAMPLES[name], shares(EXAMPLES[name].domain.size)
    size, n = mechanism.domain.size, 1000
    expected = [sum(truth[x] * support(name, x, y) for x in range(size)) * n for y in range(size)]
    tally = dn.Tally(mechanism.fingerprint, n, np.array(expected, np.float64))
    np.testing.assert_allclose(mechanism.estimate(tally).values, np.array(truth, np.float64), rtol=0, atol=1e-12)


@every_example
def test_variance_and_covariance_are_those_of_the_code(name: str) -> None:
    mechanism, truth, n = EXAMPLES[name], shares(EXAMPLES[name].domain.size), 700
    size, slope = mechanism.domain.size, mechanism.p - mechanism.q
    exact = np.empty((size, size))
    for y in range(size):
        for z in range(size):
            terms = (truth[x] * (support(name, x, y, z) - support(name, x, y) * support(name, x, z)) for x in range(size))
            exact[y, z] = sum(terms, Fraction(0)) / (n * slope**2)
    predicted = mechanism.predict(np.array(truth, np.float64), n)
    assert predicted.variance is not None
    np.testing.assert_allclose(predicted.variance, np.diag(exact), rtol=1e-12)
    if mechanism.joint:
        np.testing.assert_allclose(predicted.covariance(), exact, rtol=1e-12, atol=1e-15)
    assert predicted.n == n


def expected_batch(name: str) -> dn.Reports:
    """A batch that holds every report exactly as often as it is expected from people with the true shares."""
    mechanism, truth = EXAMPLES[name], shares(EXAMPLES[name].domain.size)
    laws = [dn.law(mechanism, index) for index in range(len(truth))]
    often = [(row, share * chance) for share, law in zip(truth, laws, strict=True) for row, chance in law.items()]
    people = math.lcm(*(chance.denominator for _, chance in often))
    rows = [np.frombuffer(row * int(chance * people), np.uint8).reshape(-1, len(row)) for row, chance in often]
    columns = mechanism.layout.columns(np.concatenate(rows))
    return dn.Reports.of(mechanism.fingerprint, mechanism.layout, columns)


@pytest.mark.parametrize("name", ["warner", "direct", "unary", "subset", "hashing", "wheel", "hadamard", "design"])
def test_counting_and_em_recover_the_truth_from_the_expected_batch(name: str) -> None:
    mechanism, reports = EXAMPLES[name], expected_batch(name)
    truth = np.array(shares(mechanism.domain.size), np.float64)
    estimate = mechanism.estimate(mechanism.tally(reports))
    np.testing.assert_allclose(estimate.values, truth, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        dn.em(mechanism, reports, tolerance=1e-13).values, truth, rtol=0, atol=5e-4
    )  # slow at a share of 0


@every_example
def test_count_adds_up_what_reports_support(name: str) -> None:
    mechanism = EXAMPLES[name]
    reports = mechanism.perturb(answers(mechanism, 500), dn.SeededCoins(5))
    supported = mechanism.supports(reports.columns, np.arange(mechanism.domain.size))
    np.testing.assert_array_equal(mechanism.count(reports), supported.sum(axis=0))


@every_example
def test_message_and_file_come_back_whole(name: str) -> None:
    mechanism = EXAMPLES[name]
    reports = mechanism.perturb(answers(mechanism, 301), dn.SeededCoins(1))
    message = mechanism.pack(reports)
    assert len(message) == 36 + (301 * mechanism.layout.bits + 7) // 8
    back = mechanism.unpack(message)
    for field in mechanism.layout.fields:
        np.testing.assert_array_equal(back.columns[field.name], reports.columns[field.name])
    for damaged in (message + b"\0", message[:-1], message[:40], b"", message[:8] + b"\1" + message[9:]):
        with pytest.raises((dn.InvalidReport, dn.SurveyMismatch)):
            mechanism.unpack(damaged)


@every_example
def test_tallies_add_in_any_order_and_grouping(name: str) -> None:
    mechanism = EXAMPLES[name]
    reports = mechanism.perturb(answers(mechanism, 90), dn.SeededCoins(2))
    a, b, c = (mechanism.tally(reports[part]) for part in (slice(0, 10), slice(10, 50), slice(50, 90)))
    whole = mechanism.tally(reports)
    assert (a + b) + c == c + (b + a) == sum([b, c, a]) == whole == dn.Tally.from_json(whole.to_json())
    other = EXAMPLES["warner" if name != "warner" else "direct"]
    with pytest.raises(dn.SurveyMismatch):
        whole + other.tally(other.perturb(answers(other, 3), dn.SeededCoins(3)))


@every_example
def test_json_keeps_the_fingerprint(name: str) -> None:
    mechanism = EXAMPLES[name]
    back = dn.mechanism_from_json(mechanism.to_json())
    assert back == mechanism
    assert back.fingerprint == mechanism.fingerprint


def test_fingerprints_tell_all_examples_apart() -> None:
    assert len({mechanism.fingerprint for mechanism in EXAMPLES.values()}) == len(EXAMPLES)


def answers(mechanism: PureProtocol, people: int) -> list[str | int]:
    labels = mechanism.domain.labels
    return [labels[person * person % len(labels)] for person in range(people)]
