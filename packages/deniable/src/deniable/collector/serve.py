"""Serving surveys: one process, one event loop, one writer."""

import gc
import importlib
import logging
import queue
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable import kernels
from deniable.collector.access import Gate, gates_of
from deniable.collector.app import App
from deniable.collector.collector import Collector
from deniable.collector.events import FORMAT, JsonLines, note
from deniable.collector.invited import check_keys, prepare_keys
from deniable.collector.service import Limits, Shared
from deniable.collector.store import Store
from deniable.errors import InvalidParameter
from deniable.plugins import optional
from deniable.survey import Survey
from deniable.survey.browsers import check_browsers

if TYPE_CHECKING:
    from deniable.collector.connections import Connection
    from deniable.collector.folder import Folder, Make
    from deniable.collector.quick import Head
    from deniable.collector.service import Client
    from deniable.collector.site import Site

BACKLOG = 4096  # connections that wait to be accepted
SPARE_FILES = 100  # that are not connections


@dataclass(frozen=True)
class Place:
    """Where a collector listens, and its certificate if it speaks TLS itself."""

    host: str = "127.0.0.1"
    port: int = 8080
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    addresses_in_log: bool = False
    origins: tuple[str, ...] = ()  # other sites whose pages may send reports
    prefix: str = ""  # the path under which a proxy shows the server
    embedding: tuple[str, ...] = ()  # other sites that may show the answer page in a frame
    proxies: tuple[str, ...] = ()  # addresses and networks whose word about who is behind them is taken
    log_format: str = "text"  # or "json"
    telemetry: str | None = None  # where traces and metrics go (OTLP over HTTP)

    @property
    def address(self) -> str:
        """The address of the server, as seen from beside it."""
        return f"{'https' if self.tls_certificate else 'http'}://{self.host}:{self.port}{self.prefix}"


def application(
    survey: Survey, store: Store, limits: Limits | None = None, open_results: bool = False, shared: Shared | None = None
) -> App:
    """The application of a survey, with its tokens; `open_results` lets everybody read what is published."""
    check_browsers(survey)
    collector = Collector(survey, store)
    check_keys(store, collector.survey, collector.number)
    gates = gates_of(store, survey.id)
    if not gates["results"] and not open_results:
        raise InvalidParameter("Results require a token, and none exists yet. Create one with: deniable token")
    read = gates["results"] if not open_results else Gate()
    return App(collector, gates["submit"], read, limits, gates["batch"], shared)


def surveys_in(folder: Path, store: Store, place: Place, shared: Shared, make: "Make") -> "tuple[Site, Folder]":
    """A site with the surveys of a folder, which is looked at every few seconds, and at once on SIGHUP."""
    from deniable.collector.folder import POLL, Folder

    site = _site(store, shared, place)
    files = Folder(folder, site, make)
    files.look()
    site.jobs.append((POLL, files.look))
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, lambda *_: threading.Thread(target=files.look, daemon=True).start())
    return site, files


def only(app: App, place: Place) -> "Site":
    """A site with one survey, which is at / too."""
    site = _site(app.collector.store, app.shared, place)
    site.add(app, first=True)
    return site


def _site(store: Store, shared: Shared, place: Place) -> "Site":
    from deniable.collector.forwarded import Proxies
    from deniable.collector.site import Site

    return Site(store, shared, place.origins, place.prefix, place.embedding, Proxies(place.proxies))


@contextmanager
def listening(place: Place) -> Iterator[socket.socket]:
    """The socket of a collector, bound before anything is stored: a busy port or a bad certificate leaves no trace."""
    optional("uvicorn", "A collector over HTTP", "collector")
    optional("starlette", "A collector over HTTP", "collector")
    if place.telemetry is not None:
        optional("opentelemetry.exporter.otlp.proto.http", "OpenTelemetry traces and metrics", "otel")
    if (place.tls_certificate is None) != (place.tls_key is None):
        raise InvalidParameter("TLS requires both a certificate and its key.")
    if place.tls_certificate is not None:
        import ssl

        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(place.tls_certificate, place.tls_key)
        except (OSError, ValueError) as error:
            raise InvalidParameter(f"The certificate or its key cannot be used: {error}.") from error
    try:
        family = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)[0][0]
        bound = socket.create_server((place.host, place.port), family=family, backlog=BACKLOG)
    except OSError as error:
        cause = error.strerror or type(error).__name__
        raise InvalidParameter(f"Nothing can listen at {place.host}:{place.port}: {cause}. Choose another port.") from error
    with bound:
        yield bound


