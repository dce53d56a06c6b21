"""The collector over HTTP: every refusal is a problem document, nothing hostile is counted, nothing is a 500."""

import asyncio
import gzip
import json
import random
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

import deniable as dn
from deniable.collector import Collector, open_store, results
from deniable.collector.access import Gate, RateLimit
from deniable.collector.app import App
from deniable.collector.replies import LONG
from deniable.collector.service import Limits, Shared
from deniable.collector.site import Site
from deniable.collector.tokens import hash_of
from deniable.survey.message import MEDIA_TYPE
from tests.collector.json_writer import write_json
from tests.surveys import COMMUTE, ONE, OPENS, SAMPLED, SPARSE, several, survey
from tests.waits import finished

pytestmark = pytest.mark.needs("starlette")
BATCH = {"authorization": "Bearer a batch token"}


class Answer:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    def data(self) -> Any:
        return json.loads(self.body)

    def outcome(self) -> Any:
        """What became of the messages, without the fingerprint of the survey, by which devices know the collector."""
        data = self.data()
        assert re.fullmatch("[0-9a-f]{32}", data.pop("survey"))
        return data


async def call(
    app: App | Site, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None, pieces: int = 1
) -> Answer:
    """One request, as a server would hand it over."""
    path, _, query = path.partition("?")
    given = {"content-length": str(len(body)), **(headers or {})}
    scope = {
        "type": "http", "http_version": "1.1", "method": method, "path": path, "raw_path": path.encode(),
        "query_string": query.encode(), "root_path": "", "scheme": "http", "client": ("192.0.2.1", 1), "server": ("x", 80),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in given.items()],
    }  # fmt: skip
    size = max(1, -(-len(body) // pieces))
    parts = [body[start : start + size] for start in range(0, len(body), size)] or [b""]
    events = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    events[-1]["more_body"] = False
    sent: list[Any] = []

    async def receive() -> Any:
        return events.pop(0) if events else {"type": "http.disconnect"}

    async def send(event: Any) -> None:
        sent.append(event)

    await app(scope, receive, send)
    head = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], head, b"".join(event.get("body", b"") for event in sent[1:]))


def post(app: App, body: bytes, media: str = MEDIA_TYPE, **more: Any) -> Answer:
    return run(
        app, ("POST", "/v1/reports", body, {"content-type": media, **more.pop("headers", {})}, more.get("pieces", 1))
    )[0]


def get(app: App, path: str, **headers: str) -> Answer:
    return run(app, ("GET", path, b"", headers))[0]


@asynccontextmanager
async def working(app: App | Shared) -> AsyncIterator[None]:
    app.writer.start(asyncio.get_running_loop())
    try:
        yield
    finally:
        await asyncio.to_thread(app.writer.stop)


def run(app: App, *requests: tuple[Any, ...]) -> list[Answer]:
    """All these requests at the same time."""

    async def all_of_them() -> list[Answer]:
        async with working(app):
            return list(await asyncio.gather(*(call(app, *request) for request in requests)))

    return finished(all_of_them())


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    yield from made(tmp_path, ONE)


def made(folder: Path, text: str, limits: Limits | None = None, now: float | None = None) -> Iterator[App]:
    store = open_store(str(folder / "store.db"))
    clock = time.time if now is None else lambda: now
    app = App(Collector(survey(text), store, clock), Gate(), Gate(), limits, Gate([hash_of("a batch token")]))
    app.shared.refusals = RateLimit(1e9, time.monotonic)  # a test that many refusals are held back sets the usual limit
    yield app
    store.close()


def counted(app: App) -> int:
    return results(app.collector.survey, app.collector.number, app.collector.store).people


def report(app: App) -> bytes:
    return dn.Device(app.collector.survey).answer({"town": "Nice"})


