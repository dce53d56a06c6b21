"""Short programs of one arithmetic step after another, run on a piece of all columns at a time that stays in the cache.

A step is a row of eight whole numbers: which one, the register it writes, up to three that it reads, and three parameters.
Registers hold one number for each answer. Columns that are read are words to scale, long words to compare with numbers,
packed bits and numbers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Bytes, Ints, Words, Words32
from deniable.kernels.plain import compiled_in

Register = NDArray[np.signedinteger]
PIECE = 2048  # answers at a time

SCALE, CHANCES, BITS, NUMBERS, ADD, SUBTRACT, MULTIPLY, WRAP, REMAINDER, QUOTIENT, LESS, EQUAL, NOT = range(13)
AND, OR, XOR, SHIFT, WHERE, LOOK_UP, PART, AIM, AROUND, LEAST, MOST = range(13, 24)
STORE_8, STORE_16, STORE_32, STORE_64 = range(24, 28)
CUT = np.uint64(64 - 53)  # bits of a long word that are left out where it is compared with chances of 2^53


@dataclass(frozen=True)
class Arrays:
    """What the steps read and write, a column in each row; `registers` says how wide their numbers are."""

    registers: Register
    words: Words32
    longs: Words
    bits: Bytes
    numbers: Ints
    tables: Register
    out_8: Bytes
    out_16: NDArray[np.uint16]
    out_32: Words32
    out_64: Ints


@compiled_in("fused_compiled", lambda steps, arrays, size: len(steps) * size)
def follow(steps: Ints, arrays: Arrays, size: int) -> None:
    """Run the steps on the first `size` answers."""
    registers: dict[int, Register] = {row: each[:1] for row, each in enumerate(arrays.registers)}  # constants are filled in
    stores: dict[int, NDArray[np.integer]] = {
        STORE_8: arrays.out_8,
        STORE_16: arrays.out_16,
        STORE_32: arrays.out_32,
        STORE_64: arrays.out_64,
    }
    for op, to, a, b, c, p, q, r in steps.tolist():
        if op in stores:
            stores[op][to, :size] = registers[a]
        elif op in _LOADS:
            registers[to] = _LOADS[op](arrays, a, p, q, size)
        else:
            given = [registers[each] for each in (a, b, c)[: _READS.get(op, 2)]]
            registers[to] = _STEPS[op](arrays, *given, p, q, r)


def _bits(arrays: Arrays, row: int, p: int, q: int, size: int) -> Ints:
    return np.unpackbits(arrays.bits[row], bitorder="little", count=size).astype(np.int64)


_LOADS: Mapping[int, Callable[[Arrays, int, int, int, int], Ints]] = {
    SCALE: lambda arrays, row, n, more, size: ((arrays.words[row, :size].astype(np.int64) * n) >> 32) + more,
    CHANCES: lambda arrays, row, p, q, size: (arrays.longs[row, :size] >> CUT < arrays.numbers[p, :size]).astype(np.int64),
    BITS: _bits,
    NUMBERS: lambda arrays, row, p, q, size: arrays.numbers[row, :size],
}
_READS = {WRAP: 1, REMAINDER: 1, QUOTIENT: 1, NOT: 1, LOOK_UP: 1, PART: 1, WHERE: 3, AIM: 3}  # registers, where not two


def _chosen(arrays: Arrays, a: Ints, b: Ints, c: Ints, p: int, q: int, r: int) -> Ints:
    return np.where(a != 0, b, c)


def _aimed(arrays: Arrays, column: Ints, row: Ints, odd: Ints, p: int, q: int, r: int) -> Ints:
    wrong = (np.bitwise_count(row & column) & 1) != odd
    return column ^ (row & -row) * wrong


def _around(arrays: Arrays, start: Ints, place: Ints, near: int, among: int, r: int) -> Ints:
    further = place - near
    found = np.where(place < near, start + place, further + near * (further >= start))
    return np.where(place < among, found, place)


_STEPS: Mapping[int, Callable[..., Ints]] = {
    ADD: lambda arrays, a, b, p, q, r: a + b,
    SUBTRACT: lambda arrays, a, b, p, q, r: a - b,
    MULTIPLY: lambda arrays, a, b, p, q, r: a * b,
    WRAP: lambda arrays, a, by, q, r: np.where(a < by, a, a - by),
    REMAINDER: lambda arrays, a, by, q, r: a % by,
    QUOTIENT: lambda arrays, a, by, q, r: a // by,
    LESS: lambda arrays, a, b, p, q, r: (a < b).astype(np.int64),
    EQUAL: lambda arrays, a, b, p, q, r: (a == b).astype(np.int64),
    NOT: lambda arrays, a, p, q, r: 1 - a,
    AND: lambda arrays, a, b, p, q, r: a & b,
    OR: lambda arrays, a, b, p, q, r: a | b,
    XOR: lambda arrays, a, b, p, q, r: a ^ b,
    SHIFT: lambda arrays, a, b, p, q, r: a >> b,
    WHERE: _chosen,
    LOOK_UP: lambda arrays, a, start, q, r: arrays.tables[a + start].astype(np.int64),
    PART: lambda arrays, a, shift, mask, r: a >> shift & mask,
    AIM: _aimed,
    AROUND: _around,
    LEAST: lambda arrays, a, b, p, q, r: np.minimum(a, b),
    MOST: lambda arrays, a, b, p, q, r: np.maximum(a, b),
}


@compiled_in("fused_compiled", lambda words, n: words.size)
def refused_places(words: Words32, n: int) -> Ints:
    """The places of the words that `scale` would refuse for a number below n."""
    low = words * np.uint32(n)  # modulo 2^32
    return np.flatnonzero(low < np.uint32((1 << 32) % n))
