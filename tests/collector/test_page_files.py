"""What is served as pages, without a browser: types, policy, caching, and nothing but what is meant to be served."""

import asyncio
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collector.app import App
from deniable.collector.origins import AllowOrigins
from deniable.collector.playground import WAITING, Playground
from deniable.collector.promises import Promises
from deniable.collector.static import PAGES, all_files
from deniable.collector.verdicts import Refusal
from deniable.planning import shares
from tests.collector.test_app import BATCH, call, get, made, post, refused, report, run
from tests.surveys import COMMUTE, KINDS, ONE, survey
from tests.waits import finished

pytestmark = pytest.mark.needs("starlette")


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    yield from made(tmp_path, ONE)


def test_every_file_has_its_type_and_the_policy(app: App) -> None:
    assert {"/", "/results", "/try", "/worker.js", "/pages/deniable.js"} <= set(all_files())
    for address, file in all_files().items():
        answer = get(app, address)
        assert answer.status == 200 and answer.body == file.plain
        assert answer.headers["content-type"] == file.media and answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none';") and "unsafe" not in policy and "*" not in policy
        again = get(app, address, **{"if-none-match": answer.headers["etag"]})
        assert again.status == 304 and again.body == b""
        small = get(app, address, **{"accept-encoding": "br, gzip"})
        assert small.headers["content-encoding"] == "gzip" and gzip.decompress(small.body) == file.plain


@pytest.mark.parametrize(
    "path",
    ["/pages/", "/pages/nothing.js", "/pages/../app.py", "/pages/..%2fapp.py", "/pages//etc/passwd", "/pages/answer.html/x",
     "/worker.js/", "/pages/%2e%2e/static.py", "/pages/\x00"],
)  # fmt: skip
def test_nothing_else_is_served(app: App, path: str) -> None:
    answer = get(app, path)
    assert answer.status in (404, 307) and b"import" not in answer.body


def test_pages_hold_no_inline_script_or_style_and_no_foreign_address() -> None:
    for address, file in all_files().items():
        text = file.plain.decode()
        foreign = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", text)) - {"http://www.w3.org"}
        assert not foreign, address
        if file.media.startswith("text/html"):
            assert not re.search(r"<script(?![^>]*src=)|<style| style=| on[a-z]+=", text), address
        if file.media.startswith("text/javascript"):
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|Math\.random|\beval\(", text), (
                address
            )


def modules(first: str) -> set[str]:
    """A module and all that it imports before it runs."""
    files, needed, new = all_files(), set[str](), {first}
    while new:
        needed |= new
        text = "".join(files[name].plain.decode() for name in new)
        new = {f"/pages/{name}" for name in re.findall(r'from ?"\./([\w.]+)"', text)} - needed
    return needed


def test_the_worker_keeps_what_the_answer_page_needs() -> None:
    files = all_files()
    kept = set(re.findall(r'"\.(/[^"]*)"', files["/worker.js"].plain.decode().split("PARTS = [")[1].split("]")[0]))
    assert kept <= set(files) | {"/v1/survey", "/v1/law", "/v1/promise", "/v1/status"}
    assert modules("/pages/answer.js") | {"/", "/pages/style.css"} <= kept
    assert set(PAGES) <= set(files)


@pytest.mark.parametrize("page", ["answer", "results", "try"])
def test_a_page_loads_all_its_modules_at_once(page: str) -> None:
    files = all_files()
    named = re.findall(r'<link rel="modulepreload" href="(pages/[\w.]+)">', files[f"/pages/{page}.html"].plain.decode())
    assert {f"/{name}" for name in named} == modules(f"/pages/{page}.js") - {f"/pages/{page}.js"}
    assert len(named) == len(set(named)) >= 7


def test_the_promise_of_a_survey(app: App) -> None:
    data = get(app, "/v1/promise").data()
    assert data["needs_token"] is data["invited"] is False and data["fingerprint"] == app.collector.survey.fingerprint
    assert data["loss"]["exact"] == "99402293/36568060" and data["loss"]["even"] == pytest.approx(0.731, abs=1e-3)
    for text in (ONE, KINDS):
        promises = Promises(survey(text))
        before = promises.data()
        assert before["certified"] is None and not promises.settled
        promises.settle()
        after, whole = promises.data(), dn.certify_survey(survey(text))
        assert after["certified"] is True
        rows: Any = after["questions"]
        assert [row["certificate"]["text"] for row in rows] == [str(each) for each in whole.questions]


