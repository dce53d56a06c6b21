"""The certificate catches code that does not do what it says, at every size."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.arrays import Ints
from deniable.core.bits import PackedBits
from deniable.core.coins import Coins
from deniable.core.mechanism import Mechanism

Columns = Mapping[str, NDArray[np.unsignedinteger]]


class BareBit(dn.Unary):
    """Leaves one bit as it is."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        cells = PackedBits(super().randomize(truth, coins)["cells"], self.domain.size)
        last = self.domain.size - 1
        return {"cells": cells.with_bit(last, truth == last).bytes}


class ShortNoise(dn.Unary):
    """Draws noise for all bits but the last: an off-by-one."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        noise = coins.toss_packed(self.q, len(truth), self.domain.size - 1).widened(self.domain.size)
        return {"cells": noise.with_bit(truth, coins.toss(self.p, len(truth))).bytes}


class SharedNoise(dn.Unary):
    """Neighbouring bits share a coin: every marginal is right, the joint law is not."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        half = coins.toss_packed(self.q, len(truth), (self.domain.size + 1) // 2).unpack()
        noise = PackedBits.pack(np.repeat(half, 2, axis=1)[:, : self.domain.size])
        return {"cells": noise.with_bit(truth, coins.toss(self.p, len(truth))).bytes}


class SkippedLie(dn.DirectResponse):
    """Skips past the truth one too late, so that one lie can never be told."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        honest = coins.toss(self.p, len(truth))
        lie = coins.below(self.domain.size - 1, len(truth))
        return {"value": np.where(honest, truth, lie + (lie > truth))}


class UnequalRows(dn.DirectResponse):
    """Is more honest about one value than about the others."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        value = super().randomize(truth, coins)["value"]
        more = coins.toss(Fraction(1, 10), len(truth))
        return {"value": np.where(more & (truth == 1), truth, value)}


class WrongSize(dn.SubsetSelection):
    """Fills one place too few."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        honest, last = coins.toss(self.p, len(truth)), self.domain.size - 1
        others = coins.subset(last, self.size - 1, one_less=honest).widened(last + 1)
        return {"cells": others.with_bit(last, others.bit(truth)).with_bit(truth, honest).bytes}


class LateStandIn(dn.SubsetSelection):
    """Forgets that the last value stands in for the truth among the others."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        honest, last = coins.toss(self.p, len(truth)), self.domain.size - 1
        others = coins.subset(last, self.size, one_less=honest).widened(last + 1)
        return {"cells": others.with_bit(truth, honest).bytes}


class Spender(dn.DirectResponse):
    """Spends twice what it was given, and says so."""

    @property
    def odds(self) -> Fraction:
        return dn.odds_below(2 * self.epsilon)


def domain(size: int) -> dn.Categories:
    return dn.Categories(range(size))


@pytest.mark.parametrize(
    ("bug", "size"),
    [
        *((bug, 6) for bug in (BareBit, ShortNoise, SkippedLie, UnequalRows, LateStandIn, Spender)),
        *((bug, 200) for bug in (BareBit, ShortNoise)),
        *((bug, 1600) for bug in (SkippedLie, UnequalRows, Spender)),
        *((bug, 9000) for bug in (SkippedLie, UnequalRows, Spender)),
    ],
)
def test_planted_bugs_are_caught(bug: type[dn.DirectResponse], size: int) -> None:
    certificate = dn.certify(bug(domain(size), 1.0))
    assert not certificate.holds
    assert certificate.slack < 0
    assert "DOES NOT HOLD" in str(certificate)


class OneLeak(dn.Unary):
    """Gives one value away, out of many."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        cells = PackedBits(super().randomize(truth, coins)["cells"], self.domain.size)
        return {"cells": cells.with_bit(7, cells.bit(7) | (truth == 7)).bytes}


def test_one_leaking_value_among_many_is_caught() -> None:
    for size in (9, 70, 300):
        assert dn.certify(OneLeak(domain(size), 1.0)).loss.odds is None
    with pytest.raises(dn.NotCertifiable, match="value number 7 has a bit that no coin moves"):
        dn.certify(OneLeak(domain(1000), 1.0))


def test_large_instances_are_not_enumerated() -> None:
    assert dn.certify(dn.DirectResponse(domain(9000), 1.0)).loss.proof == "symmetric"
    assert dn.certify(dn.SubsetSelection(domain(30), 1.0)).loss.proof == "symmetric"
    assert dn.certify(dn.Unary(domain(30), 1.0)).loss.proof == "factored"


@pytest.mark.parametrize("size", [16, 200, 1600])
def test_planted_bugs_in_subsets_are_caught_at_every_size(size: int) -> None:
    for bug in (LateStandIn, OneLeakingSubset, OddToss):
        with pytest.raises(dn.NotCertifiable, match=r"not one toss|no coin moves|not alike|several coins"):
            dn.certify(bug(domain(size), 1.0))


class OneLeakingSubset(dn.SubsetSelection):
    """Adds a cell to every report on one value."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        cells = PackedBits(super().randomize(truth, coins)["cells"], self.domain.size)
        return {"cells": cells.with_bit(9, cells.bit(9) | (truth == 3)).bytes}


