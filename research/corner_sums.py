"""How far sums of random signs go beyond a place, at most: the proof behind the bound of vectors in a box.

Let S = u . x, where x is a corner of [-1, 1]^d that is drawn evenly and u is any vector of length one. This module bounds
the supremum over all u of E(S - t)^+ from above. `python -m research.corner_sums` writes the bounds to
`deniable.planning.corner_table`; it takes about two minutes.

Proof. Let T_d(t, m) be the supremum over vectors of d coordinates that are at most m in size. The largest coordinate a of
such a vector is at least 1 / sqrt(d). Given its sign, the others are a vector of length c = sqrt(1 - a^2) whose coordinates
are at most a / c of that. So T_1(t, 1) = (1 - t)^+ / 2, and

    T_d(t, m) <= max over a of (c / 2) (T_(d-1)((t - a) / c, a / c) + T_(d-1)((t + a) / c, a / c)).

T is convex and falling in t, rising in m, and T(-t) = t + T(t). So chords between places of a grid are above it, and m may
be rounded up. With a = sin(angle), a pair of chords makes the right-hand side a number plus p sin(angle) + q cos(angle),
with |p| and q at most 1/2 each. So between two angles it is above the larger end by at most `BEND` / 8 times the square of
their distance. Floats are off by far less than `ROUNDING`, which is added at each step.

The recursion lets the two signs of a coordinate choose different vectors for what follows. `refined` takes that away from
the largest coordinates, one after the other: the mean is taken over all of their signs, with the same vector for all. The
same holds for each of their angles, since the weights of k sines and a cosine, which are means of slopes from 0 to 1 over
signs, have squares that sum to at most 1/4 + 1/4. It stops where the bound is near what equal coordinates reach, or where
the coordinates are short.
"""

import itertools
import math
import textwrap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import click
import numpy as np

from deniable.arrays import Floats, Ints
from deniable.planning import corner_table

FARTHEST = 6.0  # places t are from 0 to this
BEND = 0.75  # above sqrt(1/4 + 1/4), by which the size of a second derivative by an angle is bounded
ROUNDING = 1e-11  # relatively
CLOSE = 1.003  # of a bound over what equal coordinates reach, which is near enough
LONG = 0.2  # angles of coordinates that `refined` looks at one by one, at least
DEPTH = 5  # coordinates that it looks at
FAR = 1.9  # beyond this place, where many short coordinates go farthest, it looks at two only
MOST_EQUAL = 64  # equal coordinates that are tried
DIGITS = 7  # of a bound in the table
STEPS = {8: 0.01, 64: 0.01, 4096: 0.004}  # between places, for vectors of at most so many coordinates


