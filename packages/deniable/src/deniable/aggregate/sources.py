"""Where reports lie: names, patterns and folders become a sorted list of files, on this machine or in a store."""

import fnmatch
import glob
import hashlib
from collections.abc import Iterable
from contextlib import AbstractContextManager, closing
from os import PathLike
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter
from deniable.files.arrow import pyarrow_package

SUFFIXES = (".parquet", ".reports")  # what is taken from a folder
WILD = "*?["
TAIL = 1 << 13  # bytes at the end of a file that identify it: a Parquet file has its index there

Pattern = str | PathLike[str]


def find(patterns: Pattern | Iterable[Pattern], suffixes: tuple[str, ...] = SUFFIXES) -> list[str]:
    """The files that these names, patterns and folders stand for, each once and by its absolute name.

    Workers may start in another folder, so that a relative name would mean another file there. An address such as
    s3://bucket/day/*.parquet is read through pyarrow.
    """
    if isinstance(patterns, str | PathLike):
        patterns = [patterns]
    found: list[str] = []
    for pattern in map(str, patterns):
        names = _stored(pattern, suffixes) if is_remote(pattern) else _local(pattern, suffixes)
        if not names:
            raise InvalidParameter(
                f"No files match {pattern!r}. Give a file, a folder with files ending in {' or '.join(suffixes)}, or a "
                "pattern such as 'reports/*.parquet'."
            )
        found += names
    if not found:
        raise InvalidParameter("There are no files to read: the list of files is empty.")
    return sorted(set(found))


def is_remote(name: str) -> bool:
    """Whether this is an address, not a path."""
    return "://" in name


def opened(name: str) -> AbstractContextManager[Any]:
    """The file, to be read as bytes from any place."""
    if not is_remote(name):
        return Path(name).open("rb")
    system, path, _ = _system(name)
    return closing(system.open_input_file(path))


def size_and_tail(name: str) -> tuple[int, str]:
    """How many bytes a file has, and the SHA-256 of the last of them."""
    with opened(name) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL))
        return size, hashlib.sha256(file.read(TAIL)).hexdigest()


def _local(pattern: str, suffixes: tuple[str, ...]) -> list[str]:
    path = Path(pattern)
    if not pattern:  # which Path takes for the folder we are in
        names = []
    elif path.is_dir():
        names = [each for each in path.rglob("*") if each.suffix in suffixes and _visible(each.name)]
    elif path.exists() or not any(sign in pattern for sign in WILD):
        names = [path] if path.exists() else []
    else:
        names = [Path(name) for name in glob.glob(pattern, recursive=True)]  # noqa: PTH207 - also takes absolute patterns
    return [str(each.resolve()) for each in names if each.is_file()]


def _stored(pattern: str, suffixes: tuple[str, ...]) -> list[str]:
    fs = _fs()
    system, path, root = _system(pattern)
    if any(sign in path for sign in WILD):
        folder = path[: min(path.index(sign) for sign in WILD if sign in path)].rpartition("/")[0]
        # As on a disk, a star stands for part of one name; two stars for any number of folders.
        deep = "**" in path
        found = [
            each
            for each in _listed(system, folder)
            if fnmatch.fnmatchcase(each, path) and (deep or each.count("/") == path.count("/"))
        ]
    elif system.get_file_info(path).type == fs.FileType.Directory:
        found = [each for each in _listed(system, path) if each.endswith(suffixes) and _visible(each.rpartition("/")[2])]
    else:
        found = [path] if system.get_file_info(path).type == fs.FileType.File else []
    return [root + each for each in found]


def _listed(system: Any, folder: str) -> list[str]:
    """All files below a folder of a store."""
    fs = _fs()
    below = system.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
    return [each.path for each in below if each.type == fs.FileType.File]


def _visible(name: str) -> bool:
    return not name.startswith((".", "_"))  # a file that is being written begins with a dot


def _fs() -> Any:
    pyarrow_package()
    import pyarrow.fs

    return pyarrow.fs


def _system(address: str) -> tuple[Any, str, str]:
    """The store, the path in it, and what stands before the path in an address."""
    fs, pa = _fs(), pyarrow_package()
    # A pattern is no address: its last parts are put aside while the store is found.
    start = min((address.index(sign) for sign in WILD if sign in address), default=len(address))
    fixed = address[: address.rindex("/", 0, start) + 1] if start < len(address) else address
    try:
        system, path = fs.FileSystem.from_uri(fixed)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InvalidParameter(
            f"The address {address!r} cannot be read. Use a path, or an address that pyarrow supports, such as s3://bucket/folder/."
        ) from error
    path = path.rstrip("/")
    root = fixed.rstrip("/").removesuffix(path)
    return system, f"{path}/{address[len(fixed) :]}" if fixed != address else path, root
