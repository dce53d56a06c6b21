"""How the pages look and read: on every width, with large text, in the person's own colours, and to a screen reader."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from deniable.collector.access import Gate
from deniable.collector.tokens import hash_of
from tests.browsers import (
    CUT_OFF,
    OUTSIDE,
    WIDTHS,
    Picture,
    Site,
    Visit,
    Visitor,
    expect,
    in_a_thread,
    settled,
    site,
    violations,
)
from tests.collector.test_pages import FIRST, SEVERAL
from tests.surveys import KINDS

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [
    pytest.mark.needs("starlette", "uvicorn", "playwright", "chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]

LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
WORDY = (
    SEVERAL.replace('"bicycle"', f'"{LONG}"')
    .replace("minutes did it", f"{LONG} did it")
    .replace("[survey]", f'[survey]\ntitle = "{LONG}"')
)
# Tables of mechanisms of which a part is only seen after scrolling sideways.
UNSEEN = """
[...document.querySelectorAll(".options")].filter((t) => t.parentElement.scrollWidth > t.parentElement.clientWidth).length
"""


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A survey whose title, question and choices have a word that fits on no phone."""
    with site(WORDY, tmp_path_factory.mktemp("wordy")) as running:
        asked = running.app.collector.survey.questions
        running.fill({q.id: q.how.pretend(q.mechanism.domain, np.random.default_rng(2), 2000) for q in asked}, 2000)
        yield running


def stages(person: Visitor) -> "Iterator[tuple[str, Page]]":
    """The answer page from the first question to the receipt, then the other pages."""
    page = person.goto()
    page.get_by_label("bus").check()
    page.locator("input[type=text]").fill("25")
    yield "ask", page
    person.click("Randomize my answers")
    person.heading("This is what will be sent")
    yield "review", page
    page.get_by_text("More about this promise").click()
    yield "promise", page
    person.click("Send the report")
    person.heading("Thank you")
    yield "receipt", page
    for path, ready in (("/results", ".chart rect.raw"), ("/try", "tr.picked")):
        page = person.goto(path)
        page.locator(ready).first.wait_for()
        yield path[1:], page


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_sticks_out(wordy: Site, visit: Visit, picture: Picture, width: int) -> None:
    person = visit(wordy, viewport={"width": width, "height": 800})
    for stage, page in stages(person):
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), stage
        assert page.evaluate(OUTSIDE) == [] and page.evaluate(CUT_OFF) == [], stage
        assert page.evaluate(UNSEEN) == 0, stage
        assert person.seen()["shift"] == 0, (stage, person.seen()["moved"])
        picture(page, f"{stage}-{width}")


def in_pieces(app: Any) -> Any:
    """The application with pages that arrive element by element, as over a bad connection."""

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        page = False

        async def piece(message: Any) -> None:
            nonlocal page
            headers = dict(message.get("headers", []))
            if headers.get(b"content-type", b"").startswith(b"text/html"):
                page = True
                message["headers"] = [(name, value) for name, value in message["headers"] if name != b"content-length"]
            if page and message["type"] == "http.response.body":
                parts = re.split(rb"(?=</?(?:nav|p|a|main)\b)", message["body"])
                assert len(parts) > 10
                for part in parts:
                    await send({"type": "http.response.body", "body": part, "more_body": True})
                    await asyncio.sleep(0.05)
                message["body"] = b""
            await send(message)

        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        await app({**scope, "headers": plain}, receive, piece)

    return slow


@pytest.mark.parametrize("who", ["everybody", "with a token"])
def test_nothing_moves_while_a_page_arrives(tmp_path: Path, visit: Visit, who: str) -> None:
    import uvicorn

    read = Gate([hash_of("a token to read")]) if who == "with a token" else None
    with site(FIRST, tmp_path, read) as running:
        config = uvicorn.Config(in_pieces(running.app), log_level="warning", access_log=False, lifespan="off", ws="none")
        with in_a_thread(uvicorn.Server(config)) as port:
            person = visit(Site(running.app, f"http://127.0.0.1:{port}"), viewport={"width": 1280, "height": 800})
            for path, ready in (("/", "button.main"), ("/results", "#stage > *"), ("/try", "tr.picked")):
                page = person.goto(path)
                page.locator(ready).first.wait_for()
                assert person.seen()["shift"] == 0, (path, person.seen()["moved"])
                expect(page.get_by_role("navigation").first.get_by_role("link")).to_have_count(
                    2 if (who, path) == ("with a token", "/") else 3
                )


