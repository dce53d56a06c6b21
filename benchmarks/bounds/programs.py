"""Bounds of laws that frequency oracles do not have: C loops that do the same work, with the numbers of our own programs."""

from collections.abc import Sequence
from ctypes import byref, c_double, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import deniable as dn
from benchmarks.bounds.bound import fastest_available
from benchmarks.bounds.compiled import GROUP, Compiled
from benchmarks.bounds.keystream import WORDS, Keystream
from benchmarks.effort import Work

Column = npt.NDArray[Any]


def numbers_perturb(name: str, mechanism: dn.Mechanism, numbers: Column) -> Work | None:
    """A number on a grid, randomized; None where there is no compiler."""
    tosses, steps = [heads_of(params[0]) for params in params_of(mechanism, "toss")], c_uint32(mechanism.domain.size - 1)
    split = [(heads_of(heads), c_uint32(near), c_uint32(near + far)) for heads, near, far in params_of(mechanism, "split")]
    settings: dict[str, tuple[Any, ...]] = {
        "duchi": (2, "duchi", *tosses),
        "three-outputs": (3, "three_outputs", *tosses[:2], *tosses[-1:]),
        "piecewise": (2, "piecewise", *sum(split, ())),
        "hybrid": (3, "hybrid", *sum(split, ()), *tosses),
    }
    words, kernel, *constants = settings[name]
    reports = np.empty(len(numbers), np.uint16)
    return fed(kernel, words, len(numbers), [numbers, reports], [], (steps, *constants), [reports])


def release_perturb(release: dn.Mechanism, values: Column) -> Work | None:
    """A point near the true one; None where there is no compiler."""
    size, reports = release.domain.size, np.empty(len(values), np.uint32)
    columns, split, picks = [values, reports], params_of(release, "split"), params_of(release, "pick_each")
    if picks:
        edges = np.cumsum(np.array(picks[0][0], np.uint64), axis=1, dtype=np.uint64)
        total = int(edges[0, -1])
        shift = max(0, (total - 1).bit_length() - size.bit_length() - 1)
        firsts = np.arange((total - 1 >> shift) + 1, dtype=np.uint64) << np.uint64(shift)
        guesses = np.stack([np.searchsorted(row, firsts, side="right") for row in edges]).astype(np.uint16)
        orders = _orders(release) if params_of(release, "at") else None
        shape = c_uint32(len(edges)), c_uint32(size), c_uint32(len(firsts)), c_uint64(total), c_uint(shift)
        last = c_void_p(None) if orders is None else c_void_p(orders.ctypes.data)
        return fed("weighted_perturb", 1, len(values), columns, [edges, guesses], (*shape, last), [reports, orders])
    heads, near, _ = split[0]
    constants = c_uint32(near), c_uint32(size), heads_of(heads)
    if tables := params_of(release, "table"):
        starts = np.array(tables[0][0], np.uint32)
        return fed("around_perturb", 1, len(values), columns, [starts], constants, [reports])
    return fed("ordered_perturb", 1, len(values), columns, [_orders(release)], constants, [reports])


def pairs_perturb(kind: str, mechanism: dn.Mechanism, sets: dn.Pairs) -> Work | None:
    """One pair of a set of keys with values, checked and randomized; None where there is no compiler."""
    domain: Any = mechanism.domain
    n, all_keys = len(sets.starts) - 1, c_uint32(len(domain.labels))
    starts, keys, numbers = sets.starts, sets.keys, sets.values
    tosses = [heads_of(params[0]) for params in params_of(mechanism, "toss")]
    told = np.empty(n, np.uint16)
    if kind == "direct":
        ((kept, _, _),) = params_of(mechanism, "split")
        constants = all_keys, c_uint32(domain.at_most), heads_of(kept), tosses[0]
        return fed("direct_pair", 3, n, [starts, told], [], constants, [told, keys, numbers], [keys, numbers])
    if isinstance(mechanism, dn.PCKVUnary):
        return _unary_pairs(mechanism, sets)
    states = np.empty(n, np.uint8)
    return fed(
        "asked_pair", 3, n, [starts, told, states], [], (all_keys, *tosses), [told, states, keys, numbers], [keys, numbers]
    )


