"""Requests of strangers: nobody counts for many, nobody stops the others, and limits come before work."""

import asyncio
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import deniable as dn
from deniable.collector import intake, json_reports, results, verdicts
from deniable.collector.access import RateLimit
from deniable.collector.app import App
from deniable.collector.reader import MOST, PEOPLE, REST, SLICE, Reader
from deniable.collector.service import Flight, Limits, Reply
from deniable.collector.verdicts import Counted
from deniable.survey import Message
from deniable.survey import message as wire
from deniable.survey.message import MEDIA_TYPE
from tests.collector.json_writer import write_json
from tests.collector.test_app import BATCH, Answer, call, counted, get, made, post, refused, report, run, working
from tests.surveys import ONE, several, survey
from tests.waits import PATIENCE, finished

pytestmark = pytest.mark.needs("starlette")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    yield from made(tmp_path, ONE)


def watched(made: Callable[..., Any], calls: list[int]) -> Callable[..., Any]:
    """The same function, which also counts its calls."""

    def call_it(*given: Any) -> Any:
        calls.append(1)
        return made(*given)

    return call_it


# One message, one person


def test_a_message_of_many_needs_a_batch_token(tmp_path: Path) -> None:
    for app in made(tmp_path, several(2)):
        million = app.collector.survey.batch({"q0": [1] * 1_000_000}, 1_000_000)
        assert len(million) < 400_000
        refused(post(app, million), 403, "no-batches")
        refused(post(app, app.collector.survey.batch({"q0": [1] * 2}, 2)), 403, "no-batches")
        refused(post(app, million, headers={"authorization": "Bearer a submit token"}), 403, "no-batches")
        assert counted(app) == 0
        assert post(app, million, headers=BATCH).outcome() == {"counted": 1, "duplicates": 0, "refused": []}
        assert post(app, million, headers=BATCH).outcome() == {"counted": 0, "duplicates": 1, "refused": []}
        assert counted(app) == 1_000_000


def test_a_body_of_many_messages_needs_a_batch_token(app: App) -> None:
    bodies = app.collector.survey.randomize_all({"town": ["Nice"] * 1001}, 1001)
    refused(post(app, b"".join(bodies)), 413, "too-large")
    assert counted(app) == 0
    assert post(app, b"".join(bodies), headers=BATCH).data()["counted"] == 1001


# Limits before work, and long work beside the event loop


