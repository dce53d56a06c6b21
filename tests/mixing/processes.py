"""Relays in processes of their own."""

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click.testing import CliRunner

from deniable.cli.main import main
from deniable.mixing import Terms
from tests.servers import free_port, wait_until_ready

PEOPLE = 5


class Relayed:
    """`deniable mix` in a process of its own."""

    def __init__(self, terms: Path, port: int, collector: str, *options: str) -> None:
        command = [sys.executable, "-m", "deniable", "mix", str(terms), "--collector", collector, "--port", str(port)]
        self.command = [*command, *options]
        self.url = f"http://127.0.0.1:{port}"
        self.log = terms.with_suffix(".log")
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        wait_until_ready(self.url, self.process)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(timeout=60)


@contextmanager
def relay(terms: Path, collector: str, *options: str) -> Iterator[Relayed]:
    mixed = Relayed(terms, int(Terms.load(terms).relay.rsplit(":", 1)[1]), collector, *options)
    mixed.start()
    try:
        yield mixed
    finally:
        if mixed.running:
            mixed.end(signal.SIGKILL)


def keys(folder: Path, people: int = PEOPLE) -> Path:
    """The terms of the survey in this folder, for a relay at a free port of this machine."""
    relay = f"http://127.0.0.1:{free_port()}"
    made = CliRunner().invoke(
        main, ["mix", "keys", str(folder / "survey.toml"), "--relay", relay, "--people", str(people), "--delta", "1e-3"]
    )
    assert made.exit_code == 0, made.output
    assert "Against the collector: epsilon" in made.output and "together: epsilon 1," in made.output
    assert (folder / "survey.mixkey").stat().st_mode & 0o077 == 0
    return folder / "survey.mix"


def counted(url: str) -> int:
    """How many people the collector has counted."""
    with urllib.request.urlopen(url + "/v1/results", timeout=30) as answer:
        return int(json.loads(answer.read())["people"])
