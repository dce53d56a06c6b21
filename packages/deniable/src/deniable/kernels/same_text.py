"""The text of a plain module, compiled by numba."""

from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any

from numba import njit


def compiled(plain: ModuleType, names: Mapping[str, Callable[..., Any]] | None = None, after: str = "") -> dict[str, Any]:
    """What a module defines, its functions compiled: all, or those after a given one; some names may mean something else."""
    found = {**vars(plain), **(names or {})}
    reached = not after
    # In the order in which they call each other: a compiled function may only call compiled ones.
    for name, function in vars(plain).items():
        if isinstance(function, FunctionType) and function.__module__ == plain.__name__:
            if reached:
                found[name] = njit(cache=True, nogil=True)(FunctionType(function.__code__, found, name))
            reached = reached or name == after
    return found
