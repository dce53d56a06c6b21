"""Finds which numbers the places of `WindowMean` represent: `python -m research.mean_windows` shows them, in half an hour.

A profile is a straight line between 25 evenly spaced places from the middle to the end, and the length of the line relative
to the window. For each budget of the grid it is found by minimizing the largest variance, relative to the proved bound, at
this budget and halfway to its neighbors, whose profiles are averaged there. Sweeps up and down the grid make these agree.
The program is not convex: what is found is near a local minimum, and other versions of SciPy may find others.
"""

import math

import click
import numpy as np
from scipy.optimize import minimize

from deniable.arrays import Floats
from deniable.domains.interval import Interval
from deniable.planning.bounds import mean_bound

PIECES = 24
HALF = 10 * PIECES  # places from the middle to the end
GRID = (*(quarter / 4 for quarter in range(21)), 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 9.0, 10.0, 11.0, 12.0)
SWEEPS = 8
START = np.array([0.8, *[0.2 / PIECES] * (PIECES - 1), 2.0])  # the first place, steps to the later ones, and the ratio


def variances(found: Floats, epsilon: float) -> Floats:
    """The variances of a report, for windows that begin at 97 places from the middle to the end."""
    more, ratio = math.expm1(epsilon), float(found[-1])
    profile = np.append(np.cumsum(found[:-1]), 1.0)
    upper = np.interp((np.arange(HALF) + 0.5) / HALF, np.linspace(0, 1, PIECES + 1), profile)
    values, places = np.concatenate([-upper[::-1], upper]), np.arange(2 * HALF + 1.0)
    sums, squares = np.append(0, np.cumsum(values)), np.append(0, np.cumsum(values**2))
    window = 2 * HALF / ratio
    starts = np.linspace(HALF - window / 2, 2 * HALF - window, 97)
    mean, square = (np.interp(starts + window, places, each) - np.interp(starts, places, each) for each in (sums, squares))
    scale = (2 * HALF + more * window) / (more * mean[-1]) ** 2
    return np.asarray(scale * (squares[-1] + more * square) - (mean / mean[-1]) ** 2)


def above(found: Floats, epsilon: float) -> Floats:
    """The same relative to the proved bound."""
    return variances(found, epsilon) / mean_bound(Interval(-1, 1), epsilon, 1) ** 2


def improved(start: Floats, own: float, neighbors: list[tuple[float, Floats]]) -> Floats:
    """A profile with a smaller largest variance at its own budget and halfway to the neighbors."""

    def each(found: Floats) -> Floats:
        halfway = [above((found + other) / 2, (own + epsilon) / 2) for epsilon, other in neighbors]
        return np.concatenate([above(found, own), *halfway])

    limits = [
        {"type": "ineq", "fun": lambda found: found[-1] - each(found[:-1])},
        {"type": "ineq", "fun": lambda found: 1 - found[:PIECES].sum(keepdims=True)},
    ]
    bounds = [(0, 1)] * PIECES + [(2, 200), (0, None)]
    slope = np.append(np.zeros(PIECES + 1), 1.0)
    solved = minimize(
        lambda found: found[-1],
        np.append(start, each(start).max()),
        jac=lambda _: slope,
        constraints=limits,
        bounds=bounds,
        method="SLSQP",
        options={"maxiter": 150, "ftol": 1e-7},
    )
    found: Floats = np.maximum(solved.x[:-1], 0)
    found[:-1] /= max(found[:-1].sum(), 1.0)
    found[-1] = max(found[-1], 2.0)
    return found if each(found).max() < each(start).max() else start


def profiles(grid: tuple[float, ...], sweeps: int) -> dict[float, Floats]:
    """A profile for each budget; at 0 all places represent the ends."""
    found = {0.0: np.array([1.0, *[0.0] * (PIECES - 1), 2.0])}
    for place, epsilon in enumerate(grid[1:]):
        near = found[grid[place]] if place else START
        share = min(epsilon, 3) * 0.075  # another beginning: some places near 0, and the others from 0.65 on
        line = np.linspace(0, 1, PIECES + 1)
        split = np.append(np.diff(np.where(line < share, line, 0.65 + 0.35 * line), prepend=0.0)[:-1], 2.5)
        tried = [improved(start, epsilon, []) for start in (near, split)]
        found[epsilon] = min(tried, key=lambda each: float(above(each, epsilon).max()))
    for sweep in range(sweeps):
        for place in range(1, len(grid))[:: 1 if sweep % 2 == 0 else -1]:
            neighbors = [(grid[other], found[grid[other]]) for other in (place - 1, place + 1) if 0 < other < len(grid)]
            found[grid[place]] = improved(found[grid[place]], grid[place], neighbors)
    return found


def main() -> None:
    """Show the rows of PROFILES."""
    for epsilon, found in profiles(GRID, SWEEPS).items():
        numbers = [round(1000 * number) for number in (found[-1], *np.cumsum(found[:-1]), 1.0)]
        click.echo(f"    {round(100 * epsilon)}: ({', '.join(map(str, numbers))}),")


if __name__ == "__main__":
    main()
