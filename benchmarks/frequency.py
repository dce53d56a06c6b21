"""Frequency oracles: reports a second, for each mechanism, phase and number of categories."""

from functools import partial

import numpy as np
import numpy.typing as npt

import deniable as dn
from benchmarks.bounds import fastest_available
from benchmarks.cell import CELLS, EPSILON, Cell
from benchmarks.effort import Effort, Work
from benchmarks.figure import Figure


def mechanism(cell: Cell) -> dn.DirectResponse | dn.Unary | dn.SubsetSelection:
    domain = dn.Categories(range(cell.size))
    match cell.mechanism, cell.variant:
        case "direct", _:
            return dn.DirectResponse(domain, epsilon=EPSILON)
        case "unary", "optimized":
            return dn.Unary(domain, epsilon=EPSILON)
        case "unary", _:
            return dn.Unary.symmetric(domain, epsilon=EPSILON)
        case _:
            return dn.SubsetSelection(domain, epsilon=EPSILON)


def values(cell: Cell, n: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(cell.size).integers(0, cell.size, n)


def ours(cell: Cell, effort: Effort) -> float:
    """Secure coins, values given as an array of indices."""
    oracle, truth = mechanism(cell), values(cell, effort.n)
    if cell.phase == "perturb":
        return effort.rate(lambda: oracle.perturb(truth), effort.n)
    reports = oracle.perturb(truth)
    if cell.phase == "count":
        return effort.rate(lambda: oracle.count(reports), effort.n)
    return effort.rate(lambda: oracle.estimate(oracle.tally(reports)), effort.n)


def bound(cell: Cell, effort: Effort) -> tuple[float, str]:
    hardware = fastest_available()
    return effort.rate(_bound_work(cell, effort.n), effort.n), hardware.name


def _bound_work(cell: Cell, n: int) -> Work:
    hardware, truth = fastest_available(), values(cell, n)
    match cell.mechanism, cell.phase:
        case "direct", "perturb":
            return hardware.direct_perturb(truth, cell.size)
        case "direct", _:  # estimating is one division for each category after the counting
            return hardware.direct_count(truth.astype(np.uint16), cell.size)
        case "unary", "perturb":
            return hardware.unary_perturb(truth, cell.size, cell.variant)
        case "subset", "perturb":
            return hardware.subset_perturb(truth, cell.size)
        case _:
            random_bits = np.random.default_rng(cell.size).integers(0, 256, n * cell.size // 8, np.uint8)
            return hardware.column_sums(random_bits, cell.size)


FIGURES = [Figure(cell.name, "reports/second", partial(ours, cell), partial(bound, cell), has_peers=True) for cell in CELLS]
