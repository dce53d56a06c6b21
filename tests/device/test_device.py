"""Devices: randomize once, remember it, send the same report until it arrives, and leave the host in peace."""

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import deniable as dn
from deniable.device import Reply
from deniable.device.sending import http_sender, send_until
from tests.surveys import COMMUTE, ONE, SAMPLED, survey
from tests.waits import PATIENCE, until

TOWN = {"town": "Nice"}


class Collector:
    """A sender that answers as it is told, and remembers what it got."""

    def __init__(self, *statuses: int) -> None:
        self.statuses, self.got = list(statuses), list[bytes]()

    def __call__(self, message: bytes) -> Reply:
        self.got.append(message)
        return Reply(self.statuses.pop(0) if self.statuses else 200)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the test itself would have waited for; threads that other tests have left do not count."""
    waits, own = list[float](), threading.get_ident()

    def sleep(seconds: float) -> None:
        if threading.get_ident() == own:
            waits.append(seconds)

    monkeypatch.setattr("time.sleep", sleep)
    return waits


def device(ledger: Path | dn.Ledger | None, send: Collector | None = None, text: str = ONE) -> dn.Device:
    return dn.Device(survey(text), ledger, send)


def test_it_answers_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    first = device(path)
    assert first.message() is None
    message = first.answer(TOWN)
    assert first.message() == message
    for again in (first, device(path)):
        with pytest.raises(dn.BudgetSpent):
            again.answer(TOWN)
        assert again.message() == message
    assert "Nice" not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    assert dn.Ledger(path).spent() == 1.0


def test_the_report_is_in_the_ledger_before_it_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"

    def crash(message: bytes) -> Reply:
        assert device(path).message() == message
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dn.Device(survey(ONE), path, crash).submit(TOWN)
    collector = Collector()
    assert device(path, collector).submit({"town": "Paris"}).state == "sent"
    assert collector.got == [device(path).message()]


def test_it_sends_the_same_report_until_it_arrives(tmp_path: Path) -> None:
    collector = Collector(0, 503, 429, 500, 200)
    assert device(tmp_path / "ledger", collector).submit(TOWN).state == "sent"
    assert len(collector.got) == 5 and len(set(collector.got)) == 1
    assert device(tmp_path / "ledger", collector).submit(TOWN).state == "sent"
    assert len(collector.got) == 5  # it is known to have arrived


def test_what_did_not_arrive_is_kept_and_sent_next_time(tmp_path: Path) -> None:
    collector = Collector(*[0] * 5)
    assert device(tmp_path / "ledger", collector).submit(TOWN).state == "kept"
    assert device(tmp_path / "ledger", collector).submit().state == "sent"
    assert len(set(collector.got)) == 1


def test_a_refusal_is_final(tmp_path: Path) -> None:
    collector = Collector(409)
    assert device(tmp_path / "ledger", collector).submit(TOWN) == dn.Outcome("refused", "status 409")
    assert len(collector.got) == 1


def test_waiting_grows_and_heeds_the_collector() -> None:
    waits: list[float] = []
    send_until(lambda message: Reply(503), b"", 6, first=1.0, sleep=waits.append)
    assert len(waits) == 5
    for wait, backoff in zip(waits, (1, 2, 4, 8, 16), strict=True):
        assert backoff / 2 <= wait <= backoff
    waits.clear()
    send_until(lambda message: Reply(429, wait=30.0), b"", 2, sleep=waits.append)
    assert waits == [30.0]


def test_it_never_raises_into_the_host(tmp_path: Path) -> None:
    bad = device(tmp_path / "ledger", Collector())
    outcome = bad.submit({"town": "a secret"})
    assert outcome == dn.Outcome("dropped", "OutsideDomain") and bad.dropped == 1
    assert not (tmp_path / "ledger").exists()
    with pytest.raises(dn.OutsideDomain):
        bad.submit({"town": "a secret"}, strict=True)
    assert device(None).submit(TOWN).state == "dropped"  # there is nobody to send to
    (tmp_path / "ledger").write_text("not a ledger")
    assert device(tmp_path / "ledger", Collector()).submit(TOWN).state == "dropped"


def test_a_damaged_ledger_stops_answers(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    for content in ("", "{}", '{"format": "deniable ledger 9", "surveys": {}}', "[]"):
        path.write_text(content)
        with pytest.raises(dn.InvalidParameter, match="no survey can be answered without it"):
            device(path).answer(TOWN)


def test_a_lifetime_has_a_limit(tmp_path: Path) -> None:
    ledger = dn.Ledger(tmp_path / "ledger", lifetime=2.5)
    device(ledger).answer(TOWN)
    with pytest.raises(dn.BudgetSpent, match="limit of 2"):
        device(ledger, text=COMMUTE).answer({"mode": "bus", "minutes": 3})
    assert ledger.spent() == 1.0


def test_a_lifetime_limit_outlives_the_program(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    assert dn.Ledger(path, lifetime=2.5).lifetime == 2.5
    device(path).answer(TOWN)
    for reopened in (path, dn.Ledger(path)):
        with pytest.raises(dn.BudgetSpent, match=r"limit of 2\.5"):
            device(reopened, text=COMMUTE).answer({"mode": "bus", "minutes": 3})
    with pytest.raises(dn.InvalidParameter, match=r"limit of 2\.5, which cannot be raised to 10"):
        dn.Ledger(path, lifetime=10)
    older = dn.Ledger(path)
    assert dn.Ledger(path, lifetime=1.5).lifetime == older.lifetime == dn.Ledger(path).lifetime == 1.5
    assert "of at most 1.5 in a lifetime" in older.statement()


@pytest.mark.parametrize("lifetime", [-1, float("nan"), float("inf"), True, "4"])
def test_a_lifetime_limit_is_a_number(tmp_path: Path, lifetime: object) -> None:
    with pytest.raises(dn.InvalidParameter, match="lifetime limit must be a number"):
        dn.Ledger(tmp_path / "ledger", lifetime)  # type: ignore[arg-type]
    (tmp_path / "ledger").write_text(json.dumps({"format": "deniable ledger 1", "lifetime": lifetime, "surveys": {}}))
    with pytest.raises(dn.InvalidParameter, match="cannot be read"):
        device(tmp_path / "ledger").answer(TOWN)


def test_a_changed_survey_under_the_same_id_needs_a_new_id(tmp_path: Path) -> None:
    device(tmp_path / "ledger").answer(TOWN)
    collector = Collector()
    changed = device(tmp_path / "ledger", collector, ONE.replace("Which town?", "What town?"))
    actions: list[Callable[[], object]] = [
        lambda: changed.answer(TOWN),
        changed.message,
        changed.send,
        lambda: changed.submit(TOWN, strict=True),
    ]
    for action in actions:
        with pytest.raises(dn.SurveyMismatch, match="A changed survey needs a new id"):
            action()
    assert changed.submit(TOWN) == dn.Outcome("dropped", "SurveyMismatch") and not collector.got


def test_a_part_is_drawn_once() -> None:
    client = dn.Device(survey(SAMPLED))
    part = client.part
    message = client.answer({"a": None, "b": 3, "c": 0.5})
    assert client.survey.read(message)[0].part == part


def test_a_part_outlives_the_program(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    first = device(path, text=SAMPLED).part
    assert {device(path, text=SAMPLED).part for _ in range(60)} == {first}  # drawn anew, all would agree once in 3^60
    assert survey(SAMPLED).read(device(path, text=SAMPLED).answer({"a": None, "b": 3, "c": 0.5}))[0].part == first
    damaged = json.loads(path.read_text())
    damaged["parts"] = dict.fromkeys(damaged["parts"], "some")
    path.write_text(json.dumps(damaged))
    with pytest.raises(dn.InvalidParameter, match="cannot be read"):
        _ = device(path, text=SAMPLED).part


def test_nobody_answers_there() -> None:
    send = http_sender("http://127.0.0.1:9", timeout=1)
    assert send(b"x") == Reply(0, None, "URLError")
    with pytest.raises(dn.InvalidParameter, match="http"):
        http_sender("ftp://example")


def test_the_client_loads_little() -> None:
    heavy = ["numba", "scipy", "pyarrow", "rich", "click", "starlette", "uvicorn", "psycopg", "sqlite3", "ssl", "asyncio"]
    code = f"""