@pytest.mark.parametrize("width", [320, 1280])
def test_text_of_twice_the_size(wordy: Site, visit: Visit, picture: Picture, axe: str, width: int) -> None:
    person = visit(wordy, viewport={"width": width, "height": 800})
    person.context.add_init_script(
        "addEventListener('DOMContentLoaded', () => document.documentElement.style.setProperty('font-size', '200%'));"
    )
    for stage, page in stages(person):
        picture(page, f"{stage}-{width}-large")
        assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('p')).fontSize)") >= 28
        assert page.evaluate(OUTSIDE) == [] and page.evaluate(CUT_OFF) == [], stage
        assert violations(page, axe) == [], stage


@pytest.mark.parametrize(
    "options",
    [{"forced_colors": "active"}, {"forced_colors": "active", "color_scheme": "dark"}, {"reduced_motion": "reduce"}],
    ids=["forced", "forced-dark", "still"],
)
def test_the_colours_and_motion_that_people_want(
    wordy: Site,
    visit: Visit,
    picture: Picture,
    axe: str,
    options: dict[str, str],
    request: pytest.FixtureRequest,
) -> None:
    person = visit(wordy, viewport={"width": 390, "height": 800}, **options)
    name = request.node.callspec.id
    for stage, page in stages(person):
        picture(page, f"{stage}-{name}")
        assert violations(page, axe) == [], stage
        if "reduced_motion" in options:
            person.until("document.getAnimations().length === 0")
            moving = (
                "[...document.querySelectorAll('*')].filter((each) => getComputedStyle(each).transitionDuration !== '0s')"
            )
            assert page.evaluate(f"{moving}.length") == 0
        elif stage == "ask":  # what is chosen is marked by more than a background, which such modes take away
            marked = "getComputedStyle(document.querySelector('.choice:has(:checked)')).outlineStyle"
            person.until(f"{marked} === 'solid'")


def test_send_is_in_reach_on_a_phone(wordy: Site, visit: Visit) -> None:
    person = visit(wordy, viewport={"width": 390, "height": 700}, has_touch=True)
    for stage, page in stages(person):
        if stage == "review":
            box = page.get_by_role("button", name="Send the report").bounding_box()
            assert box is not None and box["y"] + box["height"] <= 700 and box["height"] >= 44
            page.keyboard.press("End")
            person.until("scrollY > 0")
            box = page.get_by_role("button", name="Send the report").bounding_box()
            assert box is not None and box["y"] + box["height"] <= 700
            return
    raise AssertionError("there was nothing to send")


def test_a_screen_reader_hears_the_whole_way(tmp_path: Path, visit: Visit) -> None:
    with site(FIRST, tmp_path) as running:
        person = visit(running)
        page = person.goto()
        page.get_by_label("Nice").check()
        tree = page.locator("body").aria_snapshot()
        assert tree.index("Skip to content") < tree.index("navigation") < tree.index('heading "Where we live" [level=1]')
        assert 'group "Which town?"' in tree and 'radio "Nice" [checked]' in tree
        assert tree.count("radio ") == 6 and 'button "Randomize my answer"' in tree
        person.click("Randomize my answer")
        person.heading("This is what will be sent")
        tree = page.locator("main").aria_snapshot()
        for part in ('heading "This is what will be sent" [level=2]', 'heading "Which town?" [level=2]', "What is sent"):
            assert part in tree, part
        assert tree.index("Your answer (stays here)") < tree.index("What is sent") < tree.index('button "Send the report"')
        person.until("document.activeElement.textContent === 'This is what will be sent'")
        person.click("Send the report")
        person.heading("Thank you")
        tree = page.locator("main").aria_snapshot()
        assert "status: Your report has arrived." in tree and 'button "Download the receipt"' in tree
        person.until("document.activeElement.textContent.startsWith('Thank you')")


HUNDRED = re.compile(r"About (\d+) of 100 such reports")
# The page tries as many reports as it has time for. Here time stands still while it tries, so it is always a thousand.
TIMELESS = "performance.now = () => 0;"


def test_the_page_says_how_often_a_report_is_true(tmp_path: Path, visit: Visit) -> None:
    with site(FIRST, tmp_path) as running:
        person = visit(running)
        person.context.add_init_script(TIMELESS)
        page = person.goto()
        page.get_by_label("Nice").check()
        person.click("Randomize my answer")
        person.heading("This is what will be sent")
        said, report = page.locator(".chance").inner_text(), page.get_by_text("The report names").inner_text()
        assert ("happens to name your answer" in said) == ('"Nice"' in report)
        found = HUNDRED.search(said)
        mechanism = running.app.collector.survey.questions[0].mechanism
        p = float(mechanism.p)  # type: ignore[attr-defined]
        # From 1,000 reports: six standard errors and the rounding, so a false alarm has probability below 1e-6.
        assert found and abs(int(found[1]) / 100 - p) < 6 * (p * (1 - p) / 1000) ** 0.5 + 0.005
        page.reload()  # the answer is not known any more
        person.heading("This is what will be sent")
        expect(page.locator(".chance")).to_contain_text("such reports name the true answer")