def test_what_is_too_much_is_not_read_to_its_end(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, read = app.collector.survey, list[int]()
    body = b"".join(asked.randomize_all({"town": ["Nice"] * 3000}, 3000))
    payload = type(asked)._payload
    monkeypatch.setattr(type(asked), "_payload", watched(payload, read))
    refused(post(app, body), 413, "too-large")
    assert len(read) == app.limits.people + 1
    one = write_json(asked, asked.read(report(app))[0])
    packed, packs = json_reports._message, list[int]()
    monkeypatch.setattr(json_reports, "_message", watched(packed, packs))
    with monkeypatch.context() as patch:
        patch.setattr(app, "limits", replace(app.limits, people=20))
        refused(post(app, json.dumps([one] * 200).encode(), "application/json"), 413, "too-large")
        assert len(packs) == app.limits.people + 1
        patch.setattr("deniable.collector.intake.read_json", lambda *_: pytest.fail("it was parsed"))
        refused(post(app, b"[" + b" " * app.limits.json_people, "application/json"), 413, "too-large")
        refused(post(app, b"[" + b" " * app.limits.json, "application/json", headers=BATCH), 413, "too-large")
    refused(post(app, b"[" + b" " * app.limits.json_people, "application/json", headers=BATCH), 400, "damaged")


def test_long_bodies_are_read_beside_the_event_loop(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    threads, read = list[str](), intake.read_messages

    def named(*given: Any) -> Any:
        threads.append(threading.current_thread().name)
        return read(*given)

    monkeypatch.setattr("deniable.collector.app.read_messages", named)
    post(app, report(app))
    post(app, b"".join(report(app) for _ in range(200)))
    one = write_json(app.collector.survey, app.collector.survey.read(report(app))[0])
    post(app, json.dumps([one] * 100).encode(), "application/json")
    assert threads[0] == "MainThread" and all(name.startswith("deniable reader") for name in threads[1:])


def posted(media: str, *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    """The scope of a request that posts reports."""
    listed = [(b"content-type", media.encode()), *headers]
    return {"type": "http", "method": "POST", "path": "/v1/reports", "headers": listed, "client": None}


def answered(app: App, scope: dict[str, Any], receive: Callable[[], Any]) -> Answer:
    """The answer to a request whose body comes as `receive` says."""
    sent = list[Any]()

    async def send(event: Any) -> None:
        sent.append(event)

    finished(app(scope, receive, send))
    return Answer(sent[0]["status"], {k.decode(): v.decode() for k, v in sent[0]["headers"]}, sent[1]["body"])


@pytest.mark.parametrize(
    ("media", "size", "expected"),
    [
        ("application/json", (64 << 10) + 1, (413, "too-large")),
        ("application/json; charset=utf-8", 8 << 20, (413, "too-large")),
        (MEDIA_TYPE, (8 << 20) + 1, (413, "too-large")),
        ("text/plain", 10, (415, "media")),
        ("", 8 << 20, (415, "media")),
    ],
)
def test_what_the_head_rules_out_is_not_read(media: str, size: int, expected: tuple[int, str], app: App) -> None:
    async def never() -> Any:
        pytest.fail("the body was read")

    let_go = list[int]()
    scope = posted(media, (b"content-length", str(size).encode())) | {"let_go": lambda: let_go.append(1)}
    refused(answered(app, scope, never), *expected)
    assert let_go == [1] and app.flight.bytes == 0, "nothing of the body is kept while the answer waits"


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "br", "gzip, identity", "zstd"])
def test_packed_bodies_are_not_unpacked(coding: str, app: App) -> None:
    """Some kilobytes may be gigabytes once they are unpacked."""
    packed, plain = gzip.compress(report(app)), {"content-encoding": "identity"}
    refused(post(app, packed, headers={"content-encoding": coding}), 415, "media")
    assert counted(app) == 0 and post(app, report(app), headers=plain).status == 200


def test_json_without_a_length_is_read_up_to_the_limit(app: App) -> None:
    parts = list[int]()

    async def receive() -> Any:
        parts.append(10_000)
        return {"type": "http.request", "body": b"[" * 10_000, "more_body": True}

    refused(answered(app, posted("application/json"), receive), 413, "too-large")
    assert sum(parts) <= app.limits.json_people + 10_000 and app.flight.bytes == 0


def test_senders_who_are_refused_all_the_time_do_not_keep_others_waiting(app: App) -> None:
    reader, held, names = Reader(), threading.Event(), list[str]()

    def slow() -> str:
        held.wait(PATIENCE)
        names.append(threading.current_thread().name)
        return "read"

    async def together() -> None:
        first = [asyncio.ensure_future(reader.read(slow, annoying=True)) for _ in range(MOST)]
        await asyncio.sleep(0)
        assert await reader.read(slow, annoying=True) is None, "no more of them wait"
        assert await reader.read(lambda: "at once", annoying=False) == "at once"
        held.set()
        assert await asyncio.gather(*first) == ["read"] * MOST
        assert await reader.read(slow, annoying=True) == "read", "there is room again"

    finished(together())
    assert set(names) == {"deniable reader of the annoying_0"}
    long, app.shared.refusals = b"".join(report(app) for _ in range(200))[:-1], RateLimit(app.limits.refusals, lambda: 0.0)
    for _ in range(int(app.shared.refusals.burst) + 1):
        refused(post(app, b"no report"), 400, "damaged")
    assert app.annoys(("192.0.2.1", 1)) and not app.annoys(("192.0.2.7", 1))
    app.shared.reader._waiting = MOST
    refused(post(app, long), 429, "busy")
    app.shared.reader._waiting = 0
    refused(post(app, long), 400, "damaged")


def test_what_may_take_long_is_read_in_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a body of 400 reports in JSON, least of all of a sender who is refused all the time."""
    now, rests = [100.0], list[float]()

    def sleep(seconds: float) -> None:
        rests.append(seconds)
        now[0] += seconds

    monkeypatch.setattr("deniable.collector.reader.time", SimpleNamespace(monotonic=lambda: now[0], sleep=sleep))
    asked, packed = survey(ONE), json_reports._message
    body = json.dumps([write_json(asked, asked.read(asked.randomize({"town": "Nice"}))[0])] * 400).encode()

    def slowly(*given: Any) -> Any:
        now[0] += 0.4 * SLICE
        return packed(*given)

    monkeypatch.setattr(json_reports, "_message", slowly)
    reader = Reader()

    def read() -> int:
        return len(json_reports.read_json(asked, body))

    assert finished(reader.read(read, annoying=False, trusted=True)) == 400 and rests == []
    for annoying, times in ((False, PEOPLE), (True, REST)):
        rests.clear()
        assert finished(reader.read(read, annoying)) == 400
        moments = [rest / times for rest in rests if rest]
        assert len(moments) == 133 and max(moments) < 1.3 * SLICE
        assert sum(moments) == pytest.approx(399 * 0.4 * SLICE), "all of the time that it took is rested for"
    assert reader._from - now[0] == pytest.approx(REST * 0.4 * SLICE), "the end of it too"


def impossible(app: App, place: int = 0) -> bytes:
    """A report that no device sends: the layout has room for an answer that is not there."""
    return wire.encode(app.collector.survey.fingerprint_bytes, Message(place.to_bytes(16, "little"), 1, 0, 1, b"\7"))


def test_one_bad_report_among_many_costs_little_more_than_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for app in made(tmp_path, several(5)):
        asked, tried = app.collector.survey, list[int]()
        for name in ("unpack_singles", "unpack_joined"):
            monkeypatch.setattr(type(asked), name, watched(getattr(type(asked), name), tried))
        good = [message for body in asked.randomize_all({"q0": [1] * 999}, 999) for message in asked.read(body)]
        for bad in ([500], [0, 998, 999]):
            messages = list(good)
            for place in bad:
                messages.insert(place, asked.read(impossible(app, place))[0])
            tried.clear()
            known = app.collector.group(messages).known
            assert [place for place, verdict in enumerate(known) if verdict is not None] == bad
            assert len(tried) <= 2 + 2 * len(bad) * 11, "halves of them, not each of them"


def test_bad_reports_are_found_beside_the_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for app in made(tmp_path, several(5)):
        written, submit, threads = list[int](), app.writer.submit, list[str]()
        screened = app.collector.screened

        async def noted(collector: Any, messages: Any, written: list[int] = written, submit: Any = submit) -> Any:
            written.append(len(messages))
            return await submit(collector, messages)

        def named(messages: Any, threads: list[str] = threads, screened: Any = screened) -> Any:
            threads.append(threading.current_thread().name)
            return screened(messages)

        monkeypatch.setattr(app.writer, "submit", noted)
        monkeypatch.setattr(app.collector, "screened", named)
        good = app.collector.survey.randomize_all({"q0": [1] * 99}, 99)
        answer = post(app, b"".join([*good[:40], impossible(app), *good[40:]])).data()
        assert (answer["counted"], [line["message"] for line in answer["refused"]]) == (99, [40])
        assert written == [99] and threads == ["deniable reader_0"]
        refused(post(app, b"".join(impossible(app, place) for place in range(100))), 422, "impossible")
        assert written == [99], "nothing is left to count"
        post(app, b"".join(app.collector.survey.randomize_all({"q0": [1] * 99}, 99)), headers=BATCH)
        assert len(threads) == 2, "whoever has a batch token is trusted so far"


def test_who_sends_impossible_reports_among_others_waits_too(tmp_path: Path) -> None:
    for app in made(tmp_path, several(5)):
        app.shared.refusals = RateLimit(app.limits.refusals, lambda: 0.0)
        asked, client = app.collector.survey, ("192.0.2.1", 1)
        mixed = app._reply([Counted.NOW, verdicts.IMPOSSIBLE], asked.fingerprint)
        late = app._reply([Counted.NOW, verdicts.TOO_LATE], asked.fingerprint)
        assert (mixed.status, late.status) == (200, 200)
        waits = [app.held(mixed, client) for _ in range(int(app.shared.refusals.burst) + 1)]
        assert waits[0] == 0.0 and waits[-1] == app.limits.hold
        assert not app.held(late, client), "an honest go-between may be late"


# Slow clients, many headers, much at once


def stalled(app: App, *parts: bytes) -> Answer:
    """A request whose body stops coming after these parts."""

    left = list(parts)

    async def receive() -> Any:
        if not left:
            await asyncio.sleep(3600)
        return {"type": "http.request", "body": left.pop(0), "more_body": True}

    return answered(app, posted(MEDIA_TYPE), receive)


@pytest.mark.parametrize("parts", [(), (b"x",), (b"x", b"y")])
def test_a_body_that_does_not_come_is_given_up(parts: tuple[bytes, ...], tmp_path: Path) -> None:
    for app in made(tmp_path, ONE, replace(Limits(), seconds=0.05)):
        refused(stalled(app, *parts), 408, "slow")
        assert app.flight.bytes == 0


@pytest.mark.parametrize("path", ["/v1/reports", "/v1/survey", "/nothing"])
def test_headers_have_a_limit(path: str, app: App) -> None:
    many = {f"x-{place}": "y" for place in range(100_000)}
    for headers in (many, {"x": "y" * 1_000_000}, {"cookie": "z" * 20_000}):
        refused(run(app, ("POST", path, b"", headers))[0], 431, "headers")
    assert post(app, report(app), headers={f"x-{place}": "y" for place in range(40)}).status == 200


def test_large_parts_of_bodies_come_one_after_the_other() -> None:
    flight = Flight(1 << 20)
    assert [flight.turn(100.0) for _ in range(4)] == pytest.approx([place * Flight.TURN for place in range(4)])
    assert flight.turn(200.0) == 0.0, "nobody waits for turns that nobody took"


def test_bytes_in_flight_have_a_limit(tmp_path: Path) -> None:
    flight = Flight(1000)
    flight.SMALL = 100
    assert flight.take(700, 700) and not flight.take(200, 200)  # large bodies leave a quarter
    assert flight.take(100, 100) and flight.take(100, 100) and flight.take(100, 100) and not flight.take(1, 1)
    flight.bytes = 0
    assert flight.take(5000, 5000)  # alone
    for app in made(tmp_path, ONE, replace(Limits(), queue=70_000)):

        async def together(app: App = app) -> tuple[int, Answer, int]:
            """A body that is half there, another large one, and a small one."""
            waiting = asyncio.Event()
            events = [{"type": "http.request", "body": b"x" * 60_000, "more_body": True}]
            sent = list[Any]()

            async def receive() -> Any:
                if events:
                    return events.pop()
                await waiting.wait()
                return {"type": "http.disconnect"}

            async def send(event: Any) -> None:
                sent.append(event)

            async with working(app):
                half = asyncio.ensure_future(app(posted(MEDIA_TYPE), receive, send))
                while not app.flight.bytes:
                    await asyncio.sleep(0)
                taken = app.flight.bytes
                kind = {"content-type": MEDIA_TYPE}
                large = await call(app, "POST", "/v1/reports", b"x" * 60_000, kind, 2)
                small = await call(app, "POST", "/v1/reports", report(app), kind)
                waiting.set()
                await half
            return taken, large, small.status

        taken, large, small = finished(together())
        assert (taken, small, app.flight.bytes) == (60_000, 200, 0)
        refused(large, 429, "busy")


def test_a_batch_of_another_survey_or_part_is_not_counted(app: App) -> None:
    message = Message(b"i" * 16, 2, 0, 1, b"\0")
    refused(post(app, wire.encode(app.collector.survey.fingerprint_bytes, message)), 400, "damaged")


# Results that cost much


def test_no_confidence_is_a_server_error(app: App) -> None:
    post(app, app.collector.survey.batch({"town": ["Nice"] * 50}, 50), headers=BATCH)
    for level in ("0.9999999999999999", "0.99999999999", "1"):
        refused(get(app, f"/v1/results?confidence={level}"), 422, "bad-query")
    for level in ("0.999999999", "1e-300", "0.5"):
        assert get(app, f"/v1/results?confidence={level}").status == 200


def test_results_are_rendered_once_until_a_report_is_counted(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    from deniable.collector import published

    made_ = list[int]()
    monkeypatch.setattr(published, "results", watched(results, made_))
    run(app, *[("GET", "/v1/results")] * 4)
    for _ in range(3):
        get(app, "/v1/results")
    assert len(made_) == 1
    post(app, report(app))
    assert [get(app, "/v1/results").data()["people"] for _ in range(3)] == [1, 1, 1] and len(made_) == 2
    get(app, "/v1/results?format=csv")
    get(app, "/v1/tallies")
    assert len(made_) == 4


def test_expensive_results_are_not_rendered_all_the_time(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    now, spent = 0.0, [0.0, 10.0]  # it takes ten seconds
    monkeypatch.setattr("time.thread_time", lambda: spent.pop(0))
    monkeypatch.setattr("time.monotonic", lambda: now)
    assert get(app, "/v1/results").data()["people"] == 0
    post(app, report(app))
    now = 5.0
    assert get(app, "/v1/results").data()["people"] == 0  # as it was
    answer = get(app, "/v1/results?confidence=0.9")
    refused(answer, 429, "busy")
    assert 1 <= int(answer.headers["retry-after"]) <= 30
    now, spent = 31.0, [0.0, 0.0]
    assert get(app, "/v1/results").data()["people"] == 1


def test_the_description_says_what_tallies_disclose(app: App) -> None:
    described = get(app, "/openapi.json").data()["paths"]
    assert "differ by that report" in described["/v1/tallies"]["get"]["summary"]


# Readiness


def test_ready_means_that_a_report_can_be_written(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.collector.readiness.FRESH", 0.0)
    assert get(app, "/health/ready").data() == {"status": "ready"}

    def full() -> None:
        raise dn.Unavailable("The database cannot be written: disk full.")

    with monkeypatch.context() as patch:
        patch.setattr(app.collector.store, "change", full)
        refused(get(app, "/health/ready"), 503, "store-away")
        assert get(app, "/v1/results").status == 200  # it can be read

    def written() -> object:
        with app.collector.store.view() as view:
            return view.run("SELECT probe FROM store")

    before = written()
    assert get(app, "/health/ready").status == 200 and written() != before, "a look writes something: a disk may be full"
    app.warm.clear()
    refused(get(app, "/health/ready"), 503, "starting")
    assert get(app, "/health/live").status == 200
    app.warm.set()
    assert get(app, "/health/ready").status == 200


def test_a_store_that_hangs_is_not_ready(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.collector.readiness.PATIENCE", 0.05)
    looks, answers = list[int](), threading.Event()

    def hangs() -> None:
        looks.append(1)
        assert answers.wait(30)
        raise dn.Unavailable("The database does not answer.")

    async def ask() -> list[Answer]:
        try:
            return await asyncio.gather(*(call(app, "GET", "/health/ready") for _ in range(20)))
        finally:
            answers.set()

    monkeypatch.setattr(app.collector.store, "change", hangs)
    for answer in finished(ask()):
        refused(answer, 503, "store-away")
    assert looks == [1]  # however many ask


def test_whoever_is_refused_all_the_time_waits_for_the_answer(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    slept, sleep = list[float](), asyncio.sleep

    async def noted(seconds: float) -> None:
        if seconds == app.limits.hold:
            slept.append(seconds)
        await sleep(0.0)

    monkeypatch.setattr("deniable.collector.app.asyncio.sleep", noted)
    app.shared.refusals = RateLimit(app.limits.refusals, lambda: 0.0)
    burst = int(app.shared.refusals.burst)
    for place in range(burst + 5):
        refused(post(app, b"no report"), 400, "damaged")
        assert len(slept) >= place - burst
    assert slept and len(slept) <= 5
    before = len(slept)
    assert post(app, report(app)).outcome()["counted"] == 1, "honest reports of the same address are answered at once"
    assert len(slept) == before and not app.held(Reply(200, [], b""), None) and not app.held(Reply(503, [], b""), None)
