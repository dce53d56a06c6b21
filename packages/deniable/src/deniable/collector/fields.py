"""How the fields of a report are read from JSON and described: one entry for each type of field."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from deniable.core import Column, Flags, Number
from deniable.core.variable import Key, Variable
from deniable.errors import InvalidReport

Data = dict[str, Any]


class FieldFormat(NamedTuple):
    """The JSON of one type of field, given as the first argument of each function."""

    read: Callable[[Any, object], Column]
    schema: Callable[[Any], Data]


def read_hex(text: object, size: int | None = None) -> bytes:
    """Bytes that are written in hexadecimal; with a size, exactly that many."""
    try:
        data = bytes.fromhex(text) if isinstance(text, str) else None
    except ValueError:
        data = None
    if data is None or (size is not None and len(data) != size):
        raise InvalidReport(f"Expected {'an even number of' if size is None else 2 * size} hexadecimal digits.")
    return data


def hex_schema(size: int) -> Data:
    """The schema of so many bytes in hexadecimal."""
    return {"type": "string", "pattern": f"^[0-9a-f]{{{2 * size}}}$"}


def _read_number(field: Number, value: object) -> Column:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < field.below:
        raise InvalidReport(f"Field {field.name!r} must be a whole number from 0 to {field.below - 1}.")
    return np.array([value], field.dtype)


FORMATS: dict[type, FieldFormat] = {
    Number: FieldFormat(
        _read_number,
        lambda field: {"type": "integer", "minimum": 0, "maximum": field.below - 1},
    ),
    Flags: FieldFormat(
        lambda field, value: np.frombuffer(read_hex(value, (field.bits + 7) // 8), np.uint8)[None, :],
        lambda field: hex_schema((field.bits + 7) // 8),
    ),
    Key: FieldFormat(
        lambda field, value: np.frombuffer(read_hex(value, 8), "<u8").astype(np.uint64),
        lambda field: hex_schema(8),
    ),
    Variable: FieldFormat(
        lambda field, value: np.array([read_hex(value), None], object)[:1],
        lambda field: {"type": "string", "pattern": "^([0-9a-f]{2})*$", "maxLength": 2 * field.most},
    ),
}
