"""Edges of a graph in two columns of a CSV or Parquet file, some rows at a time; no message here repeats a name."""

from itertools import chain, islice
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from zipfile import BadZipFile

import numpy as np

from deniable.arrays import Ints, Progress
from deniable.errors import EmptyBatch, InvalidParameter
from deniable.files.names import Names, in_order
from deniable.files.tables import ROWS, column_names, csv_rows, existing, parquet_table
from deniable.graphs.graph import Graph
from deniable.graphs.imported import imported_graph


def read_edges(path: str | PathLike[str], progress: Progress | None = None) -> tuple[Graph, list[str]]:
    """The graph in the first two columns of a CSV file with a line of column names, and the names of its vertices.

    Loops and repeated edges count for nothing, nor do directions. A file whose name ends in .gz is unpacked, one whose name
    ends in .parquet is read as Parquet, in .npz as a sparse matrix (scipy.sparse.save_npz), in .graphml as GraphML, which
    networkx and igraph write. In the latter two there may be people without edges. `progress` is called with the share of
    the file that has been read.
    """
    source, tell = existing(path), progress or (lambda _: None)
    if source.suffix == ".parquet":
        return _parquet_edges(source, tell)
    if source.suffix == ".npz":
        return _matrix_edges(source)
    if source.suffix == ".graphml":
        return _graphml_edges(source, tell)
    ends = Names()
    with csv_rows(source) as (rows, share):
        next(rows, None)
        while some := list(islice(rows, ROWS)):
            try:
                ends.add(chain.from_iterable(map(itemgetter(0, 1), filter(None, some))))
            except IndexError:
                raise InvalidParameter(
                    f"Row {len(ends) // 2 + 1} of {source} has no second column. An edge is two names."
                ) from None
            tell(share())
    if not ends:
        raise EmptyBatch(f"The file {source} has no edges. It needs a header line, then two names per line.")
    return _joined(*ends.in_order())


def _joined(names: list[str], ends: Ints) -> tuple[Graph, list[str]]:
    """The graph whose edges have these ends, two and two, and the names of its vertices."""
    return Graph.of(ends.reshape(-1, 2), len(names)), names


def _matrix_edges(source: Path) -> tuple[Graph, list[str]]:
    from scipy.sparse import load_npz

    try:
        matrix = load_npz(source)
    except (ValueError, KeyError, OSError, BadZipFile):
        raise InvalidParameter(f"The file {source} is not a sparse matrix. Write it with scipy.sparse.save_npz.") from None
    graph, names = imported_graph(matrix)
    return graph, [str(name) for name in names]


def _graphml_edges(source: Path, tell: Progress) -> tuple[Graph, list[str]]:
    names, ends = dict[str, int](), list[tuple[str, str]]()
    try:
        with source.open("rb") as file:
            whole, above = max(source.stat().st_size, 1), list[Any]()
            for event, element in ElementTree.iterparse(file, ("start", "end")):
                if event == "start":
                    above.append(element)
                    continue
                above.pop()
                kind = element.tag.rpartition("}")[2]
                if kind == "node":
                    names.setdefault(element.attrib["id"], len(names))
                elif kind == "edge":
                    ends.append((element.attrib["source"], element.attrib["target"]))
                    if len(ends) % ROWS == 0:
                        tell(file.tell() / whole)
                if above and kind in ("node", "edge"):
                    above[-1].clear()  # of what has been read, nothing is kept
        numbered = [(names[first], names[second]) for first, second in ends]
    except (ElementTree.ParseError, KeyError):
        raise InvalidParameter(f"The file {source} is not GraphML: nodes need an id, edges a source and a target.") from None
    if not names:
        raise EmptyBatch(f"The file {source} has no nodes.")
    return Graph.of(numbered, len(names)), list(names)


def _parquet_edges(source: Path, tell: Progress) -> tuple[Graph, list[str]]:
    columns = column_names(source)[:2]
    if len(columns) < 2:
        raise InvalidParameter(f"The file {source} has no second column. An edge is two names.")
    texts, numbers, done = Names(), list[Ints](), 0
    with parquet_table(source, columns) as file:
        whole = max(file.metadata.num_rows, 1)
        whole_numbers = all(_counts(file.schema_arrow.field(name).type) for name in columns)
        for batch in file.iter_batches(ROWS, columns=columns):
            if any(batch.column(name).null_count for name in columns):
                raise InvalidParameter(f"A row of {source} has an empty name. An edge is two names.")
            sides = [batch.column(name) for name in columns]
            if whole_numbers:
                numbers.append(np.stack([side.to_numpy() for side in sides], axis=1).astype(np.int64))
            else:
                texts.add(map(str, chain.from_iterable(zip(*(side.to_pylist() for side in sides), strict=True))))
            done += len(batch)
            tell(done / whole)
    if not done:
        raise EmptyBatch(f"The file {source} has no rows.")
    if not whole_numbers:
        return _joined(*texts.in_order())
    ends = np.concatenate(numbers)
    numbers.clear()
    known = np.sort(ends, axis=None)
    known = known[np.concatenate([[True], known[1:] != known[:-1]])]
    return _joined(*in_order([str(number) for number in known.tolist()], np.searchsorted(known, ends)))


def _counts(kind: Any) -> bool:
    """Whether a column of this type of Arrow has whole numbers that fit into 64 bits with a sign."""
    return str(kind) in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
