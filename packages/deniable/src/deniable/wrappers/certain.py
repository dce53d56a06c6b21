"""The base of a question with one sensitive answer: whoever has it has nothing to choose from."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import Coins, Columns, Counted, Domain, Layout, Number, PrivacyLoss, PureProtocol


@dataclass(frozen=True)
class Certain(Counted, PureProtocol):
    """Every report says the same and supports the one value there is: p = 1, and a blank report is not another."""

    domain: Domain
    epsilon: float
    wire = "certain-1"
    p = Fraction(1)
    q = Fraction(0)
    pairs = (Fraction(0), Fraction(0))  # there are none
    layout = Layout((Number("value", 1),))
    blank_support = Fraction(1)

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        return {"value": np.zeros(len(truth), np.int64)}

    def blank(self, size: int, coins: Coins) -> Mapping[str, Ints]:
        return {"value": np.zeros(size, np.int64)}

    def votes_of(self, histogram: Ints) -> Ints:
        return histogram

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        return np.ones((len(columns["value"]), len(cells)), np.bool_)

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(Fraction(1))
