"""The steps of fused.py, compiled by numba: a piece of all columns goes through all steps before the next piece is read."""

import numpy as np
from numba import njit

from deniable.arrays import Ints, Words32
from deniable.kernels import fused
from deniable.kernels.fused import Arrays
from deniable.kernels.lanes_compiled import LANES, lanes_refused, write_positions

SCALE, CHANCES, BITS, NUMBERS = fused.SCALE, fused.CHANCES, fused.BITS, fused.NUMBERS
ADD, SUBTRACT, MULTIPLY, WRAP = fused.ADD, fused.SUBTRACT, fused.MULTIPLY, fused.WRAP
REMAINDER, QUOTIENT, LESS, EQUAL, NOT = fused.REMAINDER, fused.QUOTIENT, fused.LESS, fused.EQUAL, fused.NOT
AND, OR, XOR, SHIFT, WHERE, LOOK_UP = fused.AND, fused.OR, fused.XOR, fused.SHIFT, fused.WHERE, fused.LOOK_UP
PART, AIM, AROUND, LEAST, MOST = fused.PART, fused.AIM, fused.AROUND, fused.LEAST, fused.MOST
STORE_8, STORE_16, STORE_32, STORE_64 = fused.STORE_8, fused.STORE_16, fused.STORE_32, fused.STORE_64
HALF, CUT = np.uint64(32), fused.CUT


def follow(steps: Ints, arrays: Arrays, size: int) -> None:
    a = arrays
    outputs = a.tables, a.out_8, a.out_16, a.out_32, a.out_64
    _follow(steps, a.registers, a.words, a.longs, a.bits, a.numbers, *outputs, size)


@njit(cache=True, nogil=True)
def _follow(steps, registers, words, longs, bits, numbers, tables, out_8, out_16, out_32, out_64, size):  # type: ignore[no-untyped-def]
    piece = registers.shape[1]
    for start in range(0, size, piece):
        many = min(piece, size - start)
        for step in range(steps.shape[0]):
            op, to, a, b, c = steps[step, 0], steps[step, 1], steps[step, 2], steps[step, 3], steps[step, 4]
            p, q, r = steps[step, 5], steps[step, 6], steps[step, 7]
            if op >= STORE_8:
                if op == STORE_8:
                    _store(registers, a, out_8[to, start : start + many])
                elif op == STORE_16:
                    _store(registers, a, out_16[to, start : start + many])
                elif op == STORE_32:
                    _store(registers, a, out_32[to, start : start + many])
                else:
                    _store(registers, a, out_64[to, start : start + many])
            elif op == BITS:
                _spread(bits[a, start >> 3 : (start + many + 7) >> 3], registers, to)
            elif op == SCALE:
                _scale(words[a, start : start + many], p, q, registers, to)
            elif op == CHANCES:
                _compare(longs[a, start : start + many], numbers[p, start : start + many], registers, to)
            elif op == NUMBERS:
                _load(numbers[a, start : start + many], registers, to)
            else:
                _step(op, registers, a, b, c, p, q, r, tables, to, many)


# Registers are named by their row and not cut out: references to parts of arrays are counted, which takes as long as a step.


