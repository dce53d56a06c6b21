"""`deniable serve`, `token`, `backup` and `restore`: running a collector."""

from pathlib import Path
from typing import Any

import click

from deniable.cli import options, surveys
from deniable.errors import InvalidParameter
from deniable.survey import Survey


@click.command(short_help="Collect the answers to a survey.")
@surveys.argument
@surveys.store_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8080, show_default=True, help="The port to listen on.")
@options.file_option("--tls-cert", help="Serve HTTPS with this certificate.")
@options.file_option("--tls-key", help="The private key of the certificate.")
@click.option("--open-results", is_flag=True, help="Let anyone read results and metrics without a token.")
@click.option("--allow-origin", multiple=True, metavar="URL", help="Accept reports from pages of this other site.")
@click.option(
    "--rate",
    type=float,
    default=0.0,
    metavar="R",
    help="Accept at most R requests per second from one address. Default: no limit.",
)
@click.option(
    "--max-body", type=click.IntRange(min=64), default=8 << 20, metavar="BYTES", help="The largest request to accept."
)
@options.file_option("--reports", help="Write kept reports to FOLDER, as Parquet.", metavar="FOLDER")
@click.option("--log-addresses", is_flag=True, help="Log the address of every request.")
def serve(
    survey: Path,
    store: str | None,
    host: str,
    port: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    open_results: bool,
    allow_origin: tuple[str, ...],
    rate: float,
    max_body: int,
    reports: Path | None,
    log_addresses: bool,
) -> None:
    """Collect the reports of SURVEY over HTTP and publish the estimates.

    The collector is one process. It stores its data in an SQLite file beside the survey, or in PostgreSQL. It acknowledges a
    report once it is stored durably, and counts it once however often it arrives. It keeps only tallies and ids, unless the
    survey says keep_reports = true.

    People answer at the address that it prints. /results shows the results, and /try explains how it works.

    Reading results requires a token, which the first start creates and shows once. Anyone can submit reports until you
    create a token with deniable token --role submit.

    \b
    deniable serve survey.toml
    deniable serve survey.toml --store postgresql://localhost/surveys --host 0.0.0.0
    deniable serve survey.toml --tls-cert cert.pem --tls-key key.pem
    """
    asked = Survey.load(survey)
    from deniable.collector import open_store
    from deniable.collector.access import new_token
    from deniable.collector.serve import Place, application
    from deniable.collector.serve import serve as run
    from deniable.collector.service import Limits

    opened = open_store(surveys.store_of(survey, store))
    with opened.view() as view:
        none_yet = not view.hashes("results")
    if none_yet and not open_results:
        click.echo(f"The token to read results, which is shown only once: {new_token(opened, 'results')}")
    app = application(asked, opened, Limits(body=max_body, rate=rate), open_results)
    app.segments = reports if reports is not None else survey.with_suffix(".reports")
    at = f"{'https' if tls_cert else 'http'}://{host}:{port}"
    click.echo(f"Survey {asked.id} {app.collector.survey.fingerprint} at {at}")
    click.echo(f"To answer: {at}/   the results: {at}/results   to try it out: {at}/try")
    try:
        run(app, Place(host, port, tls_cert, tls_key, log_addresses, allow_origin))
    finally:
        opened.close()


@click.command(short_help="Create or revoke access tokens of a collector.")
@surveys.argument
@surveys.store_option
@click.option("--role", type=click.Choice(["submit", "results"]), required=True, help="What the token allows.")
@click.option("--revoke", is_flag=True, help="Revoke all tokens of this role instead.")
def token(survey: Path, store: str | None, role: Any, revoke: bool) -> None:
    """Create an access token for the collector of SURVEY and show it once. Only its hash is stored.

    As long as no token to submit exists, anyone can submit reports. A running collector applies new and revoked tokens
    within seconds. Once it requires tokens, it does so until it is restarted, even if all are revoked.

    \b
    deniable token survey.toml --role submit
    deniable token survey.toml --role results --revoke
    """
    from deniable.collector import opened
    from deniable.collector.access import new_token

    Survey.load(survey)
    with opened(surveys.store_of(survey, store)) as place:
        if not revoke:
            click.echo(new_token(place, role))
            return
        with place.change() as change:
            change.drop_tokens(role)
        click.echo(f"All tokens to {role} have been revoked.")


@click.command(short_help="Write a backup of a collector's data.")
@surveys.argument
@surveys.store_option
@options.target("--out", help="Write the backup to FILE.", required=True)
@options.force
def backup(survey: Path, store: str | None, out: Path) -> None:
    """Write a consistent snapshot of the tallies and ids of SURVEY to FILE. The collector may be running.

    \b
    deniable backup survey.toml --out survey.backup
    """
    from deniable.collector.backup import write_backup

    place, collector = surveys.existing(survey, store)
    try:
        people = write_backup(collector.survey, place, out, overwrite=True)
    finally:
        place.close()
    click.echo(f"Wrote a backup of {people:,} people to {out}.")


@click.command(short_help="Restore a backup into an empty database.")
@surveys.argument
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@surveys.store_option
def restore(survey: Path, file: Path, store: str | None) -> None:
    """Restore the backup in FILE into a database that does not contain SURVEY yet, for example to move to PostgreSQL.

    \b
    deniable restore survey.toml survey.backup --store postgresql://localhost/surveys
    """
    from deniable.collector import opened
    from deniable.collector.backup import read_backup

    if not file.is_file():
        raise InvalidParameter(f"There is no file {str(file)!r}. Check the name.")
    asked = Survey.load(survey)
    with opened(surveys.store_of(survey, store)) as place:
        restored = read_backup(file, place)
    if restored.contract() != asked.contract():
        click.echo(f"note: the backup is of the survey {restored.id!r}, not of the one in {survey}.", err=True)
    click.echo(f"Restored {restored.id}.")
