"""Words of 64 lanes: bits of as many numbers packed, compared and found, by instructions that LLVM has for vectors."""

from typing import Any

import numpy as np
from llvmlite.ir import Constant, IntType, VectorType  # type: ignore[import-untyped]
from numba import njit, types
from numba.extending import intrinsic

LANES = 64
TILE = 16  # words, a line of the cache
compiled_to: Any = intrinsic  # which has no types


@compiled_to
def lowest_place(context, word):  # type: ignore[no-untyped-def]
    """The place of the lowest bit of a word that is one; the word is not zero."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], IntType(1)(1))

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def write_positions(rest, first, positions, found):  # type: ignore[no-untyped-def]
    """Write where the bits that are one lie, as far as there is room; how many there are so far."""
    while rest:
        if found < positions.shape[0]:
            positions[found] = first + np.int64(lowest_place(rest))
        found += 1
        rest &= rest - np.uint64(1)
    return found


@compiled_to
def lanes_with(context, numbers, start, place):  # type: ignore[no-untyped-def]
    """A word with bit `place` of the 64 numbers from `start` on: LLVM packs it with an instruction or two for a vector."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        loaded = _loaded(context, builder, signature.args[0], args[0], args[1])
        number = loaded.type.element
        bit = builder.shl(Constant(number, 1), builder.trunc(args[2], number) if number.width < 64 else args[2])
        found = builder.and_(loaded, everywhere(builder, bit))
        return builder.bitcast(builder.icmp_unsigned("!=", found, Constant(loaded.type, None)), IntType(LANES))

    return types.uint64(numbers, types.int64, types.int64), generate


@compiled_to
def lanes_refused(context, words, start, bound, least):  # type: ignore[no-untyped-def]
    """A word with those of 64 words whose product with the bound, cut to their width, is below `least`."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        loaded = _loaded(context, builder, signature.args[0], args[0], args[1])
        product = builder.mul(loaded, everywhere(builder, args[2]))
        return builder.bitcast(builder.icmp_unsigned("<", product, everywhere(builder, args[3])), IntType(LANES))

    return types.uint64(words, types.int64, words.dtype, words.dtype), generate


def _loaded(context: Any, builder: Any, kind: Any, value: Any, start: Any) -> Any:
    """64 numbers of an array from `start` on."""
    array, number = context.make_array(kind)(context, builder, value), IntType(kind.dtype.bitwidth)
    source = builder.bitcast(builder.gep(array.data, [start]), VectorType(number, LANES).as_pointer())
    return builder.load(source, align=kind.dtype.bitwidth // 8)


def everywhere(builder: Any, value: Any, lanes: int = LANES) -> Any:
    """A vector of one number."""
    found = Constant(VectorType(value.type, lanes), None)
    for lane in range(lanes):
        found = builder.insert_element(found, value, Constant(IntType(32), lane))
    return found


@compiled_to
def use_widest_vectors(context):  # type: ignore[no-untyped-def]
    """Let LLVM use the widest vectors of the processor in this function, where it would prefer those of half the width."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')  # one that llvmlite does not know
        return context.get_dummy_value()

    return types.void(), generate


@compiled_to
def _write_word(context, word, target, first):  # type: ignore[no-untyped-def]
    """Write a word into eight bytes at once."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[1])(context, builder, args[1])
        place = builder.bitcast(builder.gep(array.data, [args[2]]), IntType(64).as_pointer())
        builder.store(args[0], place, align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, target, types.int64), generate


@njit(cache=True, nogil=True, inline="always")
def store_word(word, target, first):  # type: ignore[no-untyped-def]
    """Write a word into bytes from `first` on, as far as there are any."""
    if first + 8 <= target.shape[0]:
        _write_word(word, target, first)
    else:
        for byte in range(target.shape[0] - first):
            target[first + byte] = np.uint8(word >> np.uint64(8 * byte) & np.uint64(255))


@compiled_to
def turn_tile(context, words, first, apart, target, width):  # type: ignore[no-untyped-def]
    """Write the 16 words from `first` on, and from 15 more places as far `apart` on, as columns of rows of this width."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        source = context.make_array(signature.args[0])(context, builder, args[0])
        goal = context.make_array(signature.args[3])(context, builder, args[3])
        lines = VectorType(IntType(32), TILE).as_pointer()
        places = [builder.add(args[1], builder.mul(args[2], Constant(IntType(64), each))) for each in range(TILE)]
        rows = [builder.load(builder.bitcast(builder.gep(source.data, [place]), lines), align=4) for place in places]
        for _ in range(4):  # merging the first half of the rows with the second turns the 2^4 rows round in four turns
            pairs = zip(rows[: TILE // 2], rows[TILE // 2 :], strict=True)
            rows = [merged for pair in pairs for merged in _merged(builder, *pair)]
        for each, row in enumerate(rows):
            place = builder.gep(goal.data, [builder.mul(args[4], Constant(IntType(64), each))])
            builder.store(row, builder.bitcast(place, lines), align=4)
        return context.get_dummy_value()

    return types.void(words, types.int64, types.int64, target, types.int64), generate


def _merged(builder: Any, first: Any, second: Any) -> list[Any]:
    """Two vectors with the numbers of both, one of each in turn."""
    turns = [each // 2 + TILE * (each % 2) for each in range(2 * TILE)]
    halves = [Constant(VectorType(IntType(32), TILE), half) for half in (turns[:TILE], turns[TILE:])]
    return [builder.shuffle_vector(first, second, half) for half in halves]
