"""Plain data: what JSON holds, as mechanisms and domains write it about themselves and read it again."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, get_args

Spec = Mapping[str, Any]  # numbers, words, truth values, lists and mappings of them; whoever reads it checks what it is


def plain(value: Any) -> Any:
    """A value as JSON can hold it: fractions as text, mechanisms and domains as they describe themselves."""
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.spec() if hasattr(value, "spec") else value


def read(kind: Any, value: Any) -> Any:
    """What `plain` made of a value of this kind: fractions, and tuples of what stands in a list."""
    if kind is Fraction:
        return Fraction(value)
    if isinstance(value, list):
        inner = Fraction if Fraction in get_args(kind) else None
        return tuple(read(inner, each) for each in value)
    return value
