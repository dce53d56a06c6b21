"""Graphs, links and groups in files, read some rows at a time with a bar that shows how much of a long one has been read."""

from collections import defaultdict
from itertools import count
from pathlib import Path

import numpy as np

from deniable.arrays import Ints
from deniable.errors import InvalidParameter
from deniable.files.edges import read_edges
from deniable.files.links import Links, read_links
from deniable.files.tables import column_batches, column_names
from deniable.graphs.graph import Graph


def graph_in(path: Path) -> tuple[Graph, list[str]]:
    """The graph in a file of edges, and the names of its vertices."""
    from deniable.cli import panel  # loads rich, which --help does not need

    with panel.progress("reading") as advance_to:
        return read_edges(path, advance_to)


def links_in(path: Path, user: str, item: str, weight: str | None) -> Links:
    """The links in a table of these columns."""
    from deniable.cli import panel

    with panel.progress("reading") as advance_to:
        return read_links(path, user, item, weight, advance_to)


def groups_in(path: Path, names: list[str]) -> Ints:
    """The group of each of these people as a number, from a table with names, then groups."""
    from deniable.cli import panel

    place = {name: number for number, name in enumerate(names)}
    group, number = np.full(len(names), -1), defaultdict[str, int](count().__next__)
    with panel.progress("reading groups") as advance_to:
        for people, groups in column_batches(path, first_two(path, "a name and a group"), advance_to):
            for person, own in zip(map(str, people), map(str, groups), strict=True):
                if person in place:
                    group[place[person]] = number[own]
    missing = int((group < 0).sum())
    if missing:
        raise InvalidParameter(f"{missing:,} people of the graph have no group in {path}. Add a row for each of them.")
    return group


def first_two(path: Path, what: str) -> list[str]:
    """The first two columns of a table, which must have them."""
    columns = column_names(path)[:2]
    if len(columns) < 2:
        raise InvalidParameter(f"The file {path} needs two columns: {what}.")
    return columns
