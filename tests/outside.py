"""A mechanism that is not ours, as source text: what its author writes, and nothing else."""

MECHANISM = '''
"""Report the true answer with probability 1/2, otherwise any answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable import Categories, Coins, PrivacyLoss
from deniable.core import Layout, Number, PureProtocol


@dataclass(frozen=True)
class HalfHonest(PureProtocol):
    """Half of the reports are true, the others are drawn from all answers."""

    domain: Categories
    epsilon: float
    wire, candidate = "half-honest-1", "half-honest"

    @property
    def p(self) -> Fraction:
        return Fraction(1, 2) + self.q

    @property
    def q(self) -> Fraction:
        return Fraction(1, 2 * self.domain.size)

    @property
    def pairs(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), Fraction(0)

    @property
    def layout(self) -> Layout:
        return Layout((Number("value", self.domain.size),))

    def randomize(self, truth, coins: Coins) -> Mapping:
        honest = coins.toss(Fraction(1, 2), len(truth))
        return {"value": np.where(honest, truth, coins.below(self.domain.size, len(truth)))}

    def votes(self, columns):
        return np.bincount(columns["value"], minlength=self.domain.size)

    def supports(self, columns, cells):
        return columns["value"][:, None] == cells[None, :]

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.p / self.q)
'''

SURVEY = """
[survey]
id = "outside"
epsilon = 2.0
minimum_reports = 10

[[question]]
id = "mode"
ask = "How did you travel today?"
kind = "category"
choices = ["walk", "bus", "car"]
mechanism = { mechanism = "half-honest-1" }
"""
