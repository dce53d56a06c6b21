"""`deniable serve`: running a collector."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli import options, surveys
from deniable.errors import InvalidParameter
from deniable.files.atomic import written_whole
from deniable.survey import Survey

if TYPE_CHECKING:
    from socket import socket

    from deniable.collector import Store
    from deniable.collector.app import App
    from deniable.collector.serve import Place
    from deniable.collector.service import Limits, Shared


@click.command(short_help="Collect the answers to one or several surveys.")
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
    help="Accept at most R reports per second from one address without a token. Default: no limit.",
)
@click.option(
    "--token-rate",
    type=float,
    default=0.0,
    metavar="R",
    help="Accept at most R reports per second with one token. Default: no limit.",
)
@click.option(
    "--max-body", type=click.IntRange(min=64), default=8 << 20, metavar="BYTES", help="The largest request to accept."
)
@options.file_option("--reports", help="Write kept reports to FOLDER, as Parquet.", metavar="FOLDER")
@click.option("--root-path", default="", metavar="PATH", help="The path under which a proxy shows this server.")
@click.option("--log-addresses", is_flag=True, help="Log the address of every request.")
@click.option("--print-token", is_flag=True, help="Print the first token to read results instead of writing it to a file.")
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
    token_rate: float,
    max_body: int,
    reports: Path | None,
    root_path: str,
    log_addresses: bool,
    print_token: bool,
) -> None:
    """Collect the reports of SURVEY over HTTP and publish the estimates.

    The collector is one process. It stores its data in an SQLite file beside the survey, or in PostgreSQL. It acknowledges a
    report once it is stored durably, and counts it once however often it arrives. It keeps only tallies and ids, unless the
    survey says keep_reports = true.

    People answer at the address that it prints. /results shows the results, and /try explains how it works.

    Reading results requires a token. The first start writes one to a file beside the survey that only you can read. Anyone
    can submit reports, one person's at a time, until you create a token with deniable token --role submit.

    SURVEY may be a folder of survey files. Each survey is then served under /s/ID/, and all are stored in one database,
    collector.db in the folder. New files are picked up within seconds, and a bad file is reported and left out.

    \b
    deniable serve survey.toml
    deniable serve surveys/
    deniable serve survey.toml --store postgresql://localhost/surveys --host 0.0.0.0
    deniable serve survey.toml --tls-cert cert.pem --tls-key key.pem
    """
    from deniable.collector import opened
    from deniable.collector.serve import Place, listening
    from deniable.collector.service import Limits

    alone = None if survey.is_dir() else Survey.load(survey)
    place = Place(host, port, tls_cert, tls_key, log_addresses, allow_origin, _prefix(root_path))
    limits = Limits(body=max_body, rate=rate, token_rate=token_rate)
    at = f"{'https' if tls_cert else 'http'}://{host}:{port}{place.prefix}"
    with listening(place) as bound, opened(surveys.store_of(survey, store)) as data:
        making = Making(data, limits, open_results, print_token, reports)
        if alone is not None:
            _serve_one(alone, survey, making, place, bound, at)
        else:
            _serve_folder(survey, making, place, bound, at)


def _prefix(path: str) -> str:
    prefix = path.rstrip("/")
    if prefix and (not prefix.startswith("/") or any(mark in prefix for mark in "?#% \\") or "//" in prefix):
        raise InvalidParameter("--root-path must be a path such as /surveys.")
    return prefix


@dataclass(frozen=True)
class Making:
    """How the application of each survey is made."""

    store: "Store"
    limits: "Limits"
    open_results: bool
    print_token: bool
    reports: Path | None

    def app(self, asked: Survey, file: Path, shared: "Shared | None" = None) -> "App":
        """The application of the survey in this file; the first one comes with a token to read its results."""
        from deniable.collector.serve import application

        if not self.open_results:
            _first_token(asked, self.store, file.with_suffix(".token"), self.print_token)
        app = application(asked, self.store, self.limits, self.open_results, shared)
        own = file.with_suffix(".reports")
        app.segments = own if self.reports is None else self.reports if shared is None else self.reports / asked.id
        return app


def _serve_one(asked: Survey, file: Path, making: Making, place: "Place", bound: "socket", at: str) -> None:
    from deniable.collector.serve import only, serve

    app = making.app(asked, file)
    click.echo(f"Survey {asked.id} {app.collector.survey.fingerprint} at {at}")
    click.echo(f"To answer: {at}/   the results: {at}/results   to try it out: {at}/try")
    if asked.invitations is None and not app.submit_gate:
        click.echo("Anyone can answer, and more than once. To count each person once: deniable invite")
    serve(only(app, place), place, bound)


def _serve_folder(folder: Path, making: Making, place: "Place", bound: "socket", at: str) -> None:
    from deniable.collector.serve import serve, surveys_in
    from deniable.collector.service import Shared

    shared = Shared(making.limits)
    site, files = surveys_in(folder, making.store, place, shared, lambda asked, file: making.app(asked, file, shared))
    for app in site.apps:
        survey = app.collector.survey
        click.echo(f"Survey {survey.id} {survey.fingerprint} ({app.stage}) at {at}/s/{survey.id}/")
    for file, cause in files.refused.items():
        click.echo(f"error: {file} is not served: {cause}", err=True)
    click.echo(f"{len(site.apps)} surveys. The index is at {at}/ and shows those listed with deniable manage list.")
    serve(site, place, bound)


def _first_token(survey: Survey, store: "Store", file: Path, shown: bool) -> None:
    """Make a token to read results if there was never one."""
    from deniable.collector.access import new_token

    store.register(survey)  # refuses a changed one before anything is made
    with store.view() as view:
        tokens = [token for token in view.tokens(survey.id) if token.role == "results"]
    if not tokens:
        token = new_token(store, survey.id, "results", "first")
        if shown:
            click.echo(f"The token to read results, which is shown only once: {token}")
            return
        with written_whole(file, overwrite=True, private=True) as temporary:
            temporary.write_text(token + "\n", encoding="utf-8")
        click.echo(f"The token to read results is in {file}, which only you can read.")
    elif not any(token.valid(time.time()) for token in tokens):
        click.echo(
            "note: all tokens to read results are revoked or expired. Create one: deniable token --role results", err=True
        )
