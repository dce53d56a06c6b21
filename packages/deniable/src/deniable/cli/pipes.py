"""Reports through pipes: "-" for a file of them, read and written whole, as files are."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable.files.compression import compression

PIPE = Path("-")


@contextmanager
def incoming(files: tuple[Path, ...]) -> Iterator[tuple[Path, ...]]:
    """The files, with the standard input in a temporary one where it is among them."""
    if PIPE not in files:
        yield files
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "input"
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with kept.open("rb") as file:
            start = file.read(4)
        kept = kept.rename(kept.with_suffix(".parquet" if start == b"PAR1" else compression(PIPE, start) or ".reports"))
        yield tuple(kept if each == PIPE else each for each in files)


@contextmanager
def outgoing(out: Path) -> Iterator[Path]:
    """Where to write: the file itself, or a temporary one that goes to the standard output when it is whole."""
    if out != PIPE:
        yield out
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "output.reports"
        yield kept
        with kept.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
