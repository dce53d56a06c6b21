"""The exchange over HTTP: whatever arrives is answered with a reason, and nothing of it is signed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deniable.collector import open_store
from deniable.collector.app import App
from deniable.collector.invited import make_invitations
from deniable.collector.issuing import RATE
from tests.collector.test_app import Answer, get, refused, run
from tests.invitations.invited import Issued, invited

pytestmark = pytest.mark.needs("starlette", "gmpy2")
GOOD = "7f" + "00" * 255  # below every modulus of 2,048 bits


@pytest.fixture
def issued(tmp_path: Path) -> Iterator[Issued]:
    store = open_store(str(tmp_path / "store.db"))
    yield Issued(invited(store), store)
    store.close()


def exchange(app: App, body: bytes, method: str = "POST", headers: dict[str, str] | None = None) -> Answer:
    return run(app, (method, "/v1/invitation", body, headers or {}))[0]


def request(code: str, **changed: Any) -> bytes:
    return json.dumps({"invitation": code, "key": 0, "blinded": GOOD, **changed}).encode()


def test_hostile_requests_are_refused(issued: Issued) -> None:
    code = make_invitations(issued.collector.store, issued.collector.survey, 1)[0]
    n = json.loads(get(issued.app, "/v1/issuer").body)
    assert n["current"] == 0 and len(n["keys"]) == 2
    modulus = issued.collector.admission._keys[0].n  # type: ignore[union-attr]
    numbers = [f"{number:0512x}" for number in (0, 1, modulus - 1, modulus, 2**2048 - 1)]
    wrong: list[Any] = [*numbers, "", "00", GOOD + "00", "zz" * 256, 5, None, [GOOD]]
    bodies = [request(code, blinded=blinded) for blinded in wrong]
    bodies += [request(code, key=key) for key in (-1, 256, True, "0", 1.5, None)]
    bodies += [request(given) for given in ("", "x" * 101, "ä")] + [request(code, more=1), request(code, invitation=7)]
    bodies += [b"", b"null", b"[]", b"{", b"[" * 4000, b'{"invitation": "x"}', b"\xff"]
    for start in range(0, len(bodies), 20):
        issued.app = App(issued.collector, issued.app.submit_gate, issued.app.read_gate)  # with a rate of its own
        for body in bodies[start : start + 20]:
            refused(exchange(issued.app, body), 400, "damaged")
    issued.app = App(issued.collector, issued.app.submit_gate, issued.app.read_gate)
    refused(exchange(issued.app, b"x" * 5000), 413, "too-large")
    refused(exchange(issued.app, b"", method="GET"), 405, "method")
    refused(exchange(issued.app, request("unknown")), 403, "no-invitation")
    refused(exchange(issued.app, request(code, key=1)), 409, "other-key")  # in reserve
    refused(exchange(issued.app, request(code, key=9)), 409, "other-key")
    first = exchange(issued.app, request(code))  # all of that has cost the invitation nothing
    assert first.status == 200 and len(first.data()["signature"]) == 512
    assert exchange(issued.app, request(code)).data() == first.data()
    refused(exchange(issued.app, request(code, blinded="7e" + GOOD[2:])), 409, "exchanged")


def test_a_flood_of_guesses_is_cut_off(issued: Issued) -> None:
    code = make_invitations(issued.collector.store, issued.collector.survey, 1)[0]
    many = [("POST", "/v1/invitation", request(f"guess{place}")) for place in range(int(4 * RATE))]
    reasons = [answer.data()["type"].rpartition(":")[2] for answer in run(issued.app, *many)]
    assert set(reasons) == {"no-invitation", "too-often"} and reasons.count("too-often") >= RATE
    assert issued.token(code)  # from elsewhere, everything goes on


def test_an_open_survey_has_no_issuer(tmp_path: Path) -> None:
    from tests.collector.test_app import made
    from tests.surveys import ONE

    for app in made(tmp_path, ONE):
        refused(get(app, "/v1/issuer"), 404, "not-found")
        refused(exchange(app, request("code")), 404, "not-found")


def test_a_report_with_its_token_is_counted_over_http(issued: Issued) -> None:
    from tests.collector.json_writer import write_json
    from tests.collector.test_app import post

    codes = make_invitations(issued.collector.store, issued.collector.survey, 2)
    packed, written = (issued.token(code) for code in codes)
    assert post(issued.app, issued.report(packed)).outcome()["counted"] == 1
    refused(post(issued.app, issued.report(packed)), 403, "spent-token")
    refused(post(issued.app, issued.report()), 403, "not-invited")
    plain = write_json(issued.collector.survey, issued.collector.survey.read(issued.report())[0])
    body = json.dumps({**plain, "token": written.hex()}).encode()
    assert post(issued.app, body, "application/json").outcome()["counted"] == 1
    refused(post(issued.app, json.dumps({**plain, "token": "00"}).encode(), "application/json"), 400, "damaged")
