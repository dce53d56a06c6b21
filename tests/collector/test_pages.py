"""The pages in a real browser: answering, receipts, going offline, results, the playground; and for everybody."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deniable as dn
from deniable.collector.access import Gate
from deniable.collector.tokens import hash_of
from deniable.survey.law_document import law_document, law_json
from deniable.survey.message import MEDIA_TYPE
from tests.browsers import Picture, Site, Visit, Visitor, expect, settled, site, violations
from tests.surveys import KINDS, ONE, survey, with_planner
from tests.waits import same_day, until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

pytestmark = [
    pytest.mark.needs("starlette", "uvicorn", "playwright", "chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]

FIRST = ONE.replace("minimum_reports = 10", "minimum_reports = 1").replace("[survey]", '[survey]\ntitle = "Where we live"')
SEVERAL = """
[survey]
id = "several-kinds"
epsilon = 4.0
minimum_reports = 1

[[question]]
id = "mode"
ask = "How did you travel today?"
kind = "category"
choices = ["walk", "bicycle", "bus", "car", "none of these"]
sensitive = ["none of these"]
optional = true

[[question]]
id = "minutes"
ask = "How many minutes did it take?"
kind = "number"
low = 0
high = 120
steps = 12
"""


@pytest.fixture
def towns(tmp_path: Path) -> Iterator[Site]:
    with site(FIRST, tmp_path) as running:
        yield running


def answered(visitor: Visitor, town: str = "Nice") -> None:
    """Answer, up to where the report is shown."""
    visitor.goto()
    visitor.page.get_by_label(town).check()
    visitor.click("Randomize my answer")
    visitor.heading("This is what will be sent")


def blocked(where: Site, visitor: Visitor, status: int, detail: str) -> None:
    """The collector answers like this until the route is lifted."""

    def refuse(route: "Route") -> None:
        body = json.dumps({"type": "urn:deniable:problem:some", "detail": detail})
        route.fulfill(status=status, body=body, content_type="application/problem+json")

    visitor.page.route("**/v1/reports", refuse)


# From an answer to an estimate


def test_an_answer_changes_the_results(towns: Site, visit: Visit, axe: str, picture: Picture) -> None:
    watcher = visit(towns, viewport={"width": 1000, "height": 900})
    watcher.goto("/results")
    watcher.page.get_by_text("Hidden below 1 report; so far there are 0.").wait_for()
    person = visit(towns, viewport={"width": 390, "height": 844})
    page = person.goto()
    page.get_by_label("Nice").check()
    assert violations(page, axe) == []
    picture(page, "answer")
    person.click("Randomize my answer")
    person.heading("This is what will be sent")
    assert person.posts == 0  # nothing leaves before Send is pressed
    expect(page.get_by_text("Your answer (stays here)").locator("..")).to_have_text(re.compile("Nice$"))
    said = page.get_by_text("The report names").inner_text()
    assert "a factor of at most 2.72." in page.content() and "at most 73.2 in 100" in page.content()
    assert violations(page, axe) == []
    picture(page, "review")
    person.click("Send the report")
    person.heading("Thank you. Your report has arrived")
    assert violations(page, axe) == []
    picture(page, "receipt")
    assert towns.people == 1 and person.posts == 1
    with page.expect_download() as download:
        person.click("Download the receipt")
    receipt = json.loads(Path(download.value.path()).read_text())
    asked = towns.app.collector.survey
    (message,) = asked.read(bytes.fromhex(receipt["bytes"]))
    assert receipt["report"] == message.id.hex() and receipt["fingerprint"] == asked.fingerprint
    assert said == receipt["said"][0]["text"]
    watcher.page.get_by_text("1 report", exact=True).wait_for()
    expect(watcher.page.locator(".chart rect.raw")).to_have_count(6)
    votes = asked.questions[0].mechanism.votes(asked.unpack(message)[0].columns)
    assert [f'"{town}"' in said for town in asked.questions[0].mechanism.domain.labels] == (votes > 0).tolist()


def test_a_second_visit_shows_the_receipt(towns: Site, visit: Visit) -> None:
    person = visit(towns)
    answered(person)
    report = person.ledger()["one"]["message"]
    person.goto()
    person.heading("This is what will be sent")  # randomized, not sent: it waits, and is the same
    assert person.posts == 0 and person.ledger()["one"]["message"] == report
    expect(person.page.get_by_text("not stored, not even here")).to_be_visible()
    person.click("Send the report")
    person.heading("You have answered")
    person.goto()
    person.heading("You have answered")
    assert person.posts == 1 and person.ledger()["one"]["message"] == report and towns.people == 1
    expect(person.page.get_by_role("button", name="Randomize my answer")).to_have_count(0)


def test_two_tabs_send_once(towns: Site, visit: Visit) -> None:
    person = visit(towns)
    answered(person)
    other = person.context.new_page()
    other.goto("/")
    send = other.get_by_role("button", name="Send the report")
    send.wait_for()
    for page in (person.page, other):
        page.evaluate("document.querySelector('#stage > .buttons button').click()")
    for page in (person.page, other):
        page.get_by_role("heading", name=re.compile("arrived|have answered")).wait_for()
    assert person.posts == 1 and towns.people == 1


def test_a_report_that_arrives_twice_counts_once(towns: Site, visit: Visit) -> None:
    person = visit(towns)
    answered(person)
    lost = []

    def lose_the_answer(route: "Route") -> None:
        lost.append(route.fetch().status)  # it is counted, but nobody hears of it
        route.abort()

    person.page.route("**/v1/reports", lose_the_answer)
    person.click("Send the report")
    person.heading("Saved, to be sent later")
    person.page.unroute("**/v1/reports")
    person.click("Try now")
    person.heading("Thank you")
    assert lost and set(lost) == {200} and towns.people == 1
    assert towns.app.metrics.messages["duplicate"] == len(lost)


def test_offline_then_online(towns: Site, visit: Visit) -> None:
    person = visit(towns)
    person.goto()
    settled(person.page, "() => navigator.serviceWorker.ready.then(() => true)")
    person.until("navigator.serviceWorker.controller !== null")
    person.context.set_offline(True)
    person.page.reload()  # the page is still there
    person.page.get_by_label("Brest").check()
    person.click("Randomize my answer")
    person.heading("This is what will be sent")
    person.click("Send the report")
    person.heading("Saved, to be sent later")
    report = person.ledger()["one"]
    assert report["state"] == "kept" and towns.people == 0
    person.page.reload()  # and so is the report, which goes on trying
    person.heading("Saved, to be sent later")
    person.context.set_offline(False)
    person.page.get_by_role("heading", name=re.compile("arrived|have answered")).wait_for()
    assert person.ledger()["one"] | {"state": "kept"} == report | {"sentAt": person.ledger()["one"]["sentAt"]}
    assert towns.people == 1 and towns.app.metrics.messages["duplicate"] == 0


def test_keyboard_only(towns: Site, visit: Visit) -> None:
    person = visit(towns)
    page = person.goto()
    page.get_by_label("Lyon").wait_for()

    def focused() -> str:
        return str(page.evaluate("document.activeElement.textContent || document.activeElement.id"))

    page.keyboard.press("Tab")
    assert focused() == "Skip to content"
    for _ in range(12):
        if focused().startswith("q0-"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert focused() == "Randomize my answer"
    page.keyboard.press("Enter")  # nothing is chosen yet
    page.get_by_text("Please correct these answers").wait_for()
    person.until("document.activeElement.classList.contains('summary')")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the link leads to the question
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Paris")).to_be_checked()
    person.until("getComputedStyle(document.activeElement.closest('.choice')).outlineStyle === 'solid'")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    person.heading("This is what will be sent")
    until(lambda: focused() == "This is what will be sent")
    for _ in range(8):
        page.keyboard.press("Tab")
        if focused() == "Send the report":
            break
    page.keyboard.press("Enter")
    person.heading("Thank you")
    assert towns.people == 1


@pytest.mark.parametrize("edition", [1, 2])
def test_every_kind_of_question(edition: int, tmp_path: Path, visit: Visit, axe: str, picture: Picture) -> None:
    with site(with_planner(KINDS, edition), tmp_path) as running:
        asked = running.app.collector.survey
        answers = {q.id: q.how.pretend(q.mechanism.domain, np.random.default_rng(1), 3000) for q in asked.questions}
        running.fill(answers, 3000)
        person = visit(running, viewport={"width": 390, "height": 844}, has_touch=True)
        page = person.goto()
        page.get_by_label("7", exact=True).check()
        page.get_by_label("sometimes").check()
        page.get_by_label("Alien").fill("4,5")
        page.get_by_label("Brazil").fill("9")
        page.get_by_label("map").check()
        page.locator("svg.map circle").nth(1).click()
        for place in range(4):
            page.get_by_label(f"Number {place + 1}").fill("0.5")
        person.click("Randomize my answers")
        page.get_by_role("link", name="Brazil: type a number from 0.5 to 5.").click()
        person.until("document.activeElement.id === 'q2-1'")
        assert violations(page, axe) == []
        page.get_by_label("Brazil").fill("")
        expect(page.get_by_label("Paris")).to_be_checked()
        person.click("Randomize my answers")
        person.heading("This is what will be sent")
        shown = page.locator(".pair").all_inner_texts()
        mine = ["7", "sometimes", "“Alien” 4.5", "“map”", "Paris", "0.5 0.5 0.5 0.5"]
        assert [text.split("\n\n")[1] for text in shown] == mine
        picture(page, "kinds-review")
        person.click("Send the report")
        person.heading("Thank you")
        assert running.people == 3001
        watcher = visit(running, viewport={"width": 390, "height": 844})
        page = watcher.goto("/results")
        page.get_by_text("3,001 reports").first.wait_for()
        for mark in ("rect.raw", "circle.dot", "circle.place"):
            page.locator(f".chart {mark}").first.wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert violations(page, axe) == []
        picture(page, "kinds-results-phone")


MANY = f"""
[survey]
id = "many"
epsilon = 4.0
budget = "sampled"
sample = 3
minimum_reports = 1

