"""Reports as Arrow tables and Parquet files: one column for each field, and the mechanism in the schema's metadata."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.layout import Column, Flags, Number
from deniable.core.mechanism import Mechanism
from deniable.core.reports import Reports
from deniable.errors import InvalidReport, MissingExtra, SurveyMismatch

if TYPE_CHECKING:
    import pyarrow

_FORMAT = b"deniable reports 1"


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("A columnar file or table", "parquet") from None
    return pyarrow


def to_arrow(mechanism: Mechanism, reports: Reports) -> "pyarrow.Table":
    """The reports as an Arrow table; packed bits become binary values of fixed size."""
    pa = _pyarrow()
    arrays, fields = [], []
    for field in mechanism.layout.fields:
        column = np.ascontiguousarray(reports.columns[field.name])
        if isinstance(field, Number):
            arrays.append(pa.array(column))
        else:
            kind = pa.binary(column.shape[1])
            arrays.append(pa.FixedSizeBinaryArray.from_buffers(kind, len(column), [None, pa.py_buffer(column)]))
        fields.append(pa.field(field.name, arrays[-1].type, nullable=False))
    about = {"format": _FORMAT, "fingerprint": mechanism.fingerprint, "mechanism": mechanism.to_json()}
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=about))


def from_arrow(mechanism: Mechanism, table: "pyarrow.Table") -> Reports:
    """The reports in an Arrow table, refused if another mechanism made them or no device can have."""
    about = table.schema.metadata or {}
    if about.get(b"format") != _FORMAT:
        raise InvalidReport("This table does not hold reports of deniable in a format that this release reads.")
    made_by = about.get(b"fingerprint", b"").decode(errors="replace")
    if made_by != mechanism.fingerprint:
        raise SurveyMismatch(f"These reports were made by mechanism {made_by[:8]}, not by {mechanism.fingerprint[:8]}.")
    wanted = [field.name for field in mechanism.layout.fields]
    if table.column_names != wanted:
        raise InvalidReport(f"These reports must have the columns {', '.join(wanted)} and no others.")
    columns = {field.name: _column(field, table[field.name]) for field in mechanism.layout.fields}
    return Reports.of(mechanism.fingerprint, mechanism.layout, columns)


def _column(field: Number | Flags, chunked: "pyarrow.ChunkedArray") -> Column:
    pa = _pyarrow()
    wanted = pa.from_numpy_dtype(field.dtype) if isinstance(field, Number) else pa.binary((field.bits + 7) // 8)
    if chunked.type != wanted or chunked.null_count:
        raise InvalidReport(f"Column {field.name!r} must be of type {wanted} and have no gaps.")
    if isinstance(field, Number):
        return np.ascontiguousarray(chunked.to_numpy())
    width = wanted.byte_width
    column = np.empty((len(chunked), width), np.uint8)
    start = 0
    for chunk in chunked.chunks:
        data = np.frombuffer(chunk.buffers()[1], np.uint8, len(chunk) * width, chunk.offset * width)
        column[start : start + len(chunk)] = data.reshape(-1, width)
        start += len(chunk)
    return column


def write_parquet(path: Path, mechanism: Mechanism, reports: Reports) -> None:
    """A Parquet file with checksums on its pages."""
    table = to_arrow(mechanism, reports)
    _pyarrow().parquet.write_table(table, path, compression="zstd", write_page_checksum=True)


def read_parquet(path: Path, mechanism: Mechanism) -> Reports:
    """The reports in a Parquet file; damage is found by the checksums."""
    pa = _pyarrow()
    try:
        table = pa.parquet.read_table(path, page_checksum_verification=True)
    except (pa.ArrowException, OSError) as error:
        raise InvalidReport(f"The file {path} is not a whole Parquet file. Copy or export it again.") from error
    return from_arrow(mechanism, table)
