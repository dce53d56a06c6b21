"""The registry of proofs: strangers have the generic ones, may add their own, and no family is named in certify.py."""

import ast
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Bools, Ints
from deniable.core import Coins, Columns, Drawn, Flags, Layout, Number, PackedBits, PrivacyLoss, PureProtocol
from deniable.privacy import certify as certify_module
from deniable.privacy import proofs
from deniable.privacy.certificate import Certificate, certificate
from deniable.privacy.ratio import Worst


class Stranger(PureProtocol):
    """A mechanism that this package has never heard of: the true value with p, else any value at all."""

    wire = "stranger-1"

    def __init__(self, size: int, epsilon: float = 1.0) -> None:
        self.domain, self.epsilon = dn.Categories(range(size)), epsilon

    @property
    def _kept(self) -> Fraction:
        return (self.odds - 1) / (self.odds - 1 + self.domain.size)

    @property
    def q(self) -> Fraction:
        return (1 - self._kept) / self.domain.size

    @property
    def p(self) -> Fraction:
        return self._kept + self.q

    @property
    def layout(self) -> Layout:
        return Layout((Number("value", self.domain.size),))

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        honest, other = coins.toss(self._kept, len(truth)), coins.below(self.domain.size, len(truth))
        return {"value": np.where(honest, truth, other)}

    def votes(self, columns: Columns) -> Ints:
        return np.bincount(columns["value"], minlength=self.domain.size)

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        return np.asarray(columns["value"][:, None] == cells)

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds)

    def parameters(self) -> Mapping[str, object]:
        return {}


class StrangeBits(Stranger):
    """The same with independent bits."""

    wire = "strange-bits-1"
    p = Fraction(1, 2)

    @property
    def q(self) -> Fraction:
        return 1 / (self.odds + 1)

    @property
    def layout(self) -> Layout:
        return Layout((Flags("cells", self.domain.size),))

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        noise = coins.toss_packed(self.q, len(truth), self.domain.size)
        return {"cells": noise.with_bit(truth, coins.toss(self.p, len(truth))).bytes}

    def votes(self, columns: Columns) -> Ints:
        return PackedBits(columns["cells"].astype(np.uint8), self.domain.size).column_sums()


def test_strangers_have_the_generic_proofs() -> None:
    """Nothing is registered for them."""
    small, large, bits = Stranger(6), Stranger(50_000), StrangeBits(40)
    for mechanism in (small, large, bits):
        found = dn.certify(mechanism)
        assert found.loss.proof == "proved" and found.rules and found.holds
        assert found.loss.odds == mechanism.loss().odds
    assert dn.certify(small, "enumerated").loss.odds == small.odds
    assert "enumeration" not in dn.certify(bits).rules
    assert dn.worst_gain(small, 1, 100).exact and dn.suspicions(small, small.perturb([0] * 100)) == []


def test_strangers_may_register_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found by the class, takes nothing from others, and does not hold for classes below it, which change the code."""
    monkeypatch.setattr(proofs, "_PROVERS", dict(proofs._PROVERS))

    @proofs.proves(Stranger, "theorem")
    def by_theorem(mechanism: Stranger, limit: int) -> Certificate:
        return certificate(mechanism, Worst(mechanism.odds, (0, 1), "any"), "theorem", 1, 2)

    assert dn.certify(Stranger(6), "theorem").loss.odds == Stranger(6).odds
    for other in (StrangeBits(6), dn.DirectResponse(dn.Categories(range(6)), 1.0)):
        with pytest.raises(dn.NotCertifiable, match="theorem"):
            dn.certify(other, "theorem")


def test_the_certifier_names_no_family() -> None:
    tree = ast.parse(Path(certify_module.__file__).read_text())
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [
        name for name in modules if name.startswith(("deniable.mechanisms", "deniable.wrappers", "deniable.domains"))
    ]


def test_what_is_no_mechanism_or_tally_is_refused_in_words() -> None:
    with pytest.raises(dn.InvalidParameter, match="Only a mechanism can be certified"):
        dn.certify("x")  # type: ignore[arg-type]
    for mechanism in (dn.DirectResponse(dn.Categories(range(3)), 1.0), dn.UnitCodes(dn.UnitVectors(4), 1.0)):
        answer: Any = mechanism.domain.answer(0)
        reports = mechanism.perturb([answer], dn.SeededCoins(1))
        with pytest.raises(dn.InvalidParameter, match="needs a tally"):
            mechanism.estimate(reports)  # type: ignore[arg-type]


def test_what_has_neither_a_program_nor_a_theorem_of_ours_is_refused_in_words() -> None:
    with pytest.raises(dn.NotCertifiable, match="cannot be recorded as a program"):
        dn.certify(dn.PrivUnit(dn.UnitVectors(4), 1.0))
