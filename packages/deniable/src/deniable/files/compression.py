"""Files that are compressed if their names end in .gz or .zst, and streams that are if they begin so."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from deniable.errors import DeniableError
from deniable.files.arrow import pyarrow_package

BEGINNINGS = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}
NAMES = {".gz": "gzip", ".zst": "zstd"}


def compression(path: Path, start: bytes = b"") -> str:
    """How a file is compressed, by its name, or by how it starts if it is a pipe: ".gz", ".zst" or ""."""
    if str(path) == "-":
        return next((name for magic, name in BEGINNINGS.items() if start.startswith(magic)), "")
    return path.suffix if path.suffix in NAMES else ""


def plain_name(path: Path) -> Path:
    """The name that a file has without its compression."""
    return path.with_suffix("") if compression(path) else path


def decompressed(file: BinaryIO, how: str) -> io.BufferedReader:
    """The bytes of a stream."""
    if how == ".zst":
        return io.BufferedReader(pyarrow_package().CompressedInputStream(file, "zstd"))
    if how == ".gz":
        return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=file)))
    return cast(io.BufferedReader, file)


@contextmanager
def damage(path: Path, how: str, error: type[DeniableError]) -> Iterator[None]:
    """Says in one sentence that a compressed file is damaged."""
    try:
        yield
    except (zlib.error, EOFError, OSError) as reason:
        if not how or (how == ".gz" and isinstance(reason, OSError) and not isinstance(reason, gzip.BadGzipFile)):
            raise  # of something else, such as a full disk
        raise error(
            f"The file {path} is damaged, incomplete or not a {NAMES[how]} file. Copy or compress it again."
        ) from reason


@contextmanager
def written(path: Path, how: str) -> Iterator[BinaryIO]:
    """A file to write, compressed in this way; the same bytes always give the same file."""
    with path.open("wb") as file:
        if how == ".gz":
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
                yield cast(BinaryIO, packed)
        elif how == ".zst":
            with pyarrow_package().CompressedOutputStream(file, "zstd") as packed:
                yield packed
        else:
            yield file
