"""What rounding leaves in a floating-point number: digits that only some answers can give it (Mironov 2012)."""

from collections.abc import Callable, Iterator

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.audit.batch import Batch
from deniable.audit.feature import Feature

_DIGITS = 52  # binary digits of a double after the first
_ZERO = 1 << 12  # stands for the exponent of zero
_PLACES = 64  # more than a double has digits


def rounding(name: str, number: Callable[[Batch], Floats]) -> Iterator[Feature]:
    """The lowest digit of a float, alone and with its sign and magnitude; its last byte; and what stands after the point."""

    def lowest(batch: Batch) -> Ints:
        return _lowest_digit(number(batch))

    def spacing(batch: Batch) -> Ints:
        values = number(batch)
        digits = _exponent(values) - _lowest_digit(values)
        return (_exponent(values) * _PLACES + digits) * 2 + (values < 0)

    def after_the_point(batch: Batch) -> Ints:
        values = number(batch)
        return np.asarray(values - np.floor(values)).view(np.int64)

    yield Feature(f"the lowest binary digit of {name}", lowest, shown=_digit)
    yield Feature(
        f"the sign, the first and the lowest binary digit of {name}",
        spacing,
        shown=lambda code: (
            f"{'+-'[code & 1]}, {_digit(code // 2 // _PLACES)} and {_digit(code // 2 // _PLACES - code // 2 % _PLACES)}"
        ),
    )
    yield Feature(f"the last byte of {name}", lambda batch: _words(number(batch)) & 255)
    yield Feature(f"{name} after the point", after_the_point, shown=lambda code: f"{np.int64(code).view(np.float64):.17g}")


def _digit(exponent: int) -> str:
    return "none" if exponent == _ZERO else f"2^{exponent}"


def _words(values: Floats) -> Ints:
    return np.ascontiguousarray(values).view(np.int64)


def _exponent(values: Floats) -> Ints:
    """The place of the first binary digit: 0 for numbers from 1 to 2."""
    return np.where(values == 0, _ZERO, (_words(values) >> _DIGITS & 0x7FF) - 1023)


def _lowest_digit(values: Floats) -> Ints:
    """The place of the last binary digit that is not zero: the number is a whole multiple of 2 to this power."""
    digits = _words(values) & ((1 << _DIGITS) - 1) | 1 << _DIGITS
    zeros = np.bitwise_count((digits & -digits) - 1).astype(np.int64)
    return np.where(values == 0, _ZERO, _exponent(values) - _DIGITS + zeros)
