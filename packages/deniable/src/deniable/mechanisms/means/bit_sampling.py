"""The mean by one bit of the number."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from deniable.arrays import Ints
from deniable.core import Coins, Drawn
from deniable.domains.interval import Interval
from deniable.errors import InvalidParameter
from deniable.mechanisms.means.mean_mechanism import MeanMechanism


@dataclass(frozen=True)
class BitSampling(MeanMechanism):
    """Report one bit of the number, drawn in proportion to its weight, with the whole budget for it.

    The interval has 2^b - 1 steps, and the bits are those of the place on the grid. The report stands for C or -C, with C =
    (odds + 1) / (odds - 1), whichever bit it was: its law on the sign is Duchi's, so nothing is gained by the bits.
    """

    domain: Interval
    epsilon: float
    wire = "bit-sampling-1"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.domain.size & self.domain.steps:
            raise InvalidParameter("Bits are sampled from intervals of 2^b - 1 steps: 1, 3, 7, 15, ...")

    @property
    def bits(self) -> int:
        """How many bits a place on the grid has."""
        return self.domain.steps.bit_length()

    @cached_property
    def centred(self) -> Sequence[Fraction]:
        scale = (self.odds + 1) / (self.odds - 1)
        return (-scale, scale) * self.bits

    def row(self, index: int) -> Sequence[Fraction]:
        row = []
        for bit in range(self.bits):
            share = Fraction(1 << bit, self.domain.steps)
            one = share * (self.odds if index >> bit & 1 else 1) / (self.odds + 1)
            row += [share - one, one]
        return row

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        bit = coins.pick([1 << place for place in range(self.bits)], len(truth))
        honest = coins.toss(self.odds / (self.odds + 1), len(truth))
        return {"value": 2 * bit + ((truth >> bit & 1) == honest)}