class OddToss(dn.SubsetSelection):
    """Is honest more often about one value."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        cells = PackedBits(super().randomize(truth, coins)["cells"], self.domain.size)
        more = coins.toss(Fraction(1, 3), len(truth)) & (truth == 5)
        return {"cells": cells.with_bit(truth, cells.bit(truth) | more).bytes}


def test_wrong_size_is_caught() -> None:
    assert not dn.certify(WrongSize(domain(6), 1.0, 3), "enumerated").holds


def test_shared_coins_are_caught_though_every_marginal_is_right() -> None:
    mechanism = SharedNoise(domain(6), 1.0)
    for index in range(6):
        law = dn.law(mechanism, index)
        bits = np.unpackbits(law.reports, axis=1, bitorder="little", count=6)
        for cell in range(6):
            one = sum(chance for row, (_, chance) in zip(bits, law.items(), strict=True) if row[cell])
            assert one == (mechanism.p if cell == index else mechanism.q)
    assert dn.certify(mechanism).loss.odds is None
    with pytest.raises(dn.NotCertifiable, match="several bits"):
        dn.certify(SharedNoise(domain(2000), 1.0))


class Adaptive(dn.DirectResponse):
    """Tosses a second coin only for those whose first one came up heads."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        value = super().randomize(truth, coins)["value"]
        again = value == 1
        if again.any():
            value = np.where(coins.toss(self.p, len(truth)) & again, truth, value)
        return {"value": value}


class OneForAll(dn.DirectResponse):
    """Tosses one coin for the whole batch."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        lie = coins.below(self.domain.size, len(truth))
        return {"value": np.where(coins.toss(self.p, 1), truth, lie)}


class MixedBits(dn.Unary):
    """Every bit is the difference of two coins."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        first = super().randomize(truth, coins)["cells"]
        return {"cells": first ^ coins.toss_packed(self.q, len(truth), self.domain.size).bytes}


@pytest.mark.parametrize("bug", [Adaptive, OneForAll])
def test_code_whose_coins_depend_on_outcomes_is_refused(bug: type[dn.DirectResponse]) -> None:
    with pytest.raises(dn.NotCertifiable, match="same coins every time"):
        dn.certify(bug(domain(3), 1.0), "enumerated")


def test_bits_of_several_coins_are_not_factored() -> None:
    with pytest.raises(dn.NotCertifiable, match="several coins"):
        dn.certify(MixedBits(domain(40), 1.0), "factored")
    assert dn.certify(MixedBits(domain(3), 1.0), "enumerated").holds  # more noise, less loss


@pytest.mark.parametrize("size", [2, 16, 200, 1024, 5000])
@pytest.mark.parametrize(
    "make", [dn.DirectResponse, dn.Unary, dn.Unary.symmetric, dn.SubsetSelection, dn.LocalHashing, dn.Wheel]
)
def test_honest_code_is_certified_at_every_size(make: type[dn.DirectResponse], size: int) -> None:
    mechanism = make(domain(size), 0.7)
    certificate = dn.certify(mechanism, limit=1 << 16)
    assert certificate.holds
    assert certificate.loss.odds == mechanism.loss().odds
    assert 0 <= certificate.slack < 1e-9


def test_certificate_says_what_it_did() -> None:
    certificate = dn.certify(dn.DirectResponse(dn.Categories(["yes", "no"]), 1.0))
    assert certificate.followed == 4  # two values, an honest toss, and a lie of which there is only one
    assert certificate.values == 2
    for part in ("holds", "one answer", "any two values", "enumerated", "'yes' against 'no'", "99402293/36568060"):
        assert part in str(certificate)


def test_ways_that_do_not_fit_are_refused() -> None:
    small = domain(3)
    for mechanism, proof, why in [
        (dn.DirectResponse(small, 1.0), "factored", "independent bits"),
        (dn.SubsetSelection(small, 1.0), "factored", "yes-or-no coins"),
        (dn.Unary(domain(40), 1.0), "symmetric", "another kind of proof"),
        (dn.Unary(small, 1.0), "theorem", "theorem"),
        (dn.Unary(domain(1 << 15), 1.0), "factored", "too wide"),
    ]:
        with pytest.raises(dn.NotCertifiable, match=why):
            dn.certify(mechanism, proof)  # type: ignore[arg-type]
    with pytest.raises(dn.NotCertifiable, match="combinations of coins in all"):
        dn.certify(dn.DirectResponse(domain(9000), 1.0), "enumerated")
    with pytest.raises(dn.NotCertifiable, match="combinations"):
        dn.law(dn.Unary(domain(10), 1.0), 0, limit=1000)
    with pytest.raises(dn.NotCertifiable, match="too many outcomes"):
        dn.law(dn.Unary(domain(40), 1.0), 0)


def test_mechanism_is_abstract() -> None:
    with pytest.raises(TypeError):
        Mechanism()  # type: ignore[abstract]
