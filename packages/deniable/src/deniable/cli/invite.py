"""`deniable invite`: one-time invitations, so that each person is counted once."""

import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from deniable.cli import options, surveys
from deniable.cli.modes import Modes
from deniable.cli.targets import check_target
from deniable.errors import InvalidParameter
from deniable.files.atomic import written_whole
from deniable.invitations.terms import DELAY, KEYS, LONGEST_DELAY, MOST_KEYS, Invitations
from deniable.survey import Survey

if TYPE_CHECKING:
    from deniable.collector import Store


@click.group(cls=Modes, pick=lambda _: "create", short_help="Invite people to a survey, once each.")
def invite() -> None:
    """Invite people to SURVEY, once each. Without a mode, invitations are created.

    Each invitation is a link that works once. The person's device exchanges it for a token by a blind signature and sends
    the token with the report. A token counts once, and nobody can tell which invitation it came from, not even the people
    who run the collector. They do see which invitations were used.

    First give the survey its keys. They become part of the survey, so do it before anybody answers.

    \b
    deniable invite keys survey.toml
    deniable invite survey.toml --people 5000 --url https://survey.example
    deniable invite list survey.toml

    In a survey about friends, reports name a member. Give each member a link of their own instead:

    \b
    deniable invite members village.toml --url https://survey.example
    """


@invite.command(short_help="Give a survey the keys for invitations.")
@surveys.argument
@surveys.store_option
@click.option(
    "--count",
    type=click.IntRange(1, MOST_KEYS),
    default=KEYS,
    show_default=True,
    help="How many keys: one in use, the rest in reserve.",
)
@click.option(
    "--delay",
    type=click.IntRange(0, LONGEST_DELAY),
    default=DELAY,
    show_default=True,
    metavar="SECONDS",
    help="Let devices wait for up to SECONDS, at random, between exchanging an invitation and sending the report.",
)
def keys(survey: Path, store: str | None, count: int, delay: int) -> None:
    """Create the keys that sign tokens for SURVEY, and add the table [invitations] with their hashes to its file.

    The private keys are in the database. From then on, only invited people can take part in the survey.

    \b
    deniable invite keys survey.toml --delay 600
    """
    from deniable.collector import opened
    from deniable.collector.invited import make_keys

    asked = Survey.load(survey)
    if asked.invitations is not None:
        raise InvalidParameter(f"{survey} has keys already. Create invitations: deniable invite {survey} --people N")
    if survey.suffix == ".json":
        raise InvalidParameter("Keys can only be added to a survey in TOML. Convert the file first.")
    with opened(surveys.store_of(survey, store)) as place:
        terms = Invitations(make_keys(place, asked, count), delay)
    listed = "".join(f'    "{key}",\n' for key in terms.keys)
    text = survey.read_text(encoding="utf-8").rstrip("\n")
    with written_whole(survey, overwrite=True) as temporary:
        temporary.write_text(f"{text}\n\n[invitations]\nkeys = [\n{listed}]\ndelay = {delay}\n", encoding="utf-8")
    click.echo(f"{survey} now has the table [invitations] with {len(terms.keys)} keys. Only invited people can take part.")


@invite.command(short_help="Create invitations.")
@surveys.argument
@surveys.store_option
@click.option(
    "--people", type=click.IntRange(1, 10_000_000), required=True, metavar="N", help="How many invitations to create."
)
@click.option("--url", metavar="URL", default=surveys.URL, show_default=True, help="The address where people answer.")
@options.target("--out", help="Write the links to FILE, as CSV. Default: the survey's name with .invitations.csv.")
@click.option("--print-links", is_flag=True, help="Print the links instead of writing them to a file.")
@options.force
def create(survey: Path, store: str | None, people: int, url: str, out: Path | None, print_links: bool) -> None:
    """Create invitations to SURVEY and write their links to a CSV file that only you can read.

    The links are shown nowhere else: only hashes are stored. Send each link to one person, and delete the file.

    \b
    deniable invite survey.toml --people 5000 --url https://survey.example --out links.csv
    """
    from deniable.collector import opened
    from deniable.collector.invited import make_invitations

    _check_url(url)
    file = out or survey.with_suffix(".invitations.csv")
    if not print_links:
        check_target(file, click.get_current_context().meta.get(options.FORCE, False))
    asked = Survey.load(survey)
    with opened(surveys.store_of(survey, store)) as place:
        codes = make_invitations(place, asked, people)
    if print_links:
        _write(sys.stdout, codes, url)
        return
    with (
        written_whole(file, overwrite=True, private=True) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as text,
    ):
        _write(text, codes, url)
    click.echo(f"Wrote {people:,} invitations to {file}, which only you can read.")


