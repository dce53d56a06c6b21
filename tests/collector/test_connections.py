"""Connections of a real server: heads that do not come, bodies that do not end, too many of them; and how it stops."""

import json
import logging
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from deniable.collector import Collector, open_store
from deniable.collector.access import Gate
from deniable.collector.app import App
from deniable.collector.crowd import post_all
from deniable.collector.service import Limits
from deniable.errors import Unavailable
from tests.browsers import in_a_thread
from tests.servers import free_port, wait_until_ready
from tests.surveys import ONE, survey
from tests.waits import PATIENCE, finished, running

pytestmark = pytest.mark.needs("starlette", "uvicorn")
HEAD = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/octet-stream\r\n"


@contextmanager
def site(folder: Path, **limits: Any) -> Iterator[int]:
    """A collector in a thread, with the connections and the server that `deniable serve` uses; its port."""
    import uvicorn

    from deniable.collector.connections import Connection, Server

    store = open_store(str(folder / "store.db"))
    app = App(Collector(survey(ONE), store), Gate(), Gate(), replace(Limits(), **limits))

    class Limited(Connection):
        limits = app.limits

    server = Server(uvicorn.Config(app, http=Limited, log_level="error", lifespan="on", ws="none"))
    with in_a_thread(server) as port:
        yield port
    store.close()


class Clock:
    """What the server takes for the time: it goes on by itself, and the test can let it jump."""

    ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("deniable.collector.connections.SWEEP", 0.05)
    monkeypatch.setattr("deniable.collector.connections.time", clock)
    return clock


def client(port: int) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    made.settimeout(PATIENCE)
    return made


def ended(connection: socket.socket) -> bytes:
    """What the server says until it ends the connection; fails if it does not."""
    said = b""
    try:
        while part := connection.recv(4096):
            said += part
    except ConnectionResetError:
        pass
    return said


def alive(port: int) -> bool:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=PATIENCE) as answer:
        return bool(json.loads(answer.read()) == {"status": "alive"})


@pytest.mark.parametrize("head", [b"", b"POST /v1/reports HTTP/1.1\r\nHost:", HEAD])
def test_a_head_that_does_not_come_is_not_waited_for(head: bytes, tmp_path: Path, clock: Clock) -> None:
    with site(tmp_path, head_seconds=PATIENCE) as port, client(port) as slow:
        slow.sendall(head)
        assert alive(port)  # by then the server has met the slow one as well
        clock.ahead = 2 * PATIENCE
        assert ended(slow) == b""
        assert alive(port)


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(tmp_path: Path) -> None:
    with site(tmp_path, head_seconds=0.3) as port, client(port) as slow, pytest.raises(OSError):
        for place in range(10_000):
            slow.sendall(b"GET /"[place : place + 1] or b"x")
            time.sleep(0.01)


def test_a_head_has_a_size(tmp_path: Path) -> None:
    with site(tmp_path) as port, client(port) as large:
        with pytest.raises(OSError):
            for _ in range(10_000):
                large.sendall(b"POST /v1/reports HTTP/1.1\r\nX: " + b"x" * 10_000)
            assert ended(large) == b"x"
        assert alive(port)


@pytest.mark.parametrize("body", [b"", b"x"])
def test_a_body_that_does_not_come_is_refused(body: bytes, tmp_path: Path) -> None:
    with site(tmp_path, seconds=0.2) as port, client(port) as slow:
        slow.sendall(HEAD + b"Content-Length: 1000\r\n\r\n" + body)
        said = ended(slow)  # it also ends
        assert said.startswith(b"HTTP/1.1 408 ") and b"urn:deniable:problem:slow" in said


def test_many_slow_connections_make_room_for_others(tmp_path: Path) -> None:
    with site(tmp_path, connections=20, head_seconds=3600.0) as port:
        slow = [client(port) for _ in range(60)]
        for each in slow[::2]:
            each.sendall(b"GET / HT")
        assert all(alive(port) for _ in range(5))
        assert sum(ended_at_once(each) for each in slow) >= 40
        for each in slow:
            each.close()


