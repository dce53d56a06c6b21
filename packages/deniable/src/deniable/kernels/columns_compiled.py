"""Hadamard transforms of columns that stand side by side, sixteen at a time in registers, compiled by numba.

Sums are added in the same order as two at a time, so that floats are rounded in the same way.
"""

from typing import Any

import numpy as np
from llvmlite.ir import Constant, DoubleType, FloatType, IntType, VectorType  # type: ignore[import-untyped]
from numba import types

from deniable.kernels.lanes_compiled import compiled_to, everywhere
from deniable.kernels.same_text import uncounted

COLUMNS = 16
WIDE = 512  # bits of the vectors that one of these columns is cut into


@uncounted
def transform(side, rows, size, step):  # type: ignore[no-untyped-def]
    """The Hadamard transform without its scale, from columns that are `step` apart on; `rows` stand side by side."""
    while COLUMNS * step <= size:
        length = step * rows
        for start in range(0, size * rows, COLUMNS * length):
            for place in range(start, start + length, lanes_of(side)):
                turn_columns(side, place, length)
        step *= COLUMNS
    while 4 * step <= size:
        length = step * rows
        for start in range(0, size * rows, 4 * length):
            first, second = side[start : start + length], side[start + length : start + 2 * length]
            third, fourth = side[start + 2 * length : start + 3 * length], side[start + 3 * length : start + 4 * length]
            for k in range(length):
                a, b, c, d = first[k], second[k], third[k], fourth[k]
                first[k] = (a + b) + (c + d)
                second[k] = (a - b) + (c - d)
                third[k] = (a + b) - (c + d)
                fourth[k] = (a - b) - (c - d)
        step *= 4
    if step < size:
        low, high = side[: step * rows], side[step * rows : 2 * step * rows]
        for k in range(step * rows):
            a, b = low[k], high[k]
            low[k] = a + b
            high[k] = a - b


@uncounted
def signed_transform(side, rows, size, words, first, scale):  # type: ignore[no-untyped-def]
    """The same after each number was multiplied by `scale` and by its sign: a bit of the word of its row and 64 columns.

    The words of as many rows as stand side by side, from `first` on, are neighbours.
    """
    for column in range(0, size, COLUMNS):
        own = words[column // 64]
        for row in range(0, rows, lanes_of(side)):
            turn_signed(side, column * rows + row, rows, own, first + row, np.uint64(column % 64), scale)
    transform(side, rows, size, COLUMNS)


@compiled_to
def lanes_of(context, side):  # type: ignore[no-untyped-def]
    """How many numbers are in a vector."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return Constant(IntType(64), WIDE // side.dtype.bitwidth)

    return types.int64(side), generate


@compiled_to
def turn_columns(context, side, first, apart):  # type: ignore[no-untyped-def]
    """Transform sixteen columns, so far apart, of as many rows as are in a vector."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        places = _places(context, builder, signature.args[0], *args[:3])
        _write(builder, places, [builder.load(place, align=side.dtype.bitwidth // 8) for place in places], side.dtype)
        return context.get_dummy_value()

    return types.void(side, types.int64, types.int64), generate


@compiled_to
def turn_signed(context, side, first, apart, words, row, shift, scale):  # type: ignore[no-untyped-def]
    """The same after each number was multiplied by `scale`, and by the sign that its row's word has from bit `shift` on."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits = side.dtype.bitwidth
        number, lanes = IntType(bits), WIDE // bits
        source = context.make_array(signature.args[3])(context, builder, args[3])
        several = VectorType(IntType(64), lanes)
        drawn = builder.load(builder.bitcast(builder.gep(source.data, [args[4]]), several.as_pointer()), align=8)
        own = builder.trunc(builder.lshr(drawn, everywhere(builder, args[5], lanes)), VectorType(number, lanes))
        places = _places(context, builder, signature.args[0], *args[:3])
        columns = [builder.load(place, align=bits // 8) for place in places]
        for each, column in enumerate(columns):
            sign = builder.shl(own, Constant(own.type, [bits - 1 - each] * lanes))
            if isinstance(side.dtype, types.Integer):
                minus = builder.ashr(sign, Constant(own.type, [bits - 1] * lanes))
                columns[each] = builder.sub(builder.xor(column, minus), minus)
            else:
                scaled = builder.bitcast(builder.fmul(column, everywhere(builder, args[6], lanes)), own.type)
                sign = builder.and_(sign, Constant(own.type, [1 << bits - 1] * lanes))
                columns[each] = builder.bitcast(builder.xor(scaled, sign), column.type)
        _write(builder, places, columns, side.dtype)
        return context.get_dummy_value()

    return types.void(side, types.int64, types.int64, words, types.int64, types.uint64, side.dtype), generate


@compiled_to
def count_columns(context, side, first, apart, least, counts):  # type: ignore[no-untyped-def]
    """Add to the counts of as many rows as are in a vector how many of sixteen columns reach their least number."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        places, align = _places(context, builder, signature.args[0], *args[:3]), side.dtype.bitwidth // 8
        none = Constant(IntType(64), 0)
        (bound, *_), (total, *_) = (
            _places(context, builder, kind, value, none, none)
            for kind, value in zip(signature.args[3:], args[3:], strict=True)
        )
        key, count = builder.load(bound, align=align), builder.load(total, align=align)
        compare = builder.icmp_signed if side.dtype.signed else builder.icmp_unsigned
        for place in places:
            reached = compare(">=", builder.load(place, align=align), key)
            count = builder.sub(count, builder.sext(reached, count.type))
        builder.store(count, total, align=align)
        return context.get_dummy_value()

    return types.void(side, types.int64, types.int64, least, counts), generate


def _places(context: Any, builder: Any, kind: Any, value: Any, first: Any, apart: Any) -> list[Any]:
    """Where sixteen vectors of an array are."""
    array, bits = context.make_array(kind)(context, builder, value), kind.dtype.bitwidth
    floats = {32: FloatType(), 64: DoubleType()}
    number = IntType(bits) if isinstance(kind.dtype, types.Integer) else floats[bits]
    vector = VectorType(number, WIDE // bits).as_pointer()
    starts = [builder.add(first, builder.mul(apart, Constant(IntType(64), each))) for each in range(COLUMNS)]
    return [builder.bitcast(builder.gep(array.data, [start]), vector) for start in starts]


def _write(builder: Any, places: list[Any], columns: list[Any], kind: Any) -> None:
    """Write the transform of these columns to their places."""
    is_whole = isinstance(kind, types.Integer)
    add, sub = (builder.add, builder.sub) if is_whole else (builder.fadd, builder.fsub)
    for step in (1, 2, 4, 8):
        for each in range(COLUMNS):
            if not each & step:
                a, b = columns[each], columns[each | step]
                columns[each], columns[each | step] = add(a, b), sub(a, b)
    for place, column in zip(places, columns, strict=True):
        builder.store(column, place, align=kind.bitwidth // 8)
