"""Vectors of length one, certified and quick: name an axis of a public random rotation, more often one that is near."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import cast

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Answers, Ranked
from deniable.errors import InvalidParameter
from deniable.kernels.rotations import axes_before, axis_sums, sign_words
from deniable.mechanisms.vectors.unit_codes import UNIT, UnitCodes, outer_mean

SMALLEST = 128  # dimensions to which vectors are filled up with zeros, so that three turns look like any rotation


@dataclass(frozen=True)
class UnitAxes(UnitCodes):
    """A public seed makes a rotation; report an axis or its opposite, the `near` nearest `odds` times as likely as others.

    Vectors are filled up with zeros to D dimensions, a power of two; the rotation is a Hadamard transform after random signs
    three times over. So a vector costs D log D instead of 128 d steps, and there are 2 D directions instead of 128, which
    is better for epsilon above 8. As in `UnitCodes` the law takes the directions in any order, so that the loss is proved
    whatever the floats do; the mean report is c x, with the mean sum S of the `near` largest of D coordinates |u|,

        c = (odds - 1) S / (near odds + 2 D - near)

    exactly if the rotation were uniform; three turns come close to that. Randomized Hadamard: Ailon, Chazelle 2006.
    """

    codes: int = 0
    wire = "unit-axes-1"

    def __post_init__(self) -> None:
        dimensions = getattr(self.domain, "dimensions", 2)
        codes = 2 * max(SMALLEST, 1 << (dimensions - 1).bit_length())
        if self.codes not in (0, codes):
            raise InvalidParameter(f"Vectors of {dimensions} dimensions have {codes} axes to name. Leave their number out.")
        self._fix(codes=codes)
        super().__post_init__()

    @property
    def _most_codes(self) -> int:
        return self.codes

    @property
    def padded(self) -> int:
        """D, how many dimensions are rotated."""
        return self.codes // 2

    def _best_near(self, rounds: int) -> int:
        odds, size = math.exp(self.epsilon / rounds), self.padded
        near = np.arange(1, size - 1)
        above = near / size  # as if there were infinitely many coordinates: only the choice of `near` rests on it
        sums = size * 2 * _normal(_threshold(above))
        return int(np.argmax((odds - 1) * sums / (near * odds + self.codes - near))) + 1

    def _length(self, rounds: int, near: int) -> float:
        odds = math.exp(self.epsilon / rounds)
        return (odds - 1) * largest_sums(self.padded, near)[0] / (near * odds + self.codes - near)

    def _error(self, rounds: int, near: int) -> float:
        along = self._along(rounds, near)
        square = along + (self.domain.dimensions - 1) * (1 - along) / (self.padded - 1)
        return (square / self._length(rounds, near) ** 2 - 1) / rounds

    def _along(self, rounds: int, near: int) -> float:
        odds, (_, squares) = math.exp(self.epsilon / rounds), largest_sums(self.padded, near)
        return (odds * squares + 2 - squares) / (near * odds + self.codes - near)

    @property
    def second_moments(self) -> tuple[float, float]:
        """The mean square of a named direction along x, and along each direction across x: E[z z'] = b I + (a - b) x x'."""
        along = self._along(self.rounds, self.near)
        return along, (1 - along) / (self.padded - 1)

    @cached_property
    def part(self) -> "UnitAxes":
        return self if self.rounds == 1 else UnitAxes(self.domain, self._share, 1, self.near)

    @cached_property
    def batch(self) -> int:
        return max(1, (1 << 19) // self.padded)

    def looked_at(self, answers: Answers) -> Floats:
        return self.domain.divided(answers, np.float32)  # all that a ranking keeps of them

    def order(self, truth: Floats, seed: Ints) -> Ints:
        ranked = Ranked(truth, sign_words(seed, self.padded))  # the loss does not depend on the floats
        return cast(Ints, ranked)

    def outer_mean(self, rows: Floats) -> Floats:
        """The mean of x x' from decoded rows, the noise taken out."""
        return outer_mean(rows, self.second_moments, self.length, self.rounds)

    def named(self, seed: Ints, code: Ints) -> Floats:
        words = sign_words(seed, self.padded)
        return axes_before(code // 2, code % 2, words, self.padded, self.domain.dimensions)

    def _sums(self, seed: Ints, code: Ints) -> Ints:
        words = sign_words(seed, self.padded)
        return axis_sums(code // 2, code % 2, words, self.padded, self.domain.dimensions, UNIT)


def _normal(x: Floats) -> Floats:
    return np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


_GRID = (np.arange(20_000) + 0.5) / 20_000 * 10.0
_ABOVE = np.array([math.erfc(x / math.sqrt(2)) for x in _GRID])  # how often a normal number is farther from 0


def _threshold(above: Floats) -> Floats:
    return np.interp(-above, -_ABOVE, _GRID)


@lru_cache(maxsize=256)
def largest_sums(size: int, near: int) -> tuple[float, float]:
    """The mean sum of the `near` largest |u| of a uniform direction u in so many dimensions, and of their squares.

    Coordinates are normal numbers over their length, which is independent of the direction: E|g| = E|u| E(length). One of
    them is among the `near` largest if fewer than `near` of the others are larger, which has the probability that the
    near-th largest of the others is smaller: the distribution of an order statistic.
    """
    rest = size - 1
    logs = (near - 1) * np.log(np.maximum(_ABOVE, 1e-300)) + (rest - near) * np.log1p(-np.minimum(_ABOVE, 1 - 1e-16))
    logs = logs - _GRID**2 / 2
    density = np.exp(logs - logs.max())
    smaller = (np.cumsum(density) - density / 2) / density.sum()
    weight = 2 * size * _normal(_GRID) * (_GRID[1] - _GRID[0]) * smaller
    length = math.sqrt(2) * math.exp(math.lgamma((size + 1) / 2) - math.lgamma(size / 2))
    return float(weight @ _GRID) / length, float(weight @ _GRID**2) / size
