"""Devices, a relay and a collector, over HTTP and in processes of their own."""

import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from deniable.collector.relay import Forwarder
from deniable.collector.service import Limits
from deniable.device import Device
from deniable.device.sending import Reply
from deniable.mixing import Terms, mix_sender
from deniable.mixing.sealing import MEDIA_TYPE
from deniable.mixing.waiting import Waiting
from tests.mixing import survey_in
from tests.servers import Served, free_port, served, wait_until_ready
from tests.waits import until

PEOPLE = 5
TAKEN = json.dumps({"counted": 5, "duplicates": 0, "refused": [], "survey": "0" * 32}).encode()


class Mixed:
    """`deniable mix` in a process of its own."""

    def __init__(self, terms: Path, port: int, collector: str) -> None:
        self.command = [sys.executable, "-m", "deniable", "mix", str(terms), "--collector", collector, "--port", str(port)]
        self.url = f"http://127.0.0.1:{port}"
        self.log = terms.with_suffix(".log")

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        wait_until_ready(self.url, self.process)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait(timeout=60)


@contextmanager
def relay(terms: Path, collector: str) -> Iterator[Mixed]:
    mixed = Mixed(terms, int(Terms.load(terms).relay.rsplit(":", 1)[1]), collector)
    mixed.start()
    try:
        yield mixed
    finally:
        if mixed.process.poll() is None:
            mixed.end(signal.SIGKILL)


@contextmanager
def closing_of(collector: Served) -> Iterator[Served]:
    try:
        yield collector.ready()
    finally:
        collector.stop()


def keys(folder: Path) -> Path:
    relay = f"http://127.0.0.1:{free_port()}"
    made = CliRunner().invoke(
        main, ["mix", "keys", str(folder / "survey.toml"), "--relay", relay, "--people", str(PEOPLE), "--delta", "1e-3"]
    )
    assert made.exit_code == 0, made.output
    assert "Against the collector: epsilon" in made.output and "together: epsilon 1," in made.output
    assert (folder / "survey.mixkey").stat().st_mode & 0o077 == 0
    return folder / "survey.mix"


def counted(url: str) -> int:
    with urllib.request.urlopen(url + "/v1/results", timeout=30) as answer:
        return int(json.loads(answer.read())["people"])


def test_from_devices_through_a_relay_that_is_killed_to_the_collector(tmp_path: Path) -> None:
    survey = survey_in(tmp_path)
    file = keys(tmp_path)
    terms, port = Terms.load(file), free_port()
    sender = mix_sender(terms)
    messages = []
    with relay(file, f"http://127.0.0.1:{port}") as mixed:
        for person in range(PEOPLE - 1):
            device = Device(survey, tmp_path / f"{person}.ledger", sender)
            assert device.submit({"commute": "bus"}).state == "sent"
            messages.append(device.message())
        assert sender(messages[0] or b"").status == 202  # again: it is there once
        mixed.end(signal.SIGKILL)
        mixed.start()  # with what it had
        with closing_of(Served(tmp_path / "survey.toml", str(tmp_path / "survey.db"), port)) as collector:
            time.sleep(2)  # two looks of the relay
            assert counted(collector.url) == 0  # too few to go
            last = CliRunner().invoke(
                main,
                ["answer", str(tmp_path / "survey.toml"), "--mix", str(file), "--yes", "--ledger", str(tmp_path / "l")],
                input="bike\n",
            )
            assert last.exit_code == 0 and "with at least 4 others" in last.output, last.output
            until(lambda: counted(collector.url) == PEOPLE)
            for message in messages:  # their devices never heard the answer
                assert sender(message or b"").status == 202
            crowd = survey.randomize_all({"commute": ["car"] * PEOPLE}, PEOPLE)
            assert [sender(message).status for message in crowd] == [202] * PEOPLE
            until(lambda: counted(collector.url) == 2 * PEOPLE)
        mixed.end()
    log = mixed.log.read_text()
    assert log.count("event=forwarded messages=5 counted=5 duplicates=0 refused=0") == 2
    assert "127.0.0.1:" not in log.replace(mixed.url, "").replace(f"127.0.0.1:{port}", "")  # no address of a device
    left = b"".join(path.read_bytes() for path in tmp_path.glob("survey.mix.db*"))
    assert len(left) > 0 and Waiting(tmp_path / "survey.mix.db", terms.survey).count == 0


