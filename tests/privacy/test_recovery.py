"""Recovery from false reports: exact where its assumption holds, and refused where it makes no sense."""

import numpy as np
import pytest

import deniable as dn
from deniable.core.pure import PureProtocol

ASKED = dn.Categories(["a", "b", "c", "d"])
SHARES = np.array([0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize("make", [dn.DirectResponse, dn.Unary, dn.SubsetSelection, dn.LocalHashing])
def test_a_named_target_gives_the_shares_back(make: type[PureProtocol]) -> None:
    """On expected counts: a twentieth of the reports support "a", and each other answer equally often."""
    mechanism, n, fakes = make(ASKED, 1.0), 10_000_000, 0.05  # type: ignore[call-arg]
    p, q = float(mechanism.p), float(mechanism.q)
    honest = n * (1 - fakes) * (q + SHARES * (p - q))
    counts = honest + n * fakes * np.array([1, 0.1, 0.1, 0.1])
    tally = dn.Tally(mechanism.fingerprint, n, np.rint(counts).astype(np.int64))
    assert dn.recover(mechanism, tally, fakes, "a").values == pytest.approx(SHARES, abs=1e-5)
    raw = mechanism.estimate(tally).values
    assert raw[0] > SHARES[0] + 0.05  # what the raw estimate says
    assert "5 % of the reports are false" in dn.recover(mechanism, tally, fakes, "a").assumption


def test_without_false_reports_it_is_the_projection() -> None:
    mechanism = dn.Unary(ASKED, 1.0)
    tally = mechanism.tally(mechanism.perturb(["a", "b"] * 500, dn.SeededCoins(1)))
    assert dn.recover(mechanism, tally, 0.0).values == pytest.approx(dn.norm_sub(mechanism.estimate(tally)).values)


def test_without_a_target_shares_are_shares() -> None:
    mechanism = dn.Unary(ASKED, 1.0)
    tally = mechanism.tally(mechanism.perturb(["a", "b"] * 500, dn.SeededCoins(1)))
    found = dn.recover(mechanism, tally, 0.1)
    assert found.values.min() >= 0 and found.values.sum() == pytest.approx(1) and "spread evenly" in found.assumption


def test_refusals() -> None:
    mechanism = dn.Unary(ASKED, 1.0)
    tally = mechanism.tally(mechanism.perturb(["a"] * 10))
    with pytest.raises(dn.InvalidParameter, match=r"below 0\.5"):
        dn.recover(mechanism, tally, 0.5)
    with pytest.raises(dn.OutsideDomain, match="not an answer"):
        dn.recover(mechanism, tally, 0.1, "z")