[[question]]
id = "town"
ask = "Which town?"
kind = "category"
choices = {[f"town {place}" for place in range(40)]}
optional = true

[[question]]
id = "home"
ask = "Where?"
kind = "place"
places = {[f"place {place}" for place in range(12)]}
points = {[[40 + place % 4, place // 4] for place in range(12)]}

[[question]]
id = "taste"
ask = "Which taste?"
kind = "features"
dimensions = 20
low = 0
high = 1
"""


def test_many_answers_of_questions_that_chance_chose(tmp_path: Path, visit: Visit, axe: str) -> None:
    with site(MANY.replace("sample = 3", "sample = 1"), tmp_path) as running:
        person = visit(running)
        page = person.goto()
        page.get_by_text("You are asked 1 of 3 questions.").wait_for()
        asked = page.locator(".ask").inner_text()
        page.reload()
        expect(page.locator(".ask")).to_have_text(asked)  # drawn once: to load again is no way to another question
    folder = tmp_path / "whole"
    folder.mkdir()
    with site(MANY, folder) as running:
        person = visit(running)
        page = person.goto()
        page.get_by_label("Which town?").select_option("I would rather not say")
        page.get_by_label("Where?").select_option("place 7")
        expect(page.locator("svg.map circle.chosen")).to_have_count(1)
        page.get_by_label("Which taste?").fill("0.5 " * 19)
        person.click("Randomize my answers")
        page.get_by_role("link", name="Which taste? Type 20 numbers").click()
        page.get_by_label("Which taste?").fill("0.5 " * 20)
        assert violations(page, axe) == []
        person.click("Randomize my answers")
        person.heading("This is what will be sent")
        person.click("Send the report")
        person.heading("Thank you")
        watcher = visit(running)
        page = watcher.goto("/results")
        page.get_by_text("1 report", exact=True).first.wait_for()
        for mark, number in (("rect.raw", 30), ("circle.place", 12), ("circle.dot", 20)):
            expect(page.locator(f".chart {mark}")).to_have_count(number)


def test_light_and_dark(tmp_path: Path, visit: Visit, axe: str, picture: Picture) -> None:
    with site(SEVERAL, tmp_path) as running:
        mode = running.app.collector.survey.questions
        people = {q.id: q.how.pretend(q.mechanism.domain, np.random.default_rng(2), 2000) for q in mode}
        running.fill(people, 2000)
        grounds = set()
        for scheme in ("light", "dark"):
            person = visit(running, color_scheme=scheme, viewport={"width": 1000, "height": 900})
            for path, ready in (("/", "button.main"), ("/results", ".chart rect.raw"), ("/try", "tr.picked")):
                page = person.goto(path)
                page.locator(ready).first.wait_for()
                assert violations(page, axe) == [], f"{path} {scheme}"
                seen = person.seen()
                picture(page, f"{scheme}{path.replace('/', '-')}")
                print(f"{path} {scheme}: first paint after {seen['paint']:.0f} ms, layout shift {seen['shift']:.4f}")
                assert seen["shift"] == 0, seen["moved"]
            grounds.add(person.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert len(grounds) == 2


def test_nothing_is_wider_than_a_phone(tmp_path: Path, visit: Visit) -> None:
    long = "Where we live, where we work, and how we come from one to the other and back again"
    with site(FIRST.replace("Where we live", long), tmp_path) as running:
        running.fill({"town": ["Nice"] * 100}, 100)
        person = visit(running, viewport={"width": 340, "height": 700}, has_touch=True)
        for path, ready in (("/", "button.main"), ("/results", ".chart rect.raw"), ("/try", "tr.picked")):
            page = person.goto(path)
            page.locator(ready).first.wait_for()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
            sizes = "[...document.querySelectorAll('button, select, .choice')].map((each) => each.offsetHeight)"
            assert min(page.evaluate(sizes)) >= 44  # for fingers
            assert person.seen()["shift"] == 0, (path, person.seen()["moved"])


# What can go wrong


def test_storage_is_blocked(towns: Site, visit: Visit) -> None:
    person = visit(towns)
    person.context.add_init_script(
        """Object.defineProperty(window, "indexedDB", { get() { throw new DOMException("no", "SecurityError"); } });
           Object.defineProperty(window, "localStorage", { get() { throw new DOMException("no", "SecurityError"); } });
           Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("no", "SecurityError"); } });"""
    )
    person.goto()
    person.heading("This browser blocks storage for this page")
    person.click("Answer once in this tab")
    person.page.get_by_label("Nice").check()
    person.click("Randomize my answer")
    person.heading("This is what will be sent")
    person.click("Send the report")
    person.heading("Thank you")
    assert towns.people == 1


def test_no_secure_randomness(towns: Site, visit: Visit) -> None:
    person = visit(towns)
    person.context.add_init_script("Object.defineProperty(window, 'crypto', { value: undefined })")
    person.goto()
    person.heading("Secure randomness is not available")
    expect(person.page.get_by_role("radio")).to_have_count(0)


def test_a_survey_of_a_later_release(towns: Site, visit: Visit) -> None:
    person = visit(towns, service_workers="block")
    text = towns.app.collector.survey.to_json().replace("deniable survey 1", "deniable survey 9")
    person.page.route("**/v1/survey", lambda route: route.fulfill(body=text, content_type="application/json"))
    person.goto()
    person.heading("This page cannot show this survey")
    expect(person.page.get_by_role("button", name="Reload")).to_be_visible()


def test_the_device_says_what_it_has_proved(towns: Site, visit: Visit) -> None:
    person = visit(towns)
    person.goto()
    epsilon = re.escape(f"{towns.app.collector.survey.epsilon:g}")
    said = re.compile(rf"^This device has checked the survey.* epsilon {epsilon} for your answer\.$")
    expect(person.page.locator("#checked")).to_have_text(said)


LIES = {
    "tells the truth": lambda law: law.update(nodes=law["nodes"][:1], report=[[law["report"][0][0], 0]]),
    "has larger odds": lambda law: law["nodes"][1].__setitem__(2, "999/1000"),
    "is of a later release": lambda law: law["nodes"][1].__setitem__(0, "magic"),
    "has a table that is too large": lambda law: law["nodes"].append(["table", [0], [1] * 70_000]),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_law_that_lies_is_not_run(towns: Site, visit: Visit, lie: str) -> None:
    person = visit(towns, service_workers="block")
    document = law_document(towns.app.collector.survey)
    LIES[lie](document["questions"]["town"]["law"])  # type: ignore[index]
    person.page.route("**/v1/law", lambda route: route.fulfill(json=document))
    said: list[str] = []
    person.page.on("console", lambda message: said.append(message.text))
    person.goto()
    person.heading("This survey will not be answered here")
    person.page.get_by_text("could not verify that this survey protects your answers").wait_for()
    expect(person.page.get_by_role("radio")).to_have_count(0)
    until(
        lambda: person.page.evaluate("1") and any(line.startswith("Question 1: ") for line in said)
    )  # the reason, for whoever runs the survey


def test_a_promise_that_is_not_kept(towns: Site, visit: Visit) -> None:
    person = visit(towns, service_workers="block")

    def broken(route: "Route") -> None:
        route.fulfill(json={**route.fetch().json(), "certified": False})

    person.page.route("**/v1/promise", broken)
    person.goto()
    person.heading("The privacy promise does not hold")
    expect(person.page.get_by_role("radio")).to_have_count(0)


def serving(text: str) -> "Callable[[Route], None]":
    return lambda route: route.fulfill(body=text)


def test_another_survey_of_the_same_name(towns: Site, visit: Visit) -> None:
    person = visit(towns, service_workers="block")
    answered(person)
    other = survey(FIRST.replace("Which town?", "What town?"))
    for path, text in (("survey", other.to_json()), ("law", law_json(other))):
        person.page.route(f"**/v1/{path}", serving(text))
    person.goto()
    person.heading("You answered another version of this survey")


def test_the_network_is_down_from_the_start(towns: Site, visit: Visit) -> None:
    person = visit(towns, service_workers="block")
    person.page.route("**/v1/survey", lambda route: route.abort())
    person.goto()
    person.heading("The survey could not be loaded")
    person.page.unroute("**/v1/survey")
    person.click("Try again")
    person.page.get_by_label("Lyon").wait_for()


@pytest.mark.parametrize(("status", "detail"), [(429, "The queue is full."), (503, "The database is unavailable.")])
def test_the_collector_is_busy(towns: Site, visit: Visit, status: int, detail: str) -> None:
    person = visit(towns)
    answered(person)
    report = person.ledger()["one"]["message"]
    blocked(towns, person, status, detail)
    person.click("Send the report")
    person.heading("Saved, to be sent later")
    expect(person.page.get_by_text(detail)).to_be_visible()
    person.page.unroute("**/v1/reports")
    person.click("Try now")
    person.heading("Thank you")
    assert person.ledger()["one"]["message"] == report and towns.people == 1


def test_refused_for_good(towns: Site, visit: Visit) -> None:
    person = visit(towns)
    answered(person)
    blocked(towns, person, 410, "Its period no longer accepts reports.")
    person.click("Send the report")
    person.heading("The report was refused")
    expect(person.page.get_by_text("no longer accepts reports")).to_be_visible()
    assert towns.people == 0


WINDOW = FIRST.replace(
    'id = "one"', 'id = "one"\nopens = 2026-01-01T00:00:00Z\ncloses = 2099-01-01T00:00:00Z\nwindow = "day"', 1
)


def test_a_clock_that_is_wrong(tmp_path: Path, visit: Visit) -> None:
    same_day()
    with site(WINDOW, tmp_path) as running:
        person = visit(running)
        person.context.add_init_script("const now = Date.now; Date.now = () => now() - 3 * 86400e3;")
        answered(person)
        person.click("Send the report")
        person.heading("Thank you")
        assert running.people == 1  # three days late by its own clock, and still counted today
        watcher, asked = visit(running), list[str]()
        watcher.context.on("request", lambda request: asked.append(request.url))
        page = watcher.goto("/results")
        page.get_by_text("1 report", exact=True).wait_for()
        assert not any("history=true" in url for url in asked)  # only if somebody looks
        page.get_by_text("Period by period").click()
        period = page.get_by_role("region", name="Periods: Which town?").get_by_role("row")
        expect(period).to_have_count(2)
        expect(period.nth(0)).not_to_contain_text("Nice")


def test_a_wrong_clock_is_shown(tmp_path: Path, visit: Visit) -> None:
    with site(WINDOW, tmp_path) as running:
        person = visit(running)
        person.context.add_init_script("const now = Date.now; Date.now = () => now() + 5 * 3600e3;")
        person.goto()
        person.page.get_by_text("The clock of this device is 5 hours ahead.").wait_for()


@pytest.mark.parametrize(
    ("opens", "closes", "title"),
    [("2098", "2099", "This survey is not open yet"), ("2025", "2026", "This survey is closed")],
)
def test_too_early_and_too_late(tmp_path: Path, visit: Visit, opens: str, closes: str, title: str) -> None:
    times = f"opens = {opens}-01-01T00:00:00Z\ncloses = {closes}-01-01T00:00:00Z"
    with site(FIRST.replace('id = "one"', f'id = "one"\n{times}', 1), tmp_path) as running:
        person = visit(running)
        person.goto()
        person.heading(title)


def test_an_invitation_code(tmp_path: Path, visit: Visit) -> None:
    with site(FIRST, tmp_path, submit=Gate([hash_of("secret")])) as running:
        person = visit(running)
        answered(person)
        person.page.get_by_label("Your invitation code").fill("wrong")
        person.click("Send the report")
        person.page.get_by_text("requires a valid invitation code").wait_for()
        person.page.get_by_label("Your invitation code").fill("secret")
        person.click("Send the report")
        person.heading("Thank you")
        assert running.people == 1


def test_a_page_of_another_site(towns: Site, tmp_path: Path, browser: "Browser") -> None:
    folder = tmp_path / "asked"
    folder.mkdir()
    with site(FIRST, folder, origins=(towns.url,)) as running:
        context = browser.new_context(bypass_csp=True)  # our own pages' policy lets them speak to their collector only
        page = context.new_page()
        page.goto(towns.url + "/try")
        state, question = settled(
            page,
            """async (collector) => {
              const { Device, Survey, openLedger } = await import("/pages/deniable.js");
              const survey = await Survey.fetch(collector);
              const device = new Device(survey, { ledger: await openLedger() });
              await device.answer({ town: "Nice" });
              const { explain } = await import("/pages/reports.js");
              const [shown] = explain(survey, await device.message());
              return [(await device.send(collector)).state, shown.question];
            }""",
            running.url,
        )
        assert (state, question) == ("sent", "town") and running.people == 1 and towns.people == 0
        ask = "(url) => fetch(url).then(() => 'read', () => 'refused')"
        assert settled(page, ask, running.url + "/v1/results") == "refused"
        context.close()


# Results


def test_results_live_without_a_shift(tmp_path: Path, visit: Visit) -> None:
    with site(SEVERAL.replace("minimum_reports = 1", "minimum_reports = 50"), tmp_path) as running:
        asked = running.app.collector.survey.questions
        people = {q.id: q.how.pretend(q.mechanism.domain, np.random.default_rng(3), 40) for q in asked}
        running.fill(people, 40)
        watcher = visit(running, viewport={"width": 1000, "height": 900})
        page = watcher.goto("/results")
        page.get_by_text("Hidden below 50 reports; so far there are 40.").first.wait_for()
        expect(page.locator(".chart svg")).to_have_count(0)
        before = watcher.seen()["shift"]
        for _ in range(2):
            running.fill(people, 40)
            page.get_by_text(f"{running.people} reports").first.wait_for()
        page.get_by_text("The certificate holds").wait_for()
        assert str(dn.certify(asked[0].mechanism)) in (page.locator("#certificates").text_content() or "")
        expect(page.locator(".chart rect.raw")).to_have_count(6 + 13)
        page.wait_for_timeout(200)
        print(f"layout shift: {before} before, {watcher.seen()['shift']} after live data")
        assert watcher.seen()["shift"] == before == 0, watcher.seen()["moved"]


def test_results_need_a_token(tmp_path: Path, visit: Visit, axe: str) -> None:
    with site(FIRST, tmp_path, read=Gate([hash_of("open sesame")])) as running:
        running.fill({"town": ["Nice"] * 500}, 500)
        watcher = visit(running)
        addresses: list[str] = []
        watcher.context.on("request", lambda request: addresses.append(request.url))
        page = watcher.goto("/results")
        watcher.heading("The results are not public")  # which is all that people who answer need to know
        expect(page.get_by_label("The token to read results")).to_be_hidden()
        page.get_by_text("I run this survey").click()
        page.get_by_label("The token to read results").fill("guess")
        assert violations(page, axe) == []
        watcher.click("Show the results")
        page.get_by_text("This token is not valid.").wait_for()
        page.get_by_label("The token to read results").fill("open sesame")
        watcher.click("Show the results")
        page.get_by_text("500 reports").wait_for()
        page.reload()
        page.get_by_text("500 reports").wait_for()  # the tab remembers
        assert not any("sesame" in address for address in addresses)
        stranger = visit(running)
        stranger.goto("/results").get_by_text("I run this survey").click()
        stranger.page.get_by_label("The token to read results").wait_for()
        page = stranger.goto("/")
        page.get_by_label("Nice").wait_for()
        expect(page.get_by_role("link", name="For the people who run this survey")).to_be_visible()
        expect(page.get_by_role("link", name="Results")).to_be_hidden()  # a form for a token is of no use here


def test_downloads(towns: Site, visit: Visit) -> None:
    towns.fill({"town": ["Nice"] * 300 + ["Metz"] * 100}, 400)
    watcher = visit(towns, viewport={"width": 900, "height": 900})
    page = watcher.goto("/results")
    page.get_by_text("400 reports").wait_for()
    found = {}
    for name in ("CSV", "JSON", "PNG"):
        with page.expect_download() as download:
            watcher.click(name)
        found[name] = Path(download.value.path()).read_bytes()
        assert download.value.suggested_filename == ("one-town.png" if name == "PNG" else f"one.{name.lower()}")
    rows = list(csv.DictReader(io.StringIO(found["CSV"].decode())))
    data = json.loads(found["JSON"])["questions"][0]["estimates"]
    assert [float(row["cleaned"]) for row in rows] == [row["cleaned"] for row in data]
    assert abs(sum(row["cleaned"] for row in data) - 1) < 1e-9 and min(row["cleaned"] for row in data) >= 0
    assert found["PNG"][:8] == b"\x89PNG\r\n\x1a\n" and len(found["PNG"]) > 5000


def test_refused_reports_are_shown(towns: Site, visit: Visit) -> None:
    watcher = visit(towns)
    page = watcher.goto("/results")
    page.get_by_text("Hidden below").wait_for()
    page.evaluate(
        """(media) => fetch("/v1/reports", { method: "POST", body: "x", headers: { "Content-Type": media } })""", MEDIA_TYPE
    )
    row = page.get_by_role("row", name=re.compile("^damaged"))
    row.get_by_text("1", exact=True).wait_for()


# The playground


def test_the_playground(towns: Site, visit: Visit, axe: str, picture: Picture) -> None:
    person = visit(towns, viewport={"width": 1000, "height": 900}, reduced_motion="reduce")
    page = person.goto("/try")
    page.locator("tr.picked").wait_for()
    cell = page.locator("tbody tr td").first
    first = cell.inner_text()
    page.get_by_label("Privacy: epsilon").fill("3")
    expect(cell).not_to_have_text(first)
    expect(page.locator("main")).to_contain_text("factor of at most 20.1")
    page.get_by_label(re.compile("^direct")).check()
    law = dn.DirectResponse(dn.Categories(range(8)), 3.0)
    expect(page.locator("pre")).to_contain_text("direct-1")
    assert page.locator("pre").inner_text() == str(dn.certify(law))
    person.click("Once")
    page.get_by_text("Your answer is 1. The report names answer").wait_for()
    page.get_by_label("Your answer", exact=True).select_option("answer 3")
    person.click("A thousand times")
    said = page.get_by_text("After 1,000 reports of one person").inner_text()
    estimate = float(re.search(r"estimate is ([\d.]+) %", said)[1]) / 100  # type: ignore[index]
    error = float(law.predict(np.eye(8)[2], 1000).standard_error[2])
    assert abs(estimate - 1) < 6 * error  # false alarm 2e-9
    expect(page.locator(".chart .line")).to_have_count(1)
    expect(page.locator(".chart rect.raw")).to_have_count(8)
    page.get_by_label("Who answers").select_option("crowd")
    person.click("A thousand times")
    page.get_by_text("After 1,000 people").wait_for()
    assert violations(page, axe) == []
    picture(page, "try")
    assert person.posts == 0


TABLES = """
[survey]
id = "tables"
epsilon = 4.0
minimum_reports = 1

