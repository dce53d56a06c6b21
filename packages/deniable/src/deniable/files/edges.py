"""Edges of a graph in two columns of a CSV or Parquet file; no message here repeats a name."""

from os import PathLike
from pathlib import Path
from xml.etree import ElementTree
from zipfile import BadZipFile

import numpy as np

from deniable.errors import EmptyBatch, InvalidParameter
from deniable.files.tables import column_names, csv_rows, existing, read_columns
from deniable.graphs.graph import Graph
from deniable.graphs.imported import imported_graph


def read_edges(path: str | PathLike[str]) -> tuple[Graph, list[str]]:
    """The graph in the first two columns of a CSV file with a line of column names, and the names of its vertices.

    Loops and repeated edges count for nothing, nor do directions. A file whose name ends in .gz is unpacked, one whose name
    ends in .parquet is read as Parquet, in .npz as a sparse matrix (scipy.sparse.save_npz), in .graphml as GraphML, which
    networkx and igraph write. In the latter two there may be people without edges.
    """
    source = existing(path)
    if source.suffix == ".parquet":
        return _parquet_edges(source)
    if source.suffix == ".npz":
        return _matrix_edges(source)
    if source.suffix == ".graphml":
        return _graphml_edges(source)
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


def _matrix_edges(source: Path) -> tuple[Graph, list[str]]:
    from scipy.sparse import load_npz

    try:
        matrix = load_npz(source)
    except (ValueError, KeyError, OSError, BadZipFile):
        raise InvalidParameter(f"The file {source} is no sparse matrix. Write it with scipy.sparse.save_npz.") from None
    graph, names = imported_graph(matrix)
    return graph, [str(name) for name in names]


def _graphml_edges(source: Path) -> tuple[Graph, list[str]]:
    names, pairs = dict[str, int](), list[tuple[str, str]]()
    try:
        for _, element in ElementTree.iterparse(source):
            kind = element.tag.rpartition("}")[2]
            if kind == "node":
                names.setdefault(element.attrib["id"], len(names))
            elif kind == "edge":
                pairs.append((element.attrib["source"], element.attrib["target"]))
        numbered = [(names[first], names[second]) for first, second in pairs]
    except (ElementTree.ParseError, KeyError):
        raise InvalidParameter(f"The file {source} is not GraphML: nodes need an id, edges a source and a target.") from None
    if not names:
        raise EmptyBatch(f"The file {source} has no nodes.")
    return Graph.of(numbered, len(names)), list(names)


def _parquet_edges(source: Path) -> tuple[Graph, list[str]]:
    columns = column_names(source)[:2]
    if len(columns) < 2:
        raise InvalidParameter(f"The file {source} has no second column. An edge is two names.")
    first, second = read_columns(source, columns)
    if None in first or None in second:
        raise InvalidParameter(f"A row of {source} has an empty name. An edge is two names.")
    graph, names = Graph.named(np.stack([np.array([str(name) for name in ends]) for ends in (first, second)], axis=1))
    return graph, [str(name) for name in names]