@invite.command(short_help="Create a link for each member of a list.")
@surveys.argument
@surveys.store_option
@click.option("--url", metavar="URL", default=surveys.URL, show_default=True, help="The address where people answer.")
@options.target("--out", help="Write the links to FILE, as CSV. Default: the survey's name with .members.csv.")
@options.force
def members(survey: Path, store: str | None, url: str, out: Path | None) -> None:
    """Write a link for each member of SURVEY to a CSV file that only you can read.

    SURVEY has a question of kind friends with reporters = "secret". A report then counts only if it comes from whoever
    has the link of the member that it names. All links are derived from a key in the database, so the same links can be
    written again. Whoever can read the database can report in the name of any member.

    \b
    deniable invite members village.toml --url https://survey.example --out links.csv
    """
    from deniable.collector import opened
    from deniable.collector.membership import members_of

    _check_url(url)
    file = out or survey.with_suffix(".members.csv")
    check_target(file, click.get_current_context().meta.get(options.FORCE, False))
    asked = Survey.load(survey)
    with opened(surveys.store_of(survey, store)) as place:
        found = members_of(place, asked)
    names = getattr(asked.questions[0].domain, "names", ()) or [""] * len(found)
    with (
        written_whole(file, overwrite=True, private=True) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as text,
    ):
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(("member", "name", "link"))
        rows.writerows(
            (each.member, name, f"{url.rstrip('/')}/#{each.fragment}") for each, name in zip(found, names, strict=True)
        )
    click.echo(f"Wrote the links of {len(found):,} members to {file}, which only you can read.")


def _check_url(url: str) -> None:
    if not url.startswith(("http://", "https://")) or "#" in url:
        raise InvalidParameter("The address where people answer must begin with http:// or https:// and have no #.")


def _write(file: TextIO, codes: Sequence[str], url: str) -> None:
    from deniable.collector.invited import invitation_id

    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(("id", "link"))
    rows.writerows((invitation_id(code), f"{url.rstrip('/')}/#invitation={code}") for code in codes)


@invite.command("list", short_help="Count the invitations of a survey.")
@surveys.argument
@surveys.store_option
def show(survey: Path, store: str | None) -> None:
    """Show how many invitations to SURVEY are unused, exchanged and revoked, and the state of its keys.

    \b
    deniable invite list survey.toml
    """
    from deniable.collector.invited import EXCHANGED, REVOKED, UNUSED, count_invitations, keys_of

    asked = Survey.load(survey)
    with _known(survey, asked, store) as (place, number), place.view() as view:
        counts, known = count_invitations(view, number), keys_of(view, asked.id)
    click.echo(f"Invitations: {sum(counts.values()):,}")
    for state, name in ((UNUSED, "unused"), (EXCHANGED, "exchanged"), (REVOKED, "revoked")):
        click.echo(f"  {name}: {counts.get(state, 0):,}")
    for name, key in known.items():
        click.echo(f"Key {name[:16]}: {key.state}")


@invite.command(short_help="Revoke unused invitations.")
@surveys.argument
@click.argument("ids", nargs=-1, metavar="[ID]...")
@surveys.store_option
@options.file_option("--from", "file", help="Revoke the invitations in FILE, a CSV file with a column id.")
@click.option("--unused", is_flag=True, help="Revoke all unused invitations.")
def revoke(survey: Path, ids: tuple[str, ...], store: str | None, file: Path | None, unused: bool) -> None:
    """Revoke invitations to SURVEY, given by their ids in the CSV file. Those that were exchanged cannot be revoked.

    \b
    deniable invite revoke survey.toml 5f2b8c1a90de
    deniable invite revoke survey.toml --from bounced.csv
    """
    from deniable.collector.invited import revoke_invitations

    if sum((bool(ids), file is not None, unused)) != 1:
        raise InvalidParameter("Give either ids, --from FILE or --unused.")
    chosen = None if unused else list(ids) if file is None else _ids(file)
    asked = Survey.load(survey)
    with _known(survey, asked, store) as (place, number):
        revoked = revoke_invitations(place, number, chosen)
    click.echo(f"Revoked {revoked:,} invitations.")
    if chosen is not None and revoked < len(set(chosen)):
        click.echo(f"note: {len(set(chosen)) - revoked:,} are unknown or were already revoked or exchanged.", err=True)


@invite.command(short_help="Sign tokens with the next key.")
@surveys.argument
@surveys.store_option
@click.option("--revoke", is_flag=True, help="Also refuse tokens that the old key signed, because it was disclosed.")
def rotate(survey: Path, store: str | None, revoke: bool) -> None:
    """Sign tokens for SURVEY with the next of its keys. Tokens of the old key still count, unless --revoke is given.

    With --revoke, people who have exchanged their invitation but not yet been counted need a new invitation.

    \b
    deniable invite rotate survey.toml
    """
    from deniable.collector.invited import rotate_key

    asked = Survey.load(survey)
    with _known(survey, asked, store) as (place, _):
        old, new = rotate_key(place, asked, revoke)
    click.echo(f"Key {old[:16]} is {'revoked' if revoke else 'retired'}. Tokens are now signed with {new[:16]}.")


@contextmanager
def _known(survey: Path, asked: Survey, store: str | None) -> Iterator[tuple["Store", int]]:
    """The store of a survey with invitations, and the number of the survey in it."""
    from deniable.collector import opened
    from deniable.collector.invited import terms_of

    terms_of(asked)
    with opened(surveys.store_of(survey, store)) as place:
        yield place, place.register(asked)[0]


def _ids(file: Path) -> list[str]:
    with file.open(encoding="utf-8-sig", newline="") as text:
        rows = csv.DictReader(text)
        if "id" not in (rows.fieldnames or ()):
            raise InvalidParameter(f"{file} has no column id. Give a CSV file that deniable invite wrote.")
        return [row["id"] for row in rows]
