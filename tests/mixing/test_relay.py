"""Devices, a relay and a collector, over HTTP and in processes of their own."""

import json
import signal
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
from deniable.collector import open_store
from deniable.collector.access import new_token
from deniable.collector.mixed import Mixed
from deniable.collector.preflight import Plan, findings
from deniable.collector.relay import Forwarder, most_at_once
from deniable.collector.serve import Place
from deniable.device import Device
from deniable.device.sending import Reply, http_sender
from deniable.mixing import Terms, make_terms, mix_sender, mixed_losses
from deniable.mixing.sealing import MEDIA_TYPE
from deniable.mixing.waiting import Waiting
from tests.mixing import SURVEY, survey_in, survey_of
from tests.mixing.processes import PEOPLE, counted, keys, relay
from tests.servers import Served, free_port, served
from tests.waits import until

TAKEN = json.dumps({"counted": 5, "duplicates": 0, "refused": [], "survey": "0" * 32}).encode()


@contextmanager
def closing_of(collector: Served) -> Iterator[Served]:
    try:
        yield collector.ready()
    finally:
        collector.stop()


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
            assert terms.fingerprint in last.output
            until(lambda: counted(collector.url) == PEOPLE)
            for message in messages:  # their devices never heard the answer
                assert sender(message or b"").status == 202
            crowd = survey.randomize_all({"commute": ["car"] * PEOPLE}, PEOPLE)
            assert [sender(message).status for message in crowd] == [202] * PEOPLE
            until(lambda: counted(collector.url) == 2 * PEOPLE)
        mixed.end()
    log = mixed.log.read_text()
    assert log.count("event=forwarded messages=5 counted=5 duplicates=0 refused=0") == 2
    assert "Traceback" not in log and log.rstrip().endswith("event=stopped waiting=0")
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
        assert status(None) == 200 and status(sealed, "/v1/reports") == 404  # the terms, for people to compare
        assert status(sealed, media="application/json") == 415
        assert status(sealed, media=terms.media_type) == 202
        assert status(sealed, media=f"{MEDIA_TYPE}; terms={'0' * 32}") == status(sealed, media=f"{MEDIA_TYPE};terms=") == 409


def test_the_collector_reads_what_it_can(tmp_path: Path) -> None:
    """One message that cannot be read must not hold up the others."""
    survey = survey_in(tmp_path)
    file = keys(tmp_path)
    terms = Terms.load(file)
    good = [terms.seal(message)[16:] for message in survey.randomize_all({"commute": ["bus"] * 3}, 3)]
    body = b"".join([good[0], bytes(terms.length), good[1], terms.seal(b"nonsense" * 9)[16:], good[2]])
    with served(tmp_path / "survey.toml", str(tmp_path / "survey.db")) as collector:

        def post(body: bytes, headers: dict[str, str] | None = None) -> tuple[int, dict[str, object]]:
            request = urllib.request.Request(collector.url + "/v1/reports", body, headers or {"Content-Type": MEDIA_TYPE})
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return int(answer.status), json.loads(answer.read())
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, json.loads(error.read())

        assert post(body) == (200, {"counted": 3, "duplicates": 0, "refused": [], "survey": survey.fingerprint})
        assert post(body)[1]["duplicates"] == 3
        assert post(bytes(PEOPLE * terms.length))[0] == 400 and post(body[:-1])[0] == 400 and post(b"")[0] == 400
        assert post(body[terms.length :])[1]["type"] == "urn:deniable:problem:too-few"
        other = {"Content-Type": f"{MEDIA_TYPE}; terms={'0' * 32}"}  # of a relay that was not started anew with new keys
        assert post(body, other)[1]["type"] == "urn:deniable:problem:other-terms"


