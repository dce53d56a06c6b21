"""Edges of a graph in two columns of a CSV or Parquet file; no message here repeats a name."""

from os import PathLike
from pathlib import Path

import numpy as np

from deniable.errors import EmptyBatch, InvalidParameter
from deniable.files.tables import column_names, csv_rows, existing, read_columns
from deniable.graphs.graph import Graph


def read_edges(path: str | PathLike[str]) -> tuple[Graph, list[str]]:
    """The graph in the first two columns of a CSV file with a line of column names, and the names of its vertices.

    Loops and repeated edges count for nothing, nor do directions. A file whose name ends in .gz is unpacked, one whose name
    ends in .parquet is read as Parquet.
    """
    source = existing(path)
    if source.suffix == ".parquet":
        return _parquet_edges(source)
    pairs: list[tuple[str, str]] = []
    with csv_rows(source) as (rows, _):
        next(rows, None)
        for cells in filter(None, rows):
            if len(cells) < 2:
                raise InvalidParameter(f"Row {len(pairs) + 1} of {source} has no second column. An edge is two names.")
            pairs.append((cells[0], cells[1]))
    if not pairs:
        raise EmptyBatch(f"The file {source} has no edges. It needs a header line, then two names per line.")
    graph, names = Graph.named(pairs)
    return graph, [str(name) for name in names]


def _parquet_edges(source: Path) -> tuple[Graph, list[str]]:
    columns = column_names(source)[:2]
    if len(columns) < 2:
        raise InvalidParameter(f"The file {source} has no second column. An edge is two names.")
    first, second = read_columns(source, columns)
    if None in first or None in second:
        raise InvalidParameter(f"A row of {source} has an empty name. An edge is two names.")
    graph, names = Graph.named(np.stack([np.array([str(name) for name in ends]) for ends in (first, second)], axis=1))
    return graph, [str(name) for name in names]
