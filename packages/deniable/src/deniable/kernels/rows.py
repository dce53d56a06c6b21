"""One bit of each packed row: read it, replace it, move it to another column."""

import numpy as np

from deniable.arrays import Bools, Bytes, Ints
from deniable.kernels.plain import compiled_in


def _rows(rows: Bytes, *_: object) -> int:
    return len(rows)


@compiled_in("rows_compiled", _rows)
def get_bits(rows: Bytes, column: Ints) -> Bools:
    """One bit of each row, its column given for each."""
    return (rows[np.arange(len(rows)), column >> 3] >> (column & 7) & 1).astype(np.bool_)


@compiled_in("rows_compiled", _rows)
def put_bits(rows: Bytes, column: Ints, value: Bools) -> None:
    """Replace one bit of each row."""
    row, shift = np.arange(len(rows)), (column & 7).astype(np.uint8)
    cleared = rows[row, column >> 3] & ~(np.uint8(1) << shift)
    rows[row, column >> 3] = cleared | value.astype(np.uint8) << shift


@compiled_in("rows_compiled", _rows)
def move_bits(rows: Bytes, source: Ints, target: Ints, value: Bools) -> None:
    """Copy one bit of each row to another column, and put a value where it was."""
    put_bits(rows, target, get_bits(rows, source))
    put_bits(rows, source, value)
