"""Memory: how many bytes counting a batch takes at its peak, beside the bytes of the batch itself."""

import tracemalloc
from functools import partial

from benchmarks.cell import Cell
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from benchmarks.frequency import mechanism, values

CELLS = [
    Cell("direct", "count", "", 1024),
    Cell("unary", "count", "optimized", 1024),
    Cell("subset", "count", "", 1024),
    Cell("hashing", "count", "", 1024),
]


def peak(cell: Cell, effort: Effort) -> float:
    """What Python and NumPy allocate; memory that compiled code takes for itself is not seen."""
    oracle = mechanism(cell)
    reports = oracle.perturb(values(cell, effort.n))
    oracle.count(reports)  # warm up: a compiler's own memory is not what is measured
    tracemalloc.start()
    oracle.count(reports)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(most)


def batch(cell: Cell, effort: Effort) -> tuple[float, str]:
    reports = mechanism(cell).perturb(values(cell, effort.n))
    return float(sum(column.nbytes for column in reports.columns.values())), "the batch"


FIGURES = [
    Figure(
        f"memory/{cell.mechanism}/{cell.phase}",
        "bytes beyond the batch",
        partial(peak, cell),
        partial(batch, cell),
        has_peers=False,
    )
    for cell in CELLS
]