def test_a_collector_takes_the_reports_of_a_mixed_survey_from_its_relay_only(tmp_path: Path) -> None:
    survey = survey_in(tmp_path)
    terms = Terms.load(keys(tmp_path))
    message, data = survey.randomize({"commute": "bus"}), str(tmp_path / "survey.db")
    with served(tmp_path / "survey.toml", data) as collector:
        direct = http_sender(collector.url)(message)
        assert (direct.status, direct.reason) == (403, "mixed-only") and "relay" in direct.detail
        token = new_token(open_store(data), survey.id, "batch", "import")
        until(lambda: http_sender(collector.url, token)(message).reason == "mixed-only")  # nor with a token
        assert counted(collector.url) == 0
        for verb in (["answer"], ["simulate", "--people", "3"]):  # which ask first
            file, ledger = str(tmp_path / "survey.toml"), tmp_path / "survey.ledger"
            past = CliRunner().invoke(main, [*verb, file, "--url", collector.url, "--yes"], input="bike\n")
            assert past.exit_code == 2 and "Nothing was sent" in past.output and not ledger.exists()
        assert collector.get("/v1/intake")["refused"].keys() == {"mixed-only"}
        shown = collector.get("/v1/mix")
        assert shown["fingerprint"] == terms.fingerprint and shown["key"] == terms.key
        assert shown["epsilon"] == pytest.approx(mixed_losses(survey, PEOPLE, 1e-3).mixed.epsilon)
    for name in ("survey.mixkey", "survey.mix"):
        (tmp_path / name).unlink()
    with served(tmp_path / "survey.toml", data) as collector:  # not mixed any more
        assert http_sender(collector.url)(message).arrived and counted(collector.url) == 1
        with pytest.raises(urllib.error.HTTPError, match="404"):
            collector.get("/v1/mix")


def test_simulate_asks_the_relay_first(tmp_path: Path) -> None:
    """With other terms it would take nothing; a relay that is down would be tried for a minute."""
    survey_in(tmp_path)
    file = keys(tmp_path)
    given = [str(tmp_path / "survey.toml"), "--people", "3", "--yes", "--mix", str(file)]
    down = CliRunner().invoke(main, ["simulate", *given])
    assert down.exit_code == 2 and "cannot take reports: it does not answer" in down.output


def test_a_collector_does_not_start_with_files_that_do_not_belong_together(tmp_path: Path) -> None:
    survey = survey_in(tmp_path)
    file = keys(tmp_path)
    before = file.read_text()
    assert Mixed.beside(tmp_path / "survey.toml", survey) is not None
    assert Mixed.beside(tmp_path / "another.toml", survey) is None
    file.unlink()
    with pytest.raises(dn.InvalidParameter, match="missing next to"):
        Mixed.beside(tmp_path / "survey.toml", survey)
    file.write_text(before)
    kept = (tmp_path / "survey.mixkey").rename(tmp_path / "backup")
    with pytest.raises(dn.InvalidParameter, match="without mixing, remove"):  # and not served unmixed in silence
        Mixed.beside(tmp_path / "survey.toml", survey)
    kept.rename(tmp_path / "survey.mixkey")
    make_terms(survey, "https://mix.example", PEOPLE, 256)[0].save(file)
    with pytest.raises(dn.InvalidParameter, match="do not belong together"):
        Mixed.beside(tmp_path / "survey.toml", survey)
    file.write_text(before)
    with pytest.raises(dn.InvalidParameter, match="another survey"):
        Mixed.beside(tmp_path / "survey.toml", survey_of(SURVEY.replace("bike", "bicycle")))
    (tmp_path / "survey.mixkey").write_text((tmp_path / "survey.mixkey").read_text().replace('"size": 256', '"size": 0'))
    with pytest.raises(dn.InvalidParameter, match="damaged"):
        Mixed.beside(tmp_path / "survey.toml", survey)


def test_a_relay_that_has_other_terms_than_the_collector_does_not_start(tmp_path: Path) -> None:
    survey_in(tmp_path)
    file = keys(tmp_path)
    old = tmp_path / "old.mix"
    file.rename(old)
    (tmp_path / "survey.mixkey").unlink()
    keys(tmp_path)
    with served(tmp_path / "survey.toml", str(tmp_path / "survey.db")) as collector:
        started = CliRunner().invoke(main, ["mix", str(old), "--collector", collector.url, "--port", str(free_port())])
        assert started.exit_code == 2 and "differ from those of this relay" in started.output
        assert Terms.load(old).fingerprint in started.output and Terms.load(file).fingerprint in started.output


def test_a_check_before_the_start_knows_about_mixing(tmp_path: Path) -> None:
    survey_in(tmp_path)
    file = keys(tmp_path)
    plan = Plan(tmp_path / "survey.toml", str(tmp_path / "survey.db"), Place(port=free_port()))

    def found() -> list[tuple[str, str]]:
        return [(each.level, each.text) for each in findings(plan) if each.what == "mixing"]

    (good, silent) = found()
    assert good[0] == "ok" and Terms.load(file).fingerprint in good[1]
    assert silent[0] == "note" and "does not answer" in silent[1]
    with relay(file, "http://127.0.0.1:9"):
        assert [level for level, _ in found()] == ["ok"]
        (tmp_path / "survey.mixkey").chmod(0o644)
        assert [level for level, _ in found()] == ["ok", "note"]
        own = Terms.load(file)
        terms, opener = make_terms(dn.Survey.load(tmp_path / "survey.toml"), own.relay, PEOPLE, own.size)
        terms.save(file)
        (tmp_path / "survey.mixkey").write_text(opener.text)
        assert [level for level, _ in found()] == ["ok", "error", "note"]
    file.unlink()
    assert [level for level, _ in found()] == ["error"]


