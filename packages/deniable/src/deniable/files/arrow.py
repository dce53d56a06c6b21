"""Reports as Arrow tables and Parquet files: one column for each field, and the mechanism in the schema's metadata."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core import Column, Mechanism, Reports
from deniable.errors import InvalidReport, SurveyMismatch
from deniable.plugins import optional

if TYPE_CHECKING:
    import pyarrow

_FORMAT = b"deniable reports 1"


def pyarrow_package() -> Any:
    """The optional package with its Parquet files, or an error that says how to install it."""
    package, _ = (optional(name, "A columnar file or table", "parquet") for name in ("pyarrow", "pyarrow.parquet"))
    return package


def open_parquet(path: Path) -> Any:
    """A Parquet file whose checksums are verified, to be read piece by piece."""
    # Left to itself pyarrow fetches ahead and keeps the whole file in memory.
    return pyarrow_package().parquet.ParquetFile(
        path, page_checksum_verification=True, pre_buffer=False, buffer_size=1 << 20
    )


def to_arrow(mechanism: Mechanism, reports: Reports) -> "pyarrow.Table":
    """The reports as an Arrow table; packed bits become binary values of fixed size."""
    pa = pyarrow_package()
    arrays, fields = [], []
    for field in mechanism.layout.fields:
        column, kind = np.ascontiguousarray(reports.columns[field.name]), _type(field.empty(0))
        if column.ndim == 2:
            arrays.append(pa.FixedSizeBinaryArray.from_buffers(kind, len(column), [None, pa.py_buffer(column)]))
        else:
            arrays.append(pa.array(column, kind))
        fields.append(pa.field(field.name, kind, nullable=False))
    about = {"format": _FORMAT, "fingerprint": mechanism.fingerprint, "mechanism": mechanism.to_json()}
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=about))


def from_arrow(mechanism: Mechanism, table: "pyarrow.Table") -> Reports:
    """The reports in an Arrow table, refused if another mechanism made them, or no device can have."""
    about = table.schema.metadata or {}
    if about.get(b"format") != _FORMAT:
        raise InvalidReport("This table does not hold reports of deniable in a format that this release reads.")
    made_by = about.get(b"fingerprint", b"").decode(errors="replace")
    if made_by != mechanism.fingerprint:
        raise SurveyMismatch(f"These reports were made by mechanism {made_by[:8]}, not by {mechanism.fingerprint[:8]}.")
    wanted = [field.name for field in mechanism.layout.fields]
    if table.column_names != wanted:
        raise InvalidReport(f"These reports must have the columns {', '.join(wanted)} and no others.")
    columns = {field.name: _column(field.name, field.empty(0), table[field.name]) for field in mechanism.layout.fields}
    return Reports.of(mechanism.fingerprint, mechanism.layout, columns)


def _type(example: Column) -> Any:
    """The Arrow type of columns like this one: byte strings, rows of packed bits, or numbers."""
    pa = pyarrow_package()
    if example.dtype == object:
        return pa.binary()
    return pa.binary(example.shape[1]) if example.ndim == 2 else pa.from_numpy_dtype(example.dtype)


def _column(name: str, example: Column, chunked: "pyarrow.ChunkedArray") -> Column:
    wanted = _type(example)
    if chunked.type != wanted or chunked.null_count:
        raise InvalidReport(f"Column {name!r} must be of type {wanted} and have no missing values.")
    if example.dtype == object:
        return np.array([*chunked.to_pylist(), None], object)[:-1]  # also an empty one is of objects
    if example.ndim == 1:
        return np.ascontiguousarray(chunked.to_numpy())
    width = wanted.byte_width
    column = np.empty((len(chunked), width), np.uint8)
    start = 0
    for chunk in chunked.chunks:
        data = np.frombuffer(chunk.buffers()[1], np.uint8, len(chunk) * width, chunk.offset * width)
        column[start : start + len(chunk)] = data.reshape(-1, width)
        start += len(chunk)
    return column


def write_parquet(path: Path, mechanism: Mechanism, batches: Iterable[Reports]) -> None:
    """A Parquet file with checksums on its pages and a row group for each batch."""
    parquet = pyarrow_package().parquet
    with ExitStack() as stack:
        writer = None
        for reports in batches:
            table = to_arrow(mechanism, reports)
            if writer is None:
                made = parquet.ParquetWriter(path, table.schema, compression="zstd", write_page_checksum=True)
                writer = stack.enter_context(made)
            writer.write_table(table, row_group_size=table.num_rows)


def read_parquet(path: Path, mechanism: Mechanism, size: int) -> Iterator[Reports]:
    """The reports in a Parquet file, at most `size` at a time; damage is found by the checksums."""
    pa = pyarrow_package()
    try:
        with open_parquet(path) as file:
            schema = file.schema_arrow
            from_arrow(mechanism, schema.empty_table())  # refuses a file of something else before it is read
            for batch in file.iter_batches(size):
                yield from_arrow(mechanism, pa.Table.from_batches([batch], schema))
    except (pa.ArrowException, OSError) as error:
        raise InvalidReport(
            f"The file {path} is damaged, incomplete or not a Parquet file. Copy or export it again."
        ) from error