[[question]]
id = "smokes"
ask = "Do you smoke?"
kind = "category"
choices = ["no", "yes"]

[[question]]
id = "age"
ask = "How old are you?"
kind = "ordered"
choices = ["18-39", "40-64", "65+"]

[[table]]
questions = ["smokes", "age"]
title = "Smoking by age"
"""


def test_questions_of_a_table_are_asked_one_by_one_and_shown_as_shaded_cells(
    browser: "Browser", tmp_path: Path, picture: Picture
) -> None:
    with site(TABLES, tmp_path) as place:
        visitor = Visitor(browser, place, viewport={"width": 390, "height": 900})
        page = visitor.goto()
        page.get_by_label("yes").check()
        page.get_by_label("65+").check()
        visitor.click("Randomize my answers")
        page.get_by_text("reported together, as one randomized combination").wait_for()
        expect(page.locator(".pair .answer").first).to_have_text("yes, 65+")
        visitor.fits("table-review", picture)
        visitor.click("Send the report")
        visitor.heading("Thank you. Your report has arrived")
        place.fill({"smokes": ["no", "yes"] * 1000, "age": ["65+", "18-39"] * 1000}, 2000)
        page = visitor.goto("/results")
        page.get_by_text("too noisy to say").wait_for()
        cells = page.locator("table.shaded td.n")
        expect(cells).to_have_count(6)
        page.locator("table.shaded td.noise").first.wait_for()
        expect(cells.first).to_contain_text("%")
        expect(page.get_by_text("The answers depend on each other")).to_be_visible()
        visitor.fits("table-results", picture)
        visitor.check()


TEXT = """
[survey]
id = "sites"
epsilon = 4.0
people = 4000
minimum_reports = 10

