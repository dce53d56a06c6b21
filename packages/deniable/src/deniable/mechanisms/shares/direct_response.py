"""Direct response: tell the truth or any other answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from deniable.arrays import Bools, Ints
from deniable.core import Coins, Columns, Counted, Domain, Layout, Number
from deniable.mechanisms.shares.utility_base import UtilityBase


def moved(value: Ints, stay: Fraction, size: int, coins: Coins) -> Ints:
    """Each value as it is with probability `stay`, else one of the size - 1 others: how far to move on is drawn."""
    return (coins.split(stay, 1, size - 1, len(value)) + value) % size


@dataclass(frozen=True)
class DirectResponse(Counted, UtilityBase):
    """Tell the truth with probability p, otherwise any other value, uniformly.

    p = odds / (odds + d - 1) and q = 1 / (odds + d - 1) for d values, so p / q = odds. Two values: Warner 1965; more:
    k-ary randomized response (Kairouz, Bonawitz, Ramage 2016), direct encoding (Wang et al. 2017).
    """

    domain: Domain
    epsilon: float
    wire = "direct-1"
    candidate = "direct"
    derived = ("odds",)
    random_fakes = True
    pairs = (Fraction(0), Fraction(0))  # a report supports one value only
    published = ("uSS", Fraction(1))
    support_variance = Fraction(0)

    @cached_property
    def p(self) -> Fraction:
        return self.odds * self.q

    @cached_property
    def q(self) -> Fraction:
        return 1 / (self.odds + self.domain.size - 1)

    @property
    def layout(self) -> Layout:
        return Layout((Number("value", self.domain.size),))

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        return {"value": moved(truth, self.p, self.domain.size, coins)}

    def blank(self, size: int, coins: Coins) -> Mapping[str, Ints]:
        return {"value": coins.below(self.domain.size, size)}

    @property
    def blank_support(self) -> Fraction:
        return Fraction(1, self.domain.size)

    def votes_of(self, histogram: Ints) -> Ints:
        return histogram

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        return columns["value"][:, None] == cells[None, :]

    @property
    def choice(self) -> tuple[str, int]:
        return "value", self.domain.size

    def least_load(self) -> int:
        return 1

    def supported(self, targets: int) -> tuple[int, int, bool]:
        return 1, int(targets == self.domain.size), True

    @property
    def likeliest(self) -> Fraction:
        return self.p
