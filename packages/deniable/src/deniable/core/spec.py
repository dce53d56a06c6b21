"""Plain data: what JSON holds, as mechanisms and domains write it about themselves and read it again."""

from collections.abc import Mapping
from fractions import Fraction
from typing import get_args

from deniable.errors import InvalidParameter

Spec = Mapping[str, object]  # numbers, words, truth values, lists and mappings of them; whoever reads it checks what it is


def plain(value: object) -> object:
    """A value as JSON can hold it: fractions as text, mechanisms and domains as they describe themselves."""
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.spec() if hasattr(value, "spec") else value


def read(kind: object, value: object) -> object:
    """What `plain` made of a value of this kind: fractions, and tuples of what stands in a list."""
    if kind is Fraction and isinstance(value, str | int):
        return Fraction(value)
    if isinstance(value, list):
        inner = Fraction if Fraction in get_args(kind) else None
        return tuple(read(inner, each) for each in value)
    return value


def part(spec: Spec, name: str) -> Spec:
    """What describes a part, such as the domain of a mechanism."""
    found = spec[name]
    if not isinstance(found, Mapping):
        raise InvalidParameter(f'"{name}" must be a JSON object.')
    return found


def parts(spec: Spec, name: str) -> list[Spec]:
    """What describes each of several parts."""
    found = spec[name]
    if not isinstance(found, list | tuple) or not all(isinstance(each, Mapping) for each in found):
        raise InvalidParameter(f'"{name}" must be a list of JSON objects.')
    return list(found)


def whole(spec: Spec, name: str) -> int:
    """A whole number."""
    found = spec[name]
    if isinstance(found, bool) or not isinstance(found, int):
        raise InvalidParameter(f'"{name}" must be a whole number.')
    return found
