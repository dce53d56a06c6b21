"""Vectors of numbers on their way to bits, compiled by numba; each loop gives exactly what its twin in vectors.py gives."""

import numpy as np
from llvmlite.ir import Constant, IntType, VectorType
from numba import njit, types
from numba.extending import intrinsic

from deniable.arrays import Bytes, Floats
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


@intrinsic  # type: ignore[untyped-decorator]
def lanes_with(context, numbers, start, place):  # type: ignore[no-untyped-def]
    """A word with bit `place` of the 64 numbers from `start` on: LLVM packs it with an instruction or two for a vector."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, args[0])
        number = IntType(signature.args[0].dtype.bitwidth)
        lanes = VectorType(number, LANES)
        source = builder.gep(array.data, [args[1]])
        loaded = builder.load(builder.bitcast(source, lanes.as_pointer()), align=signature.args[0].dtype.bitwidth // 8)
        bit = builder.shl(Constant(number, 1), builder.trunc(args[2], number) if number.width < 64 else args[2])
        wanted = Constant(lanes, None)
        for lane in range(LANES):
            wanted = builder.insert_element(wanted, bit, Constant(IntType(32), lane))
        found = builder.icmp_unsigned("!=", builder.and_(loaded, wanted), Constant(lanes, None))
        return builder.bitcast(found, IntType(LANES))

    return types.uint64(numbers, types.int64, types.int64), generate
