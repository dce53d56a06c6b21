"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable.errors import InvalidParameter


@contextmanager
def written_whole(path: Path, overwrite: bool = False, private: bool = False) -> Iterator[Path]:
    """A temporary path to write to; on success it becomes `path` in one step, on failure nothing is left behind.

    A `private` file can be read by its owner only, at every moment.
    """
    if path.exists() and not overwrite:
        raise InvalidParameter(f"The file {path} exists already. Choose another name, or allow it to be overwritten.")
    if not path.parent.is_dir():
        raise InvalidParameter(f"The folder {path.parent} does not exist. Create it first.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise InvalidParameter(f"Nothing can be written to the folder {path.parent}: {error.strerror}.") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        if not private:
            temporary.chmod(0o666 & ~_umask())  # mkstemp makes files that only their owner can read
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
