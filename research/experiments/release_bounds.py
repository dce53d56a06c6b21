"""How far planned releases are at most from the best possible, from ten places to three thousand, and how long that takes.

    python -m research.experiments.release_bounds    writes release_bounds.md, a minute

Places are drawn evenly in a square, equally common; the loss is the distance. Losses and bounds are exact but for rounding;
seconds are processor time, once, on the machine that wrote the table.
"""

import time
from pathlib import Path

import click
import numpy as np

import deniable as dn
from deniable.planning.releases import release_options
from research.experiments.command import deliver

RESULT = Path(__file__).with_suffix(".md")
SIZES, EPSILONS, SEED = (10, 100, 1000, 3000), (1.0, 4.0), 1


def row(size: int, epsilon: float) -> str:
    """One line of the table."""
    places = dn.Points(np.random.default_rng(SEED).random((size, 2)))
    start = time.process_time()
    ranking = release_options(places, epsilon)
    seconds, best = time.process_time() - start, ranking.best
    assert ranking.bound is not None
    above = max(0.0, best.error / ranking.bound - 1)
    return f"| {size:,} | {epsilon:g} | {best.name} | {best.error:.4f} | {ranking.bound:.4f} | {above:.2%} | {seconds:.1f} |"


def table() -> list[str]:
    """A line for each size and epsilon."""
    head = "| places | epsilon | planned release | expected loss | bound | above it at most | processor seconds |"
    return [head, "|--:|--:|---|--:|--:|--:|--:|", *(row(size, epsilon) for size in SIZES for epsilon in EPSILONS)]


@click.command()
def main() -> None:
    """Bounds of planned releases."""
    head = "Planned releases of places that are drawn evenly in a square of side 1, and the loss that no mechanism can beat:"
    deliver("\n".join([head, "", *table(), ""]), RESULT)


if __name__ == "__main__":
    main()