def refused(answer: Answer, status: int, reason: str) -> None:
    assert answer.status == status, answer.body
    assert answer.headers["content-type"] == "application/problem+json"
    data = answer.data()
    assert data["type"] == f"urn:deniable:problem:{reason}" and data["status"] == status
    assert data["title"] and data["detail"]
    assert answer.headers["x-content-type-options"] == "nosniff" and answer.headers["cache-control"] == "no-store"


def test_a_report_is_counted_once(app: App) -> None:
    body = report(app)
    assert post(app, body).outcome() == {"counted": 1, "duplicates": 0, "refused": []}
    assert post(app, body).outcome() == {"counted": 0, "duplicates": 1, "refused": []}
    assert counted(app) == 1


def test_duplicates_in_flight_wait_for_the_same_commit(app: App) -> None:
    request = ("POST", "/v1/reports", report(app), {"content-type": MEDIA_TYPE})
    answers = run(app, *[request] * 30)
    assert {answer.status for answer in answers} == {200}
    assert sum(answer.data()["counted"] for answer in answers) == 1
    assert counted(app) == 1


def test_several_in_one_body(app: App) -> None:
    bodies = [report(app) for _ in range(5)]
    assert post(app, b"".join(bodies[:3])).data()["counted"] == 3
    assert post(app, b"".join(bodies), pieces=7).outcome() == {"counted": 2, "duplicates": 3, "refused": []}
    batch = app.collector.survey.batch({"town": ["Lille"] * 1000}, 1000)
    assert post(app, batch, headers=BATCH).data()["counted"] == 1
    assert post(app, batch, headers=BATCH).data()["duplicates"] == 1
    assert counted(app) == 1005


def test_json_and_bytes_are_the_same_report(app: App) -> None:
    body = report(app)
    (message,) = app.collector.survey.read(body)
    data = write_json(app.collector.survey, message)
    assert post(app, json.dumps(data).encode(), "application/json; charset=utf-8").data()["counted"] == 1
    assert post(app, body).data()["duplicates"] == 1
    other = write_json(app.collector.survey, app.collector.survey.read(report(app))[0])
    assert post(app, json.dumps([data, other]).encode(), "application/json").outcome() == {
        "counted": 1, "duplicates": 1, "refused": [],
    }  # fmt: skip
    assert counted(app) == 2


@pytest.mark.parametrize("text", [COMMUTE, SAMPLED, several(3, 40, 900), SPARSE])
def test_json_of_every_layout(text: str, tmp_path: Path) -> None:
    for app in made(tmp_path, text, now=OPENS):
        asked = app.collector.survey
        answers = {q.id: q.how.pretend(q.mechanism.domain, np.random.default_rng(1), 20) for q in asked.questions}
        for message in asked.read(b"".join(asked.randomize_all(answers, 20, now=OPENS))):
            data = json.dumps(write_json(asked, message)).encode()
            assert post(app, data, "application/json").data()["counted"] == 1
            fields = json.loads(data)
            fields["id"] = "00" * 16
            name = next(iter(fields["answers"]))
            for wrong in ({}, None, {"value": -1}, {"value": 10**30}, {"value": True}, {"cells": "zz"}, {"more": 1}):
                fields["answers"][name] = wrong
                refused(post(app, json.dumps(fields).encode(), "application/json"), 400, "damaged")
        assert counted(app) == 20


