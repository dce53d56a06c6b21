"""`deniable token`: who may submit reports and read results."""

import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from deniable.cli import surveys
from deniable.cli.modes import Modes, has
from deniable.errors import InvalidParameter
from deniable.survey import Survey

UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
role_option = click.option("--role", type=click.Choice(["submit", "batch", "results"]), help="What the token allows.")


def duration(text: str) -> int:
    """Seconds, from text such as 90d, 12h or 0.

    >>> duration("2w"), duration("0")
    (1209600, 0)
    """
    found = re.fullmatch(r"(\d{1,6})([mhdw])", text)
    if text != "0" and found is None:
        raise InvalidParameter(f"{text!r} is not a duration. Write a number with m, h, d or w, such as 90d.")
    return 0 if found is None else int(found[1]) * UNITS[found[2]]


def _expiry(text: str | None) -> int | None:
    return None if text is None else int(time.time()) + duration(text)


def day(seconds: int | None) -> str:
    """A time as people read it, in UTC."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _id(survey: Path) -> str:
    """The id of the survey in a file; that of the server for a folder."""
    from deniable.collector.tokens import SERVER

    return SERVER if survey.is_dir() else Survey.load(survey).id


def _mode(args: Sequence[str]) -> str:
    return "revoke" if has(args, "--revoke") else "create"


@click.group(cls=Modes, pick=_mode, short_help="Create, list, rotate and revoke access tokens of a survey.")
def token() -> None:
    """Create, list, rotate and revoke access tokens of SURVEY. Without a mode, a token is created.

    A submit token lets its holder send reports, one person's in each message. A batch token lets a relay also send the
    reports of many people in one message. A results token opens results, tallies and metrics. Tokens belong to one survey.

    As long as no submit token was ever created, anyone can submit reports. Afterwards submitting requires a token, even if
    all are revoked or expired. A running collector applies changes within seconds.

    SURVEY may be a folder of surveys that one server serves: a results token of the folder opens /metrics of that server.

    \b
    deniable token survey.toml --role submit --name app
    deniable token list survey.toml
    deniable token rotate survey.toml app
    deniable token revoke survey.toml app
    """


@token.command(short_help="Create a token and show it once.")
@surveys.argument
@surveys.store_option
@role_option
@click.option("--name", default="", metavar="NAME", help="What to call it in lists. Default: the role and a number.")
@click.option("--expires", metavar="TIME", help="Let it expire after TIME, such as 90d or 12h. Default: never.")
def create(survey: Path, store: str | None, role: Any, name: str, expires: str | None) -> None:
    """Create an access token for SURVEY and show it once. Only its hash is stored.

    \b
    deniable token create survey.toml --role submit --name app --expires 90d
    """
    from deniable.collector import opened
    from deniable.collector.access import new_token

    if role is None:
        raise click.MissingParameter(param_hint="'--role'", param_type="option")
    if survey.is_dir() and role != "results":
        raise InvalidParameter(
            "A token of a folder opens the metrics of its server and has the role results. For reports, give a survey file."
        )
    asked, until = _id(survey), _expiry(expires)
    with opened(surveys.store_of(survey, store)) as place:
        click.echo(new_token(place, asked, role, name, until))


@token.command("list", short_help="List the tokens of a survey.")
@surveys.argument
@surveys.store_option
def show(survey: Path, store: str | None) -> None:
    """List the names, roles, creation dates and expiry dates of the tokens of SURVEY, never the tokens themselves.

    \b
    deniable token list survey.toml
    """
    from deniable.cli import panel
    from deniable.collector import opened

    asked, now = _id(survey), time.time()
    with opened(surveys.store_of(survey, store)) as place, place.view() as view:
        tokens = view.tokens(asked)
    if not tokens:
        click.echo("No tokens." if survey.is_dir() else "No tokens. Anyone can submit reports.")
        return
    table = panel.table(("id", "name", "role", "status", "created", "expires"), ())
    for each in tokens:
        table.add_row(each.id, each.name, each.role, each.status(now), day(each.made or None), day(each.expires))
    panel.console().print(table, markup=False)


@token.command(short_help="Revoke a token.")
@surveys.argument
@click.argument("name", required=False, metavar="[NAME]")
@surveys.store_option
@role_option
@click.option("--revoke", is_flag=True, hidden=True)  # the former way to ask for this mode
def revoke(survey: Path, name: str | None, store: str | None, role: Any, revoke: bool) -> None:
    """Revoke the token NAME of SURVEY, given by its name or id, or with --role all tokens of that role.

    Whatever required a token still requires one, even if none is left.

    \b
    deniable token revoke survey.toml app
    deniable token revoke survey.toml --role results
    """
    from deniable.collector import opened
    from deniable.collector.access import revoke_role, revoke_token

    if (name is None) == (role is None):
        raise InvalidParameter("Give the name or the id of one token, or --role for all tokens of that role.")
    asked = _id(survey)
    with opened(surveys.store_of(survey, store)) as place:
        if name is not None:
            gone = revoke_token(place, asked, name)
            click.echo(f"The {gone.role} token {gone.name} ({gone.id}) has been revoked.")
        else:
            number = revoke_role(place, asked, role)
            click.echo(f"All tokens to {role} have been revoked ({number}).")


@token.command(short_help="Replace a token with a new one, without a gap.")
@surveys.argument
@click.argument("name", metavar="NAME")
@surveys.store_option
@click.option("--overlap", default="7d", show_default=True, metavar="TIME", help="How long the old token still works.")
@click.option("--expires", metavar="TIME", help="Let the new one expire after TIME, such as 90d. Default: never.")
def rotate(survey: Path, name: str, store: str | None, overlap: str, expires: str | None) -> None:
    """Create a token with the name and role of NAME and show it once. The old one keeps working for a while.

    \b
    deniable token rotate survey.toml app --overlap 2d
    """
    from deniable.collector import opened
    from deniable.collector.access import rotate_token

    asked, both, until = _id(survey), duration(overlap), _expiry(expires)
    with opened(surveys.store_of(survey, store)) as place:
        fresh, old = rotate_token(place, asked, name, both, until)
    click.echo(fresh)
    click.echo(f"The old token ({old.id}) works until it is revoked, or for {overlap} more.", err=True)
