"""Every law holds for every family, on the exact law of its code: `deniable.testing` over all instances of the tests."""

import math
import re

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms import registry
from deniable.testing import CHECKS, Check, CheckFailed, checks
from tests.every import law_by_coins
from tests.examples import ALL, shares
from tests.families import INSTANCES

# Instances that reproduce a publication whose promise is not kept; their `loss` is what they truly cost.
BROKEN = ("published", "bits-f-RR", "bits-OME", "signs-published")
TOO_LARGE = {"privunit-1", "unit-codes-1", "unit-axes-1", "compressed-1", "compressed-published-1", "friends-1"}
TOO_LARGE |= {"seeded-1", "seeded-channel-1", "seeded-pairs-1"}  # test_seeded.py enumerates all contents of three codes
RELEASES = {"bipartite-1", "staircase-1", "coarsened-1", "release-1", "vector-1", "finite-1"}  # some cannot be inverted
# Their estimates divide by counts.
RATIOS = {"key-sampling-1", "one-attribute-1", "one-group-1", "permanent-set-1", "prefix-hashing-1", "sifted-hashing-1"}
PAIRS = {"one-pair-1"}  # predicts tables, not margins: tests/analysis/test_one_pair.py checks it on the exact law
ROUNDS = {"cuts-1"}  # few cuts cannot be inverted alone: test_rounds.py checks several rounds, "cuts-everywhere" one
# Which families may leave out which check, with a reason; every other check must apply.
LEFT_OUT = {
    "coins": {"compressed-1", "compressed-published-1", "friends-1"},
    "sums_to_one": TOO_LARGE,
    "worst_ratio": {"privunit-1"},
    "unbiased": TOO_LARGE | RELEASES | PAIRS | ROUNDS,
    "variance": TOO_LARGE | RELEASES | RATIOS | PAIRS | ROUNDS,
}
KINDS = {"support", "likelihood", "guess", "losses"}  # for mechanisms of that kind only


def broken(check: Check) -> str | None:
    """How this law fails, if it does; to leave it out without a reason counts."""
    try:
        reason = check()
    except CheckFailed as failure:
        return str(failure)
    allowed = reason is None or check.name in KINDS or check.exact.mechanism.wire in LEFT_OUT.get(check.name, ())
    return None if allowed else f"{check.name} is left out: {reason}"


@pytest.mark.parametrize("name", INSTANCES)
def test_every_law_holds(name: str) -> None:
    found = [broken(check) for check in checks(INSTANCES[name])]
    assert len(found) == len(CHECKS) and not any(found), "\n".join(filter(None, found))


def test_every_family_has_an_instance_and_may_leave_out_little() -> None:
    assert {mechanism.wire for mechanism in INSTANCES.values()} == set(registry.OURS)
    assert set(LEFT_OUT) | KINDS <= set(CHECKS)


@pytest.mark.parametrize("name", INSTANCES)
def test_budgets_are_kept_where_nothing_else_is_said(name: str) -> None:
    """The loss, which the laws compare with the code, is within the budget; what is published and broken says so."""
    mechanism = INSTANCES[name]
    assert mechanism.loss().epsilon() <= mechanism.epsilon or any(each in name for each in BROKEN)


def test_fingerprints_are_all_different() -> None:
    same = {each.to_json() for each in INSTANCES.values()}
    assert len({mechanism.fingerprint for mechanism in INSTANCES.values()}) == len(same) > 150


@pytest.mark.parametrize("name", [name for name, mechanism in INSTANCES.items() if mechanism.traced])
def test_what_perturb_does_on_every_coin_is_the_law_of_the_program(name: str) -> None:
    """Two ways to the same law: the program followed draw by draw, and the code of a device with every coin."""
    mechanism = INSTANCES[name]
    try:
        by_coins = law_by_coins(mechanism, 1, 1 << 16)
    except dn.NotCertifiable as why:
        assert re.search(r"combinations of coins|too many|more than one coin", str(why))  # too large, or it rounds vectors
        return
    assert dict(dn.law(mechanism, 1).items()) == by_coins


def expected_batch(name: str) -> dn.Reports:
    """A batch that holds every report exactly as often as it is expected from people with the true shares."""
    mechanism, truth = ALL[name], shares(ALL[name].domain.size)
    laws = [dn.law(mechanism, index) for index in range(len(truth))]
    often = [(row, share * chance) for share, law in zip(truth, laws, strict=True) for row, chance in law.items()]
    people = math.lcm(*(chance.denominator for _, chance in often))
    rows = [np.frombuffer(row * int(chance * people), np.uint8).reshape(-1, len(row)) for row, chance in often]
    columns = mechanism.layout.columns(np.concatenate(rows))
    return dn.Reports.of(mechanism.fingerprint, mechanism.layout, columns)


@pytest.mark.parametrize("name", ["warner", "direct", "unary", "subset", "hashing", "wheel", "hadamard", "design"])
def test_counting_and_em_recover_the_truth_from_the_expected_batch(name: str) -> None:
    mechanism, reports = ALL[name], expected_batch(name)
    truth = np.array(shares(mechanism.domain.size), np.float64)
    estimate = mechanism.estimate(mechanism.tally(reports))
    np.testing.assert_allclose(estimate.values, truth, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        dn.em(mechanism, reports, tolerance=1e-13).values, truth, rtol=0, atol=5e-4
    )  # slow at a share of 0