def test_the_playground_compares_and_certifies(app: App) -> None:
    data = get(app, "/v1/try?values=5&epsilon=2&people=1000").data()
    options = shares.options(dn.Categories(range(5)), 2.0, 1000, edition=1)
    assert [(row["name"], row["error"]) for row in data["options"]] == [(each.name, each.error) for each in options]
    assert [dn.mechanism_from_json(json.dumps(row["mechanism"])).wire for row in data["options"]]
    found = get(app, "/v1/try?values=5&epsilon=2&certify=subset").data()
    assert found["holds"] and found["text"] == str(dn.certify(dn.SubsetSelection(dn.Categories(range(5)), 2.0)))
    for wrong in ("values=1", "values=65", "values=x", "epsilon=0", "epsilon=9", "epsilon=nan", "people=9", "people=1e9",
                  "certify=guess", "epsilon=inf", f"values={'9' * 5000}"):  # fmt: skip
        refused(get(app, f"/v1/try?{wrong}"), 422, "bad-query")


def test_the_playground_does_not_let_people_queue() -> None:
    async def many() -> list[str | Refusal]:
        playground = Playground()
        return await asyncio.gather(*(playground.answer({"values": str(2 + place)}) for place in range(WAITING + 3)))

    answers = finished(many())
    assert sum(isinstance(answer, Refusal) for answer in answers) == 3
    assert all(answer.reason == "busy" for answer in answers if isinstance(answer, Refusal))


def test_refused_reports_are_told_apart_from_other_requests(app: App) -> None:
    body = report(app)
    for sent in (body, body, b"x", body[:-1]):
        post(app, sent)
    get(app, "/v1/nothing")
    get(app, "/v1/results?format=xml")
    told = get(app, "/v1/intake").data()
    assert told == {"messages": {"counted": 1, "duplicate": 1}, "refused": {"damaged": 2}}


@pytest.mark.parametrize("text", [COMMUTE, KINDS, ONE])
def test_cleaned_estimates_are_possible(text: str, tmp_path: Path) -> None:
    for app in made(tmp_path, text):
        asked = app.collector.survey
        answers = {q.id: q.how.pretend(q.mechanism.domain, np.random.default_rng(1), 12) for q in asked.questions}
        post(app, asked.batch(answers, 12), headers=BATCH)
        body = get(app, "/v1/results").body.decode()
        assert "Infinity" not in body and "NaN" not in body  # neither is JSON
        for question, found in zip(asked.questions, json.loads(body)["questions"], strict=True):
            shares = [row["cleaned"] for row in found["estimates"] if row["measure"] == "share"]
            others = [row["cleaned"] for row in found["estimates"] if row["measure"] != "share"]
            assert all(0 <= share <= 1 for share in shares)
            if question.kind in ("category", "ordered", "place"):
                assert sum(shares) == pytest.approx(1)
            labels: Any = question.mechanism.domain.labels if question.kind == "ordered" else [0, 0]
            ends = [question.details.get("low", labels[0]), question.details.get("high", labels[-1])]
            assert all(ends[0] <= mean <= ends[1] for mean in others)


def test_other_sites_only_by_name(app: App) -> None:
    wrapped: Any = AllowOrigins(app, ["https://example.org"])

    def from_there(origin: str, method: str = "GET", path: str = "/v1/survey") -> Any:
        return finished(call(wrapped, method, path, b"", {"origin": origin}))

    leave = "access-control-allow-origin"
    assert from_there("https://example.org").headers[leave] == "https://example.org"
    before = from_there("https://example.org", "OPTIONS", "/v1/reports")
    assert before.status == 204 and "content-type" in before.headers["access-control-allow-headers"]
    for origin in ("https://example.org.evil.net", "http://example.org", "null", ""):
        assert leave not in from_there(origin).headers
        assert from_there(origin, "OPTIONS", "/v1/reports").status == 405
    for path in ("/v1/results", "/v1/tallies", "/v1/intake", "/metrics", "/"):
        assert leave not in from_there("https://example.org", "GET", path).headers
    assert leave not in run(app, ("GET", "/v1/survey", b"", {"origin": "https://example.org"}))[0].headers
    for wrong in ("*", "null", "https://example.org/path", "example.org", "https://Example.org", "https://*.example.org"):
        with pytest.raises(dn.InvalidParameter):
            AllowOrigins(app, [wrong])
