"""Which lead of the plans for distributions is more than chance: the best methods again, in many more collections.

    python -m research.experiments.distribution_leads     writes distribution_leads.md, about a minute

Twenty collections, as in `distributions.py`, leave errors of a tenth. Here the same two shapes are collected 120 times, with
other seeds; each method has the setting that `distributions.py` chose on nine other shapes.
"""

from pathlib import Path

import click
import numpy as np

from deniable import Ordered, Tally
from deniable.arrays import Floats
from research.experiments.command import deliver, quick_option
from research.experiments.distribution_coverage import mean_of, rank_error_within
from research.experiments.distributions import (
    EPSILON,
    MADE_UP,
    METHODS,
    PEOPLE,
    Method,
    Shape,
    collected,
    errors,
    other_plans,
)

RESULT = Path(__file__).with_suffix(".md")
RUNS, QUICK, SEED = 120, 3, 2027
CHOSEN = {"Square Wave, EMS": "0.5 widths, tolerance 0.0001", "Square Wave, our fit": "0.75 widths"}
RIVAL = "Square Wave, EMS"


def compared() -> dict[str, Method]:
    """The plan, the same for smooth numbers, for spiky ones and for quantiles, and square waves."""
    settled = {name: next(way for way in METHODS[name] if way.setting == setting) for name, setting in CHOSEN.items()}
    plans = {f"plan: {name}": way for name, way in other_plans().items() if name != "ranges"}
    return {"**plan**": METHODS["**planned, fitted**"][0], **plans, **settled}


def all_errors(method: Method, shape: Shape, runs: int) -> Floats:
    """W1, KS, and the rank errors of the median within cells and beyond the cell, a row for each collection."""
    mechanism, rows = method.make(Ordered(range(shape.cells)), shape.circular), []
    for run in range(runs):
        people = np.bincount(shape.draw(np.random.default_rng([SEED, run])), minlength=shape.cells)
        counts = collected(mechanism, people, np.random.default_rng([SEED, run, 1]), 1)[0]
        shares, truth = method.shares(mechanism, Tally(mechanism.fingerprint, PEOPLE, counts)), people / PEOPLE
        upto = np.concatenate([[0.0], np.cumsum(shares)])
        mean, largest, beyond = errors(shares, truth)
        rows.append([mean, largest, rank_error_within(float(np.interp(0.5, upto, np.arange(len(upto)))), truth), beyond])
    return np.array(rows)


def table(shape: Shape, runs: int) -> list[str]:
    """A row for each method, in thousandths, and how much smaller the error of each plan is than that of the rival."""
    found = {name: all_errors(method, shape, runs) for name, method in compared().items()}
    lines = [
        f"| {shape.name} | W1 | KS | median, within cells | median, beyond the cell | W1 less than {RIVAL} |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, rows in found.items():
        less = "" if name == RIVAL else mean_of(found[RIVAL][:, 0] - rows[:, 0])
        lines.append(f"| {name} | {' | '.join(map(mean_of, rows.T))} | {less} |")
    return lines


def page(runs: int) -> str:
    """The whole result."""
    head = (
        f"Errors in thousandths, epsilon {EPSILON:g}, {PEOPLE:,} people, 256 cells: means of {runs} collections and their "
        "standard errors. The rank error of the median *within cells* takes each cell to be evenly filled; *beyond the "
        "cell*, every rank within the cell that is given counts as right. Square Wave with EMS has the width and tolerance "
        "that are best on nine other shapes (`distributions.md`)."
    )
    return "\n".join([head, "", *(line for shape in MADE_UP for line in (*table(shape, runs), ""))])


@click.command()
@quick_option("A few collections each")
def main(quick: bool) -> None:
    """Measure the best methods in many collections."""
    deliver(page(QUICK if quick else RUNS), None if quick else RESULT)


if __name__ == "__main__":
    main()
