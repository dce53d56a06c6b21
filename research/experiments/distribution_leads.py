"""Which lead of the plans for distributions is more than chance: the best methods again, in many more collections.

    python -m research.experiments.distribution_leads     writes distribution_leads.md, about two minutes

Twenty collections, as in `distributions.py`, leave errors of a tenth. Here the same two shapes are collected 120 times, with
other seeds; each method has the setting that `distributions.py` chose on nine other shapes. Rows are kept in
distribution_leads.json, so that an interrupted experiment goes on with the others.
"""

from pathlib import Path

import click
import numpy as np

from deniable import Ordered, Tally
from deniable.arrays import Floats
from deniable.planning.distributions import plan_distribution
from research.experiments.command import deliver, quick_option
from research.experiments.distribution_coverage import mean_of, rank_error_within
from research.experiments.distributions import EPSILON, METHODS, Method, collected, errors, fit, other_plans
from research.experiments.runs import Job, Runs
from research.number_shapes import MADE_UP, PEOPLE, Shape

RESULT, KEPT_ROWS = Path(__file__).with_suffix(".md"), Path(__file__).with_suffix(".json")
RUNS, QUICK, SEED = 120, 3, 2027
CHOSEN = {"Square Wave, EMS": "0.5 widths, tolerance 0.0001", "Square Wave, our fit": "0.75 widths"}


def known_shares(shape: Shape) -> Floats:
    """What somebody expects who knows a distribution well: the shares of other people who are drawn alike."""
    return np.bincount(shape.draw(np.random.default_rng([SEED, RUNS])), minlength=shape.cells) / PEOPLE


def expecting(shape: Shape, target: str) -> Method:
    """The plan for a target whose prior is the shares of other people."""
    return Method(
        f"target {target}", lambda domain, _: plan_distribution(domain, EPSILON, PEOPLE, target, known_shares(shape)), fit()
    )


def compared(shape: Shape) -> dict[str, Method]:
    """The plan, which is also that for quantiles; those for smooth, for spiky and for expected numbers; square waves."""
    settled = {name: next(way for way in METHODS[name] if way.setting == setting) for name, setting in CHOSEN.items()}
    plans = {f"plan: {name}": way for name, way in other_plans().items() if name != "ranges"}
    plans |= {f"plan: {target}, shares expected": expecting(shape, target) for target in ("distribution", "quantiles")}
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


def row(name: str, shape: Shape, runs: int) -> str:
    """A row of the table, in thousandths."""
    return f"| {name} | {' | '.join(map(mean_of, all_errors(compared(shape)[name], shape, runs).T))} |"


def page(known: dict[str, str], runs: int) -> str:
    """The whole result."""
    head = (
        f"Errors in thousandths, epsilon {EPSILON:g}, {PEOPLE:,} people, 256 cells: means of {runs} collections and their "
        "standard errors. The rank error of the median *within cells* takes each cell to be evenly filled; *beyond the "
        "cell*, every rank within the cell that is given counts as right. Square Wave with EMS has the width and tolerance "
        "that are best on nine other shapes (`distributions.md`). The plan for quantiles is the same as that for the "
        "distribution. Where shares are expected, they are those of 100,000 other people who are drawn alike, and the plan "
        "for quantiles counts errors where people are expected."
    )
    lines = [head, ""]
    for shape in MADE_UP:
        lines += [f"| {shape.name} | W1 | KS | median, within cells | median, beyond the cell |", "|---|--:|--:|--:|--:|"]
        lines += [known[key] for name in compared(shape) if (key := run_of(name, shape)) in known]
        lines.append("")
    return "\n".join(lines)


def run_of(name: str, shape: Shape) -> str:
    """How the row of a method is called in the file."""
    return f"{shape.name}: {name}"


@click.command()
@quick_option("A few collections each")
@click.option("--anew", is_flag=True, help="Measure the rows again that distribution_leads.json holds.")
def main(quick: bool, anew: bool) -> None:
    """Measure the best methods in many collections."""
    runs = QUICK if quick else RUNS
    rows: list[Job] = [(run_of(name, shape), row, (name, shape, runs)) for shape in MADE_UP for name in compared(shape)]
    if quick:
        deliver(page({key: make(*arguments) for key, make, arguments in rows}, runs), None)
        return
    if anew:
        KEPT_ROWS.unlink(missing_ok=True)
    kept = Runs(KEPT_ROWS)
    kept.make(rows)
    deliver(page(kept.known(), runs), RESULT)


if __name__ == "__main__":
    main()