def warm_up(survey: Survey) -> None:
    """Count a few made-up reports on every question, so that no request has to wait for a compiler."""
    with suppress(ImportError):
        importlib.import_module("deniable.kernels.compiled")  # first, so that nobody waits for this import
    kernels.expect_work()
    random = np.random.default_rng(0)
    for question in survey.questions:
        mechanism = question.mechanism
        answers = question.gathered([own.answers(own.how.pretend(own.domain, random, 64)) for own in question.members])
        mechanism.votes(mechanism.unpack(mechanism.pack(mechanism.perturb(answers))).columns)
    # What is loaded now stays. Otherwise everybody waits, now and then, while it is searched for garbage: some 80 ms.
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)  # reports leave none; 380 looks for it at 38,000 of them took 2 % of the time


def server_settings(place: Place) -> dict[str, Any]:
    """The settings of uvicorn that all our servers share."""
    from deniable.collector.connections import KEEP_ALIVE

    return {
        "host": place.host,
        "port": place.port,
        "ssl_certfile": place.tls_certificate,
        "ssl_keyfile": place.tls_key,
        "access_log": place.addresses_in_log,
        "log_level": "info" if place.addresses_in_log else "warning",
        "server_header": False,
        "proxy_headers": False,
        "backlog": BACKLOG,
        "timeout_keep_alive": KEEP_ALIVE,
        "timeout_graceful_shutdown": 30,
        "lifespan": "on",
        "ws": "none",
    }


def serve(site: "Site", place: Place, bound: socket.socket) -> None:
    """Serve at a socket until the process is asked to stop; what has arrived by then is counted and answered."""
    from deniable.collector.connections import Server

    uvicorn = optional("uvicorn", "A collector over HTTP", "collector")
    waiting = queue.SimpleQueue[App | None]()

    def prepare(app: App) -> None:
        app.warm.clear()
        waiting.put(app)

    site.prepare = prepare
    for app in site.apps:
        prepare(app)
    warming = threading.Thread(target=_warm, args=(waiting,), daemon=True)
    warming.start()
    # The writer needs the interpreter for moments between its waits for the disk; it must not queue for it each time.
    sys.setswitchinterval(0.0005)
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines() if place.log_format == "json" else logging.Formatter(FORMAT))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # what clients do wrong is counted, not logged one by one

    class Limited(_connection_class()):  # type: ignore[misc]
        limits = replace(site.shared.limits, connections=_connections(site.shared.limits.connections))

        def taker(self, path: bytes) -> App | None:
            return site.taker(path)

        def sender(self, head: "Head") -> "Client":
            return site.proxies.client(self.client, head.headers)

    config = uvicorn.Config(
        site,
        http=Limited,
        **server_settings(place),
        **({"log_config": None} if place.log_format == "json" else {}),  # then the server's lines are JSON too
    )
    if not site.apps:
        note("started", surveys=0, host=place.host, port=place.port)
    for app in site.apps:
        survey = app.collector.survey
        note("started", survey=survey.id, fingerprint=survey.fingerprint, host=place.host, port=place.port)
    with quiet_end(), _telemetry(site, place):
        Server(config).run(sockets=[bound])
    with suppress(queue.Empty):  # a process that ends while it compiles may never do so
        while True:
            waiting.get_nowait()
    waiting.put(None)
    warming.join(timeout=10)
    for app in site.apps:
        note("stopped", survey=app.collector.survey.id)


@contextmanager
def _telemetry(site: "Site", place: Place) -> Iterator[None]:
    if place.telemetry is None:
        yield
        return
    from deniable.collector.telemetry import Telemetry

    telemetry = Telemetry(site, place.telemetry)
    try:
        yield
    finally:
        telemetry.close()


def _connection_class() -> "type[Connection]":
    """The quick one where httptools is installed, which it is not on Windows."""
    from deniable.collector.connections import Connection

    try:
        from deniable.collector.quick import QuickConnection
    except ImportError:
        return Connection
    return QuickConnection


def _warm(waiting: "queue.SimpleQueue[App | None]") -> None:
    """Load what the surveys need, one after the other, until there is None."""
    while (app := waiting.get()) is not None:
        try:
            warm_up(app.collector.survey)
            prepare_keys(app.collector.store, app.collector.survey)
        except Exception:  # then the first report takes longer, or says what is wrong
            note("warm-up-failed", logging.ERROR, trace=True, survey=app.collector.survey.id)
        app.warm.set()
        note("ready", survey=app.collector.survey.id)


@contextmanager
def quiet_end() -> Iterator[None]:
    """The server stops at a signal, and raises it again when it has stopped. By then there is nothing left to interrupt."""
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _connections(wanted: int) -> int:
    """How many connections the system lets us have: each takes a file, and some are needed for the store."""
    try:
        import resource
    except ImportError:
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    need = wanted + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < need:
        soft = need if hard == resource.RLIM_INFINITY else min(need, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return wanted if soft == resource.RLIM_INFINITY else max(1, min(wanted, soft - SPARE_FILES))
