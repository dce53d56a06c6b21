"""What noisy numbers of neighbours tell about a graph: its degrees, and how large the errors of a count will be.

Everything here is worked out from what the collector has seen, so that it costs no budget and can be published.
"""

import math
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import NormalDist

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.graphs.smooth_noise import SmoothNoise
from deniable.mechanisms.sparse.coordinate import CoordinateResponse
from deniable.mechanisms.sparse.sparsity import NoisyCount

ROUNDS = 1000  # of expectation and maximisation
EULER = 0.5615  # e^-(Euler's constant): where the mean of the largest of many lies


@dataclass(frozen=True)
class Shared:
    """What is expected of the pairs of people above a third: the sum of c^2 by the lower one of each pair, and triangles.

    c is how many people below are joined to both.
    """

    squares: Floats
    triangles: float


@dataclass(frozen=True, eq=False)
class Outlook:
    """People in order of their noisy numbers of owned edges, the largest first; half of a person's edges are owned."""

    noisy: Ints
    noisy_count: NoisyCount

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.noisy)

    @cached_property
    def _grid(self) -> Ints:
        most = max(int(self.noisy.max()), 1)
        fine = min(most, 40)
        return np.unique(np.concatenate([np.arange(fine + 1), np.geomspace(fine, most, 160).round().astype(np.int64)]))

    @cached_property
    def _posterior(self) -> tuple[Ints, Ints, Floats]:
        """Different noisy numbers, largest first, how often each comes up, and the chances of the true ones on a grid.

        The spread of the true numbers is the likeliest one (Richardson 1972; Lucy 1974), with the mean that was reported.
        """
        values, often = np.unique(self.noisy, return_counts=True)
        values, often = values[::-1], often[::-1]
        apart = np.abs(values[:, None] - self._grid[None, :]).astype(np.float64)
        likely = np.exp(-math.log(self.noisy_count.odds) * apart)
        likely /= likely.max(axis=1, keepdims=True)
        spread = np.full(len(self._grid), 1 / len(self._grid))
        for _ in range(ROUNDS):
            spread *= often / (likely @ spread) @ likely / self.people
        found, doubt = float(self._grid @ spread), self.noisy_count.deviation / math.sqrt(self.people)
        mean = max(float(self.noisy.mean()) - doubt / 2, 0.0)
        if mean < found:  # numbers below none are impossible, so that the likeliest ones are too large where most are none
            spread *= mean / found
            spread[0] += 1 - mean / found
        joint = likely * spread
        return values, often, joint / joint.sum(axis=1, keepdims=True)

    @cached_property
    def moments(self) -> Floats:
        """Three rows: the mean degree of each person, its square and its cube."""
        _, often, chances = self._posterior
        degrees = np.minimum(2.0 * self._grid, self.people - 1)
        powers = np.stack([chances @ degrees**power for power in (1, 2, 3)])
        return np.repeat(powers, often, axis=1)

    @cached_property
    def ends(self) -> float:
        """Twice the number of edges."""
        return max(float(self.moments[0].sum()), 1.0)

    @cached_property
    def shared(self) -> Shared:
        """As in a graph with these degrees and no other structure (Chung and Lu 2002)."""
        first, second, _ = self.moments
        above, above_squares = np.cumsum(first) - first, np.cumsum(second) - second
        each = (second.sum() - np.cumsum(second)) / self.ends**2  # times both degrees: how many below are joined to both
        full = np.searchsorted(-first, -1 / np.maximum(each, 1e-300))  # with so many it would be more than all of one's own
        full = np.minimum(full, np.arange(self.people))
        some = above_squares - np.concatenate([[0.0], np.cumsum(second)])[full]
        squares = second * (full + each**2 * some) + first * each * above
        return Shared(squares, float((second * each * above_squares).sum()) / self.ends)

    def shared_given(self, triangles: float) -> Floats:
        """The same for a graph with so many triangles, where they are more than the degrees explain.

        If the others lie where the degrees put triangles anyway, the sum grows as their square. If they lie in dense parts,
        such a part of s people has s^3 / 6 of them on s^2 / 2 edges, and s^4 / 12: 3/2 of the square of the one over the
        other. Parts are taken to be as large as the degrees in them. The smaller of the two is taken, or twice the sum of
        the degrees alone if that is more.
        """
        first, second, third = self.moments
        triangles = min(triangles, max(float(second.sum() - first.sum()), 0.0) / 6)  # no more than the degrees allow
        plain, whole = self.shared.squares, max(float(self.shared.squares.sum()), 1e-300)
        beyond = max(triangles**2 - self.shared.triangles**2, 0.0)
        dense = 3 * beyond * float(third.sum()) / max(float(second.sum()) ** 2, 1.0)
        grown = whole * beyond / max(self.shared.triangles**2, 1e-300)
        if grown <= max(dense, whole):
            return plain * (1 + grown / whole)
        if dense <= whole:
            return 2 * plain
        return np.asarray(plain + dense * third / max(float(third.sum()), 1e-300))

    def counting(self, answer: CoordinateResponse, start: int, stop: int, closed: float) -> "Counting":
        """What people start..stop - 1 will find when they count; `closed` of their pairs of neighbours are joined."""
        _, often, chances = self._posterior
        last = np.cumsum(often)
        first = np.maximum(last - often, start)
        inside = np.minimum(last, stop) - first
        kept = np.flatnonzero(inside > 0)
        place = ((first + np.minimum(last, stop)) // 2)[kept]
        means = self.moments[0]
        higher = (np.cumsum(means) - means)[place] / self.ends  # the share of a person's neighbours above them
        degrees = np.minimum(2.0 * self._grid, self.people - 1)[None, :] * higher[:, None]
        degrees = np.minimum(degrees, np.maximum(place - 1, 0)[:, None])  # nobody answers for themselves
        local = self._largest_sums(degrees, place, answer, closed)
        return Counting(inside[kept][:, None] * chances[kept], local, largest_answer(answer))

    def _largest_sums(self, degrees: Floats, places: Ints, answer: CoordinateResponse, closed: float) -> Floats:
        """About the largest sum of unbiased answers for this many neighbours, among the people above these places.

        The first ones are joined to many by themselves, neighbours to each other, and all others by the noise alone.
        """
        deviation = np.sqrt(answer.noise * degrees)
        best = closed * degrees + expected_largest(degrees) * deviation
        typical = self.moments[1].sum() / self.ends  # the degree at the end of an edge
        for number in np.unique(np.geomspace(1, self.people, 14).round().astype(np.int64)).tolist():
            reach = min(self.moments[0][number - 1] * typical / self.ends, 1.0)
            most = np.minimum(number, np.maximum(places, 1))[:, None]
            best = np.maximum(best, reach * degrees + expected_largest(most) * deviation)
        return np.asarray(np.minimum(best, largest_answer(answer) * degrees))


@dataclass(frozen=True, eq=False)
class Counting:
    """How many people have which local sensitivity, and by how much one edge can change it."""

    often: Floats
    local: Floats
    step: float

    def variance(self, law: SmoothNoise) -> float:
        """Of the noise that all of them add to their counts."""
        return float((self.often * (law.deviation * law.sensitivities(self.local, self.step)) ** 2).sum())


def largest_answer(answer: CoordinateResponse) -> float:
    """The largest size of one unbiased answer: (1 - q) / (1 - 2 q)."""
    return float((1 - answer.q) / (1 - 2 * answer.q))


@cache
def _largest_table() -> tuple[Floats, Floats]:
    counts = np.geomspace(1, 1e9, 181)
    return np.log(counts), np.array([NormalDist().inv_cdf(1 - EULER / (2 * count)) for count in counts])


def expected_largest(counts: Floats | Ints) -> Floats:
    """About the mean of the largest size of so many standard normal numbers."""
    return np.interp(np.log(np.maximum(counts, 1.0)), *_largest_table())
