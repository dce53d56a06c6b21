"""Files that appear whole or not at all."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from deniable.errors import InvalidParameter

SUFFIX = ".unfinished"
ABANDONED = 60.0  # seconds after which a file that nobody holds is left over

try:
    import fcntl

    def lock(file: IO[Any], wait: bool = True) -> bool:
        """Hold an open file alone until it is closed; False if another program holds it and we do not wait."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

except ImportError:  # where there is no such lock, one program uses a file at a time

    def lock(file: IO[Any], wait: bool = True) -> bool:
        """Nothing to hold."""
        return wait


@contextmanager
def written_whole(path: Path, overwrite: bool = False, private: bool = False) -> Iterator[Path]:
    """A temporary path to write to; on success it becomes `path` in one step, on failure nothing is left behind.

    A `private` file can be read by its owner only, at every moment.
    """
    if path.exists() and not overwrite:
        raise InvalidParameter(f"The file {path} exists already. Choose another name, or allow it to be overwritten.")
    if not path.parent.is_dir():
        raise InvalidParameter(f"The folder {path.parent} does not exist. Create it first.")
    _sweep(path.parent)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=SUFFIX, dir=path.parent)
    except OSError as error:
        raise InvalidParameter(f"Nothing can be written to the folder {path.parent}: {error.strerror}.") from error
    temporary = Path(name)
    with os.fdopen(handle, "rb") as held:
        lock(held)  # until the file is closed: who can lock it too knows that nobody writes it any more
        try:
            yield temporary
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            if not private:
                temporary.chmod(0o666 & ~_umask())  # mkstemp makes files that only their owner can read
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Delete what programs that were killed have left in this folder."""
    for left in folder.glob(f".*{SUFFIX}"):
        with suppress(OSError), left.open("rb") as file:
            if time.time() - left.stat().st_mtime > ABANDONED and lock(file, wait=False):
                left.unlink()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