import sys, json
from deniable.survey.reading import parse_toml
from deniable.device import Device
from deniable.survey import Survey
survey = Survey.from_json({json.dumps(survey(COMMUTE).to_json())})
Device(survey).answer({{"mode": "bus", "minutes": 3}})
print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "[]"


def test_the_old_way_to_make_a_device_says_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match=r"Use Device\(survey"):
        client = survey(COMMUTE).device()
    assert isinstance(client, dn.Device)


# Who is believed


class Network:
    """Something that answers every request in one way, as a collector, a hotel or a broken proxy would."""

    def __init__(self, *answers: bytes) -> None:
        self.answers, self.got = list(answers), list[bytes]()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        with self._socket:
            for answer in self.answers:
                connection, _ = self._socket.accept()
                with connection:
                    got = b""
                    while b"\r\n\r\n" not in got or len(got.partition(b"\r\n\r\n")[2]) < self._length(got):
                        got += connection.recv(65536)
                    self.got.append(got)
                    connection.sendall(answer)

    @staticmethod
    def _length(got: bytes) -> int:
        found = re.search(rb"(?i)content-length: (\d+)", got)
        return int(found[1]) if found else 0


def http(status: str, body: bytes, *headers: str) -> bytes:
    head = "\r\n".join((f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close"))
    return head.encode() + b"\r\n\r\n" + body


def outcome(**more: object) -> bytes:
    data = {"counted": 1, "duplicates": 0, "refused": [], "survey": survey(ONE).fingerprint, **more}
    return json.dumps(data).encode()


@pytest.mark.parametrize("body", [outcome(), outcome(counted=0, duplicates=1)])
def test_the_collector_is_believed(body: bytes, tmp_path: Path) -> None:
    client = dn.Device(survey(ONE), tmp_path / "ledger", Network(http("200 OK", body)).url)
    assert client.submit(TOWN) == dn.Outcome("sent")


STRANGERS = {
    "a page that wants a login": http("200 OK", b"<html>Log in</html>", "Content-Type: text/html"),
    "nothing at all": http("204 No Content", b""),
    "another survey": http("200 OK", outcome(survey="00" * 16)),
    "something in JSON": http("200 OK", b'{"counted": 1}'),
    "nothing counted": http("200 OK", outcome(counted=0)),
    "a list": http("200 OK", b"[]"),
    "a redirect": http("302 Found", b"", "Location: https://login.example/"),
    "a redirect that keeps the method": http("307 Temporary Redirect", b"", "Location: /elsewhere"),
    "a redirect to somebody who answers": http("302 Found", b"", "Location: /elsewhere"),
    "another of them": http("303 See Other", b"", "Location: /elsewhere"),
    "a page that forbids": http("403 Forbidden", b"<html>No</html>"),
    "a page that is gone": http("410 Gone", b'{"detail": "gone"}'),
    "no HTTP": b"SSH-2.0-OpenSSH\r\n",
    "nobody": b"",
    "half an answer": b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + outcome()[:40],
}


@pytest.mark.parametrize("who", STRANGERS)
def test_strangers_are_not_believed(who: str, tmp_path: Path) -> None:
    network = Network(STRANGERS[who], http("200 OK", outcome()))
    client = dn.Device(survey(ONE), tmp_path / "ledger", network.url, attempts=1)
    assert client.submit(TOWN).state == "kept" and client.dropped == 0
    assert client.submit().state == "sent"
    first, second = (got.partition(b"\r\n\r\n")[2] for got in network.got)
    assert first == second  # the same report; and no redirect was followed in between


def test_only_the_collector_refuses(tmp_path: Path) -> None:
    problem = json.dumps({"type": "urn:deniable:problem:closed", "status": 410, "detail": "It is over."}).encode()
    network = Network(http("410 Gone", problem, "Content-Type: application/problem+json"))
    client = dn.Device(survey(ONE), tmp_path / "ledger", network.url)
    assert client.submit(TOWN) == dn.Outcome("refused", "It is over.")


def test_the_caller_is_not_held_up(tmp_path: Path, no_waiting: list[float]) -> None:
    asked = dn.Device(survey(ONE), tmp_path / "a", lambda message: Reply(429, wait=30.0))
    assert asked.submit(TOWN).state == "kept" and no_waiting == []  # it would have had to wait for longer than it may
    busy = dn.Device(survey(ONE), tmp_path / "b", lambda message: Reply(503), patience=2.0, attempts=50)
    assert busy.submit(TOWN).state == "kept" and sum(no_waiting) <= 2.0


def test_a_report_is_sent_in_the_background(tmp_path: Path) -> None:
    asked, sent = threading.Event(), threading.Event()

    def slow(message: bytes) -> Reply:
        asked.wait(PATIENCE)
        sent.set()
        return Reply(200)

    client = dn.Device(survey(ONE), tmp_path / "ledger", slow)
    assert client.submit(TOWN, wait=False) == dn.Outcome("kept", "sending")
    assert not sent.is_set() and client.message() is not None
    asked.set()
    assert sent.wait(PATIENCE)
    until(lambda: dn.Ledger(tmp_path / "ledger").entries()["one"].state == "sent")
