"""`deniable serve`: running a collector."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli import configuration, options, surveys
from deniable.errors import InvalidParameter
from deniable.files.atomic import written_whole
from deniable.survey import Survey
from deniable.survey.browsers import check_browsers

if TYPE_CHECKING:
    from socket import socket

    from deniable.collector import Store
    from deniable.collector.app import App
    from deniable.collector.serve import Place
    from deniable.collector.service import Limits, Shared


@click.command(short_help="Collect the answers to one or several surveys.", context_settings=configuration.FROM_ENVIRONMENT)
@surveys.argument
@configuration.option
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
@click.option("--root-path", default="", metavar="PATH", help="The path under which a proxy serves this collector.")
@click.option("--proxy", multiple=True, metavar="ADDRESS", help="Trust X-Forwarded-For from a proxy at this address.")
@click.option("--allow-embedding", multiple=True, metavar="URL", help="Let this other site show the answer page in a frame.")
@click.option("--log-addresses", is_flag=True, help="Log the address of every request.")
@click.option(
    "--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to write the log."
)
@click.option("--otlp", metavar="URL", help="Send traces and metrics to this OpenTelemetry collector, over HTTP.")
@options.file_option("--token-file", help="Read the token for results from FILE, or write it there if there is none.")
@click.option("--print-token", is_flag=True, help="Print the first token to read results instead of writing it to a file.")
@click.option("--check", is_flag=True, help="Check everything, report problems, change nothing, and exit.")
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
    proxy: tuple[str, ...],
    allow_embedding: tuple[str, ...],
    log_addresses: bool,
    log_format: str,
    otlp: str | None,
    token_file: Path | None,
    print_token: bool,
    check: bool,
) -> None:
    """Collect the reports of SURVEY over HTTP and publish the estimates.

    The collector is one process. It stores its data in an SQLite file next to the survey, or in PostgreSQL. It
    acknowledges a report once it is stored durably, and counts it once however often it arrives. It keeps only tallies
    and ids, unless the survey says keep_reports = true.

    People answer at the address that it prints. /results shows the results, and /try explains how it works.

    Reading results requires a token. The first start writes one to a file next to the survey that only you can read.
    Anyone can submit reports, one person's per message, until you create a token with deniable token --role submit.

    SURVEY may be a folder of survey files. Each survey is then served under /s/ID/, and all are stored in one database,
    collector.db in the folder. New files are picked up within seconds, and an invalid file is reported and left out.

    \b
    deniable serve survey.toml
    deniable serve surveys/
    deniable serve survey.toml --store postgresql://localhost/surveys --host 0.0.0.0
    deniable serve survey.toml --tls-cert cert.pem --tls-key key.pem
    deniable serve survey.toml --check
    """
    from deniable.collector import opened
    from deniable.collector.access import read_token
    from deniable.collector.serve import Place, listening
    from deniable.collector.service import Limits

    place = Place(
        host,
        port,
        tls_cert,
        tls_key,
        addresses_in_log=log_addresses,
        origins=allow_origin,
        prefix=_prefix(root_path),
        embedding=allow_embedding,
        proxies=proxy,
        log_format=log_format,
        telemetry=otlp,
    )
    if check:
        _check(survey, surveys.store_of(survey, store), place, reports, token_file)
        return
    alone = None if survey.is_dir() else Survey.load(survey)
    if alone is not None:
        check_browsers(alone)
    limits = Limits(body=max_body, rate=rate, token_rate=token_rate)
    given = None if token_file is None or not token_file.exists() else read_token(token_file)
    with listening(place) as bound, opened(surveys.store_of(survey, store)) as data:
        making = Making(data, limits, open_results, print_token, reports, token_file, given)
        if alone is not None:
            _serve_one(alone, survey, making, place, bound)
        else:
            _serve_folder(survey, making, place, bound)


def _check(survey: Path, store: str, place: "Place", reports: Path | None, token_file: Path | None) -> None:
    """Print what was found; the exit code is 2 if something would go wrong."""
    from deniable.collector.preflight import Plan, findings

    found = findings(Plan(survey, store, place, reports, token_file))
    for each in found:
        click.echo(f"{each.level:<6} {each.what}: {each.text}")
    wrong = sum(each.level == "error" for each in found)
    if wrong:
        raise InvalidParameter(f"{wrong} of {len(found)} checks failed. Nothing was started.")
    click.echo(f"Ready to start at {place.address}")


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
    token_file: Path | None = None  # where the token to read results is, or is to be written
    token: str | None = None  # that token, if there is one

    def app(self, asked: Survey, file: Path, shared: "Shared | None" = None) -> "App":
        """The application of the survey in this file; the first one comes with a token to read its results."""
        from deniable.collector.mixed import Mixed
        from deniable.collector.serve import application

        if not self.open_results:
            self.store.register(asked)  # refuses a changed one before anything is made
            self.first_token(asked.id, self.token_file or file.with_suffix(".token"))
        app = application(asked, self.store, self.limits, self.open_results, shared)
        app.mixed = Mixed.beside(file, app.collector.survey)
        own = file.with_suffix(".reports")
        app.segments = own if self.reports is None else self.reports if shared is None else self.reports / asked.id
        return app

    def first_token(self, survey: str, file: Path) -> None:
        """Make a token to read results if there was never one, or let the given one in."""
        from deniable.collector.access import admit_token, new_token

        if self.token is not None:
            admit_token(self.store, survey, "results", self.token)
            return
        with self.store.view() as view:
            tokens = [token for token in view.tokens(survey) if token.role == "results"]
        if not tokens:
            token = new_token(self.store, survey, "results", "first")
            if self.print_token:
                click.echo(f"The token to read results, which is shown only once: {token}")
                return
            with written_whole(file, overwrite=True, private=True) as temporary:
                temporary.write_text(token + "\n", encoding="utf-8")
            click.echo(f"The token to read results is in {file}, which only you can read.")
        elif not any(token.valid(time.time()) for token in tokens):
            click.echo(
                "note: all tokens for results are revoked or expired. Create one: deniable token --role results",
                err=True,
            )


def _serve_one(asked: Survey, file: Path, making: Making, place: "Place", bound: "socket") -> None:
    from deniable.collector.serve import only, serve

    app, at = making.app(asked, file), place.address
    click.echo(f"Survey {asked.id} {app.collector.survey.fingerprint} at {at}")
    click.echo(f"To answer: {at}/   the results: {at}/results   to try it out: {at}/try")
    if _is_open(app) and app.mixed is None:
        click.echo("Anyone can answer, even more than once. To count each person once: deniable invite")
    _say_mixed(app)
    serve(only(app, place), place, bound)


def _say_mixed(app: "App") -> None:
    if app.mixed is not None:
        terms = app.mixed.terms
        click.echo(
            f"Reports are mixed: only the relay at {terms.relay} can pass them on, {terms.people:,} or more at a time."
        )
        click.echo("Anyone can answer there, even more than once: invitations and mixing cannot be combined.")
        click.echo(f"Fingerprint of the mixing terms: {terms.fingerprint}")


def _is_open(app: "App") -> bool:
    """Whether anyone can answer, as often as they like."""
    survey = app.collector.survey
    return survey.invitations is None and not survey.has_secrets and not app.submit_gate


def _serve_folder(folder: Path, making: Making, place: "Place", bound: "socket") -> None:
    from deniable.collector.serve import serve, surveys_in
    from deniable.collector.service import Shared
    from deniable.collector.tokens import SERVER

    shared, at = Shared(making.limits), place.address
    if making.token is not None and not making.open_results:
        making.first_token(SERVER, folder)  # for the metrics of all
    site, files = surveys_in(folder, making.store, place, shared, lambda asked, file: making.app(asked, file, shared))
    for app in site.apps:
        survey = app.collector.survey
        click.echo(f"Survey {survey.id} {survey.fingerprint} ({app.stage}) at {at}/s/{survey.id}/")
        _say_mixed(app)
    anyone = [app.collector.survey.id for app in site.apps if _is_open(app) and app.mixed is None]
    if anyone:
        click.echo(f"Anyone can answer {', '.join(anyone)}, even more than once. To count each person once: deniable invite")
    for file, cause in files.refused.items():
        click.echo(f"error: {file} is not served: {cause}", err=True)
    click.echo(f"{len(site.apps)} surveys. The index is at {at}/ and shows those listed with deniable manage list.")
    serve(site, place, bound)
