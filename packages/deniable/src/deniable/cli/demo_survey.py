"""The last part of the demo: a collector in a process of its own, devices that answer over HTTP, and the results."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable.cli import options, panel, surveys
from deniable.cli.survey_results import fetched_results
from deniable.errors import Unavailable
from deniable.survey import Survey, certify_survey

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 60.0  # seconds for the collector to start


def run_survey(console: "Console", seed: int | None) -> None:
    """Serve the bundled survey, answer it with made-up people, and show what comes out."""
    from deniable.collector.crowd import run_crowd

    with tempfile.TemporaryDirectory(prefix="deniable-demo-") as name:
        file = Path(name) / "survey.toml"
        file.write_text(files("deniable").joinpath("data", "survey.toml").read_text(encoding="utf-8"), encoding="utf-8")
        asked = Survey.load(file)
        with _running(file) as (url, token):
            with panel.waiting("starting a collector"):
                survey = _ready(asked, url)
            console.print(
                f"One file describes the survey. The collector runs at {url} and keeps its database next to the file.",
                markup=False,
            )
            people, random = survey.people, np.random.default_rng(seed)
            answers = {q.id: q.how.pretend(q.domain, random, people) for q in survey.asked}
            start = time.perf_counter()
            with panel.waiting(f"{people:,} people answer"):
                bodies = survey.randomize_all(answers, people, options.coins_of(seed))
                sent = run_crowd(url, iter(bodies))
            console.print(
                f"{sent.arrived:,} devices sent {len(bodies[0])} bytes each, and their reports were stored durably, in "
                f"{time.perf_counter() - start:.1f} seconds. One device in a hundred sends its message again, as if "
                "the response had been lost:"
            )
            run_crowd(url, iter(bodies[::100]))
            data = json.loads(fetched_results(url, token, 0.95, "json"))
            console.print(
                f"{data['people']:,} people are counted, each exactly once. The exact privacy loss of one of them:"
            )
            console.print(str(certify_survey(survey)), markup=False, highlight=False)
            console.print()
            surveys.show(data)


@contextmanager
def _running(file: Path) -> Iterator[tuple[str, str]]:
    """A collector, as `deniable serve` runs it: its address, and the token to read results."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "deniable", "serve", str(file), "--port", str(port), "--print-token"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{port}", process.stdout.readline().rpartition(" ")[2].strip()
        finally:
            process.terminate()


def _ready(asked: Survey, url: str) -> Survey:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return surveys.fetched(asked, url)
        except Unavailable:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