def test_what_is_refused(app: App) -> None:
    body = report(app)
    refused(post(app, body[:-1]), 400, "damaged")
    refused(post(app, body + b"x"), 400, "damaged")
    refused(post(app, b""), 400, "damaged")
    refused(post(app, bytes([body[0] ^ 1]) + body[1:]), 400, "damaged")
    refused(post(app, body, "text/plain"), 415, "media")
    refused(post(app, b"{", "application/json"), 400, "damaged")
    refused(post(app, b"[]", "application/json"), 400, "damaged")
    refused(post(app, b'{"survey": "x"}', "application/json"), 409, "other-survey")
    other = dn.Device(survey(ONE.replace("Which town?", "What town?"))).answer({"town": "Nice"})
    refused(post(app, other), 409, "other-survey")
    refused(post(app, b"x" * (app.limits.body + 1)), 413, "too-large")
    refused(post(app, b"x" * (app.limits.body + 1), headers={"content-length": "5"}, pieces=3), 413, "too-large")
    refused(post(app, body, headers={"content-length": "-5"}), 413, "too-large")
    refused(run(app, ("GET", "/v1/reports"))[0], 405, "method")
    refused(run(app, ("POST", "/v1/results"))[0], 405, "method")
    refused(get(app, "/v1/nothing"), 404, "not-found")
    refused(get(app, "/v1/results?format=xml"), 422, "bad-query")
    for level in ("2", "0", "nan", "x", "1e999"):
        refused(get(app, f"/v1/results?confidence={level}"), 422, "bad-query")
    assert counted(app) == 0
    assert app.metrics.refused["damaged"] == 6
    assert 'deniable_refused_total{reason="damaged",survey="one"} 6.0' in get(app, "/metrics").body.decode()


def test_too_many_reports_at_once(tmp_path: Path) -> None:
    for app in made(tmp_path, several(2), replace(Limits(), reports=1000, messages=3)):
        asked = app.collector.survey
        assert post(app, asked.batch({"q0": [1] * 1000}, 1000), headers=BATCH).status == 200
        refused(post(app, asked.batch({"q0": [1] * 1001}, 1001), headers=BATCH), 413, "too-large")
        refused(post(app, b"".join(asked.randomize_all({"q0": [1] * 4}, 4)), headers=BATCH), 413, "too-large")
        assert counted(app) == 1000


def test_impossible_reports_name_themselves(tmp_path: Path) -> None:
    for app in made(tmp_path, several(5)):
        asked = app.collector.survey
        good = asked.randomize({"q0": 1})
        message = asked.read(good)[0]
        from deniable.survey import message as wire

        bad = wire.encode(asked.fingerprint_bytes, message._replace(id=b"b" * 16, payload=b"\7"))
        refused(post(app, bad), 422, "impossible")
        answer = post(app, good + bad).data()
        assert (answer["counted"], [line["message"] for line in answer["refused"]]) == (1, [1])
        assert counted(app) == 1


def test_a_full_queue_says_when_to_come_back(tmp_path: Path) -> None:
    for app in made(tmp_path, ONE, replace(Limits(), queue=100)):
        answers = run(app, *[("POST", "/v1/reports", report(app), {"content-type": MEDIA_TYPE}) for _ in range(20)])
        busy = [answer for answer in answers if answer.status == 429]
        assert busy and len(busy) < 20
        refused(busy[0], 429, "busy")
        assert busy[0].headers["retry-after"] == "1"
        assert counted(app) == 20 - len(busy)


