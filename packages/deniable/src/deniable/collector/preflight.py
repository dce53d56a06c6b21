"""What would keep a collector from starting, or from lasting: found without creating or changing anything."""

import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from deniable.collector.folder import KINDS
from deniable.collector.forwarded import Proxies
from deniable.collector.mixed import Mixed, terms_at
from deniable.collector.origins import checked_origins
from deniable.collector.schema import MIGRATIONS, check_version
from deniable.collector.serve import Place, listening
from deniable.collector.stages import Stage, same_contract
from deniable.errors import DeniableError, InvalidParameter, SurveyMismatch
from deniable.plugins import optional
from deniable.survey import Survey
from deniable.survey.browsers import check_browsers

Level = Literal["ok", "note", "error"]
RELEASED = 1_767_225_600  # 2026: a clock before this is wrong
SOON = timedelta(days=14)
LITTLE = 100 << 20  # bytes of free disk space
APART = 60  # seconds by which two clocks may differ
FILES = 1024  # open files below which many people at once are a problem


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    level: Level
    text: str


@dataclass(frozen=True)
class Plan:
    """What `serve` was asked to do."""

    survey: Path
    store: str
    place: Place
    reports: Path | None = None
    token_file: Path | None = None


def findings(plan: Plan) -> list[Finding]:
    """All of them. A check that fails says why, and the others go on."""
    found: list[Finding] = []
    surveys: list[Survey] = []
    ids: dict[str, Path] = {}  # the file of each survey
    checks: list[tuple[str, Callable[[], Iterator[tuple[Level, str]]]]] = [
        ("packages", lambda: _packages(plan)),
        ("surveys", lambda: _surveys(plan, surveys, ids)),
        ("options", lambda: _options(plan.place)),
        ("address", lambda: _address(plan.place)),
        ("TLS", lambda: _tls(plan.place)),
        ("database", lambda: _database(plan, surveys)),
        ("mixing", lambda: _mixing(surveys, ids)),
        ("clock", lambda: _clock(surveys)),
        ("files", lambda: _files(plan, surveys)),
    ]
    for what, check in checks:
        try:
            found += [Finding(what, level, text) for level, text in check()]
        except DeniableError as error:
            found.append(Finding(what, "error", str(error)))
        except OSError as error:
            found.append(Finding(what, "error", f"{error.filename or what}: {error.strerror or error}."))
    return found


def _packages(plan: Plan) -> Iterator[tuple[Level, str]]:
    needed = ["starlette", "uvicorn", "prometheus_client"]
    if "://" in plan.store and not plan.store.startswith("sqlite://"):
        needed.append("psycopg")
    for module in needed:
        optional(module, "A collector over HTTP", "collector")
    yield "ok", f"{', '.join(needed)} are installed."
    if plan.place.telemetry is not None:
        optional("opentelemetry.exporter.otlp.proto.http", "OpenTelemetry traces and metrics", "otel")
    try:
        optional("numba", "Compiled loops", "fast")
    except DeniableError:
        yield "note", "Without compiled loops, counting is slower. Install the extra: deniable[fast]"


def _surveys(plan: Plan, surveys: list[Survey], ids: dict[str, Path]) -> Iterator[tuple[Level, str]]:
    files = [plan.survey]
    if plan.survey.is_dir():
        files = sorted(path for path in plan.survey.iterdir() if path.suffix in KINDS and not path.name.startswith("."))
        if not files:
            yield "note", f"There is no survey in {plan.survey} yet. Files that are added are served within seconds."
    for path in files:
        try:
            survey = Survey.load(path)
            check_browsers(survey)
        except DeniableError as error:
            yield "error", f"{path}: {error}"
            continue
        if survey.id in ids:
            yield "error", f"{path}: the id {survey.id!r} is already used by {ids[survey.id]}. Choose another id."
        ids[survey.id] = path
        surveys.append(survey)
        yield "ok", f"{path}: {survey.id}, epsilon {survey.epsilon:g}."
        if survey.closes is not None and survey.closes <= time.time():
            yield "note", f"{path}: the survey has closed. Nobody can answer it."


def _options(place: Place) -> Iterator[tuple[Level, str]]:
    Proxies(place.proxies)
    for origins in (place.origins, place.embedding):
        checked_origins(origins)
    yield from ()


