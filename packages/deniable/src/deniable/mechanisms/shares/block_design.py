"""Block designs: as accurate as subset selection, with a report of a few bits and a fast decoder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Self

import numpy as np

from deniable.arrays import Bools, Ints
from deniable.core import (
    AnyDomain,
    Candidate,
    Coins,
    Columns,
    Counted,
    Domain,
    Layout,
    Number,
    PureProtocol,
    Spec,
    checked_epsilon,
    lookup,
    odds_below,
)
from deniable.core.spec import part
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.difference_sets import LARGEST, DifferenceSet, candidates, difference_set, verified
from deniable.mechanisms.algebra.transforms import MANY, ShiftedSums
from deniable.mechanisms.algebra.tuning import hidden_share, open_error
from deniable.mechanisms.shares.subset_selection import chance, subset_error

WIDE = 1 << 20  # designs with so many points are looked at even for small domains


@dataclass(frozen=True)
class BlockDesign(Counted, PureProtocol):
    """Report a point y of v; the true value x stands for the block x + D mod v of k points, D being a difference set.

    y lies in the block with probability p = k odds / (k odds + v - k), uniformly there, else uniformly outside. Any two
    blocks share lambda = k (k - 1) / (v - 1) points, so q = (lambda odds + k - lambda) / (k odds + v - k): the p and q of
    subset selection with k of v values, from log2 v bits. Projective geometry response (Feldman, Nelson, Nguyen, Talwar
    2022; Park, Nam, Lee 2023) in the cyclic form of Singer's theorem: one addition on the device, one circular correlation
    to count. Without a design it takes the one with the smallest total error.
    """

    domain: Domain
    epsilon: float
    design: DifferenceSet = None  # type: ignore[assignment]
    wire = "design-1"
    derived = ("odds",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.design is None:
            self._fix(design=best_design(self.domain.size, self.odds))
        if not isinstance(self.design, DifferenceSet):
            raise InvalidParameter("A design must be a difference set, for example Singer(4, 6) or Paley(11).")
        if self.design.v < self.domain.size:
            raise InvalidParameter(
                f"A design of {self.design.v} points is too small for {self.domain.size} values. "
                "Leave the design out to get the best one."
            )

    @cached_property
    def p(self) -> Fraction:
        return chance(self.design.v, self.design.k, self.odds)[0]

    @cached_property
    def q(self) -> Fraction:
        return chance(self.design.v, self.design.k, self.odds)[1]

    @property
    def pairs(self) -> tuple[Fraction, Fraction] | None:
        # Three blocks share more or fewer points, depending on which they are; blocks of one point share none.
        return (Fraction(0), Fraction(0)) if self.design.k == 1 else None

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (Candidate("design", cls, LARGEST),)

    @property
    def layout(self) -> Layout:
        return Layout((Number("point", self.design.v),))

    @cached_property
    def _blocks(self) -> ShiftedSums:
        return verified(self.design)

    @cached_property
    def _offsets(self) -> Ints:
        """The points of the set, then the others, each in order: part of the wire format."""
        return np.argsort(~self._blocks.member, kind="stable")

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        v, k = self.design.v, self.design.k
        offset = lookup(self._offsets, coins.split(self.p, k, v - k, len(truth)))
        return {"point": (offset + truth) % v}

    def blank(self, size: int, coins: Coins) -> Mapping[str, Ints]:
        return {"point": coins.below(self.design.v, size)}

    @property
    def blank_support(self) -> Fraction:
        return Fraction(self.design.k, self.design.v)

    def votes_of(self, histogram: Ints) -> Ints:
        return self._blocks(histogram)[: self.domain.size]

    def supports(self, columns: Columns, cells: Ints) -> Bools:
        offset = columns["point"].astype(np.int64)[:, None] - cells[None, :]
        return lookup(self._blocks.member, offset % self.design.v)

    @cached_property
    def _idle_points(self) -> Bools:
        v, held = self.design.v, self._blocks.member.astype(np.int64)
        # How many of the values x < d have a given point y in x + D: the elements of D among y - d + 1, ..., y.
        runs = np.cumsum(np.concatenate([held[v - self.domain.size :], held]))
        return runs[self.domain.size :] - runs[:v] == 0

    @property
    def idle(self) -> Fraction:
        return Fraction(0 if self.design.v > MANY else int(self._idle_points.sum()), self.design.v)

    def is_idle(self, columns: Columns) -> Bools:
        return lookup(self._idle_points, columns["point"])

    @property
    def likeliest(self) -> Fraction:
        return self.p / self.design.k

    @classmethod
    def from_parameters(cls, domain: AnyDomain, epsilon: float, parameters: Spec) -> Self:
        return super().from_parameters(domain, epsilon, {**parameters, "design": difference_set(part(parameters, "design"))})

    @classmethod
    def tuned(cls, domain: Domain, epsilon: float, open_share: float) -> Self:
        return cls(domain, epsilon, best_design(domain.size, odds_below(checked_epsilon(epsilon)), Fraction(open_share)))

    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters(), "design": self.design.parameters()}


@lru_cache(maxsize=256)
def best_design(values: int, odds: Fraction, open_share: Fraction = Fraction(0)) -> DifferenceSet:
    """The design with the smallest total error over this many values; among equals the smallest.

    >>> from deniable.core.odds import odds_below
    >>> best_design(1024, odds_below(4.0))
    Singer(q=53, t=3)
    """
    if values > LARGEST:
        raise InvalidParameter(f"Block designs have at most {LARGEST} points. Use Hadamard response for more values.")
    found = _nearly_best(list(candidates(values, min(max(WIDE, 4 * values), LARGEST))), values, odds, open_share)
    return min(found, key=lambda each: (subset_error(values, each.v, each.k, odds, open_share), each.v))


def _nearly_best(designs: list[DifferenceSet], values: int, odds: Fraction, open_share: Fraction) -> Sequence[DifferenceSet]:
    """The designs whose error in floats is within a millionth of the smallest: fractions decide among these alone.

    All of them where the odds are so near to one, or so large, that floats would lose digits.
    """
    if not 1.0001 <= odds <= 10_000:
        return designs
    v, k = (np.array([getattr(each, name) for each in designs], np.float64) for name in "vk")
    ratio = np.full(len(designs), float(odds))
    p = k * ratio / (k * ratio + v - k)
    q = (p * (k - 1) + (1 - p) * k) / (v - 1)
    rough = open_error(values, p, q, ratio, hidden_share(p, ratio, k / v), np.full(len(designs), float(open_share)))
    return [designs[place] for place in np.flatnonzero(rough <= rough.min() * (1 + 1e-6))]
