"""`deniable backup`, `restore` and `move`: copies of what a collector has stored."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli import options, surveys
from deniable.errors import InvalidParameter
from deniable.survey import Survey

if TYPE_CHECKING:
    from deniable.collector import Store


@contextmanager
def _stored(survey: Path, address: str | None) -> Iterator[tuple["Store", list[str]]]:
    """The store of a survey or of a folder, and the ids of the surveys meant: that one, or all in the store."""
    from deniable.collector.transfer import surveys_of

    place, collector = (None, None) if survey.is_dir() else surveys.existing(survey, address)
    if place is None:
        found = surveys.store_of(survey, address)
        if "://" not in found and not Path(found).is_file():
            raise InvalidParameter(f"There is no database {found!r} yet. Collect answers first: deniable serve {survey}")
        from deniable.collector import open_store

        place = open_store(found)
    try:
        yield place, surveys_of(place) if collector is None else [collector.survey.id]
    finally:
        place.close()


@click.command(short_help="Write a backup of a collector's data.")
@surveys.argument
@surveys.store_option
@options.target("--out", help="Write the backup to FILE.", required=True)
@options.force
def backup(survey: Path, store: str | None, out: Path) -> None:
    """Write a consistent snapshot of SURVEY to FILE, which only you can read. The collector may run.

    A backup contains the survey, its stage, tallies, ids, hashes of tokens and kept reports. If SURVEY is a folder, it
    contains all surveys of the folder's database. An interrupted backup continues where it stopped when the command is
    run again.

    \b
    deniable backup survey.toml --out survey.backup
    """
    from deniable.cli import panel
    from deniable.collector.backup import write_backups

    with _stored(survey, store) as (place, names), panel.progress("writing") as watch:
        copied = write_backups(names, place, out, overwrite=True, watch=watch)
    many = "" if len(copied) == 1 else f" in {len(copied)} surveys"
    click.echo(f"Wrote a backup of {sum(one.people for one in copied):,} people{many} to {out}.")


@click.command(short_help="Restore a backup into a database.")
@surveys.argument
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@surveys.store_option
def restore(survey: Path, file: Path, store: str | None) -> None:
    """Restore the backup in FILE into a database that does not contain SURVEY yet.

    Everything is compared with the backup before it can be served. An interrupted restore continues where it stopped when
    the command is run again.

    \b
    deniable restore survey.toml survey.backup --store postgresql://localhost/surveys
    """
    from deniable.cli import panel
    from deniable.collector import opened
    from deniable.collector.backup import read_backups

    if not file.is_file():
        raise InvalidParameter(f"There is no file {str(file)!r}. Check the name.")
    asked = None if survey.is_dir() else Survey.load(survey)
    with opened(surveys.store_of(survey, store)) as place, panel.progress("restoring") as watch:
        restored = read_backups(file, place, watch)
    names = ", ".join(one.id for one in restored)
    if asked is not None and asked.contract() not in [one.contract() for one in restored]:
        click.echo(f"note: the backup is of the survey {names!r}, not of the one in {survey}.", err=True)
    click.echo(f"Restored {names}.")


@click.command(short_help="Move surveys to another database.")
@surveys.argument
@surveys.store_option
@click.option("--to", "target", envvar="DENIABLE_TARGET", metavar="STORE", required=True,
              help="The target: an SQLite file or postgresql://...; by default the variable DENIABLE_TARGET.")  # fmt: skip
def move(survey: Path, store: str | None, target: str) -> None:
    """Copy SURVEY, or all surveys of a folder, to another database: from SQLite to PostgreSQL or back.

    Stop the collector first. Everything is compared before the copy can be served. The old database stays as it was; serve
    only one of them afterwards. An interrupted move continues where it stopped when the command is run again.

    \b
    deniable move survey.toml --to postgresql://localhost/surveys
    deniable move surveys/ --to postgresql://localhost/surveys
    """
    from deniable.cli import panel
    from deniable.collector import opened
    from deniable.collector.transfer import copy_all

    with _stored(survey, store) as (place, names), opened(target) as other:
        if place.address == other.address:
            raise InvalidParameter("The source and the target are the same database. Choose another one with --to.")
        with panel.progress("moving") as watch:
            copied = copy_all(place, other, names, watch, at_rest=True)
    for one in copied:
        click.echo(f"Moved {one.survey}: {one.people:,} people, {one.ids:,} ids.")