def _address(place: Place) -> Iterator[tuple[Level, str]]:
    if (place.tls_certificate is None) != (place.tls_key is None):
        raise InvalidParameter("TLS requires both a certificate and its key.")
    plain = Place(place.host, place.port)
    with listening(plain):
        yield "ok", f"{place.host}:{place.port} is free."
    if place.tls_certificate is None and place.host not in ("127.0.0.1", "::1", "localhost") and not place.proxies:
        yield "note", "Without TLS, pages can be changed on their way. Use --tls-cert and --tls-key, or a proxy."


def _tls(place: Place) -> Iterator[tuple[Level, str]]:
    if place.tls_certificate is None or place.tls_key is None:
        return
    from cryptography import x509

    with listening(Place("127.0.0.1", 0, place.tls_certificate, place.tls_key)):
        pass
    certificate = x509.load_pem_x509_certificate(place.tls_certificate.read_bytes())
    now, ends = datetime.now(UTC), certificate.not_valid_after_utc
    if not certificate.not_valid_before_utc <= now < ends:
        begins = certificate.not_valid_before_utc
        yield (
            "error",
            f"The certificate is valid from {begins:%Y-%m-%d} to {ends:%Y-%m-%d} only. Renew it.",
        )
    elif ends - now < SOON:
        yield "note", f"The certificate expires on {ends:%Y-%m-%d}. Renew it."
    else:
        yield "ok", f"The certificate is valid until {ends:%Y-%m-%d}."
    if place.tls_key.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
        yield "note", f"Everybody on this machine can read {place.tls_key}. Restrict it: chmod 600"


def _database(plan: Plan, surveys: list[Survey]) -> Iterator[tuple[Level, str]]:
    if plan.store.startswith(("postgresql://", "postgres://")):
        yield from _postgres(plan.store, surveys)
    elif "://" in plan.store and not plan.store.startswith("sqlite://"):
        yield "note", "This kind of database is checked only when the collector starts."
    else:
        yield from _sqlite(Path(plan.store.removeprefix("sqlite://")), surveys)


def _sqlite(path: Path, surveys: list[Survey]) -> Iterator[tuple[Level, str]]:
    folder = path.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InvalidParameter(
            f"The folder {folder} does not exist or is not writable. Create it, or choose another --store."
        )
    free = shutil.disk_usage(folder).free
    if free < LITTLE:
        yield "note", f"Only {free >> 20} MB are free in {folder}."
    if not path.exists():
        yield "ok", f"{path} will be created."
        return
    if not os.access(path, os.R_OK | os.W_OK):
        raise InvalidParameter(f"The database {path} cannot be read and written by this user. Change its owner or mode.")
    # Nobody has it open if there is no log beside it; then nothing is made beside it to read it.
    how = "mode=ro" if path.with_name(path.name + "-wal").exists() else "mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(f"file:{path.absolute()}?{how}", uri=True, timeout=10)
        try:
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            yield from _schema(str(path), version)
            _same(surveys, connection.execute(_known(version)).fetchall() if version else ())
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise InvalidParameter(f"{path} is not a readable database: {error}.") from error


def _postgres(address: str, surveys: list[Survey]) -> Iterator[tuple[Level, str]]:
    psycopg = optional("psycopg", "A store in PostgreSQL", "collector")
    try:
        with psycopg.connect(address, connect_timeout=8, autocommit=True) as connection:

            def one(sql: str) -> object:
                return connection.execute(sql.encode()).fetchone()[0]

            if one("SELECT pg_is_in_recovery()"):
                raise InvalidParameter("This PostgreSQL is a read-only copy. Use the server that accepts writes.")
            if one("SHOW fsync") != "on":
                yield "error", "PostgreSQL runs with fsync = off: what it acknowledges can be lost. Set fsync = on."
            apart = abs(float(str(one("SELECT extract(epoch FROM clock_timestamp())"))) - time.time())
            if apart > APART:
                yield "error", f"The clocks of this machine and of PostgreSQL differ by {apart:,.0f} s. Synchronize them."
            known = one("SELECT to_regclass('deniable_schema') IS NOT NULL")
            version = int(str(one("SELECT COALESCE(MAX(version), 0) FROM deniable_schema"))) if known else 0
            if version < len(MIGRATIONS) and not one("SELECT has_schema_privilege(current_schema(), 'CREATE')"):
                raise InvalidParameter("This user may not create tables in PostgreSQL. Grant it CREATE on the schema.")
            yield from _schema("PostgreSQL", version)
            _same(surveys, connection.execute(_known(version).encode()).fetchall() if version else ())
    except psycopg.Error as error:
        raise InvalidParameter(f"PostgreSQL cannot be used: {str(error).splitlines()[0]}.") from error


