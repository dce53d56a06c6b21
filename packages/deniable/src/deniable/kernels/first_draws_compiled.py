"""The first eight shared draws of a coordinate side by side, a lane of a vector each."""

from typing import Any

from llvmlite.ir import Constant, IntType, VectorType  # type: ignore[import-untyped]
from numba import types

from deniable.kernels.draws import MULTIPLY_0, MULTIPLY_1, WEYL_0, WEYL_1
from deniable.kernels.encoder_plain import EARLY
from deniable.kernels.lanes_compiled import compiled_to, everywhere

WORD = IntType(64)
DRAWS = VectorType(WORD, EARLY)


@compiled_to
def count_first_draws(context, nets, row, place, chunk, low, high, top):  # type: ignore[no-untyped-def]
    """Add two to `nets[row]` for the draws whose first digit at a place is below `top`; which ones have that very digit.

    The key comes as its lower and its upper half. See `block_of` and `first_digit`, which do the same for one draw.
    """

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, args[0])
        target = builder.gep(array.data, [builder.mul(args[1], Constant(WORD, EARLY))])
        target = builder.bitcast(target, DRAWS.as_pointer())
        digit, top = _first_digits(builder, *args[2:6]), everywhere(builder, args[6], EARLY)
        less = builder.sext(builder.icmp_unsigned("<", digit, top), DRAWS)
        found = builder.sub(builder.load(target, align=8), builder.add(less, less))
        builder.store(found, target, align=8)
        same = builder.icmp_unsigned("==", digit, top)
        return builder.zext(builder.bitcast(same, IntType(EARLY)), WORD)

    return types.uint64(nets, *(types.uint64,) * 6), generate


def _first_digits(builder: Any, place: Any, chunk: Any, low: Any, high: Any) -> Any:
    """Four binary digits of each draw; of all words only the lower halves are looked at."""
    half = _each(32)
    block = builder.shl(builder.lshr(place, Constant(WORD, 5)), Constant(WORD, 3))
    lane = everywhere(builder, builder.and_(place, Constant(WORD, 31)), EARLY)
    c0, c1, c3 = everywhere(builder, block, EARLY), everywhere(builder, chunk, EARLY), _each(0)
    c2 = Constant(DRAWS, [Constant(WORD, label) for label in range(1, EARLY + 1)])
    k0, k1 = everywhere(builder, low, EARLY), everywhere(builder, high, EARLY)
    for _ in range(10):
        first, second = (
            builder.mul(builder.and_(each, _each((1 << 32) - 1)), _each(int(by)))
            for each, by in ((c0, MULTIPLY_0), (c2, MULTIPLY_1))
        )
        c0 = builder.xor(builder.xor(builder.lshr(second, half), c1), k0)
        c2 = builder.xor(builder.xor(builder.lshr(first, half), c3), k1)
        c1, c3 = second, first
        k0, k1 = builder.add(k0, _each(int(WEYL_0))), builder.add(k1, _each(int(WEYL_1)))
    digit = _each(0)
    for word in (c0, c1, c2, c3):
        digit = builder.or_(builder.shl(digit, _each(1)), builder.and_(builder.lshr(word, lane), _each(1)))
    return digit


def _each(number: int) -> Any:
    return Constant(DRAWS, [Constant(WORD, number)] * EARLY)
