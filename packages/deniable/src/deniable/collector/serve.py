"""Serving a collector: one process, one event loop, one writer."""

import gc
import importlib
import logging
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deniable import kernels
from deniable.collector.access import Gate
from deniable.collector.app import App
from deniable.collector.collector import Collector
from deniable.collector.origins import AllowOrigins
from deniable.collector.service import Limits
from deniable.collector.store import Store
from deniable.errors import InvalidParameter
from deniable.plugins import optional
from deniable.survey import Survey


@dataclass(frozen=True)
class Place:
    """Where a collector listens, and its certificate if it speaks TLS itself."""

    host: str = "127.0.0.1"
    port: int = 8080
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    addresses_in_log: bool = False
    origins: tuple[str, ...] = ()  # other sites whose pages may send reports


def application(survey: Survey, store: Store, limits: Limits | None = None, open_results: bool = False) -> App:
    """The application, with the tokens that the store knows; `open_results` lets everybody read what is published."""
    collector = Collector(survey, store)
    with store.view() as view:
        submit, read = Gate().renew(view.hashes("submit")), Gate().renew(view.hashes("results"))
    if not read and not open_results:
        raise InvalidParameter("Results require a token, and none exists yet. Create one with: deniable token")
    return App(collector, submit, read if not open_results else Gate(), limits)


def warm_up(survey: Survey) -> None:
    """Count a few made-up reports on every question, so that no request has to wait for a compiler."""
    with suppress(ImportError):
        importlib.import_module("deniable.kernels.compiled")  # first, so that nobody waits for this import
    kernels.expect_work()
    random = np.random.default_rng(0)
    for question in survey.questions:
        mechanism = question.mechanism
        answers = question.answers(question.how.pretend(mechanism.domain, random, 64))
        mechanism.votes(mechanism.unpack(mechanism.pack(mechanism.perturb(answers))).columns)
    # What is loaded now stays. Otherwise everybody waits, now and then, while it is searched for garbage: some 80 ms.
    gc.collect()
    gc.freeze()


def serve(app: App, place: Place) -> None:
    """Serve until the process is asked to stop; what has arrived by then is counted and answered."""
    uvicorn = optional("uvicorn", "A collector over HTTP", "collector")
    if (place.tls_certificate is None) != (place.tls_key is None):
        raise InvalidParameter("TLS requires both a certificate and its key.")
    threading.Thread(target=warm_up, args=(app.collector.survey,), daemon=True).start()
    # The writer needs the interpreter for moments between its waits for the disk; it must not queue for it each time.
    sys.setswitchinterval(0.0005)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    config = uvicorn.Config(
        AllowOrigins(app, place.origins) if place.origins else app,
        host=place.host,
        port=place.port,
        ssl_certfile=place.tls_certificate,
        ssl_keyfile=place.tls_key,
        access_log=place.addresses_in_log,
        log_level="info" if place.addresses_in_log else "warning",
        server_header=False,
        proxy_headers=False,
        backlog=4096,
        timeout_keep_alive=60,
        timeout_graceful_shutdown=30,
        lifespan="on",
        ws="none",
    )
    uvicorn.Server(config).run()
