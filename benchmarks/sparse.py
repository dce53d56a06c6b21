"""Compressed response: vectors encoded a second, and coordinates decoded a second, on one thread.

The bound of short chunks is a C loop that does the same work. That of the others is NumPy's own Philox making the random
words that the same work looks at, and nothing else.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

import deniable as dn
from benchmarks.bounds.chunks import chunks_perturb
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from deniable.mechanisms.sparse.index_law import expected_candidates

SIZES = {"wiki": 7_115, "films": 87_585, "variants": 890_060, "billion": 10**9}
BOUND = "NumPy's Philox alone"
WORDS = 1 << 20


def mechanism(size: int, load: float | None = None) -> dn.Compressed:
    return dn.Compressed(dn.SparseVector(size), epsilon=1.0, alpha=2.0, load=load)


def vectors(size: int, differing: int, count: int) -> list[list[int]]:
    random = np.random.default_rng(differing)
    return [np.unique(random.integers(0, size, 2 * differing + 9))[:differing].tolist() for _ in range(count)]


def encoded(size: int, differing: int, load: float | None, effort: Effort) -> float:
    """Twenty vectors together, secure coins; the whole way from a list of coordinates to messages."""
    chosen, given = mechanism(size, load), vectors(size, differing, 20)
    for _ in range(3):
        chosen.perturb(given)  # until the loops are compiled
    return effort.rate(lambda: chosen.perturb(given), len(given))


def words_a_second(effort: Effort) -> float:
    generator = np.random.Philox(1)
    return effort.rate(lambda: generator.random_raw(WORDS), WORDS)


def encode_bound(differing: int, load: float | None, effort: Effort) -> tuple[float, str]:
    """Each coordinate that differs is looked at in as many draws as its chunk needs, a block of 128 bits each."""
    chosen = mechanism(87_585, load)
    work = chunks_perturb(chosen, vectors(87_585, differing, 20)) if load else None
    if work is not None:
        return effort.rate(work, 20), "C loop"
    blocks = differing * expected_candidates(chosen.coordinate, chosen.load or 0) * float(chosen.coordinate.odds)
    return words_a_second(effort) / (2 * blocks), BOUND


def decoded(what: str, effort: Effort) -> float:
    chosen = mechanism(87_585)
    reports = chosen.perturb(vectors(87_585, 1000, 40), dn.SeededCoins(1))
    places = np.random.default_rng(2).integers(0, 87_585, 20_000)
    work: dict[str, tuple[Callable[[], object], int]] = {
        "access": (lambda: chosen.value(reports, places), len(reports) * len(places)),
        "packed": (lambda: chosen.packed(reports), len(reports) * 87_585),
        "ones": (lambda: chosen.ones(reports), int(chosen.count(reports).sum())),
        "count": (lambda: chosen.count(reports), len(reports) * 87_585),
    }
    return effort.rate(*work[what])


def decode_bound(what: str, effort: Effort) -> tuple[float, str]:
    """Eight words of 32 bits for 32 coordinates, or one block of four for a single one."""
    share = float(mechanism(87_585).coordinate.q)
    each = {"access": 0.5, "packed": 8.0, "ones": 8.0 * share, "count": 8.0}[what]
    return words_a_second(effort) * each, BOUND


FIGURES = [
    *(
        Figure(
            f"compressed/encode/{name}/{differing}{'' if load is None else '/published-chunks'}",
            "vectors a second",
            partial(encoded, size, differing, load),
            partial(encode_bound, differing, load),
            has_peers=False,
        )
        for name, size, differing, load in [
            ("films", 87_585, 1000, 2.0),
            ("films", 87_585, 3500, 2.0),
            *((name, size, 1000, None) for name, size in SIZES.items()),
            ("films", 87_585, 3500, None),
        ]
    ),
    *(
        Figure(
            f"compressed/decode/{what}",
            unit,
            partial(decoded, what),
            partial(decode_bound, what),
            has_peers=False,
        )
        for what, unit in [
            ("access", "coordinates a second"),
            ("packed", "coordinates a second"),
            ("ones", "ones a second"),
            ("count", "coordinates a second"),
        ]
    ),
]