def test_every_kind_says_how_often(tmp_path: Path, visit: Visit) -> None:
    with site(KINDS + '\n[[question]]\nid = "hours"\nkind = "number"\nlow = 0\nhigh = 80\n', tmp_path) as running:
        person = visit(running)
        person.context.add_init_script(TIMELESS)
        page = person.goto()
        page.get_by_label("7", exact=True).check()
        page.get_by_label("sometimes").check()
        page.get_by_label("Alien").fill("4.5")
        page.get_by_label("map").check()
        page.get_by_label("Paris").check()
        for place in range(4):
            page.get_by_label(f"Number {place + 1}").fill("0.5")
        page.get_by_label("hours").fill("38")
        person.click("Randomize my answers")
        person.heading("This is what will be sent")
        said = page.locator("section.card").all_inner_texts()
        by_question = {text.split("\n")[0]: text for text in said}
        assert "such reports name a given item that you chose" in by_question["Which apps do you have?"]
        assert "of the true number" in by_question["hours"]
        assert "(rated" not in by_question["How are you, from 0 to 10?"]  # which is a scale, not a list of items
        assert re.search(
            r"a random number between -\d+.* and \d+.*\. Averaged over many people it is exact", by_question["hours"]
        )


def test_results_for_everybody(tmp_path: Path, visit: Visit, axe: str, picture: Picture) -> None:
    shared = FIRST.replace("[survey]", "[survey]\nshare_results = true", 1)
    with site(shared, tmp_path, read=Gate([hash_of("open sesame")])) as running:
        running.fill({"town": ["Nice"] * 900 + ["Metz"] * 100}, 1000)
        person = visit(running, viewport={"width": 390, "height": 800})
        page = person.goto()
        page.get_by_label("Nice").check()
        person.click("Randomize my answer")
        person.heading("This is what will be sent")
        person.click("Send the report")
        person.heading("Thank you")
        page.get_by_role("link", name="See the results so far").click()
        page.get_by_text("The most common answer is Nice").wait_for()
        assert violations(page, axe) == []
        picture(page, "shared-results")
        expect(page.get_by_text("duplicates")).to_have_count(0)  # what operators look at
        refused = "(path) => fetch(path).then((answer) => answer.status)"
        assert [settled(page, refused, path) for path in ("/v1/results", "/v1/intake", "/v1/tallies")] == [200, 401, 401]
        page.get_by_role("link", name="I run this survey").click()
        page.get_by_text("I run this survey").click()
        page.get_by_label("The token to read results").fill("open sesame")
        person.click("Show the results")
        page.get_by_text("duplicates, not counted").wait_for()


def test_results_at_a_glance(tmp_path: Path, visit: Visit, axe: str) -> None:
    with site(FIRST, tmp_path) as running:
        running.fill({"town": ["Nice"] * 4000 + ["Metz"] * 1000}, 5000)
        watcher = visit(running, viewport={"width": 900, "height": 900})
        page = watcher.goto("/results")
        page.get_by_text("The most common answer is Nice").wait_for()
        expect(page.locator(".chart text:not(.faint)").first).to_have_text("Nice")  # by size
        noisy = settled(
            page, "() => fetch('/v1/results').then((answer) => answer.json()).then((all) => all.questions[0].chart)"
        )
        expect(page.locator(".chart rect.noise")).to_have_count(sum(line["noisy"] for line in noisy))
        expect(page.get_by_text("may be zero", exact=True)).to_be_visible()
        plan = page.locator(".plan").inner_text()
        assert re.search(
            r"^Standard error: ± \S+ percentage points\. Planned: ± \S+ percentage points, with 100,000 reports", plan
        )
        assert page.locator("#promise").get_attribute("open") is None  # one line, which opens
        expect(page.locator("#certificates")).to_be_hidden()
        page.get_by_text("Numbers", exact=True).click()
        page.get_by_role("button", name="raw").click()
        column = page.get_by_role("columnheader", name="raw")
        expect(column).to_have_attribute("aria-sort", "descending")

        def numbers() -> list[float]:
            cells = page.locator("section.card tbody tr td:nth-child(2)").all_inner_texts()
            return [float(cell.split()[0]) for cell in cells]

        assert numbers() == sorted(numbers(), reverse=True)
        page.get_by_role("button", name="raw").press("Enter")
        expect(column).to_have_attribute("aria-sort", "ascending")
        assert numbers() == sorted(numbers())
        assert violations(page, axe) == []