def bitrand_perturb(mechanism: dn.BitRand, rows: Column) -> Work | None:
    """Noise for each bit of a part of the vectors, flipped by their codes; None where there is no compiler."""
    hardware, domain, bits = fastest_available(), mechanism.domain, mechanism.bits
    if not isinstance(hardware, Compiled):
        return None
    width, step = domain.dimensions, 5 * GROUP // 64  # vectors, a bit of which takes a buffer of random words
    flips = zip(mechanism.ones, mechanism.zeros, strict=True)
    assert domain.signed and width % 64 == 0 and all(one + zero == 1 for one, zero in flips)
    parts = -(-len(rows) // step)
    planes = np.empty((bits, parts, step * width // 64), np.uint64)
    stream, heads = Keystream(), [_whole(zero) for zero in mechanism.zeros]

    def work() -> list[Column]:
        for part in range(parts):
            some = rows[part * step : (part + 1) * step]
            for plane, chance in zip(planes, heads, strict=True):
                hardware.fill(stream, chance, plane[part])
            starts = (c_void_p * bits)(*(at(plane[part]) for plane in planes))
            hardware.library.bitrand(at(some), starts, c_size_t(some.size), c_int(bits), c_double(1 / domain.unit))
        return [plane.view(np.uint8).reshape(-1, width // 8)[: len(rows)] for plane in planes]

    return work


def feature_vector_perturb(mechanism: dn.FeatureVector, rows: Column) -> Work | None:
    """A few coordinates of each vector by Duchi's mechanism; None where there is no compiler."""
    domain, places, width = mechanism.domain, mechanism.coordinates, mechanism.domain.dimensions
    assert mechanism.scalar == dn.Duchi.wire and places <= 8 and (domain.low, domain.high) == (-1, 1)
    starts, values = np.empty(len(rows), np.uint16), np.empty((len(rows), 1), np.uint8)
    ((honest,), *_) = params_of(mechanism, "toss")
    constants = c_uint32(width), c_uint32(places), c_uint32(domain.steps), heads_of(honest)
    columns, words = [rows, starts, values], width + places + 1
    return fed("feature_vector", words, len(rows), columns, [], constants, [starts, values, rows])


def duchi_vector_perturb(mechanism: dn.DuchiVector, rows: Column) -> Work | None:
    """Signs for all coordinates of each vector; None where there is no compiler."""
    hardware, width = fastest_available(), mechanism.domain.dimensions
    if not isinstance(hardware, Compiled):
        return None
    assert width % 64 == 0 and (mechanism.domain.low, mechanism.domain.high) == (-1, 1)
    signs, stream, wrong = np.empty((len(rows), width // 64), np.uint64), Keystream(), c_uint64(0)
    tosses = [heads_of(params[0]) for params in params_of(mechanism, "toss")]
    behind = c_uint32((1 << 32) - 1 - tosses[0].value)
    constants = c_uint32(width), c_uint32(mechanism.domain.steps), behind, tosses[1], byref(wrong)
    kernel = hardware.library.duchi_vector
    kernel.restype = c_size_t

    def work() -> list[Column]:
        done = 0
        while done < len(rows):
            stream.refill()
            left = c_size_t(len(rows) - done)
            done += kernel(at(stream.words), c_size_t(WORDS), at(rows[done:]), at(signs[done:]), left, *constants)
        return [signs.view(np.uint8)]

    return work


def _unary_pairs(mechanism: dn.PCKVUnary, sets: dn.Pairs) -> Work | None:
    """Rows of noise for both ends of all keys, a part of them at a time, and in them the ends of one pair of each set."""
    hardware, law, domain = fastest_available(), mechanism.chances, mechanism.domain
    if not isinstance(hardware, Compiled):
        return None
    n, size = len(sets.starts) - 1, len(domain.labels)
    named, noise = law.kept + law.both, law.noise + law.noise_both
    ends = named, law.both / named, law.flipped / (1 - named)
    alone, with_other = law.noise / (1 - noise), law.noise_both / noise
    assert size % 8 == 0 and with_other in (alone, 0)  # independent bits, or never both
    step = GROUP // 2  # people, whose rows are whole groups
    high, low = (np.empty(-(-n // step) * step * size // 64, np.uint64) for _ in range(2))
    constants, stream = (c_uint32(size), c_uint32(domain.at_most), *map(heads_of, ends)), Keystream()

    def work() -> list[Column]:
        for start in range(0, n, step):
            many, part = min(step, n - start), slice(start * size // 64, (start + step) * size // 64)
            hardware.fill(stream, _whole(noise), high[part])
            hardware.fill(stream, _whole(alone), low[part])
            if with_other != alone:
                hardware.library.without(at(low[part]), at(high[part]), c_size_t(len(low[part])))
            stream.refill()
            given = at(sets.starts, start), at(sets.keys), at(sets.values), at(high[part]), at(low[part])
            hardware.library.unary_pair(at(stream.words), *given, c_size_t(many), *constants)
        return [each.view(np.uint8)[: n * size // 8].reshape(n, -1) for each in (high, low)]

    return work


def params_of(mechanism: dn.Mechanism, operation: str) -> list[Sequence[Any]]:
    return [node.params for node in mechanism.law.nodes if node.op == operation]


def heads_of(chance: Fraction) -> c_uint32:
    return c_uint32(min(int(chance * (1 << 32)), (1 << 32) - 1))


def _whole(chance: Fraction) -> int:
    """A probability over 2^64."""
    return int(chance * (1 << 64))


def _orders(release: dn.Mechanism) -> npt.NDArray[np.uint16]:
    """All points from the nearest to the farthest, for each of them."""
    points: Any = release.domain
    places = np.array(points.points, np.float64)
    distances = ((places[:, None] - places[None]) ** 2).sum(axis=2)
    return np.ascontiguousarray(np.argsort(distances, axis=1, kind="stable").astype(np.uint16))


def fed(
    kernel: str,
    words_each: float,
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
    step = int(WORDS / words_each)

    def work() -> object:
        for start in range(0, n, step):
            stream.refill()
            given = [at(first, start), *map(at, whole), *(at(column, start) for column in rest)]
            loop(at(stream.words), *given, c_size_t(min(step, n - start)), *map(at, tables), *constants)
        return kept

    return work


def at(array: Column, start: int = 0) -> c_void_p:
    return c_void_p(array.ctypes.data + start * array.strides[0])
