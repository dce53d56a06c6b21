"""`deniable manage`: the life of a survey that was served."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli import surveys
from deniable.errors import InvalidParameter
from deniable.survey import Survey

if TYPE_CHECKING:
    from deniable.collector import Store


@click.group(short_help="Close, correct or delete a survey that was served.")
def manage() -> None:
    """Close, correct or delete SURVEY in its database. A running collector applies it with the next report.

    \b
    deniable manage close survey.toml
    deniable manage title survey.toml
    deniable manage retain survey.toml --until 2027-01-31
    deniable manage delete survey.toml
    """


@contextmanager
def _store(survey: Path, store: str | None) -> Iterator["Store"]:
    from deniable.collector import opened

    address = surveys.store_of(survey, store)
    if "://" not in address and not Path(address).is_file():
        raise InvalidParameter(f"There is no database {address!r}. Check --store.")
    with opened(address) as place:
        yield place


def _confirmed(yes: bool, question: str) -> None:
    if not yes and not click.confirm(question, default=False):
        raise InvalidParameter("Nothing was changed.")


yes_option: Callable[..., Callable[..., object]] = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")


@manage.command(short_help="Accept no more reports.")
@surveys.argument
@surveys.store_option
@click.option("--final", is_flag=True, help="Close it for good, and delete the ids of its reports.")
@yes_option
def close(survey: Path, store: str | None, final: bool, yes: bool) -> None:
    """Close SURVEY before its date: no more reports are accepted. Results stay readable.

    With --final the ids of all reports are deleted too. They only serve to detect duplicates, which a closed survey no
    longer accepts. It cannot be opened again then.

    \b
    deniable manage close survey.toml
    """
    from deniable.collector import lifecycle

    asked = Survey.load(survey)
    if final:
        _confirmed(yes, f"Close {asked.id} for good?")
    with _store(survey, store) as place:
        lifecycle.close(place, asked, final)
    click.echo(f"{asked.id} is closed{' for good, and its ids are deleted' if final else ''}.")


@manage.command(short_help="Accept reports again.")
@surveys.argument
@surveys.store_option
def reopen(survey: Path, store: str | None) -> None:
    """Open SURVEY again after it was closed early. Its own dates still apply.

    \b
    deniable manage reopen survey.toml
    """
    from deniable.collector import lifecycle

    asked = Survey.load(survey)
    with _store(survey, store) as place:
        lifecycle.reopen(place, asked)
    click.echo(f"{asked.id} is open.")


@manage.command(short_help="Correct the title.")
@surveys.argument
@surveys.store_option
def title(survey: Path, store: str | None) -> None:
    """Show the title that the file SURVEY has now, if nothing else has changed. The questions stay as people answered them.

    \b
    deniable manage title survey.toml
    """
    from deniable.collector import lifecycle

    asked = Survey.load(survey)
    with _store(survey, store) as place:
        lifecycle.correct_title(place, asked)
    click.echo(f"The results of {asked.id} are now shown as: {asked.title}")


@manage.command(short_help="Delete the data after a date.")
@surveys.argument
@surveys.store_option
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Delete everything after this day (UTC).")
@click.option("--for-ever", is_flag=True, help="Withdraw the date.")
def retain(survey: Path, store: str | None, until: datetime | None, for_ever: bool) -> None:
    """Delete everything about SURVEY after DATE. The collector does it while it runs, or when it is next started.

    \b
    deniable manage retain survey.toml --until 2027-01-31
    """
    from deniable.collector import lifecycle

    if (until is None) != for_ever:
        raise InvalidParameter("Give either --until DATE or --for-ever.")
    asked = Survey.load(survey)
    when = None if until is None else int(until.replace(tzinfo=UTC).timestamp()) + 86_400
    with _store(survey, store) as place:
        lifecycle.retain_until(place, asked, when)
    click.echo(f"{asked.id} is kept {'for ever' if until is None else f'until the end of {until:%Y-%m-%d}'}.")


@manage.command(short_help="Delete everything about a survey.")
@surveys.argument
@surveys.store_option
@yes_option
def delete(survey: Path, store: str | None, yes: bool) -> None:
    """Delete the tallies, ids, tokens and kept reports of SURVEY from its database. Parquet files and backups stay.

    Served again, the survey begins anew. This is also how to get rid of simulated people.

    \b
    deniable manage delete survey.toml
    """
    from deniable.collector import lifecycle

    asked = Survey.load(survey)
    _confirmed(yes, f"Delete all reports of {asked.id}?")
    with _store(survey, store) as place:
        people = lifecycle.delete(place, asked)
    click.echo(f"Deleted {asked.id}, which had {people:,} people.")
