"""A hierarchy of tiles on a map: every person answers at one level, drawn in public, from a few tiles to all places."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Candidate, Coins, Domain, Drawn, Number, PrivacyLoss, PureProtocol, Tally, lookup
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.distributions.distribution_mechanism import LinearMechanism
from deniable.mechanisms.distributions.fitting import fitted
from deniable.mechanisms.distributions.heat_map import HeatMap
from deniable.mechanisms.distributions.hierarchy import (
    WHOLE,
    gain,
    level_information,
    level_matrix,
    level_oracle,
    level_shares,
    mixed_levels,
)
from deniable.mechanisms.distributions.plane import Plane, plane_of
from deniable.mechanisms.distributions.workload import Workload


@dataclass(frozen=True)
class Tiles(LinearMechanism):
    """Draw a level with these weights, and report the tile of the answer at that level with the whole budget.

    A level [r, c] cuts the first axis into r parts and the second into c; [0, 0] asks for the answer itself. Each level has
    the mechanism for shares that is best for so many tiles among those whose report is one number. Which level was drawn
    can be seen in the report, so the loss is that of the worst level. All levels are estimated together.
    """

    domain: Domain
    epsilon: float
    levels: Sequence[Sequence[int]]
    weights: Sequence[int]
    wire = "tiles-1"

    def __post_init__(self) -> None:
        levels, weights = tuple(tuple(level) for level in self.levels), tuple(self.weights)
        numbers = (*weights, *(each for level in levels for each in level))
        if not 1 <= len(levels) <= 64 or len(levels) != len(weights) or not all(map(is_whole, numbers)) or min(weights) < 1:
            raise InvalidParameter("A map has 1 to 64 levels of tiles, and a positive whole weight for each.")
        for level in levels:
            self._check(level)
        whole = [tuple(int(each) for each in level) for level in levels]
        self._fix(levels=tuple(whole), weights=tuple(map(int, weights)))
        super().__post_init__()

    def _check(self, level: Sequence[int]) -> None:
        rows, columns = self.plane.shape
        inside = len(level) == 2 and 1 <= level[0] <= rows and 1 <= level[1] <= columns and level[0] * level[1] > 1
        if level != (0, 0) and not (inside and level[0] * level[1] <= self.domain.size):
            raise InvalidParameter(
                f"A level of tiles cuts the axes into at most {rows} and {columns} parts, at least two tiles together "
                "and at most as many as there are answers; [0, 0] asks for the answer itself."
            )

    @classmethod
    def candidates(cls) -> Sequence[Candidate["Tiles"]]:
        return ()  # the planner of maps makes them

    @classmethod
    def of(cls, domain: Domain, epsilon: float, levels: Sequence[Sequence[int]]) -> "Tiles":
        """Levels of so many tiles, equally often."""
        return cls(domain, epsilon, levels, [1] * len(levels))

    @classmethod
    def weighted(cls, domain: Domain, epsilon: float, squares: bool = False) -> "Tiles":
        """Levels of 1, 2, 4, ... parts of both axes, as often as all rectangles need them; with `squares` a quad tree.

        The weights are the best ones for a map whose sides are the next powers of two, if answers are even; levels with
        less than half a percent are left out.
        """
        plane = plane_of(domain)
        # Scattered places have as many coordinates as there are places; tiles much finer than these would be empty.
        sides = plane.shape if plane.full else (math.isqrt(plane.size - 1) + 1,) * 2
        tops = [max(1, (size - 1).bit_length()) for size in sides]
        shares = tile_weights(tops[0], tops[1], float(epsilon), squares)
        kept: dict[tuple[int, int], int] = {}
        for (i, j), share in shares.items():
            level = (min(1 << i, plane.shape[0]), min(1 << j, plane.shape[1]))
            finest = (i, j) == (tops[0], tops[1]) or level[0] * level[1] > domain.size
            level = (0, 0) if finest else level
            if share >= 0.005 or finest:
                kept[level] = kept.get(level, 0) + max(1, round(WHOLE * share))
        return cls(domain, epsilon, list(kept), list(kept.values()))

    @cached_property
    def plane(self) -> Plane:
        """The answers on the map."""
        return plane_of(self.domain)

    @cached_property
    def oracles(self) -> list[PureProtocol]:
        """The mechanism of each level."""
        return [level_oracle(self._tiles(level), float(self.epsilon)) for level in self.levels]

    @cached_property
    def starts(self) -> list[int]:
        """Where the reports of each level begin, and where the last end."""
        return np.cumsum([0, *(cast(Number, each.layout.fields[0]).below for each in self.oracles)]).tolist()

    @property
    def cells(self) -> int:
        return self.starts[-1]

    def _tiles(self, level: Sequence[int]) -> int:
        """How many tiles a level has."""
        return level[0] * level[1] or self.domain.size

    def _tile(self, level: Sequence[int]) -> Ints:
        """The tile of each answer at a level."""
        return np.arange(self.domain.size) if level[0] == 0 else self.plane.tile((level[0], level[1]))

    @cached_property
    def shares(self) -> Floats:
        """How often each level is drawn."""
        return level_shares(self.weights)

    @cached_property
    def matrix(self) -> Floats:
        levels = zip(self.oracles, self.levels, strict=True)
        return mixed_levels(self.weights, [level_matrix(oracle)[self._tile(level)] for oracle, level in levels])

    @cached_property
    def information(self) -> Floats:
        total = np.zeros((self.domain.size,) * 2)
        for share, oracle, level in zip(self.shares, self.oracles, self.levels, strict=True):
            tile = self._tile(level)
            held = tuple(np.bincount(tile, minlength=oracle.domain.size).tolist())
            total += share * level_information(oracle, held)[np.ix_(tile, tile)]
        return total

    def randomize(self, truth: Ints, coins: Coins) -> Drawn:
        chosen = coins.pick(self.weights, len(truth))
        value: Any = None
        for place, (level, oracle, start) in enumerate(zip(self.levels, self.oracles, self.starts, strict=False)):
            tile = truth if level[0] == 0 else lookup(self._tile(level), truth)
            (own,) = oracle.randomize(tile, coins).values()
            value = own + start if value is None else np.where(chosen == place, own + start, value)
        return {"value": value}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(max(each.loss().odds or self.odds for each in self.oracles))

    def distribution(self, tally: Tally) -> HeatMap:
        """The map behind a tally: shares of rectangles."""
        raw = self.estimate(tally)
        values, _ = fitted(self.matrix, tally.counts, penalty=self.plane.penalty)
        labels = tuple(self.domain.labels)
        return HeatMap(self.plane, labels, tally.n, values, raw.values, lambda: self.joint_noise(values) / tally.n)


def tile_weights(
    first: int, second: int, epsilon: float, squares: bool = False, rounds: int = 2000
) -> dict[tuple[int, int], float]:
    """How often to draw each level of 2^i times 2^j tiles, so that the mean variance of all rectangles is least.

    Differences between halves, along the first axis at one level and along the second at another, are a basis in which
    errors do not depend on each other: a level shows those of all levels that are as coarse or coarser on both axes.
    """
    energy = [_energies(top) for top in (first, second)]
    costs = np.outer(*energy)
    costs[0, 0] = 0  # the sum of all shares is known
    offered = [
        (i, j)
        for i in range(first + 1)
        for j in range(second + 1)
        if i + j and (not squares or _square(i, j, first, second))
    ]
    strength = np.zeros((first + 1, second + 1))
    for i, j in offered:
        strength[i, j] = gain(level_oracle(1 << (i + j), epsilon)) * 2.0 ** (first + second - i - j)
    shares = (strength > 0) / len(offered)
    for _ in range(rounds):
        precision = _from_finest(shares * strength)
        slopes = np.cumsum(np.cumsum(costs / precision**2, axis=0), axis=1) * strength
        shares = shares * np.sqrt(slopes)
        shares /= shares.sum()
    return {(i, j): float(shares[i, j]) for i, j in offered}


def _square(i: int, j: int, first: int, second: int) -> bool:
    """Whether a level belongs to the quad tree: equally many parts, until one axis has no more."""
    return i == j or (i > j == second) or (j > i == first)


def _from_finest(level: Floats) -> Floats:
    """The sum over all levels that are as fine or finer on both axes."""
    return np.cumsum(np.cumsum(level[::-1, ::-1], axis=0), axis=1)[::-1, ::-1]


def _energies(top: int) -> Floats:
    """How much of all ranges of 2^top answers lies in the differences that each level is the first to show."""
    gram, size = Workload.ranges(1 << top).gram, 1 << top
    shown = [0.0]
    for level in range(top + 1):
        wide = size >> level
        sums = gram.reshape(1 << level, wide, 1 << level, wide).sum(axis=(1, 3))
        shown.append(float(sums.trace()) / wide)
    return np.diff(shown)
