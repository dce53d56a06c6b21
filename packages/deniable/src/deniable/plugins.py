"""What is found by name: a table of ours, and what other packages register as entry points of the same group."""

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points


def registered(group: str, ours: Mapping[str, str]) -> dict[str, EntryPoint]:
    """Everything of a group by name, not yet loaded. Ours, given as "module:name", come first and cannot be replaced."""
    own = (EntryPoint(name, f"deniable.{place}", group) for name, place in ours.items())
    theirs = (entry for entry in entry_points(group=group) if entry.name not in ours)
    return {entry.name: entry for entry in (*own, *theirs)}
