"""Bounds of utility-optimized response: C loops that randomize sensitive answers and disclose or hide the others."""

from ctypes import c_size_t, c_uint32, c_uint64

import numpy as np

import deniable as dn
from benchmarks.bounds.bound import fastest_available
from benchmarks.bounds.compiled import Compiled
from benchmarks.bounds.keystream import WORDS, Keystream
from benchmarks.bounds.programs import Column, at, fed, heads_of, params_of
from benchmarks.effort import Work


def utility_perturb(mechanism: dn.UtilityOptimized, values: Column) -> Work | None:
    """The reports of these answers; None where there is no compiler."""
    base = mechanism.base
    tosses = [heads_of(params[0]) for params in params_of(mechanism, "toss")]
    answers = np.where(mechanism.secret, mechanism._place, -mechanism._open_number).astype(np.int32)
    if isinstance(base, dn.SubsetSelection):
        return _subset(base, answers, values, *tosses)
    ((heads, *_),) = params_of(mechanism, "split")
    if isinstance(base, dn.BlockDesign):
        reports, offsets = np.empty(len(values), np.uint16), base._offsets.astype(np.int32)
        constants = c_uint32(base.design.k), c_uint32(base.design.v), heads_of(heads), *tosses
        return fed("utility_design", 2, len(values), [values, reports], [answers, offsets], constants, [reports])
    assert isinstance(base, dn.LocalHashing)
    columns = [np.empty(len(values), kind) for kind in (np.uint16, np.uint16, np.uint16, np.uint8)]
    prime, count = base.prime, base.buckets
    shift = (prime * max(prime, count) * prime).bit_length()  # exact up to prime^2: see `remainder` of our kernels
    divided = c_uint64((1 << shift) // prime + 1), c_uint32(shift)
    numbers: tuple[object, ...] = c_uint32(prime), c_uint32(count), *divided, heads_of(heads), *tosses
    return fed("utility_hashing", 3.5, len(values), [values, *columns], [answers], numbers, [*columns, answers])


def _subset(base: dn.SubsetSelection, answers: Column, values: Column, truth: c_uint32, hidden: c_uint32) -> Work | None:
    hardware = fastest_available()
    if not isinstance(hardware, Compiled):
        return None
    size = base.domain.size
    numbers, bits = np.empty(len(values), np.uint16), np.empty((len(values), (size + 7) // 8), np.uint8)
    stream, kernel = Keystream(), hardware.library.utility_subset
    kernel.restype = c_size_t
    constants = c_uint32(size), c_uint32(base.size), truth, hidden

    def work() -> list[Column]:
        done = 0
        while done < len(values):
            stream.refill()
            columns = at(values, done), at(numbers, done), at(bits[done:]), c_size_t(len(values) - done)
            done += kernel(at(stream.words), c_size_t(2 * WORDS), *columns, at(answers), *constants)
        return [numbers, bits]

    return work
