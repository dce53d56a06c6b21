"""Staircase randomized response: rings around the truth, each less likely than the one inside it by the same step."""

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from deniable.arrays import Floats, Ints
from deniable.core import Candidate, Coins, Domain, PrivacyLoss, WeightTable
from deniable.domains.metric import Metric, checked_prior
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.rings import Rings
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.releases.bipartite import LARGEST_MATRIX
from deniable.mechanisms.releases.ringed import Ringed

CANDIDATES = 48  # sizes that are tried for each of the inner rings


@dataclass(frozen=True)
class Staircase(Ringed):
    """Release an answer of ring j with weight 1 + (g - j) (odds - 1) / (g - 1), for rings 1 to g from the truth outward.

    Rings have the same sizes around every answer, so all rows have the same sum of weights, and the loss is exactly the
    odds. The published L-SRR (Wang, Hong, Xiong, Qin, Hong 2022) takes rings of different sizes and costs more than it says:
    see `ReleaseChannel.staircase_as_published`. Without sizes, three rings with the smallest expected loss under the prior,
    among a few dozen sizes each.
    """

    domain: Domain
    epsilon: float
    sizes: Sequence[int] = ()
    prior: InitVar[ArrayLike | None] = None
    wire = "staircase-1"
    derived = ("odds",)

    def __post_init__(self, prior: ArrayLike | None) -> None:
        super().__post_init__()
        sizes = tuple(self.sizes) or best_sizes(self.metric, self.odds, prior)
        if not all(is_whole(size) and size > 0 for size in sizes) or len(sizes) < 2 or sum(sizes) != self.domain.size:
            raise InvalidParameter(
                f"The rings must have at least one answer each and {self.domain.size} together, and there are at least two."
            )
        self._fix(sizes=tuple(int(size) for size in sizes))

    @cached_property
    def steps(self) -> list[int]:
        """The whole weight of one answer in each ring."""
        return _steps(len(self.sizes), self.odds)

    @cached_property
    def _table(self) -> WeightTable:
        """One row for all answers: the weight of each place in the order around the truth."""
        return WeightTable([[step for step, size in zip(self.steps, self.sizes, strict=True) for _ in range(size)]])

    @cached_property
    def _rings(self) -> Rings:
        return Rings(self.metric, np.cumsum(self.sizes)[:-1].tolist())

    def chances(self) -> list[Fraction]:
        """The probability of one answer in each ring."""
        return [Fraction(step, self._table.total) for step in self.steps]

    @classmethod
    def candidates(cls) -> Sequence[Candidate]:
        return (Candidate("staircase", cls, prior="prior"),)

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        place = coins.pick_each(self._table, np.zeros(len(truth), np.int64))
        return {"value": self._rings.member(truth, place)}

    @property
    def remark(self) -> str:
        return f"rings of {', '.join(str(size) for size in self.sizes)}"

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(Fraction(self.steps[0], self.steps[-1]))

    def row_losses(self) -> Floats:
        weights, counts = np.array(self.steps, np.float64), np.cumsum(self.sizes)
        sums, line = np.zeros((len(counts) + 1, self.domain.size)), self.metric.line
        if line is not None:
            sums[1:] = [*(line.nearest(int(count))[1] for count in counts[:-1]), line.totals]
        else:
            for rows, losses in self.metric.blocks():
                running = np.cumsum(np.sort(losses, axis=1), axis=1)
                sums[1:, rows] = running[:, counts - 1].T
        return np.asarray(weights @ np.diff(sums, axis=0) / self._table.total)

    @cached_property
    def matrix(self) -> Floats:
        size = self.domain.size
        if size > LARGEST_MATRIX:
            raise InvalidParameter(f"The channel of more than {LARGEST_MATRIX:,} answers is too large to compute.")
        chances, matrix = self._table.weights[0] / self._table.total, np.empty((size, size))
        for row in range(size):
            matrix[row, self._rings.member(np.full(size, row), np.arange(size))] = chances
        return matrix


def _steps(rings: int, odds: Fraction) -> list[int]:
    p, q = odds.numerator, odds.denominator
    return [q * (rings - 1) + (rings - 1 - ring) * (p - q) for ring in range(rings)]


def best_sizes(metric: Metric, odds: Fraction, prior: ArrayLike | None = None) -> tuple[int, ...]:
    """Sizes of three rings with a small expected loss under the prior, of those that are tried; of two for two answers."""
    shares, size = checked_prior(prior, metric.size), metric.size
    if size == 2:
        return 1, 1
    counts = np.unique(np.geomspace(1, size - 1, CANDIDATES).round().astype(np.int64))
    line = metric.line
    if line is not None:
        near = np.array([float(shares @ line.nearest(int(count))[1]) for count in counts])
        total = float(shares @ line.totals)
    else:
        running = np.zeros(size)
        for rows, losses in metric.blocks():
            running += shares[rows] @ np.cumsum(np.sort(losses, axis=1), axis=1)
        near, total = running[counts - 1], float(running[-1])
    high, middle, low = (float(Fraction(step, 2 * odds.denominator)) for step in _steps(3, odds))
    inner, outer = np.meshgrid(np.arange(len(counts)), np.arange(len(counts)), indexing="ij")
    mass = high * counts[inner] + middle * (counts[outer] - counts[inner]) + low * (size - counts[outer])
    loss = high * near[inner] + middle * (near[outer] - near[inner]) + low * (total - near[outer])
    cost = np.where(inner < outer, loss / mass, np.inf)
    first, second = np.unravel_index(int(cost.argmin()), cost.shape)
    return int(counts[first]), int(counts[second] - counts[first]), int(size - counts[second])