def _schema(where: str, version: int) -> Iterator[tuple[Level, str]]:
    check_version(version)
    if 0 < version < len(MIGRATIONS):
        text = f"{where} has schema {version} and will get {len(MIGRATIONS)}, which earlier releases cannot open."
        yield "note", f"{text} Make a backup first: deniable backup"
    else:
        yield "ok", f"{where} can be used{'' if version else '; tables will be created'}."


def _known(version: int) -> str:
    """Surveys that may not change, with their corrected titles. The first schemas had neither drafts nor titles."""
    return (
        f"SELECT id, spec, title FROM surveys WHERE stage <> {int(Stage.DRAFT)}"
        if version > 2
        else ("SELECT id, spec, NULL FROM surveys")
    )


def _same(surveys: list[Survey], known: Iterable[tuple[str, str, str | None]]) -> None:
    """Refuse a survey that differs from the one that people have answered."""
    served = {survey.id: survey for survey in surveys}
    for name, before, title in known:
        if name in served and not same_contract(Survey.from_json(before), served[name], title):
            raise SurveyMismatch(
                f"The survey {name!r} has changed since it was first served from this database. Give the new version its "
                "own id."
            )


def _mixing(surveys: list[Survey], ids: dict[str, Path]) -> Iterator[tuple[Level, str]]:
    """The keys beside each survey, and whether its relay works under the same terms."""
    for survey in surveys:
        file = ids[survey.id]
        mixed = Mixed.beside(file, survey)
        if mixed is None:
            continue
        terms = mixed.terms
        yield (
            "ok",
            f"{survey.id}: {terms.people:,} or more reports are mixed at {terms.relay}, fingerprint {terms.fingerprint}.",
        )
        theirs, why = terms_at(terms.relay)
        if theirs is None:
            yield "note", f"{survey.id}: its relay cannot take reports yet: {why}. Until then, reports stay on the devices."
        elif theirs != terms.fingerprint:
            yield "error", f"{survey.id}: its relay has other terms, fingerprint {theirs}. Give it the current .mix file."
        if file.with_suffix(".mixkey").stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
            yield "note", f"Others on this machine can read {file.with_suffix('.mixkey')}. Restrict it: chmod 600"


def _clock(surveys: list[Survey]) -> Iterator[tuple[Level, str]]:
    now = time.time()
    if now < RELEASED:
        yield "error", f"The clock says {datetime.fromtimestamp(now, UTC):%Y-%m-%d}, which is before this release. Set it."
    else:
        yield "ok", f"The clock says {datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M} UTC."
    for survey in surveys:
        if survey.opens is not None and survey.opens > now:
            yield "note", f"{survey.id} opens on {datetime.fromtimestamp(survey.opens, UTC):%Y-%m-%d %H:%M} UTC."


def _files(plan: Plan, surveys: list[Survey]) -> Iterator[tuple[Level, str]]:
    token = plan.token_file or plan.survey.with_suffix(".token")
    if not token.exists() and not os.access(token.absolute().parent, os.W_OK):
        yield (
            "note",
            f"{token} cannot be written. For the first token, use --token-file or --print-token.",
        )
    if any(survey.keep_reports for survey in surveys):
        folder = plan.reports or plan.survey.with_suffix(".reports")
        nearest = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
        if not os.access(nearest, os.W_OK):
            yield "error", f"Kept reports cannot be written to {folder}. Choose another folder: --reports FOLDER"
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < FILES:
        yield (
            "note",
            f"This process may open only {hard} files, which limits the number of connections. Raise the limit: ulimit -n",
        )
