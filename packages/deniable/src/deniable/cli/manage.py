"""`deniable manage`: the life of a survey that is served."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deniable.cli import surveys
from deniable.errors import InvalidParameter
from deniable.survey import Survey

if TYPE_CHECKING:
    from deniable.collector import Store

Act = Callable[..., str]  # is given the store, the survey and the options; what it returns is printed
Option = Callable[[Any], Any]
DAY = 86_400


@click.group(short_help="Open, close, list, limit, correct, archive or delete a survey.")
def manage() -> None:
    """Open, close, list, limit, correct, archive or delete SURVEY in its database.

    A running collector applies the change within seconds.

    \b
    deniable manage add survey.toml --draft
    deniable manage close survey.toml
    deniable manage title survey.toml
    deniable manage limit survey.toml --rate 5
    deniable manage retain survey.toml --until 2027-01-31
    deniable manage delete survey.toml
    """


@contextmanager
def _store(survey: Path, store: str | None, new: bool) -> Iterator["Store"]:
    from deniable.collector import opened

    address = surveys.store_of(survey, store)
    if not new and "://" not in address and not Path(address).is_file():
        raise InvalidParameter(f"There is no database {address!r}. Check --store.")
    with opened(address) as place:
        yield place


def verb(name: str, short_help: str, *options: Option, confirm: str = "", new: bool = False) -> Callable[[Act], Act]:
    """A verb on one survey in its database; `confirm` is what to ask before, `new` if there need not be a database."""

    def decorate(act: Act) -> Act:
        def run(survey: Path, store: str | None, yes: bool = True, **given: object) -> None:
            asked = Survey.load(survey)
            if not yes and given.get("final", True) and not click.confirm(confirm.format(asked.id), default=False):
                raise InvalidParameter("Nothing was changed.")
            with _store(survey, store, new) as place:
                click.echo(act(place, asked, **given))

        command: Any = run
        ask = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
        for option in reversed((surveys.argument, surveys.store_option, *options, *((ask,) if confirm else ()))):
            command = option(command)
        manage.command(name, short_help=short_help, help=act.__doc__)(command)
        return act

    return decorate


@verb("add", "Register a survey, open or as a draft.",
      click.option("--draft", is_flag=True, help="Accept nothing yet; the file may still change."), new=True)  # fmt: skip
def add(store: "Store", survey: Survey, draft: bool) -> str:
    """Register SURVEY in the database before it is served. It is open unless it is a draft.

    A draft accepts no reports. Its file may still change: the draft becomes what the file says when it is served or added
    again. Open it with deniable manage open. From then on only the title can be corrected.

    \b
    deniable manage add survey.toml --draft
    """
    number, _ = store.register(survey, draft)
    with store.view() as view:
        state = view.state(number)
    return f"{survey.id} is registered ({'deleted' if state is None else state.stage})."


def _turned(name: str) -> Callable[["Store", Survey], str]:
    def turned(store: "Store", survey: Survey) -> str:
        from deniable.collector import lifecycle
        from deniable.collector.stages import Stage

        stage = Stage[name]
        before = lifecycle.turn(store, survey, stage)
        if before is stage:
            return f"{survey.id} was already {stage}."
        final = ": closed for good, and the ids of its reports are deleted" if stage is Stage.ARCHIVED else ""
        return f"{survey.id} is {stage}{final}."

    return turned


@verb("open", "Accept reports of a draft or of a closed survey.")
def opening(store: "Store", survey: Survey) -> str:
    """Open SURVEY: a draft for the first time, or a closed survey again. Its own dates still apply.

    \b
    deniable manage open survey.toml
    """
    return _turned("OPEN")(store, survey)


@verb("close", "Accept no more reports.",
      click.option("--final", is_flag=True, help="Archive it: also delete the ids of its reports, for good."),
      confirm="Close {} for good?")  # fmt: skip
def close(store: "Store", survey: Survey, final: bool) -> str:
    """Close SURVEY before its date: no more reports are accepted. Results stay readable, and it can be opened again.

    \b
    deniable manage close survey.toml
    """
    return _turned("ARCHIVED" if final else "CLOSED")(store, survey)


@verb("archive", "Close a survey for good and delete its ids.", confirm="Close {} for good?")
def archive(store: "Store", survey: Survey) -> str:
    """Close SURVEY for good and delete the ids of its reports. Results stay readable.

    The ids only serve to detect duplicates, which an archived survey no longer accepts. It cannot be opened again.

    \b
    deniable manage archive survey.toml
    """
    return _turned("ARCHIVED")(store, survey)


@verb("list", "Show a survey in the index of its server.")
def listing(store: "Store", survey: Survey) -> str:
    """Show SURVEY in the index of a server with several surveys, as long as it is open. No survey is listed by default.

    \b
    deniable manage list surveys/commute.toml
    """
    return _shown(store, survey, True)


@verb("unlist", "Take a survey out of the index.")
def unlisting(store: "Store", survey: Survey) -> str:
    """Take SURVEY out of the index of its server. Whoever has its address can still answer.

    \b
    deniable manage unlist surveys/commute.toml
    """
    return _shown(store, survey, False)


def _shown(store: "Store", survey: Survey, listed: bool) -> str:
    from deniable.collector import lifecycle

    lifecycle.show(store, survey, listed)
    return f"{survey.id} is {'listed' if listed else 'not listed'}."


@verb("title", "Correct the title.")
def title(store: "Store", survey: Survey) -> str:
    """Show the title that the file SURVEY has now, if nothing else has changed. The questions stay as people answered them.

    \b
    deniable manage title survey.toml
    """
    from deniable.collector import lifecycle

    lifecycle.correct_title(store, survey)
    return f"{survey.id} is now shown as: {survey.title}"


@verb(
    "retain",
    "Delete the data after a date.",
    click.option(
        "--until", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Delete everything after this day (UTC)."
    ),
    click.option("--for-ever", is_flag=True, help="Withdraw the date."),
)
def retain(store: "Store", survey: Survey, until: datetime | None, for_ever: bool) -> str:
    """Delete everything about SURVEY after DATE. The collector does it while it runs, or when it is next started.

    \b
    deniable manage retain survey.toml --until 2027-01-31
    """
    from deniable.collector import lifecycle

    if (until is None) != for_ever:
        raise InvalidParameter("Give either --until DATE or --for-ever.")
    lifecycle.retain_until(store, survey, None if until is None else int(until.replace(tzinfo=UTC).timestamp()) + DAY)
    return f"{survey.id} is kept {'for ever' if until is None else f'until the end of {until:%Y-%m-%d}'}."


@verb(
    "limit",
    "Limit the rate and the size of requests of a survey.",
    click.option("--rate", type=click.FloatRange(0), metavar="R", help="Reports per second from one address; 0: no limit."),
    click.option("--token-rate", type=click.FloatRange(0), metavar="R", help="The same with one token."),
    click.option("--max-body", "body", type=click.IntRange(64), metavar="BYTES", help="The largest request."),
    click.option("--max-messages", "people", type=click.IntRange(1, 1000), metavar="N",
                 help="Messages in a request without a batch token."),
    click.option("--none", "none", is_flag=True, help="Apply the limits of the server again."),
)  # fmt: skip
def limit(store: "Store", survey: Survey, none: bool, **given: float | None) -> str:
    """Give SURVEY limits of its own in place of those of its server. They replace the ones set before.

    Every collector of the survey applies them within seconds. A request is never larger than the server allows.

    \b
    deniable manage limit surveys/commute.toml --rate 5 --max-messages 10
    """
    from deniable.collector import lifecycle

    own = {name: value for name, value in given.items() if value is not None}
    if none == bool(own):
        raise InvalidParameter("Give at least one limit, or --none.")
    lifecycle.limit(store, survey, own or None)
    names = {"token_rate": "token rate", "body": "max body", "people": "max messages"}
    shown = ", ".join(f"{names.get(name, name)} {value:g}" for name, value in own.items())
    return f"{survey.id} has the limits {'of its server' if none else shown}."


@verb("delete", "Delete everything about a survey.", confirm="Delete all reports of {}?")
def delete(store: "Store", survey: Survey) -> str:
    """Delete the tallies, ids, tokens and kept reports of SURVEY from its database. Parquet files and backups stay.

    If it is served again, the survey starts from zero. This is also how to get rid of simulated people.

    \b
    deniable manage delete survey.toml
    """
    from deniable.collector import lifecycle

    return f"Deleted {survey.id}, which had {lifecycle.delete(store, survey):,} people."


@manage.command("status", short_help="List the surveys of a database.")
@surveys.argument
@surveys.store_option
def status(survey: Path, store: str | None) -> None:
    """List the surveys in the database of SURVEY, which may be a folder: stage, people, whether listed, until when kept.

    \b
    deniable manage status surveys/
    """
    from deniable.cli import panel
    from deniable.cli.token import day

    table = panel.table(("id", "stage", "people", "listed", "kept until", "title"), ())
    with _store(survey, store, new=False) as place, place.view() as view:
        states = view.states()
        for number, spec in view.run("SELECT number, spec FROM surveys ORDER BY number"):
            asked, state = Survey.from_json(spec), states[number]
            people = f"{sum(view.people(number).values()):,}"
            kept, shown = day(state.delete_after) or "for ever", "yes" if state.listed else "no"
            table.add_row(asked.id, str(state.stage), people, shown, kept, state.title or asked.title)
    panel.console().print(table, markup=False)


def _former_names() -> None:
    """What people typed before still works."""
    reopen = click.Command("reopen", params=manage.commands["open"].params, callback=manage.commands["open"].callback,
                           help=manage.commands["open"].help, hidden=True)  # fmt: skip
    manage.add_command(reopen)


_former_names()