def test_what_the_relay_refuses(tmp_path: Path) -> None:
    survey = survey_in(tmp_path)
    file = keys(tmp_path)
    terms = Terms.load(file)
    sealed = terms.seal(survey.randomize({"commute": "bus"}))
    with relay(file, "http://127.0.0.1:9") as mixed:

        def status(body: bytes | None, path: str = "/v1/mix", media: str = MEDIA_TYPE) -> int:
            request = urllib.request.Request(mixed.url + path, body, {"Content-Type": media})
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return int(answer.status)
            except urllib.error.HTTPError as error:
                with error:
                    assert json.loads(error.read())["type"].startswith("urn:deniable:problem:")
                    return error.code

        assert status(sealed) == 202
        assert status(sealed[:-1]) == status(sealed + b"x") == status(bytes(1 << 20)) == 400
        assert status(None) == 405 and status(sealed, "/v1/reports") == 404
        assert status(sealed, media="application/json") == 415


def test_the_collector_reads_what_it_can(tmp_path: Path) -> None:
    """One message that cannot be read must not hold up the others."""
    survey = survey_in(tmp_path)
    file = keys(tmp_path)
    terms = Terms.load(file)
    good = [terms.seal(message)[16:] for message in survey.randomize_all({"commute": ["bus"] * 3}, 3)]
    body = b"".join([good[0], bytes(terms.length), good[1], terms.seal(b"nonsense" * 9)[16:], good[2]])
    with served(tmp_path / "survey.toml", str(tmp_path / "survey.db")) as collector:

        def post(body: bytes) -> tuple[int, dict[str, object]]:
            request = urllib.request.Request(collector.url + "/v1/reports", body, {"Content-Type": MEDIA_TYPE})
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return int(answer.status), json.loads(answer.read())
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, json.loads(error.read())

        assert post(body) == (200, {"counted": 3, "duplicates": 0, "refused": [], "survey": survey.fingerprint})
        assert post(body)[1]["duplicates"] == 3
        assert post(bytes(2 * terms.length))[0] == 400 and post(body[:-1])[0] == 400


@pytest.mark.parametrize(
    ("answer", "passed", "left"),
    [
        (Reply(0, None, "ConnectionRefusedError"), False, PEOPLE),
        ((503, b"{}", 2.0), False, PEOPLE),
        ((200, b"<html>a page of the network</html>", None), False, PEOPLE),
        ((200, TAKEN.replace(b"0" * 32, b"1" * 32), None), False, PEOPLE),
        ((410, b'{"type": "urn:deniable:problem:closed"}', None), False, PEOPLE),
        ((400, b'{"type": "urn:deniable:problem:damaged"}', None), True, 0),
        ((200, TAKEN, None), True, 0),
    ],
)
def test_a_batch_is_kept_until_the_collector_has_taken_it(
    tmp_path: Path, answer: tuple[int, bytes, float | None] | Reply, passed: bool, left: int
) -> None:
    terms = Terms("0" * 32, "https://mix.example", "11" * 32, PEOPLE, 256)
    waiting = Waiting(tmp_path / "mix.db", terms.survey)
    waiting.put((bytes([place]) * 16, bytes(terms.length)) for place in range(PEOPLE))
    forwarder = Forwarder(terms, waiting, lambda _: answer, Limits())
    assert forwarder.step() is passed
    assert len(waiting.batch(PEOPLE, 100)) == left
    assert (forwarder.step() is None) == (left == 0)


def test_certificates_state_both_losses(tmp_path: Path) -> None:
    survey_in(tmp_path)
    file = keys(tmp_path)
    shown = CliRunner().invoke(main, ["certify", str(tmp_path / "survey.toml"), "--mix", str(file), "--delta", "1e-3"])
    assert shown.exit_code == 0 and "Against the collector: epsilon" in shown.output, shown.output
    assert "Against relay and collector together: epsilon 1," in shown.output
    both = CliRunner().invoke(main, ["certify", str(tmp_path / "survey.toml"), "--mix", str(file), "--json"])
    assert both.exit_code == 2 and "no part of the record" in both.output
    assert dn.Survey.load(tmp_path / "survey.toml").fingerprint == Terms.load(file).survey
