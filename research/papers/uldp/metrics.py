"""Figs. 8 and 9: other ways to judge the same collections."""

from collections.abc import Callable
from functools import partial

import numpy as np

from deniable.arrays import Floats
from research.data.folder import Data
from research.data.histograms import STATED, Histogram, histogram
from research.papers.figure import Pace, Result, Row
from research.papers.uldp.collect import measure
from research.papers.uldp.mechanisms import EPSILONS, FEW, PEOPLE, PUBLISHED

NAMES = (*PUBLISHED, "uSS lean", "uRAP lean")
Metric = Callable[[Floats, Floats], float]


def judged(
    quick: bool, seed: int, data: Data, pace: Pace, metrics: dict[str, Metric], sets: tuple[str, ...], many: int
) -> tuple[list[Row], list[str]]:
    """Rows of data, epsilon, mechanism, and mean and standard error of each metric; and notes. `many` people with --full."""
    rows, notes = list[Row](), []
    people, repeats = pace.times(quick, PEOPLE, many), pace.times(quick, 5, 50)
    for name in pace.over([each for each in STATED if each in sets]):
        held = histogram(data, name, seed)
        notes.append(held.note)
        for epsilon in FEW if quick else EPSILONS:
            for each in NAMES:
                make = partial(scored, held, each, epsilon, people, repeats, seed, metrics)
                rows += pace.part(make, *metrics, held.note, each, epsilon, people, repeats, seed)
    notes.append(f"{people:,} people at most, {repeats} collections each")
    return rows, notes


def scored(
    held: Histogram, name: str, epsilon: float, people: int, repeats: int, seed: int, metrics: dict[str, Metric]
) -> list[Row]:
    """One mechanism at one budget: the mean of each metric and its standard error."""
    measured = measure(held, name, epsilon, people, repeats, seed)
    cells: list[float] = []
    for metric in metrics.values():
        found = [metric(measured.truth, values) for values in measured.estimates]
        spread = float(np.std(found, ddof=1) / np.sqrt(repeats)) if repeats > 1 else 0.0
        cells += [float(np.mean(found)), spread]
    return [(held.name, epsilon, name, *cells)]


def average(table: Result, column: str, error: str, name: str) -> tuple[float, float]:
    """The mean of a metric over all rows of a mechanism, and its standard error."""
    values, spread = table.numbers(column, mechanism=name), table.numbers(error, mechanism=name)
    return float(values.mean()), float(np.sqrt((spread**2).sum()) / len(values))


def log_ratio(table: Result, column: str, error: str, above: str, below: str) -> tuple[float, float]:
    """The geometric mean of one mechanism's metric over another's, and its standard error."""
    values = [table.numbers(column, mechanism=name) for name in (above, below)]
    spread = [table.numbers(error, mechanism=name) / value for name, value in zip((above, below), values, strict=True)]
    ratio = float(np.exp(np.log(values[0] / values[1]).mean()))
    return ratio, ratio * float(np.sqrt((spread[0] ** 2 + spread[1] ** 2).sum()) / len(values[0]))