def test_pages_of_the_collector_may_send_and_no_others(tmp_path: Path) -> None:
    """CORS: the origin of the collector, to post one media type, and never with credentials."""
    survey_in(tmp_path)
    file = keys(tmp_path)
    with relay(file, "http://127.0.0.1:9/s/commute") as mixed:

        def asked(origin: str, method: str = "OPTIONS", path: str = "/v1/mix") -> tuple[int, dict[str, str]]:
            headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
            request = urllib.request.Request(mixed.url + path, None, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return answer.status, {name.lower(): value for name, value in answer.headers.items()}
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, {name.lower(): value for name, value in error.headers.items()}

        status, headers = asked("http://127.0.0.1:9")
        assert status == 204 and headers["access-control-allow-origin"] == "http://127.0.0.1:9"
        assert headers["access-control-allow-methods"] == "POST"
        assert headers["access-control-allow-headers"] == "content-type"
        assert asked("http://127.0.0.1:9", "GET")[1]["access-control-allow-origin"] == "http://127.0.0.1:9"
        answers = [headers, asked("http://127.0.0.1:9", "GET")[1], asked("http://127.0.0.1:9", "POST")[1]]
        assert not any("access-control-allow-credentials" in each for each in answers)
        for origin, path in [
            ("https://other.example", "/v1/mix"),
            ("null", "/v1/mix"),
            ("http://127.0.0.1:9", "/health/live"),
        ]:
            status, headers = asked(origin, path=path)
            assert status in (404, 405) and "access-control-allow-origin" not in headers


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
    forwarder = Forwarder(terms, waiting, lambda _: answer, most_at_once(terms, None))
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
    assert both.exit_code == 2 and "not part of the certificate" in both.output
    assert dn.Survey.load(tmp_path / "survey.toml").fingerprint == Terms.load(file).survey


def test_no_batch_is_larger_than_what_the_collector_takes(tmp_path: Path) -> None:
    """It must not change once it was sent, so a larger one would wait for ever."""
    terms = Terms("0" * 32, "https://mix.example", "11" * 32, 1000, 256)
    waiting, sizes = Waiting(tmp_path / "mix.db", terms.survey), []

    def take(body: bytes) -> tuple[int, bytes, float | None]:
        sizes.append(len(body) // terms.length)
        return 200, TAKEN, None

    waiting.put((place.to_bytes(16, "big"), bytes(terms.length)) for place in range(2039))
    forwarder = Forwarder(terms, waiting, take, most_at_once(terms, None))
    while forwarder.step():
        pass
    assert sizes == [1000, 1000] and waiting.count == 39
    assert most_at_once(terms, "token") == 10_000
    many = Terms("0" * 32, "https://mix.example", "11" * 32, 1001, 256)
    assert most_at_once(many, "token") == 10_000
    with pytest.raises(dn.InvalidParameter, match="batch token"):
        most_at_once(many, None)
    long = Terms("0" * 32, "https://mix.example", "11" * 32, 1001, 4096)
    assert most_at_once(long, "token") == (8 << 20) // long.length
    with pytest.raises(dn.InvalidParameter, match="at most 2,024 in one request"):
        Terms("0" * 32, "https://mix.example", "11" * 32, 2025, 4096)


def test_a_rate_is_for_each_person_behind_a_proxy(tmp_path: Path) -> None:
    survey = survey_in(tmp_path)
    file = keys(tmp_path)
    sealed = Terms.load(file).seal(survey.randomize({"commute": "bus"}))
    with relay(file, "http://127.0.0.1:9", "--rate", "1", "--proxy", "127.0.0.1") as mixed:

        def status(address: str) -> int:
            headers = {"Content-Type": MEDIA_TYPE, "X-Forwarded-For": address}
            try:
                request = urllib.request.Request(mixed.url + "/v1/mix", sealed, headers)
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return int(answer.status)
            except urllib.error.HTTPError as error:
                with error:
                    return error.code

        until(lambda: status("198.51.100.9") == 429)
        assert status("198.51.100.10") == 202
