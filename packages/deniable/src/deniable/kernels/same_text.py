"""The text of a plain module, compiled by numba."""

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from numba import njit


def compiled(plain: ModuleType, **others: Callable[..., Any]) -> dict[str, Any]:
    """What a module defines, its functions compiled, and some replaced by others that are compiled already."""
    found = {**vars(plain), **others}
    for name, function in vars(plain).items():
        if isinstance(function, FunctionType) and function.__module__ == plain.__name__ and name not in others:
            found[name] = njit(cache=True, nogil=True)(FunctionType(function.__code__, found, name))
    return found
