"""The certificate catches code that does not do what it says, at every size."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.arrays import Ints
from deniable.core import Coins, Drawn, Mechanism, PackedBits, packed
from deniable.privacy.bounds import Effort
from deniable.privacy.problem import Problem
from deniable.privacy.replacement import replacement

Columns = Mapping[str, NDArray[np.unsignedinteger]]


class BareBit(dn.Unary):
    """Leaves one bit as it is."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        cells: Any = super().randomize(truth, coins)["cells"]
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
        half = coins.toss_packed(self.q, len(truth), (self.domain.size + 1) // 2)
        noise = packed([half.bit(cell // 2) for cell in range(self.domain.size)], 1)
        return {"cells": noise.with_bit(truth, coins.toss(self.p, len(truth))).bytes}


class UnpackedNoise(SharedNoise):
    """The same, written with arrays that no law has."""

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


def is_caught(mechanism: Mechanism) -> bool:
    """Whether a mechanism with a bug gets no certificate at all, or one that says that it does not hold."""
    try:
        certificate = dn.certify(mechanism)
    except dn.NotCertifiable:
        return True
    return not certificate.holds and "DOES NOT HOLD" in str(certificate)


@pytest.mark.parametrize("bug", [BareBit, ShortNoise, SkippedLie, UnequalRows, LateStandIn, Spender])
def test_planted_bugs_get_their_true_loss_where_all_outcomes_can_be_followed(bug: type[dn.DirectResponse]) -> None:
    certificate = dn.certify(bug(domain(6), 1.0))
    assert certificate.loss.proof == "proved"
    assert certificate.loss.odds == dn.certify(bug(domain(6), 1.0), "enumerated").loss.odds
    assert not certificate.holds
    assert certificate.slack < 0
    assert "DOES NOT HOLD" in str(certificate)


@pytest.mark.parametrize(
    ("bug", "size"),
    [
        *((bug, 200) for bug in (BareBit, ShortNoise)),
        *((bug, 1600) for bug in (SkippedLie, UnequalRows, Spender)),
        *((bug, 9000) for bug in (SkippedLie, UnequalRows, Spender)),
    ],
)
def test_planted_bugs_are_caught_at_every_size(bug: type[dn.DirectResponse], size: int) -> None:
    assert is_caught(bug(domain(size), 1.0))


class OneLeak(dn.Unary):
    """Gives one value away, out of many."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        cells: Any = super().randomize(truth, coins)["cells"]
        return {"cells": cells.with_bit(7, cells.bit(7) | (truth == 7)).bytes}


def test_one_leaking_value_among_many_is_caught() -> None:
    assert dn.certify(OneLeak(domain(9), 1.0)).loss.odds is None
    for size in (70, 300, 1000):
        assert is_caught(OneLeak(domain(size), 1.0))


def test_large_instances_are_not_enumerated() -> None:
    for mechanism in (
        dn.DirectResponse(domain(9000), 1.0),
        dn.SubsetSelection(domain(30), 1.0),
        dn.Unary(domain(30), 1.0),
    ):
        certificate = dn.certify(mechanism)
        assert certificate.holds and certificate.loss.proof == "proved"
        assert certificate.rules and "enumeration" not in certificate.rules
        with pytest.raises(dn.NotCertifiable, match=r"combinations of coins|too many outcomes"):
            dn.certify(mechanism, "enumerated")


@pytest.mark.parametrize("size", [16, 200, 1600])
def test_planted_bugs_in_subsets_are_caught_at_every_size(size: int) -> None:
    for bug in (LateStandIn, OneLeakingSubset, OddToss):
        assert is_caught(bug(domain(size), 1.0))


class OneLeakingSubset(dn.SubsetSelection):
    """Adds a cell to every report on one value."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        cells: Any = super().randomize(truth, coins)["cells"]
        return {"cells": cells.with_bit(9, cells.bit(9) | (truth == 3)).bytes}


class OddToss(dn.SubsetSelection):
    """Is honest more often about one value."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, NDArray[np.uint8]]:
        cells: Any = super().randomize(truth, coins)["cells"]
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
    assert is_caught(SharedNoise(domain(2000), 1.0))


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


class Stateful(dn.DirectResponse):
    """Is honest every second time it is called."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        self.domain.__dict__["turn"] = turn = self.domain.__dict__.get("turn", 0) + 1
        return {"value": truth} if turn % 2 else super().randomize(truth, coins)


ELSEWHERE = np.random.default_rng(1)


class Foreign(dn.DirectResponse):
    """Takes its randomness from elsewhere."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        return {"value": np.where(ELSEWHERE.random(len(truth)) < float(self.p), truth, 0)}


class BatchSized(dn.DirectResponse):
    """Is honest in large batches only."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        return {"value": truth} if len(truth) > 2 else super().randomize(truth, coins)


@pytest.mark.parametrize(
    ("bug", "why"),
    [
        (Adaptive, r"A value of a law has no .any \(test_certify.py, line \d+: if again.any\(\):\)"),
        (OneForAll, "A draw for another number of answers"),
        (UnpackedNoise, "A value of a law has no .unpack"),
        (Stateful, "does not do the same thing each time"),
        (BatchSized, "does not do the same thing each time"),
        (Foreign, "the same for every answer of a batch|does not do the same thing each time"),
    ],
)
def test_code_that_is_no_program_neither_runs_nor_is_certified(bug: type[dn.DirectResponse], why: str) -> None:
    """Coins that depend on outcomes, one coin for all, state, and randomness of its own: nothing is ever reported."""
    with pytest.raises(dn.InvalidLaw, match=why):
        bug(domain(3), 1.0).perturb([1])
    with pytest.raises(dn.InvalidLaw, match=why):
        _ = bug(domain(3), 1.0).law
    for proof in (None, "enumerated"):
        with pytest.raises(dn.NotCertifiable, match=why):
            dn.certify(bug(domain(3), 1.0), proof)


class OwnPerturb(dn.DirectResponse):
    """Reports the truth, whatever its law says."""

    def perturb(self, values: Any, coins: Coins | None = None) -> dn.Reports:
        reports = super().perturb(values, coins)
        return replace(reports, columns={"value": self.domain.index(values).astype(np.uint8)})


class OwnRun(dn.DirectResponse):
    """Runs something else than its law, further inside."""

    def _drawn(self, answers: Any, coins: Coins) -> Drawn:
        return {"value": self.domain.index(answers)}


class OwnCodes(dn.DirectResponse):
    """Hands other codes to its law than its domain does."""

    def encoded(self, answers: Any) -> Any:
        return [np.zeros(len(answers), np.int64)]


class Untraced(dn.DirectResponse):
    """Says that it is no program, and does as it likes."""

    traced = False

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        return super().randomize(truth, coins) if len(truth) > 1 else {"value": truth}


@pytest.mark.parametrize(
    ("bug", "why"),
    [
        (OwnPerturb, "`perturb` of its own"),
        (OwnRun, "`_drawn` of its own"),
        (OwnCodes, "`encoded` of its own"),
        (Untraced, "Only a law that is a program can be proved"),
    ],
)
def test_reports_that_come_from_elsewhere_than_the_law_are_refused(bug: type[dn.DirectResponse], why: str) -> None:
    for proof in (None, "enumerated"):
        with pytest.raises(dn.NotCertifiable, match=why):
            dn.certify(bug(domain(3), 1.0), proof)


class Replaced(dn.DirectResponse):
    """The true answer, or one that is drawn from `others` of all answers."""

    others, uneven = 0, False

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        count = self.domain.size - self.others
        other = coins.pick(range(1, count + 1), len(truth)) if self.uneven else coins.below(count, len(truth))
        return {"value": np.where(coins.toss(Fraction(1, 3), len(truth)), truth, other)}


class ReplacedByFewer(Replaced):
    others = 1


class ReplacedUnevenly(Replaced):
    uneven = True


class ReplacedTogether(dn.DirectResponse):
    """What is drawn and whether it is used come of one draw."""

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        other = coins.below(self.domain.size, len(truth))
        return {"value": np.where(other < self.domain.size // 2, truth, other)}


@pytest.mark.parametrize("family", [Replaced, ReplacedByFewer, ReplacedUnevenly, ReplacedTogether])
def test_an_answer_that_a_draw_may_replace_has_its_true_loss(family: type[dn.DirectResponse]) -> None:
    for size in (2, 3, 7):
        mechanism = family(domain(size), 1.0)
        worst = dn.certify(mechanism, "enumerated").loss.odds
        found = replacement(Problem.of(mechanism.law), Effort(1 << 12))
        assert dn.certify(mechanism).loss.odds == worst
        assert (found is None and worst is None) or (found is not None and found.odds == worst)
    large = family(domain(1500), 1.0)
    if worst is None:
        assert is_caught(large)
    else:
        assert dn.certify(large).rules == ("replacement",)


def test_bits_of_several_coins_are_proved_where_they_can_be_followed() -> None:
    small = MixedBits(domain(3), 1.0)
    assert dn.certify(small).holds  # more noise, less loss
    assert dn.certify(small).loss.odds == dn.certify(small, "enumerated").loss.odds
    with pytest.raises(dn.NotCertifiable, match=r"too many outcomes|combinations"):
        dn.certify(MixedBits(domain(40), 1.0), "enumerated")


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
    mechanism = dn.DirectResponse(dn.Categories(["yes", "no"]), 1.0)
    followed = dn.certify(mechanism, "enumerated")
    assert followed.followed == 4  # two values, an honest toss, and a lie of which there is only one
    assert followed.values == 2
    assert "for all 2 answers and all draws: 4 outcomes enumerated" in str(followed)
    by_rules = dn.certify(mechanism)
    assert by_rules.values == 2
    assert f"for all 2 answers and all draws, by {', '.join(by_rules.rules)}" in str(by_rules)
    for certificate in (followed, by_rules):
        for part in ("holds", "one answer", "any two values", "proved", "'yes' against 'no'", "99402293/36568060"):
            assert part in str(certificate)


def test_ways_that_do_not_fit_are_refused() -> None:
    for proof in ("theorem", "open", "factored", "symmetric"):
        with pytest.raises(dn.NotCertifiable, match="theorem"):
            dn.certify(dn.Unary(domain(3), 1.0), proof)  # type: ignore[arg-type]
    with pytest.raises(dn.NotCertifiable, match="combinations of coins in all"):
        dn.certify(dn.DirectResponse(domain(9000), 1.0), "enumerated")
    with pytest.raises(dn.NotCertifiable, match="combinations"):
        dn.law(dn.Unary(domain(10), 1.0), 0, limit=1000)
    with pytest.raises(dn.NotCertifiable, match="combinations of coins"):
        dn.law(dn.Unary(domain(40), 1.0), 0)


def test_mechanism_is_abstract() -> None:
    with pytest.raises(TypeError):
        Mechanism()  # type: ignore[abstract]
