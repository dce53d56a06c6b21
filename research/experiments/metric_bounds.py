"""Metric privacy for many places: expected distances, the proved bound, how far apart they are, and processor time.

    python -m research.experiments.metric_bounds            writes metric_bounds.md, about a minute on a free core
    python -m research.experiments.metric_bounds --large    writes rows of 400 and 1,024 places too: many minutes
    python -m research.experiments.metric_bounds --quick    prints the rows of 100 places

Places are a square grid, 8 km wide, all equally common.
"""

import time
from pathlib import Path

import click

import deniable as dn
from deniable.cli.panel import progress
from research.experiments.command import deliver, quick_option

RESULT = Path(__file__).with_suffix(".md")
WIDTH = 8  # km
ROWS = ((10, 0.5), (10, 2.0), (15, 0.5), (15, 1.0))  # places on a side, and epsilon per km
LARGE = ((20, 0.5), (32, 0.5))
QUICK = 2  # rows


def line(side: int, per_unit: float) -> str:
    """One row of the table."""
    places = dn.Points([[WIDTH * i / side, WIDTH * j / side] for i in range(side) for j in range(side)])
    start = time.process_time()
    with progress(f"{side * side} places") as advance_to:
        compared = dn.compare_metric_releases(places, per_unit, progress=advance_to)
    took, best, bound = time.process_time() - start, compared["optimal"].expected, compared.bound or 0.0
    return (
        f"| {side * side:,} | {per_unit:g} | {compared['constant answer'].expected:.3f} "
        f"| {compared['laplace'].expected:.3f} | {best:.3f} | {bound:.3f} | {100 * (best / bound - 1):.1f} % | {took:.0f} |"
    )


@click.command()
@quick_option(f"{QUICK} rows")
@click.option("--large", is_flag=True, help="Also 400 and 1,024 places.")
def main(quick: bool, large: bool) -> None:
    """The table, in a file beside this one."""
    rows = ROWS[:QUICK] if quick else (*ROWS, *(LARGE if large else ()))
    head = "| places | epsilon per km | constant, km | laplace | optimal | bound | above it at most | processor seconds |"
    text = "\n".join([head, "|--:|--:|--:|--:|--:|--:|--:|--:|", *(line(*row) for row in rows)]) + "\n"
    deliver(text, None if quick else RESULT)


if __name__ == "__main__":
    main()
