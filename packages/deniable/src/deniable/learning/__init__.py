"""The old name of `deniable_learn`, which is a package of its own. Kept for programs that import it from here."""

import warnings
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType

from deniable.errors import MissingPackage


def moved(submodule: str = "") -> ModuleType:
    """The package that learning moved to, or one of its modules."""
    for entry in entry_points(group="deniable.packages", name="learning"):
        warnings.warn(f"deniable.learning is now {entry.value}. Import from there.", DeprecationWarning, stacklevel=3)
        return import_module(entry.value + submodule)
    raise MissingPackage("Learning", "deniable-learn")


def __getattr__(name: str) -> object:
    if name.startswith("__") or name == "federated":
        raise AttributeError(name)
    return getattr(moved(), name)