def test_a_store_in_trouble_is_a_503_and_comes_back(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    body = report(app)
    with monkeypatch.context() as patch:

        def broken() -> None:
            raise dn.Unavailable("The database cannot be written: disk full.")

        patch.setattr(app.collector.store, "change", broken)
        patch.setattr(app.collector.store, "view", broken)
        patch.setattr("deniable.collector.readiness.FRESH", 0.0)
        answer = post(app, body)
        refused(answer, 503, "store-away")
        assert answer.headers["retry-after"] == "2"
        refused(get(app, "/health/ready"), 503, "store-away")
        refused(get(app, "/v1/results"), 503, "store-away")
        assert get(app, "/health/live").status == 200
        assert 'deniable_store_up{survey="one"} 0.0' in get(app, "/metrics").body.decode()
    assert post(app, body).data()["counted"] == 1
    assert 'deniable_store_up{survey="one"} 1.0' in get(app, "/metrics").body.decode()


def test_a_slow_body_is_given_up(tmp_path: Path) -> None:
    for app in made(tmp_path, ONE, replace(Limits(), seconds=0.05)):

        async def slowly(app: App = app) -> Answer:
            sent: list[Any] = []
            first = True

            async def receive() -> Any:
                nonlocal first
                if not first:
                    await asyncio.sleep(5)
                first = False
                return {"type": "http.request", "body": b"x", "more_body": True}

            async def send(event: Any) -> None:
                sent.append(event)

            scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/v1/reports"}
            scope |= {"headers": [(b"content-type", MEDIA_TYPE.encode())], "client": None}
            await app(scope, receive, send)
            return Answer(sent[0]["status"], {k.decode(): v.decode() for k, v in sent[0]["headers"]}, sent[1]["body"])

        refused(finished(slowly()), 408, "slow")


def test_the_survey_and_its_results(app: App) -> None:
    fetched = dn.Survey.from_json(get(app, "/v1/survey").body.decode())
    assert fetched.fingerprint == app.collector.survey.fingerprint
    post(app, app.collector.survey.batch({"town": ["Nice"] * 50}, 50), headers=BATCH)
    data = get(app, "/v1/results?confidence=0.9").data()
    assert data["people"] == 50 and len(data["questions"][0]["estimates"]) == 6
    assert get(app, "/v1/results?format=csv").body.decode().startswith("question,period,")
    assert get(app, "/v1/results?format=parquet").body[:4] == b"PAR1"
    tallies = get(app, "/v1/tallies").data()["tallies"]
    assert dn.Tally.from_json(json.dumps(tallies[0]["tally"])).n == 50


def test_results_with_and_without_the_periods(tmp_path: Path) -> None:
    daily = ONE.replace('id = "one"', 'id = "one"\nopens = 2026-01-01T00:00:00Z\nwindow = "day"', 1)
    for app in made(tmp_path, daily, now=OPENS):
        post(app, app.collector.survey.batch({"town": ["Nice", "Lyon", "Paris"] * 20}, 60, now=OPENS), headers=BATCH)
        whole, short = (get(app, f"/v1/results?history={asked}") for asked in ("true", "false"))
        assert whole.data() == get(app, "/v1/results").data() and len(whole.data()["history"]) == 1
        assert short.data() == {name: part for name, part in whole.data().items() if name != "history"}
        tables = [get(app, f"/v1/results?format=csv{asked}").body.decode().splitlines() for asked in ("", "&history=false")]
        assert tables[1] == [line for line in tables[0] if line.startswith(("question,", "town,,"))] != tables[0]
        refused(get(app, "/v1/results?history=0"), 422, "bad-query")
        assert "content-encoding" not in whole.headers
        packed = get(app, "/v1/results?format=csv", **{"accept-encoding": "gzip, br"})
        assert "content-encoding" not in packed.headers and len(packed.body) < LONG  # nothing to win
        packed = get(app, "/v1/results", **{"accept-encoding": "gzip, br"})
        assert packed.headers["content-encoding"] == "gzip" and packed.headers["cache-control"] == "no-store"
        assert json.loads(gzip.decompress(packed.body)) == whole.data() and len(packed.body) < len(whole.body) / 2


def test_metrics_are_what_happened(app: App) -> None:
    body = report(app)
    post(app, body)
    post(app, body)
    text = get(app, "/metrics").body.decode()
    families = list(text_string_to_metric_families(text))
    samples = {(one.name, frozenset(one.labels.items())): one.value for each in families for one in each.samples}
    for name, labels, value in (
        ("deniable_messages_total", {"outcome": "counted"}, 1),
        ("deniable_messages_total", {"outcome": "duplicate"}, 1),
        ("deniable_reports_total", {}, 1),
        ("deniable_commit_seconds_count", {}, 2),
        ("deniable_waiting_bytes", {}, 0),
        ("deniable_store_up", {}, 1),
    ):
        assert samples[(name, frozenset({**labels, "survey": "one"}.items()))] == value


def test_openapi_describes_every_path_and_answer(app: App) -> None:
    described = get(app, "/openapi.json").data()
    routes = {route.path for route in app._rest.routes} | {"/v1/reports"}  # type: ignore[attr-defined]
    assert set(described["paths"]) == routes
    schema = described["components"]["schemas"]["Report"]
    data = write_json(app.collector.survey, app.collector.survey.read(report(app))[0])
    assert set(schema["required"]) <= set(data) <= set(schema["properties"])
    for path, methods in described["paths"].items():
        for method in methods:
            answer = run(app, (method.upper(), path))[0]
            assert str(answer.status) in methods[method]["responses"]


def test_nothing_personal_is_logged(app: App, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    with caplog.at_level("DEBUG"):
        body = report(app)
        post(app, body)
        post(app, body[:-1])
        monkeypatch.setattr(app.collector, "take", lambda messages: 1 / 0)
        refused(post(app, body), 503, "store-away")
    text = caplog.text
    assert "192.0.2.1" not in text and body.hex() not in text and "Nice" not in text


FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@FUZZ
@given(st.binary(max_size=300), st.sampled_from([MEDIA_TYPE, "application/json", "text/html", ""]))
def test_hostile_bytes(app: App, body: bytes, media: str) -> None:
    answer = post(app, body, media)
    assert 400 <= answer.status < 500 and answer.headers["content-type"] == "application/problem+json"
    assert counted(app) == 0


@FUZZ
@given(data=st.data())
def test_bent_reports(app: App, data: st.DataObject) -> None:
    """Whatever is done to good reports, what is counted are good reports, each once."""
    before = counted(app)
    bodies = [report(app) for _ in range(data.draw(st.integers(1, 3)))]
    mixed = data.draw(st.permutations(bodies + bodies[:1]))
    body = bytearray(b"".join(mixed))
    change = data.draw(st.sampled_from(["none", "flip", "cut", "insert"]))
    place = data.draw(st.integers(0, len(body) - 1))
    if change == "flip":
        body[place] ^= data.draw(st.integers(1, 255))
    elif change == "cut":
        del body[place:]
    elif change == "insert":
        body[place:place] = data.draw(st.binary(min_size=1, max_size=70))
    answer = post(app, bytes(body), pieces=data.draw(st.integers(1, 4)))
    assert answer.status in (200, 400, 409)
    now = counted(app)
    assert now - before == (answer.data()["counted"] if answer.status == 200 else 0)
    assert now - before in ((len(bodies),) if change == "none" else range(len(bodies) + 1))


@FUZZ
@given(
    value=JSON, key=st.sampled_from(["survey", "id", "period", "answers", "town", "cells", "new"]), seed=st.integers(0, 99)
)
def test_hostile_json(app: App, value: object, key: str, seed: int) -> None:
    """A good report in which one thing is replaced: refused, unless it happens to be a good report again."""
    before = counted(app)
    data: Any = write_json(app.collector.survey, app.collector.survey.read(report(app))[0])
    place = data["answers"]["town"] if key == "cells" else data["answers"] if key == "town" else data
    place[key] = value
    if random.Random(seed).random() < 0.3:
        data = [data]
    answer = post(app, json.dumps(data).encode(), "application/json")
    assert answer.status in (200, 400, 409, 425, 422)
    assert counted(app) - before == (1 if answer.status == 200 else 0)


@FUZZ
@given(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "TRACE"]),
    st.sampled_from(
        ["/v1/survey", "/v1/results", "/health/live", "/metrics", "/openapi.json", "/v1/reports", "/", "/v1/try",
         "/v1/promise", "/v1/intake", "/pages/answer.js", "/pages/", "/pages/x"]
    ),
    st.text(st.characters(codec="latin-1", exclude_characters="#?"), max_size=20),
    st.text(st.characters(codec="latin-1"), max_size=30),
)  # fmt: skip
def test_hostile_requests(app: App, method: str, path: str, query: str, authorization: str) -> None:
    answer = run(app, (method, f"{path}?{query}", b"", {"authorization": authorization}))[0]
    assert answer.status < 500
    if answer.status >= 400 and method != "HEAD":
        assert answer.headers["content-type"] == "application/problem+json"