[[question]]
id = "site"
ask = "Which site did not work?"
kind = "text"
find = 4
blocklist = ["Rude Word"]
false_discoveries = 0.000001
"""


def test_a_text_is_asked_normalised_sent_and_found(tmp_path: Path, visit: Visit, axe: str, picture: Picture) -> None:
    """The device shows what it will use; a name that looks like markup is shown as it is; a blocked one is not, nor is one
    with characters that nobody sees."""
    with site(TEXT, tmp_path) as place:
        person = visit(place, viewport={"width": 390, "height": 844})
        page = person.goto()
        field = page.get_by_label("Which site did not work?")
        field.fill("x" * 65)
        page.get_by_text("65 of 64 bytes: too long.").wait_for()
        person.click("Randomize my answer")
        page.get_by_text("more than 64 bytes").first.wait_for()
        field.fill("  Example.ORG   Shop ")
        page.get_by_text("Your device will use “example.org shop” (16 of 64 bytes).").wait_for()
        assert violations(page, axe) == []
        expect(page.get_by_text("privacy proof itself")).to_be_visible()
        person.fits("text-ask", picture)
        person.click("Randomize my answer")
        person.heading("This is what will be sent")
        person.fits("text-review", picture)
        expect(page.locator(".pair .answer").first).to_have_text("example.org shop")
        assert "example" not in page.locator(".sent").inner_text()
        person.click("Send the report")
        person.heading("Thank you. Your report has arrived")
        said = ["Example.org"] * 2000 + ["<b>bold"] * 1200 + ["rude  word"] * 800 + ["\u202egpj.exe"] * 800
        place.fill({"site": said}, len(said))
        watcher = visit(place, viewport={"width": 1000, "height": 900})
        page = watcher.goto("/results")
        page.get_by_text("2 names passed verification.").wait_for()
        listed = page.locator("tbody th[scope=row]").all_inner_texts()
        assert "example.org" in listed and "<b>bold" in listed
        assert not any(each in page.content() for each in ("rude word", "gpj", "\u202e"))
        expect(page.locator("b", has_text="bold")).to_have_count(0)
        said_of_it = page.locator(".findings").inner_text()
        assert (
            "nobody has" in said_of_it
            and re.search(r"[Nn]o string above .* is missing \(95 % confidence\)", said_of_it)
            and "false report" in said_of_it
        )
        page.get_by_text("below 0.0001").nth(1).wait_for()  # the p-values
        watcher.fits("text-results", picture)
        assert violations(page, axe) == []


def test_a_text_is_answered_in_a_round_that_lists_candidates(tmp_path: Path, visit: Visit) -> None:
    """Who has one of the listed texts, and who has another, sees a report that names one of them, and sends it."""
    with site(TEXT.replace("find = 4", "find = 2\nrounds = 2"), tmp_path) as place:
        said = ["Example.org"] * 1200 + ["<b>bold"] * 800
        place.fill({"site": said}, len(said))
        until(lambda: place.app.rounds.current.survey.round == 2)
        for text, shown in (("EXAMPLE.org", "example.org"), ("Something else", "something else")):
            person = visit(place, viewport={"width": 390, "height": 844})
            page = person.goto()
            page.get_by_text("What is sent names one of 2 known texts, or another").wait_for()
            expect(page.get_by_text("privacy proof itself")).to_be_visible()
            page.get_by_label("Which site did not work?").fill(text)
            page.get_by_text(f"Your device will use “{shown}”").wait_for()
            person.click("Randomize my answer")
            person.heading("This is what will be sent")
            expect(page.locator(".pair .answer").first).to_have_text(shown)
            expect(page.locator(".sent")).to_contain_text("The report names")
            person.click("Send the report")
            person.heading("Thank you. Your report has arrived")
            person.check()
        watcher = visit(place, viewport={"width": 1000, "height": 900})
        watcher.goto("/results").get_by_text("2,002 reports").first.wait_for()
