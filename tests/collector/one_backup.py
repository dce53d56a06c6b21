"""A backup of one survey."""

from pathlib import Path

from deniable.collector.backup import read_backups, write_backups
from deniable.collector.store import Store
from deniable.survey import Survey


def write_backup(survey: Survey, store: Store, path: Path, overwrite: bool = False) -> int:
    """Write a backup of one survey; how many people it holds."""
    return sum(one.people for one in write_backups([survey.id], store, path, overwrite))


def read_backup(path: Path, store: Store) -> Survey:
    """Put a backup of one survey into a store that does not know it yet."""
    (survey,) = read_backups(path, store)
    return survey
