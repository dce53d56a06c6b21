"""Keys with values: reports a second from sets of at most eight of a thousand keys."""

from functools import cache, partial

import numpy as np

import deniable as dn
from benchmarks.bounds import fastest_available
from benchmarks.bounds.programs import pairs_perturb
from benchmarks.cell import EPSILON
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol

KEYS, AT_MOST = 1000, 8

DOMAIN = dn.KeyValue(range(KEYS), -1, 1, AT_MOST)


@cache
def mechanism(kind: str) -> KeyValueProtocol:
    match kind:
        case "unary":
            return dn.PCKVUnary(DOMAIN, EPSILON)
        case "unary-published":
            return dn.PCKVUnary.published(DOMAIN, EPSILON)
        case "direct":
            return dn.PCKVDirect(DOMAIN, EPSILON)
        case _:
            return dn.KeySampling.kvue(DOMAIN, EPSILON)


def people(n: int) -> dn.Pairs:
    """Sets of 0 to 8 keys; those of a person are a stride apart, so that none comes twice."""
    random = np.random.default_rng(1)
    starts = np.concatenate([[0], np.cumsum(random.integers(0, AT_MOST + 1, n))])
    keys = np.arange(starts[-1]) * 7 % KEYS
    return dn.Pairs(starts, keys, random.uniform(-1, 1, len(keys)))


def ours(kind: str, phase: str, effort: Effort) -> float:
    """Secure coins, sets given as columns."""
    protocol, truth = mechanism(kind), people(effort.n)
    if phase == "perturb":
        return effort.rate(lambda: protocol.perturb(truth), effort.n)
    reports = protocol.perturb(truth)
    return effort.rate(lambda: protocol.count(reports), effort.n)


def bound(kind: str, phase: str, effort: Effort) -> tuple[float, str]:
    """One pair of a checked set in C; without a compiler, and for counting, the same on categories, without the set."""
    if phase == "perturb" and (work := pairs_perturb(kind, mechanism(kind), people(effort.n))):
        return effort.rate(work, effort.n), "C loop"
    hardware, random = fastest_available(), np.random.default_rng(2)
    cells = (2 * KEYS + 63) // 64 * 64  # whole words: 2 % more
    values = random.integers(0, cells, effort.n)
    if kind.startswith("unary") and phase == "perturb":
        work = hardware.unary_perturb(values, cells, "optimized")
    elif kind.startswith("unary"):
        work = hardware.column_sums(random.integers(0, 256, effort.n * cells // 8, np.uint8), cells)
    elif phase == "perturb":
        work = hardware.direct_perturb(values, cells)
    else:
        work = hardware.direct_count(values.astype(np.uint16), cells)
    return effort.rate(work, effort.n), f"{hardware.name}, categories"


FIGURES = [
    Figure(
        f"key-value/{phase}/{kind}/{KEYS}",
        "reports/second",
        partial(ours, kind, phase),
        partial(bound, kind, phase),
        has_peers=False,
    )
    for kind in ("unary", "unary-published", "direct", "kvue")
    for phase in ("perturb", "count")
]