@dataclass(frozen=True)
class Excess:
    """Bounds of E(S - t)^+ for vectors of at most so many coordinates."""

    dimensions: int
    ratio: float = 1.02  # of one angle to the next
    step: float = 0.01  # between places

    @cached_property
    def places(self) -> Floats:
        return np.arange(round(FARTHEST / self.step) + 1, dtype=np.float64) * self.step

    @cached_property
    def angles(self) -> Floats:
        """From below that of 1 / sqrt(d) to a right angle."""
        least = math.asin(1 / math.sqrt(self.dimensions)) * (1 - ROUNDING)
        many = math.ceil(math.log(math.pi / 2 / least) / math.log(self.ratio))
        return np.append(math.pi / 2 * self.ratio ** -np.arange(many, 0, -1.0), math.pi / 2).clip(least)

    @cached_property
    def next(self) -> list[int]:
        """For each angle, the first one up to which the next coordinate may be, if this one has an angle up to it."""
        steep = np.append(np.tan(self.angles[:-1]), np.inf) * (1 + ROUNDING)
        return np.minimum(np.searchsorted(np.sin(self.angles), steep), len(self.angles) - 1).tolist()

    @cached_property
    def table(self) -> Floats:
        """The bounds: a row for each angle that no coordinate goes beyond, a column for each place."""
        below = np.full((len(self.angles), len(self.places)), -np.inf)
        below[-1] = np.maximum(1 - self.places, 0) / 2
        for dimensions in range(2, self.dimensions + 1):
            below = self._with_one_more(below, math.asin(1 / math.sqrt(dimensions)) * (1 - ROUNDING))
        return below

    def _with_one_more(self, below: Floats, least: float) -> Floats:
        out, found = np.full_like(below, -np.inf), np.full(len(self.places), -np.inf)
        for end in range(1, len(self.angles)):
            row = below[self.next[end]]
            if self.angles[end] >= least and row[0] >= 0:
                ends = (self._mean(row, float(self.angles[each])) for each in (end - 1, end))
                found = np.maximum(found, np.maximum(*ends) * (1 + ROUNDING) + self.bend([end]))
            out[end] = found
        return out

    def _mean(self, row: Floats, angle: float) -> Floats:
        """The mean over the signs of a coordinate with this angle; beyond the last place, the bound is that of the last."""
        rest = math.cos(angle) if angle < math.pi / 2 else 0.0
        mean = np.zeros(len(self.places))
        for ahead in (math.sin(angle), -math.sin(angle)):
            away = self.places - ahead
            mean += np.maximum(-away, 0) / 2
            mean += rest / 2 * np.interp(np.abs(away) / rest, self.places, row) if rest else 0
        return mean

    def bend(self, cells: list[int]) -> float:
        """By how much the bound inside cells of angles can be above their corners."""
        return sum(BEND / 8 * float(self.angles[end] - self.angles[end - 1]) ** 2 for end in cells)

    def refined(self, places: Floats, depth: int = DEPTH) -> Floats:
        """The bounds at these places, with the same vector for all signs of so many of the largest coordinates."""
        return self._below([], places, reached(places, self.dimensions) * CLOSE, depth)

    def _below(self, cells: list[int], places: Floats, found: Floats, depth: int) -> Floats:
        """The largest bound where the first coordinates have angles in these cells, or what was found elsewhere."""
        last = self.next[cells[-1]] if cells else len(self.angles) - 1
        bounds = self._every_next(cells, last, places)
        for end in range(1, last + 1):
            bound, open_ = bounds[end - 1], bounds[end - 1] > found
            if open_.any() and depth > 1 and self.angles[end - 1] >= LONG:
                bound[open_] = np.minimum(bound[open_], self._below([*cells, end], places[open_], found[open_], depth - 1))
            found = np.maximum(found, bound)
        return found

    def _every_next(self, cells: list[int], last: int, places: Floats) -> Floats:
        """The bound for each cell of the angle of the next coordinate up to the last, a row each."""
        out = np.zeros((last, len(places)))
        rows = np.array(self.next[1 : last + 1])
        for corner in itertools.product(*([self.angles[end - 1], self.angles[end]] for end in cells)):
            sums, rest = np.zeros(1), 1.0
            for angle in corner:
                sums, rest = (
                    np.concatenate([sums - rest * math.sin(angle), sums + rest * math.sin(angle)]),
                    rest * math.cos(angle),
                )
            for angles in (self.angles[:last], self.angles[1 : last + 1]):
                moved, short = rest * np.sin(angles), np.maximum(rest * np.cos(angles), ROUNDING)
                ahead = np.concatenate([sums - moved[:, None], sums + moved[:, None]], axis=1)
                away = places[None, :, None] - ahead[:, None, :]
                out = np.maximum(out, self._bound(rows, short, away).mean(axis=2))
        bends = self.bend(cells) + np.array([self.bend([end]) for end in range(1, last + 1)])
        return np.asarray(out * (1 + ROUNDING) + bends[:, None])

    def _bound(self, rows: Ints, lengths: Floats, away: Floats) -> Floats:
        """The bound at places so far away, for the rest of a vector with these lengths, each with its row of the table."""
        scaled = np.minimum(np.abs(away) / lengths[:, None, None] / self.step, len(self.places) - 1.000001)
        place = scaled.astype(np.int64)
        low, high = self.table[rows[:, None, None], place], self.table[rows[:, None, None], place + 1]
        return np.asarray(lengths[:, None, None] * (low + (scaled - place) * (high - low)) + np.maximum(-away, 0))


def reached(places: Floats, dimensions: int) -> Floats:
    """The largest E(S - t)^+ of vectors with k equal coordinates and zeros.

    >>> reached(np.array([0.0, 1.0]), 2)
    array([0.5       , 0.10355339])
    """
    best = np.zeros(len(places))
    for k in range(1, min(dimensions, MOST_EQUAL) + 1):
        chances = np.array([math.comb(k, up) / 2**k for up in range(k + 1)])
        sums = (2 * np.arange(k + 1) - k) / math.sqrt(k)
        best = np.maximum(best, chances @ np.maximum(sums[:, None] - places, 0))
    return best


def written(dimensions: int) -> list[float]:
    """The bounds at the places of the table, rounded up to a few digits."""
    places = np.array([float(place) for place in corner_table.PLACES])
    excess = Excess(dimensions, step=STEPS[dimensions])
    near, far = excess.refined(places[places < FAR]), excess.refined(places[places >= FAR], 2)
    return [rounded_up(bound) for bound in (*near.tolist(), *far.tolist())]


def rounded_up(bound: float) -> float:
    """The least number of few digits that is not below.

    >>> rounded_up(0.1234567891), rounded_up(0.125)
    (0.1234568, 0.125)
    """
    unit = 10.0 ** (math.floor(math.log10(bound)) + 1 - DIGITS)
    found = float(f"{bound:.{DIGITS - 1}e}")
    return found if found >= bound else float(f"{found + unit:.{DIGITS - 1}e}")


def _lines(bounds: list[float]) -> str:
    return textwrap.fill(", ".join(map(repr, bounds)), 120, initial_indent=" " * 8, subsequent_indent=" " * 8)


@click.command()
def main() -> None:
    """Write the table anew."""
    path = Path(corner_table.__file__)
    head = path.read_text(encoding="utf-8").partition("# fmt: off")[0]
    rows = [f"    {each}: (\n{_lines(written(each))},\n    ),\n" for each in STEPS]
    table = f"# fmt: off\nBOUNDS: Mapping[int, tuple[float, ...]] = {{\n{''.join(rows)}}}\n"
    path.write_text(head + table, encoding="utf-8")
    click.echo(f"Wrote {path.name}.")


if __name__ == "__main__":
    main()
