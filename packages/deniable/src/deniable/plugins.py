"""What is found by name: a table of ours, and what other packages register as entry points of the same group."""

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from deniable.errors import MissingExtra, MissingPackage


def registered(group: str, ours: Mapping[str, str]) -> dict[str, EntryPoint]:
    """Everything of a group by name, not yet loaded. Ours, given as "module:name", come first and cannot be replaced."""
    own = (EntryPoint(name, f"deniable.{place}", group) for name, place in ours.items())
    theirs = (entry for entry in entry_points(group=group) if entry.name not in ours)
    return {entry.name: entry for entry in (*own, *theirs)}


def optional(module: str, what: str, extra: str) -> Any:
    """A module of an optional package, or an error that says what needs it and which extra installs it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(what, extra) from None


def package(name: str, what: str) -> Any:
    """Somebody else's package that no extra installs, or an error that says what needs it."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackage(what, name) from None
