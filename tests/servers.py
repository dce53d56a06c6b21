"""Real processes for tests: a PostgreSQL of their own, and collectors."""

import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.waits import PATIENCE

# Below those that Linux gives to whoever does not ask for one, so that no connection takes a port before its server does.
_ports = itertools.cycle(random.Random(os.getpid()).sample(range(10_000, 32_000), 20_000))


def free_port() -> int:
    """A port that nothing listens at, which this process has not named before, and another one hardly at the same time."""
    for port in _ports:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("there is always a next one")


def postgres_programs() -> Path | None:
    """The folder of initdb and postgres, as Debian installs them, or on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True) if Path("/usr/lib/postgresql").is_dir() else []
    on_path = shutil.which("initdb")
    return found[0] if found else Path(on_path).parent if on_path else None


class Postgres:
    """A cluster in a temporary folder, on a free port, without a password, for this machine only."""

    def __init__(self, folder: Path) -> None:
        programs = postgres_programs()
        assert programs is not None
        self._programs, self.data, self.port = programs, folder / "data", free_port()
        self.owner = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []  # it refuses to run as root
        if self.owner:
            folder.chmod(0o755)
            shutil.chown(folder, "postgres")
        self._folder, self._databases = folder, 0
        self._run("initdb", "-D", str(self.data), "-U", "test", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8")
        self.start()

    @property
    def first(self) -> int:
        """The process that has started all others."""
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self.owner, str(self._programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=self._folder, timeout=180)

    def start(self) -> None:
        settings = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._folder}"
        settings += " -c statement_timeout=120s"  # where whoever is connected sets no other
        log = str(self._folder / "log")
        command = [
            *self.owner,
            str(self._programs / "pg_ctl"),
            "-D",
            str(self.data),
            "-w",
            "-l",
            log,
            "-o",
            settings,
            "start",
        ]
        subprocess.run(command, check=True, cwd=self._folder, stdout=subprocess.DEVNULL, timeout=180)

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "stop")

    def database(self) -> str:
        """The address of a new, empty database."""
        import psycopg

        self._databases += 1
        name = f"test{self._databases}"
        with psycopg.connect(self.address("postgres"), autocommit=True, connect_timeout=30) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.address(name)

    def address(self, name: str) -> str:
        return f"postgresql://test@127.0.0.1:{self.port}/{name}"


@contextmanager
def postgres(under: Path | None = None) -> Iterator[Postgres]:
    folder = Path(tempfile.mkdtemp(prefix="deniable-pg-", dir=under))
    server = Postgres(folder)
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def wait_until_ready(url: str, process: "subprocess.Popen[bytes] | None" = None) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        if process is not None and process.poll() is not None:
            raise AssertionError(f"the collector ended with {process.returncode}")
        try:
            with urllib.request.urlopen(url + "/health/ready", timeout=60):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the collector did not get ready")


class Served:
    """A collector in a process of its own: `deniable serve`."""

    def __init__(self, survey: Path, store: str, port: int | None = None, *options: str) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "deniable", "serve", str(survey), "--store", store, "--port", str(self.port)]
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
        self.process = subprocess.Popen(
            [*command, "--open-results", *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )

    def ready(self) -> "Served":
        wait_until_ready(self.url, self.process)
        return self

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
            return json.loads(answer.read())

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=PATIENCE)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=PATIENCE)


@contextmanager
def served(survey: Path, store: str, *options: str) -> Iterator[Served]:
    collector = Served(survey, store, None, *options)
    try:
        yield collector.ready()
    finally:
        if collector.process.poll() is None:
            collector.stop()
