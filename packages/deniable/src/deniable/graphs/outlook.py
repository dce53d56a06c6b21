"""What noisy numbers of neighbours tell about a graph: its degrees, and how large the errors of a count will be.

Everything here is worked out from what the collector has seen, so that it costs no budget and can be published.
"""

import math
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from statistics import NormalDist

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.graphs.null_model import NullModel, Shared
from deniable.graphs.smooth_noise import SmoothNoise
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.noisy_count import NoisyCount

GROUPS = 64  # of people, in the order
HALVES = np.polynomial.hermite_e.hermegauss(5)[0], np.polynomial.hermite_e.hermegauss(5)[1] / math.sqrt(2 * math.pi)
ROUNDS = 1000  # of expectation and maximisation
LEFT = 0.1  # of the likeliest degrees, where the mean number is none: other reports may yet show some
FITTINGS = 4  # of the others to the edges of the first
ALL = 1 << 17  # people who may all work out by how much one edge can change their count; of more, the first half of these
FEW, MANY = 16, 1 << 12  # neighbours that are few among more than so many people
EULER = 0.5615  # e^-(Euler's constant): where the mean of the largest of many lies


@dataclass(frozen=True, eq=False)
class Outlook:
    """People in order of their noisy numbers of owned edges, the largest first; half of a person's edges are owned."""

    noisy: Ints
    noisy_count: NoisyCount
    sums: Floats | None = None  # of the unbiased answers about the first people: their degrees once more
    deviation: float = math.inf  # of these sums

    @property
    def people(self) -> int:
        """How many people there are."""
        return len(self.noisy)

    @cached_property
    def _grid(self) -> Ints:
        """Degrees that people may have."""
        most = min(max(2 * int(self.noisy.max()), 1), max(self.people - 1, 1))
        fine = min(most, 30)
        return np.unique(np.concatenate([np.arange(fine + 1), np.geomspace(fine, most, 60).round().astype(np.int64)]))

    @cached_property
    def _posterior(self) -> tuple[Ints, Ints, Floats]:
        """Different noisy numbers, largest first, how often each comes up, and the chances of the degrees on a grid.

        Somebody with d neighbours owns half of them, give or take sqrt(d) / 2. The spread of the degrees is the likeliest
        one (Richardson 1972; Lucy 1974), with the mean that was reported.
        """
        values, often = np.unique(self.noisy, return_counts=True)
        values, often = values[::-1], often[::-1]
        alone = len(self.sums) if self.sums is not None else 0  # so many have a row of their own
        rest = often - np.bincount(np.repeat(np.arange(len(often)), often)[:alone], minlength=len(often))
        values = np.concatenate([self.noisy[:alone], values[rest > 0]])
        often = np.concatenate([np.ones(alone, np.int64), rest[rest > 0]])
        likely = np.zeros((len(values), len(self._grid)))
        for at, weight in zip(*HALVES, strict=True):
            owned = np.clip((self._grid + at * np.sqrt(self._grid)) / 2, 0, self._grid)
            apart = np.abs(values[:, None] - owned[None, :])
            likely += weight * np.exp(-math.log(self.noisy_count.odds) * (apart - apart.min(axis=1, keepdims=True)))
        if self.sums is not None:
            apart = (self.sums[:, None] - self._grid[None, :]) / self.deviation
            likely[:alone] *= np.exp(-(apart**2 - (apart**2).min(axis=1, keepdims=True)) / 2)
        spread = np.full(len(self._grid), 1 / len(self._grid))
        for _ in range(ROUNDS):
            spread *= often / (likely @ spread) @ likely / self.people
        found, doubt = float(self._grid @ spread), self.noisy_count.deviation / math.sqrt(self.people)
        mean = max(2 * float(self.noisy.mean()) - doubt, 0.0)
        if mean < found:  # numbers below none are impossible, so that the likeliest ones are too large where most are none
            part = max(mean / found, LEFT)
            spread *= part
            spread[0] += 1 - part
        joint = likely * spread
        return values, often, self._room_for_all(often, joint / joint.sum(axis=1, keepdims=True))

    def _room_for_all(self, often: Ints, chances: Floats) -> Floats:
        """The chances, such that the edges of the first people can end at all others (Erdos and Gallai 1960).

        The first k have at most k (k - 1) edge ends among themselves, and at most min(d, k) at somebody else with d. If that
        is too little, some of the others with fewer are taken to be joined to all of the first.
        """
        grid, last = self._grid.astype(np.float64), np.cumsum(often)
        rows = np.unique(np.searchsorted(last, np.geomspace(1, self.people, GROUPS)))
        for _ in range(FITTINGS):
            ends = np.cumsum(often * (chances @ grid))
            room = [often[row + 1 :] @ (chances[row + 1 :] @ np.minimum(grid, last[row])) for row in rows]
            lacking = ends[rows] - last[rows] * (last[rows] - 1.0) - np.array(room)
            worst = int(np.argmax(lacking / last[rows]))
            first, ends_at = rows[worst], int(last[rows[worst]])
            free = (self.people - ends_at) * float(ends_at) - room[worst]
            if lacking[worst] <= 0 or free <= 0:
                return chances
            share, fewer = min(float(lacking[worst]) / free, 1.0), grid < ends_at
            moved = share * np.where((np.arange(len(often)) > first)[:, None] & fewer, chances, 0.0)
            chances = chances - moved
            chances[:, min(int(fewer.sum()), len(grid) - 1)] += moved.sum(axis=1)
        return chances

    @cached_property
    def moments(self) -> Floats:
        """Three rows: the mean degree of each person, its square and its cube."""
        _, often, chances = self._posterior
        powers = np.stack([chances @ self._grid.astype(np.float64) ** power for power in (1, 2, 3)])
        return np.repeat(powers, often, axis=1)

    @cached_property
    def ends(self) -> float:
        """Twice the number of edges."""
        return max(float(self.moments[0].sum()), 1.0)

    @cached_property
    def _null(self) -> tuple[NullModel, Ints]:
        """The degrees of groups of people who follow each other in the order, the first ones small; how many are in each."""
        _, often, chances = self._posterior
        last = np.cumsum(often)
        group = np.searchsorted(np.geomspace(1, self.people, GROUPS), last)
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        sums = np.add.reduceat(often[:, None] * chances, starts, axis=0)
        return NullModel(self._grid.astype(np.float64), sums), np.add.reduceat(often, starts)

    @cached_property
    def shared(self) -> Shared:
        """As in a graph with these degrees and no other structure, person by person."""
        model, sizes = self._null
        found = model.shared
        return Shared(np.repeat(found.squares / sizes, sizes), found.triangles)

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

    def closed(self, triangles: float) -> float:
        """The share of pairs of neighbours that are joined, in a graph with so many triangles."""
        first, second, _ = self.moments
        return min(max(6 * triangles / max(float((second - first).sum()), 1.0), 0.0), 1.0)

    def counting(self, answer: CoordinateResponse, start: int, stop: int, closed: float) -> "Counting":
        """What people start..stop - 1 will find when they count; `closed` of their neighbours are joined to one of these."""
        _, often, chances = self._posterior
        last = np.cumsum(often)
        first = np.maximum(last - often, start)
        inside = np.minimum(last, stop) - first
        kept = np.flatnonzero(inside > 0)
        place = ((first + np.minimum(last, stop)) // 2)[kept]
        means = self.moments[0]
        higher = (np.cumsum(means) - means)[place] / self.ends  # the share of a person's neighbours above them
        degrees = self._grid[None, :] * higher[:, None]
        degrees = np.minimum(degrees, np.maximum(place - 1, 0)[:, None])  # nobody answers for themselves
        local = self._largest_sums(degrees, place, answer, closed)
        local = np.maximum(local, largest_answer(answer) * taken_as_largest(degrees, place[:, None], self.people))
        return Counting(inside[kept][:, None] * chances[kept], local, largest_answer(answer))

    def _largest_sums(self, degrees: Floats, places: Ints, answer: CoordinateResponse, closed: float) -> Floats:
        """About the largest sum of unbiased answers for this many neighbours, among the people above these places.

        The first ones are joined to many by themselves, neighbours to each other, and all others by the noise alone.
        """
        sums, (model, sizes) = LargestSums.of(answer, degrees), self._null
        best = closed * degrees + sums.among(np.maximum(degrees.max(axis=1, initial=1.0), 1.0))
        group = np.searchsorted(np.cumsum(sizes), places, side="right")
        for number in np.unique(np.geomspace(1, self.people, 8).round().astype(np.int64)).tolist():
            at = np.interp(self.moments[0][number - 1], self._grid, np.arange(len(self._grid)))
            low, high = model.reach[group, int(at)], model.reach[group, math.ceil(at)]
            reach = low + (at - int(at)) * (high - low)
            best = np.maximum(best, reach[:, None] * degrees + sums.among(np.minimum(number, np.maximum(places, 1))))
        return np.asarray(np.minimum(best, largest_answer(answer) * degrees))


@dataclass(frozen=True, eq=False)
class Counting:
    """How many people have which local sensitivity, and by how much one edge can change it."""

    often: Floats
    local: Floats
    step: float

    def variance(self, law: SmoothNoise) -> float:
        """Of the noise that all of them add to their counts."""
        return law.deviation**2 * self.sums(law)[1]

    def sums(self, law: SmoothNoise) -> tuple[float, float]:
        """Of all smooth sensitivities, and of their squares."""
        wide = law.sensitivities(self.local, self.step)
        return float((self.often * wide).sum()), float((self.often * wide**2).sum())


def exact_places(people: int) -> int:
    """How many people, the first in the order, may work out by how much one edge can change their count."""
    return people if people <= ALL else ALL // 2


def few_neighbours(people: int) -> int:
    """Up to how many neighbours nobody works it out: among so many people somebody's answers are nearly all ones."""
    return FEW if people > MANY else 0


def taken_as_largest(degrees: Floats | Ints, places: Ints, people: int) -> Floats:
    """As how many answers of the largest size an edge counts at least, for people at these places with so many neighbours.

    One neighbour more or less changes it by one at most, and so does the larger of it and a sum of answers.
    """
    return np.where(places < exact_places(people), np.minimum(degrees, few_neighbours(people)), degrees)


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


SHORT, LOGS = 64, np.linspace(0, math.log(1e7), 33)  # sums that are not taken as normal, and numbers of them


@lru_cache(maxsize=64)
def _short_sums(answer: CoordinateResponse) -> Floats:
    """The mean of the largest size of e^LOGS sums of 0 to SHORT unbiased answers about pairs that are not joined."""
    q, out, law = float(answer.q), np.zeros((SHORT + 1, len(LOGS))), np.ones(1)
    for size in range(1, SHORT + 1):
        law = np.convolve(law, [1 - q, q])
        sums = np.abs((np.arange(size + 1) - q * size) / (1 - 2 * q))
        order = np.argsort(sums)
        until = np.minimum(np.cumsum(law[order]), 1.0)[:, None] ** np.exp(LOGS)[None, :]
        out[size] = sums[order] @ np.diff(until, axis=0, prepend=0.0)
    return out


@dataclass(frozen=True, eq=False)
class LargestSums:
    """Sums of unbiased answers about pairs that are not joined: the largest of many, for a matrix of numbers of answers."""

    table: Floats
    row: Ints
    down: Floats
    short: Bools
    deviation: Floats

    @classmethod
    def of(cls, answer: CoordinateResponse, sizes: Floats) -> "LargestSums":
        """Of so many answers each."""
        at = np.minimum(sizes, SHORT - 1e-9)
        row = at.astype(np.int64)
        return cls(_short_sums(answer), row, at - row, sizes < SHORT, np.sqrt(answer.noise * sizes))

    def among(self, counts: Floats | Ints) -> Floats:
        """About the mean of the largest size among so many sums, a number for each row of the matrix."""
        column = np.interp(np.log(np.maximum(counts, 1.0)), LOGS, np.arange(len(LOGS)))
        left = np.minimum(column.astype(np.int64), len(LOGS) - 2)
        right = column - left
        table = (1 - right) * self.table[:, left] + right * self.table[:, left + 1]
        place = np.arange(len(self.row))[:, None]
        upper = table[self.row, place]
        near = upper + self.down * (table[self.row + 1, place] - upper)
        return np.where(self.short, near, expected_largest(counts)[:, None] * self.deviation)
