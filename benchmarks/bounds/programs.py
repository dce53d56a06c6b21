"""Bounds of laws that frequency oracles do not have: C loops that do the same work, with the numbers of our own programs."""

from collections.abc import Sequence
from ctypes import c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import deniable as dn
from benchmarks.bounds.bound import fastest_available
from benchmarks.bounds.compiled import Compiled
from benchmarks.bounds.keystream import WORDS, Keystream
from benchmarks.effort import Work

Column = npt.NDArray[Any]


def numbers_perturb(name: str, mechanism: dn.Mechanism, numbers: Column) -> Work | None:
    """A number on a grid, randomized; None where there is no compiler."""
    tosses, steps = [_heads(params[0]) for params in _params(mechanism, "toss")], c_uint32(mechanism.domain.size - 1)
    split = [(_heads(heads), c_uint32(near), c_uint32(near + far)) for heads, near, far in _params(mechanism, "split")]
    settings: dict[str, tuple[Any, ...]] = {
        "duchi": (2, "duchi", *tosses),
        "three-outputs": (3, "three_outputs", *tosses[:2], *tosses[-1:]),
        "piecewise": (2, "piecewise", *sum(split, ())),
        "hybrid": (3, "hybrid", *sum(split, ()), *tosses),
    }
    words, kernel, *constants = settings[name]
    reports = np.empty(len(numbers), np.uint16)
    return _fed(kernel, words, len(numbers), [numbers, reports], [], (steps, *constants), [reports])


def release_perturb(release: dn.Mechanism, values: Column) -> Work | None:
    """A point near the true one; None where there is no compiler."""
    size, reports = release.domain.size, np.empty(len(values), np.uint32)
    columns, split, picks = [values, reports], _params(release, "split"), _params(release, "pick_each")
    if picks:
        edges = np.cumsum(np.array(picks[0][0], np.uint64), axis=1, dtype=np.uint64)
        total = int(edges[0, -1])
        shift = max(0, (total - 1).bit_length() - size.bit_length() - 1)
        firsts = np.arange((total - 1 >> shift) + 1, dtype=np.uint64) << np.uint64(shift)
        guesses = np.stack([np.searchsorted(row, firsts, side="right") for row in edges]).astype(np.uint16)
        orders = _orders(release) if _params(release, "at") else None
        shape = c_uint32(len(edges)), c_uint32(size), c_uint32(len(firsts)), c_uint64(total), c_uint(shift)
        last = c_void_p(None) if orders is None else c_void_p(orders.ctypes.data)
        return _fed("weighted_perturb", 1, len(values), columns, [edges, guesses], (*shape, last), [reports, orders])
    heads, near, _ = split[0]
    constants = c_uint32(near), c_uint32(size), _heads(heads)
    if tables := _params(release, "table"):
        starts = np.array(tables[0][0], np.uint32)
        return _fed("around_perturb", 1, len(values), columns, [starts], constants, [reports])
    return _fed("ordered_perturb", 1, len(values), columns, [_orders(release)], constants, [reports])


def pairs_perturb(kind: str, mechanism: dn.Mechanism, sets: dn.Pairs) -> Work | None:
    """One pair of a set of keys with values, checked and randomized; None where there is no compiler."""
    domain: Any = mechanism.domain
    n, all_keys = len(sets.starts) - 1, c_uint32(len(domain.labels))
    starts, keys, numbers = sets.starts, sets.keys, sets.values
    tosses = [_heads(params[0]) for params in _params(mechanism, "toss")]
    told = np.empty(n, np.uint16)
    if kind == "direct":
        ((kept, _, _),) = _params(mechanism, "split")
        constants = all_keys, c_uint32(domain.at_most), _heads(kept), tosses[0]
        return _fed("direct_pair", 3, n, [starts, told], [], constants, [told, keys, numbers], [keys, numbers])
    states = np.empty(n, np.uint8)
    return _fed(
        "asked_pair", 3, n, [starts, told, states], [], (all_keys, *tosses), [told, states, keys, numbers], [keys, numbers]
    )


def _params(mechanism: dn.Mechanism, operation: str) -> list[Sequence[Any]]:
    return [node.params for node in mechanism.law.nodes if node.op == operation]


def _heads(chance: Fraction) -> c_uint32:
    return c_uint32(min(int(chance * (1 << 32)), (1 << 32) - 1))


def _orders(release: dn.Mechanism) -> npt.NDArray[np.uint16]:
    """All points from the nearest to the farthest, for each of them."""
    points: Any = release.domain
    places = np.array(points.points, np.float64)
    distances = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    return np.ascontiguousarray(np.argsort(distances, axis=1, kind="stable").astype(np.uint16))


def _fed(
    kernel: str,
    words_each: int,
    n: int,
    columns: list[Column],
    tables: list[Column],
    constants: tuple[object, ...],
    kept: list[Column | None],
    whole: Sequence[Column] = (),
) -> Work | None:
    """A loop over parts of the columns with fresh words; `whole` arrays come after the first column, `tables` after n."""
    hardware = fastest_available()
    if not isinstance(hardware, Compiled):
        return None
    stream, loop = Keystream(), getattr(hardware.library, kernel)
    first, *rest = columns
    step = WORDS // words_each

    def work() -> object:
        for start in range(0, n, step):
            stream.refill()
            given = [_at(first, start), *map(_at, whole), *(_at(column, start) for column in rest)]
            loop(_at(stream.words), *given, c_size_t(min(step, n - start)), *map(_at, tables), *constants)
        return kept

    return work


def _at(array: Column, start: int = 0) -> c_void_p:
    return c_void_p(array.ctypes.data + start * array.itemsize)
