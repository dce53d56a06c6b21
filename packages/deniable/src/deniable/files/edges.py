"""Edges of a graph in two columns of a CSV file; no message here repeats a name."""

import csv
import gzip
import io
from os import PathLike
from pathlib import Path

from deniable.errors import EmptyBatch, InvalidParameter
from deniable.graphs.graph import Graph


def read_edges(path: str | PathLike[str]) -> tuple[Graph, list[str]]:
    """The graph in the first two columns of a CSV file with a line of column names, and the names of its vertices.

    Loops and repeated edges count for nothing, nor do directions. A file whose name ends in .gz is unpacked.
    """
    source = Path(path)
    if not source.is_file():
        raise InvalidParameter(f"There is no file {source}. Check the name.")
    pairs: list[tuple[str, str]] = []
    try:
        with gzip.open(source) if source.suffix == ".gz" else source.open("rb") as file:
            rows = csv.reader(io.TextIOWrapper(file, "utf-8-sig", newline=""), strict=True)
            next(rows, None)
            for cells in rows:
                if len(cells) < 2 and cells:
                    raise InvalidParameter(f"Row {len(pairs) + 1} of {source} has no second column. An edge is two names.")
                if cells:
                    pairs.append((cells[0], cells[1]))
    except (UnicodeDecodeError, csv.Error, gzip.BadGzipFile, EOFError):
        raise InvalidParameter(f"The file {source} cannot be read as CSV in UTF-8. Save it as such.") from None
    if not pairs:
        raise EmptyBatch(f"The file {source} has no edges. It needs a header line, then two names per line.")
    graph, names = Graph.named(pairs)
    return graph, [str(name) for name in names]
