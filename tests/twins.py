"""The plain twins of loops that are compiled once it pays."""

from inspect import unwrap
from types import ModuleType, SimpleNamespace


def plain_loops(module: ModuleType) -> SimpleNamespace:
    """What a module defines, its loops as they run where numba is absent."""
    return SimpleNamespace(**{name: unwrap(each) if callable(each) else each for name, each in vars(module).items()})
