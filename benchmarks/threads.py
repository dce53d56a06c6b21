"""Several cores: how many answers a second are randomized on all of them, beside one."""

import os
from functools import partial

from benchmarks.cell import Cell
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from benchmarks.frequency import mechanism, values
from deniable.core.threads import LIMIT, cores

CELLS = [Cell("direct", "perturb", "", 1024), Cell("unary", "perturb", "optimized", 128), Cell("subset", "perturb", "", 128)]


def rate(cell: Cell, limit: str, effort: Effort) -> float:
    """With at most so many threads; all cores without a limit."""
    before, oracle, truth = os.environ.get(LIMIT), mechanism(cell), values(cell, effort.n)
    os.environ[LIMIT] = limit
    try:
        return effort.rate(lambda: oracle.perturb(truth), effort.n)
    finally:
        os.environ.pop(LIMIT) if before is None else os.environ.update({LIMIT: before})


def bound(cell: Cell, effort: Effort) -> tuple[float, str]:
    return cores_there() * rate(cell, "1", effort), "ours on one thread, times the cores"


def cores_there() -> int:
    """Without the limit that other figures are measured with."""
    before = os.environ.pop(LIMIT, "")
    found = cores()
    os.environ[LIMIT] = before
    return found


FIGURES = [
    Figure(f"threads/{cell.name}", "reports/second", partial(rate, cell, ""), partial(bound, cell), has_peers=False)
    for cell in CELLS
]
