"""What deploy/compose.yaml starts, from the machine's own packages: two collectors, PostgreSQL, and nginx with TLS.

`python -m benchmarks.stack` starts it with the files of deploy/ and sends reports through the proxy while the collectors are
restarted one after the other. It prints how long the first estimate took, and whether a report was lost or counted twice.
With `--keep` it only starts everything, and leaves it running until Ctrl-C.
"""

import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import click
import numpy as np

from deniable.collector.crowd import Sent, run_crowd
from deniable.survey import Survey
from tests import ROOT
from tests.certificates import written
from tests.servers import Postgres, free_port, postgres, wait_until_ready

SNIPPET = ROOT / "deploy" / "nginx" / "deniable.conf"
SURVEYS = ROOT / "examples" / "surveys"
TOKEN = "a-token-for-this-run-alone-0123456789"
AROUND = """
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 2048; }}
http {{
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/deniable.conf;
}}
"""


@dataclass
class Stack:
    """The running services. Everything is in one temporary folder, which goes with them."""

    folder: Path
    database: Postgres
    ports: list[int] = field(default_factory=lambda: [free_port(), free_port()])
    port: int = field(default_factory=free_port)
    collectors: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The address of the example survey, as people have it."""
        return f"https://localhost:{self.port}/surveys/s/commute"

    def prepare(self) -> None:
        """Write secrets, a certificate, and the shipped configuration of nginx with this folder and these ports in it."""
        tls = written(self.folder)
        (self.folder / "store").write_text(self.database.database())
        (self.folder / "token").write_text(TOKEN)
        text = SNIPPET.read_text(encoding="utf-8")
        for old, new in (
            ("127.0.0.1:8081", f"127.0.0.1:{self.ports[0]}"),
            ("127.0.0.1:8082", f"127.0.0.1:{self.ports[1]}"),
            ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
            ("/etc/deniable/tls/cert.pem", str(tls["tls_certificate"])),
            ("/etc/deniable/tls/key.pem", str(tls["tls_key"])),
        ):
            assert old in text, old
            text = text.replace(old, new)
        (self.folder / "deniable.conf").write_text(text)
        (self.folder / "nginx.conf").write_text(AROUND.format(folder=self.folder))

    def start(self, which: int) -> "subprocess.Popen[bytes]":
        """Start a collector; wait for it with `ready`."""
        command = [sys.executable, "-m", "deniable", "serve", str(SURVEYS), "--port", str(self.ports[which])]
        command += ["--store-file", str(self.folder / "store"), "--token-file", str(self.folder / "token")]
        command += ["--root-path", "/surveys", "--proxy", "127.0.0.1", "--log-format", "json"]
        with (self.folder / f"collector-{which + 1}.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log)

    def ready(self, which: int) -> None:
        """Wait until a collector counts."""
        wait_until_ready(f"http://127.0.0.1:{self.ports[which]}", self.collectors[which])

    def restart(self, which: int) -> None:
        """As an upgrade does it: SIGTERM, wait for the end, start again."""
        self.collectors[which].send_signal(signal.SIGTERM)
        code = self.collectors[which].wait(timeout=40)
        assert code == 0, f"collector {which + 1} ended with {code}"
        self.collectors[which] = self.start(which)
        self.ready(which)

    def results(self) -> dict[str, object]:
        """The published results, through the proxy."""
        context = ssl.create_default_context(cafile=str(self.folder / "cert.pem"))
        request = urllib.request.Request(f"{self.url}/v1/results", headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request, timeout=20, context=context) as answer:
            found: dict[str, object] = json.loads(answer.read())
        return found

    def send(self, reports: Iterator[bytes], connections: int) -> Sent:
        """Send reports through the proxy, again until each is acknowledged."""
        with patch.dict(os.environ, SSL_CERT_FILE=str(self.folder / "cert.pem")):
            return run_crowd(self.url, reports, connections)


@contextmanager
def stack() -> Iterator[Stack]:
    """All services, until the block ends."""
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    with ExitStack() as left, tempfile.TemporaryDirectory(prefix="deniable-stack-") as name:
        services = Stack(Path(name), left.enter_context(postgres()))
        services.prepare()
        proxy = subprocess.Popen([nginx, "-p", name, "-c", f"{name}/nginx.conf"], stderr=subprocess.DEVNULL)
        left.callback(_end, proxy)
        for which in range(2):
            services.collectors.append(services.start(which))
        left.callback(_end_all, services.collectors)
        for which in range(2):
            services.ready(which)
        yield services


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    process.wait(timeout=40)


def _end_all(processes: list["subprocess.Popen[bytes]"]) -> None:
    for process in processes:
        _end(process)


def bodies(survey: Survey, number: int, seed: int = 1) -> Iterator[bytes]:
    """One person's report in each body."""
    random = np.random.default_rng(seed)
    answers = {question.id: question.how.pretend(question.domain, random, number) for question in survey.asked}
    return iter(survey.randomize_all(answers, number))


@dataclass(frozen=True)
class Rolled:
    """What came of a load during rolling restarts."""

    sent: int
    counted: int
    restarts: int
    again: int  # answers and lost connections after which the same bytes were sent again
    seconds: float


def rolled(services: Stack, survey: Survey, number: int, connections: int = 32) -> Rolled:
    """Send so many reports while one collector after the other is restarted, at least each once."""
    made = list(bodies(survey, number, seed=2))
    before = int(str(services.results()["people"]))
    done, restarts, failed = threading.Event(), [0], list[BaseException]()

    def restarting() -> None:
        try:
            while not done.is_set() or restarts[0] < 2:
                services.restart(restarts[0] % 2)
                restarts[0] += 1
        except BaseException as error:
            failed.append(error)

    thread, start = threading.Thread(target=restarting), time.perf_counter()
    thread.start()
    try:
        sent = services.send(iter(made), connections)
    finally:
        took = time.perf_counter() - start
        done.set()
        thread.join(timeout=300)
    if failed:
        raise failed[0]
    counted = int(str(services.results()["people"])) - before
    again = sum(sent.statuses.values()) - sent.arrived + sent.lost
    return Rolled(number, counted, restarts[0], again, took)


@click.command()
@click.option("--reports", default=100_000, show_default=True, help="How many reports to send during restarts.")
@click.option("--keep", is_flag=True, help="Only start it, and leave it running until Ctrl-C.")
def main(reports: int, keep: bool) -> None:
    """Start the services, measure, and print a table."""
    survey = Survey.load(SURVEYS / "commute.toml")
    start = time.perf_counter()
    with stack() as services:
        if keep:
            click.echo(f"{services.url}/   results token: {TOKEN}   certificate: {services.folder / 'cert.pem'}")
            signal.pause()
        services.send(bodies(survey, 20), 4)
        first = services.results()
        assert not re.search('"hidden": true', json.dumps(first)), "the first estimate is hidden"
        estimated = time.perf_counter() - start
        found = rolled(services, survey, reports)
    lost, doubled = max(0, found.sent - found.counted), max(0, found.counted - found.sent)
    click.echo("| step | figure |\n|---|--:|")
    click.echo(f"| from nothing to the first estimate, through TLS | {estimated:.1f} s |")
    click.echo(f"| reports sent during rolling restarts | {found.sent:,} in {found.seconds:.0f} s |")
    click.echo(f"| restarts | {found.restarts} |")
    click.echo(f"| sent again | {found.again:,} |")
    click.echo(f"| lost | {lost} |\n| counted twice | {doubled} |")
    sys.exit(1 if lost or doubled else 0)


if __name__ == "__main__":
    main()
