"""A backup: the surveys of a store at one moment, in one SQLite file that only its owner can read. It is a store itself."""

import os
from collections.abc import Sequence
from pathlib import Path

from deniable.arrays import Progress
from deniable.collector.store import Store, opened
from deniable.collector.text_backup import read_text_backup
from deniable.collector.transfer import Copied, copy_all, surveys_of
from deniable.errors import DeniableError, InvalidParameter, InvalidReport
from deniable.survey import Survey

SQLITE = b"SQLite format 3\0"
SUFFIX = ".partial"


def write_backups(
    names: Sequence[str], store: Store, path: Path, overwrite: bool = False, watch: Progress = lambda _: None
) -> list[Copied]:
    """Write a backup of the surveys with these ids, each at one moment, while the collector runs.

    It grows in a file of its own beside the target, where the next attempt goes on if this one is interrupted.
    """
    if path.exists() and not overwrite:
        raise InvalidParameter(f"The file {path} exists already. Choose another name, or allow it to be overwritten.")
    if not path.parent.is_dir():
        raise InvalidParameter(f"The folder {path.parent} does not exist. Create it first.")
    if not names or set(names) - set(surveys_of(store)):
        raise InvalidParameter("This database holds no data for that survey.")
    partial = path.with_name(f".{path.name}{SUFFIX}")
    with opened(str(partial)) as target:
        for name in surveys_of(target):  # from an attempt that has ended with another survey, perhaps long ago
            with target.change() as change:
                change.delete(change.survey(name)[0], name)  # type: ignore[index]
        copied = copy_all(store, target, names, watch)
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    partial.replace(path)
    return copied


def read_backups(path: Path, store: Store, watch: Progress = lambda _: None) -> list[Survey]:
    """Put a backup into a store that knows none of its surveys yet. What was interrupted goes on where it was."""
    trouble = InvalidReport(f"The file {path} is not a complete backup of a survey. Copy it again.")
    try:
        with path.open("rb") as file:
            head, size = file.read(100), os.fstat(file.fileno()).st_size
    except OSError as error:
        raise trouble from error
    if not head.startswith(SQLITE):
        return [read_text_backup(path, store, watch)]
    if _whole_size(head) != size:
        raise trouble
    try:
        with opened(str(path)) as source:
            surveys = _checked(source)
    except (DeniableError, ValueError, TypeError) as error:
        raise trouble from error
    with opened(str(path)) as source:
        copy_all(source, store, [survey.id for survey in surveys], watch)
    return surveys


def _whole_size(head: bytes) -> int:
    """How many bytes an SQLite file has according to its first 100: the size of a page times the number of pages."""
    page = int.from_bytes(head[16:18], "big")
    return (1 << 16 if page == 1 else page) * int.from_bytes(head[28:32], "big")


def _checked(source: Store) -> list[Survey]:
    """The surveys in a backup, which must be whole."""
    with source.view() as view:
        if view.run("PRAGMA integrity_check") != [("ok",)] or view.run("SELECT survey FROM transfers"):
            raise InvalidReport("damaged")
        surveys = [Survey.from_json(spec) for (spec,) in view.run("SELECT spec FROM surveys ORDER BY number")]
    if not surveys:
        raise InvalidReport("empty")
    return surveys
