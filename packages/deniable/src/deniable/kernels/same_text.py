"""The text of a plain module, compiled by numba."""

from collections.abc import Callable, Collection
from types import FunctionType, ModuleType
from typing import Any

from numba import njit
from numba.core.options import DefaultOptions

UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


def compiled(
    plain: ModuleType, often: Collection[str] = (), once: Collection[str] = (), **others: Callable[..., Any]
) -> dict[str, Any]:
    """What a module defines, its functions compiled, those called `often` uncounted, and some replaced by others.

    Those called `once` become a part of the function that calls them. Divisions are not checked: no text that is compiled
    here divides by zero.
    """
    found = {**vars(plain), **others}
    for name, function in vars(plain).items():
        if isinstance(function, FunctionType) and function.__module__ == plain.__name__ and name not in others:
            text = FunctionType(function.__code__, found, name)
            counted = njit(cache=True, nogil=True, error_model="numpy", inline="always" if name in once else "never")
            found[name] = uncounted(text) if name in often else counted(text)
    return found


def uncounted(function: Callable[..., Any]) -> Any:
    """A compiled loop that makes no arrays and does not count references to those it is given.

    Counting takes some nanoseconds for each array and call: as long as the work of a small loop. The option has no public
    name, and a release of numba that has lost it gives the same results more slowly.
    """
    return njit(cache=True, nogil=True, error_model="numpy", **UNCOUNTED)(function)