@njit(cache=True, nogil=True)
def _store(registers, a, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        out[i] = registers[a, i]


@njit(cache=True, nogil=True)
def _load(column, registers, to):  # type: ignore[no-untyped-def]
    for i in range(column.shape[0]):
        registers[to, i] = column[i]


@njit(cache=True, nogil=True)
def _spread(packed, registers, to):  # type: ignore[no-untyped-def]
    for i in range(packed.shape[0]):
        byte = np.uint32(packed[i])
        for bit in range(8):
            registers[to, 8 * i + bit] = (byte >> np.uint32(bit)) & np.uint32(1)


@njit(cache=True, nogil=True)
def _scale(words, n, more, registers, to):  # type: ignore[no-untyped-def]
    bound = np.uint64(n)
    for i in range(words.shape[0]):
        registers[to, i] = np.int64(np.uint64(words[i]) * bound >> HALF) + more


@njit(cache=True, nogil=True)
def _compare(longs, heads, registers, to):  # type: ignore[no-untyped-def]
    for i in range(longs.shape[0]):
        registers[to, i] = np.int64(longs[i] >> CUT) < heads[i]


@njit(cache=True, nogil=True)
def _step(op, registers, a, b, c, p, q, r, tables, to, many):  # type: ignore[no-untyped-def]
    if op == ADD:
        for i in range(many):
            registers[to, i] = registers[a, i] + registers[b, i]
    elif op == SUBTRACT:
        for i in range(many):
            registers[to, i] = registers[a, i] - registers[b, i]
    elif op == MULTIPLY:
        for i in range(many):
            registers[to, i] = registers[a, i] * registers[b, i]
    elif op == WRAP:
        by = registers.dtype.type(p)
        for i in range(many):
            less = registers[a, i] - by
            registers[to, i] = less if less >= 0 else registers[a, i]
    elif op == REMAINDER:
        multiplier, shift = np.uint64(q), np.uint64(r)
        for i in range(many):
            times = np.int64(np.uint64(registers[a, i]) * multiplier >> shift)
            registers[to, i] = registers[a, i] - times * p
    elif op == QUOTIENT:
        multiplier, shift = np.uint64(q), np.uint64(r)
        for i in range(many):
            registers[to, i] = np.int64(np.uint64(registers[a, i]) * multiplier >> shift)
    elif op == LESS:
        for i in range(many):
            registers[to, i] = registers[a, i] < registers[b, i]
    elif op == EQUAL:
        for i in range(many):
            registers[to, i] = registers[a, i] == registers[b, i]
    elif op == NOT:
        for i in range(many):
            registers[to, i] = 1 - registers[a, i]
    elif op == AND:
        for i in range(many):
            registers[to, i] = registers[a, i] & registers[b, i]
    elif op == OR:
        for i in range(many):
            registers[to, i] = registers[a, i] | registers[b, i]
    elif op == XOR:
        for i in range(many):
            registers[to, i] = registers[a, i] ^ registers[b, i]
    elif op == SHIFT:
        for i in range(many):
            registers[to, i] = registers[a, i] >> registers[b, i]
    elif op == WHERE:
        for i in range(many):
            registers[to, i] = registers[c, i] ^ ((registers[b, i] ^ registers[c, i]) & -registers[a, i])
    elif op == LOOK_UP:
        own = tables[p:]  # an index that could be negative for all that LLVM knows takes half as long again
        for i in range(many):
            registers[to, i] = own[np.uint32(registers[a, i])]
    elif op == PART:
        shift, mask = registers.dtype.type(p), registers.dtype.type(q)
        for i in range(many):
            registers[to, i] = registers[a, i] >> shift & mask
    elif op == AIM:
        for i in range(many):
            parity = np.uint64(registers[a, i] & registers[b, i])
            parity ^= parity >> HALF
            parity ^= parity >> np.uint64(16)
            parity ^= parity >> np.uint64(8)
            parity ^= parity >> np.uint64(4)
            parity ^= parity >> np.uint64(2)
            parity ^= parity >> np.uint64(1)
            registers[to, i] = registers[a, i] ^ (
                registers[b, i] & -registers[b, i] & -((np.int64(parity) ^ registers[c, i]) & 1)
            )
    elif op == AROUND:
        for i in range(many):
            further = registers[b, i] - p
            found = (
                registers[a, i] + registers[b, i]
                if further < 0
                else (registers[b, i] if further >= registers[a, i] else further)
            )
            registers[to, i] = found if registers[b, i] < q else registers[b, i]
    elif op == LEAST:
        for i in range(many):
            registers[to, i] = min(registers[a, i], registers[b, i])
    else:
        for i in range(many):
            registers[to, i] = max(registers[a, i], registers[b, i])


def refused_places(words: Words32, n: int) -> Ints:
    bound, least, found = np.uint32(n), np.uint32((1 << 32) % n), np.empty(16, np.int64)
    count = _refused_places(words, bound, least, found)
    if count > len(found):
        found = np.empty(count, np.int64)
        _refused_places(words, bound, least, found)
    return found[:count]


@njit(cache=True, nogil=True)
def _refused_places(words, n, least, found):  # type: ignore[no-untyped-def]
    count, whole = 0, words.shape[0] // LANES * LANES
    for start in range(0, whole, LANES):
        count = write_positions(lanes_refused(words, start, n, least), start, found, count)
    for i in range(whole, words.shape[0]):
        count = write_positions(np.uint64(np.uint32(words[i] * n) < least), i, found, count)
    return count
