"""Frequency oracles: reports a second, for each mechanism, phase and number of categories."""

from functools import partial

import numpy as np
import numpy.typing as npt

import deniable as dn
from benchmarks.bounds import fastest_available
from benchmarks.cell import CELLS, EPSILON, Cell
from benchmarks.effort import Effort, Work
from benchmarks.figure import Figure
from deniable.core.layout import Number


def mechanism(cell: Cell) -> dn.Mechanism:
    domain = dn.Categories(range(cell.size))
    match cell.mechanism, cell.variant:
        case "direct", _:
            return dn.DirectResponse(domain, epsilon=EPSILON)
        case "unary", "optimized":
            return dn.Unary(domain, epsilon=EPSILON)
        case "unary", _:
            return dn.Unary.symmetric(domain, epsilon=EPSILON)
        case "hashing", _:
            return dn.LocalHashing(domain, epsilon=EPSILON)
        case "wheel", _:
            return dn.Wheel(domain, epsilon=EPSILON)
        case "hadamard", _:
            return dn.HadamardResponse(domain, epsilon=EPSILON)
        case "design", _:
            return dn.BlockDesign(domain, epsilon=EPSILON)
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
    name = fastest_available().name
    if cell.phase == "count" and cell.mechanism in ("hadamard", "design"):
        name += ", histogram alone"
    return effort.rate(_bound_work(cell, effort.n), effort.n), name


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
        case "hashing" | "wheel", _:
            return _affine_work(cell, truth)
        case "hadamard", "perturb":
            return hardware.hadamard_perturb(truth, _points(cell))
        case "design", "perturb":
            member = dn.BlockDesign(dn.Categories(range(cell.size)), EPSILON).design.members()
            return hardware.design_perturb(truth, np.argsort(~member, kind="stable").astype(np.uint16), int(member.sum()))
        case "hadamard" | "design", _:  # what is left to do after it does not grow with the number of reports
            points = np.random.default_rng(cell.size).integers(0, _points(cell), n, np.uint16)
            return hardware.direct_count(points, _points(cell))
        case _:
            random_bits = np.random.default_rng(cell.size).integers(0, 256, n * cell.size // 8, np.uint8)
            return hardware.column_sums(random_bits, cell.size)


def _affine_work(cell: Cell, truth: npt.NDArray[np.int64]) -> Work:
    hardware, oracle = fastest_available(), mechanism(cell)
    assert isinstance(oracle, dn.LocalHashing | dn.Wheel)
    prime = oracle.prime
    if cell.phase == "count":
        random = np.random.default_rng(cell.size)
        step, start = (random.integers(low, prime, len(truth), np.uint16) for low in (1, 0))
        width = prime // oracle.buckets if isinstance(oracle, dn.LocalHashing) else oracle.arc
        return hardware.interval_count(step, start, np.full_like(step, width), prime, cell.size)
    if isinstance(oracle, dn.LocalHashing):
        return hardware.hashing_perturb(truth, prime, oracle.buckets)
    return hardware.wheel_perturb(truth, prime, oracle.arc)


def _points(cell: Cell) -> int:
    """How many different reports there are."""
    (field,) = mechanism(cell).layout.fields
    assert isinstance(field, Number)
    return field.below


FIGURES = [Figure(cell.name, "reports/second", partial(ours, cell), partial(bound, cell), has_peers=True) for cell in CELLS]