def ended_at_once(connection: socket.socket) -> bool:
    connection.settimeout(0.05)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_honest_connections_stay_open(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.collector.connections.KEEP_ALIVE", 10 * PATIENCE)
    with site(tmp_path, head_seconds=PATIENCE, seconds=PATIENCE) as port, client(port) as kept:
        for _ in range(3):
            kept.sendall(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            said = b""
            while b'{"status":"alive"}' not in said:
                part = kept.recv(4096)
                assert part, said
                said += part
            clock.ahead += 2 * PATIENCE  # longer than a head may take: between requests it may
            time.sleep(0.2)


class Loop:
    """An event loop whose clock stands still."""

    def __init__(self) -> None:
        self.later = list[float]()

    def time(self) -> float:
        return 1000.0

    def call_later(self, seconds: float, _: Callable[[], None]) -> None:
        self.later.append(seconds)


def test_refused_bodies_are_read_in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many send on after a refusal, all together are read no faster than one per turn."""
    from deniable.collector.connections import BREATH, TURN, Connection

    monkeypatch.setattr(Connection, "_turn", 0.0)
    loop, most = Loop(), round(Limits().seconds / TURN)
    made = [Connection.__new__(Connection) for _ in range(most + 10)]
    flows, transports = [MagicMock() for _ in made], [MagicMock() for _ in made]
    for each, flow, transport in zip(made, flows, transports, strict=True):
        each.loop, each.flow, each.transport, each.body = loop, flow, transport, 0  # type: ignore[assignment]
        each._throw_away()
    assert len(loop.later) == most and min(loop.later) == BREATH
    assert loop.later[100:] == pytest.approx([TURN * (place + 1) for place in range(100, most)])
    paused = [flow.pause_reading.called for flow in flows]
    dropped = [transport.abort.called for transport in transports]
    assert paused == [True] * most + [False] * 10 and dropped == [False] * most + [True] * 10


# How it starts and stops


def command(file: Path, port: int, *more: str) -> list[str]:
    return [sys.executable, "-u", "-m", "deniable", "serve", str(file), "--port", str(port), *more]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(ONE)
    return path


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_the_log_says_when_it_starts_and_stops(kind: signal.Signals, file: Path) -> None:
    port = free_port()
    with running(command(file, port), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(url, process)
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(url + "/v1/reports", b"damaged", timeout=PATIENCE)
        process.send_signal(kind)
        out, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, log
    lines = [line.split(" ", 3)[3] for line in log.splitlines()]
    assert lines[0].startswith("event=started survey=one fingerprint=") and f"port={port}" in lines[0]
    assert f"event=stopping signal={kind.name}" in lines and lines[-1] == "event=stopped survey=one"
    assert any(line.startswith("event=refused reason=media requests=1") for line in lines)
    assert "Aborted" not in out + log and "Traceback" not in log
    token = file.with_suffix(".token").read_text().strip()
    assert token and token not in out + log  # in a file that only its owner reads
    assert file.with_suffix(".token").stat().st_mode & 0o077 == 0


def test_a_busy_port_leaves_no_trace(file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        done = subprocess.run(command(file, busy.getsockname()[1]), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and "Nothing can listen at 127.0.0.1" in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == "" and [path.name for path in file.parent.iterdir()] == ["survey.toml"]


def test_a_bad_certificate_leaves_no_trace(file: Path) -> None:
    bad = file.with_name("cert.pem")
    bad.write_text("no certificate")
    done = subprocess.run(
        command(file, free_port(), "--tls-cert", str(bad), "--tls-key", str(bad)),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 2 and "certificate" in done.stderr
    assert sorted(path.name for path in file.parent.iterdir()) == ["cert.pem", "survey.toml"]


def test_events_are_one_line_each(caplog: pytest.LogCaptureFixture) -> None:
    from deniable.collector.events import note

    with caplog.at_level(logging.INFO):
        note("away", cause='two\nlines, a "quote"', number=3)
    assert caplog.messages == ['event=away cause="two\\nlines, a \\"quote\\"" number=3']


def test_refusals_are_logged_together(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from deniable.collector.work import working_beside

    store = open_store(str(tmp_path / "store.db"))
    app = App(Collector(survey(ONE), store), Gate(), Gate())

    async def work() -> None:
        async with working_beside(lambda: [app]):
            app.metrics.refused["damaged"] += 1000

    with caplog.at_level(logging.INFO):
        finished(work())
    assert caplog.messages == ["event=refused reason=damaged requests=1000 seconds=0 survey=one"]
    store.close()


def test_a_crowd_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Something listens and takes what it is sent, but never answers."""
    monkeypatch.setattr("deniable.collector.crowd.PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(Unavailable, match="No response"):
        finished(post_all(f"http://127.0.0.1:{silent.getsockname()[1]}", iter([b"x"]), 2))
