"""Figs. 8 and 9: other ways to judge the same collections."""

from collections.abc import Callable

import numpy as np

from deniable.papers.data import Data
from deniable.papers.figure import Pace, Row
from deniable.papers.histograms import STATED, histogram
from deniable.papers.uldp.mechanisms import EPSILONS, FEW, PUBLISHED, Floats, measure

PEOPLE = 20_000, 200_000
NAMES = (*PUBLISHED, "uSS lean")
Metric = Callable[[Floats, Floats], float]


def judged(
    quick: bool, seed: int, data: Data, pace: Pace, metrics: dict[str, Metric], sets: tuple[str, ...]
) -> tuple[list[Row], list[str]]:
    """Rows of data, epsilon, mechanism, and mean and standard error of each metric; and notes on the data."""
    rows, notes = list[Row](), []
    people, repeats = pace.times(quick, *PEOPLE), pace.times(quick, 5, 50)
    for name in pace.over([each for each in STATED if each in sets]):
        held = histogram(data, name, seed)
        notes.append(held.note)
        for epsilon in FEW if quick else EPSILONS:
            for each in NAMES:
                measured = measure(held, each, epsilon, people, repeats, seed)
                cells: list[float] = []
                for metric in metrics.values():
                    found = [metric(measured.truth, values) for values in measured.estimates]
                    cells += [float(np.mean(found)), float(np.std(found) / np.sqrt(repeats))]
                rows.append((name, epsilon, each, *cells))
    notes.append(f"{people:,} people at most, {repeats} collections each")
    return rows, notes
