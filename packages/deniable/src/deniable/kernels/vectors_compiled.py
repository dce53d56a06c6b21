"""Vectors of numbers on their way to bits, compiled by numba; each loop gives exactly what its twin in vectors.py gives."""

import numpy as np
from llvmlite.ir import Constant, IntType, VectorType
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from deniable.arrays import Bytes, Floats, Ints
from deniable.kernels.compiled import write_positions
from deniable.kernels.vectors import Codes, narrowest

LANES = 64  # numbers that make a word of bits
LARGEST = np.finfo(np.float64).max


def sign_magnitude(numbers: Floats, unit: float, bits: int) -> Codes | None:
    codes = np.empty(numbers.shape, narrowest(bits))
    flat = np.ascontiguousarray(numbers).reshape(-1)
    return codes if _sign_magnitude(flat, 1 / unit, float((1 << bits - 1) - 1), bits - 1, codes.reshape(-1)) else None


@njit(cache=True, nogil=True)
def _sign_magnitude(numbers, scale, most, sign, codes):  # type: ignore[no-untyped-def]
    wrong = np.int64(0)
    for i in range(numbers.shape[0]):
        size = abs(numbers[i])
        wrong |= np.int64(not size <= LARGEST)  # also where it is no number
        size = size * scale if size * scale < most else most  # dividing by a power of two is as exact
        codes[i] = np.int64(size) | np.int64(numbers[i] >= 0) << sign
    return wrong == 0


def bit_rows(vector: Codes, place: int) -> Bytes:
    rows = np.empty((len(vector), (vector.shape[1] + 7) // 8), np.uint8)
    _bit_rows(np.ascontiguousarray(vector), place, rows)
    return rows


@njit(cache=True, nogil=True)
def _bit_rows(vector, place, rows):  # type: ignore[no-untyped-def]
    numbers, width = vector.reshape(-1), vector.shape[1]
    for row in range(rows.shape[0]):
        own, first = rows[row], row * width
        whole = width // LANES
        for part in range(whole):
            word = lanes_with(numbers, first + part * LANES, place)
            for byte in range(8):
                own[8 * part + byte] = np.uint8(word >> np.uint64(8 * byte) & np.uint64(255))
        for byte in range(8 * whole, own.shape[0]):
            found = 0
            for bit in range(min(8, width - 8 * byte)):
                found |= (np.int64(vector[row, 8 * byte + bit]) >> place & 1) << bit
            own[byte] = np.uint8(found)


def rows_below(draws: NDArray[np.uint16], numbers: Codes, shift: int) -> tuple[Bytes, Ints]:
    if draws.shape != numbers.shape:
        raise IndexError("Every number needs a draw.")  # a compiled loop would read beside them
    rows, room = np.empty((len(draws), (draws.shape[1] + 7) // 8), np.uint8), draws.size // 128 + 64
    while True:
        tied = np.empty(room, np.int64)
        count = _rows_below(np.ascontiguousarray(draws), np.ascontiguousarray(numbers), shift, rows, tied)
        if count <= room:
            return rows, tied[:count]
        room = count


@njit(cache=True, nogil=True)
def _rows_below(draws, numbers, shift, rows, tied):  # type: ignore[no-untyped-def]
    flat_draws, flat_numbers, width = draws.reshape(-1), numbers.reshape(-1), draws.shape[1]
    whole, found = width // LANES, 0
    for row in range(rows.shape[0]):
        own, first = rows[row], row * width
        for part in range(whole):
            start = first + part * LANES
            word = lanes_less(flat_draws, flat_numbers, start, shift)
            for byte in range(8):
                own[8 * part + byte] = np.uint8(word >> np.uint64(8 * byte) & np.uint64(255))
            found = write_positions(lanes_equal(flat_draws, flat_numbers, start, shift), start, tied, found)
        for byte in range(8 * whole, own.shape[0]):
            bits = 0
            for bit in range(min(8, width - 8 * byte)):
                at = first + 8 * byte + bit
                draw, number = np.int64(flat_draws[at]) >> shift, np.int64(flat_numbers[at])
                bits |= np.int64(draw < number) << bit
                found = write_positions(np.uint64(draw == number), at, tied, found)
            own[byte] = np.uint8(bits)
    return found


@intrinsic  # type: ignore[untyped-decorator]
def lanes_with(context, numbers, start, place):  # type: ignore[no-untyped-def]
    """A word with bit `place` of the 64 numbers from `start` on: LLVM packs it with an instruction or two for a vector."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        loaded = _loaded(context, builder, signature.args[0], args[0], args[1])
        number = loaded.type.element
        bit = builder.shl(Constant(number, 1), builder.trunc(args[2], number) if number.width < 64 else args[2])
        found = builder.and_(loaded, _everywhere(builder, bit))
        return builder.bitcast(builder.icmp_unsigned("!=", found, Constant(loaded.type, None)), IntType(LANES))

    return types.uint64(numbers, types.int64, types.int64), generate


def _comparing(operator):  # type: ignore[no-untyped-def]
    def comparing(context, draws, numbers, start, shift):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            draw, number = (_loaded(context, builder, signature.args[each], args[each], args[2]) for each in (0, 1))
            amount = builder.trunc(args[3], draw.type.element)
            shifted = builder.lshr(draw, _everywhere(builder, amount))
            wide = shifted if number.type == draw.type else builder.zext(shifted, number.type)
            return builder.bitcast(builder.icmp_unsigned(operator, wide, number), IntType(LANES))

        return types.uint64(draws, numbers, types.int64, types.int64), generate

    return intrinsic(comparing)


lanes_less, lanes_equal = _comparing("<"), _comparing("==")  # draw >> shift beside the number, for 64 of them


def _loaded(context, builder, kind, value, start):  # type: ignore[no-untyped-def]
    """64 numbers of an array from `start` on."""
    array, number = context.make_array(kind)(context, builder, value), IntType(kind.dtype.bitwidth)
    source = builder.bitcast(builder.gep(array.data, [start]), VectorType(number, LANES).as_pointer())
    return builder.load(source, align=kind.dtype.bitwidth // 8)


def _everywhere(builder, value):  # type: ignore[no-untyped-def]
    """A vector of one number."""
    lanes = Constant(VectorType(value.type, LANES), None)
    for lane in range(LANES):
        lanes = builder.insert_element(lanes, value, Constant(IntType(32), lane))
    return lanes
