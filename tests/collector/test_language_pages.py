"""The pages in other languages, in a browser: people answer in each, nothing is left in English, and right to left works."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from deniable.collector import texts
from deniable.collector.static import page_in
from tests.browsers import OUTSIDE, Picture, Site, Visit, Visitor, expect, site, violations
from tests.collector.test_looks import UNSEEN
from tests.collector.test_pages import SEVERAL
from tests.surveys import ONE

pytestmark = [
    pytest.mark.needs("starlette", "uvicorn", "playwright", "chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]

STRANGE = "ar"  # a language that the table does not have: every text in brackets, in letters of a script from right to left
OPEN, CLOSE = "⟦", "⟧"
ARABIC = "ابتثجحخدذرزسشصضطظعغفقكلمنهوي"
# Visible text, and what is said to those who listen.
SEEN = """() => {
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { parentElement: parent, data } = walk.currentNode;
    const unread = parent.closest("[lang=en], noscript, template, .mono, .languages, .brand");
    if (!unread && parent.checkVisibility()) found.push(data);
  }
  return [...found, ...[...document.querySelectorAll("[aria-label], [title], [placeholder]")].flatMap((each) =>
    ["aria-label", "title", "placeholder"].map((name) => each.getAttribute(name) ?? ""))];
}"""
CLIPPED = """() => [...document.querySelectorAll("main :is(p, button, label, h1, h2, h3, summary, .tag)")]
  .filter((each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).display !== "inline")
  .filter((each) => !each.closest(".scroll, .chart"))
  .map((each) => `${each.tagName} ${each.textContent.slice(0, 40)}`)"""


def strange(text: str) -> str:
    """A text in brackets, its words in another script and as long, its gaps as they are."""

    def word(match: re.Match[str]) -> str:
        return "".join(ARABIC[ord(letter) % len(ARABIC)] for letter in match[0])

    kept = re.compile(r"(\{\w+\}|\{\w+\|\w+:|\|\w+:|`[^`]*`)")
    return (
        OPEN
        + "".join(part if kept.fullmatch(part) else re.sub(r"[^\W\d_]+", word, part) for part in kept.split(text))
        + CLOSE
    )


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(SEVERAL, tmp_path_factory.mktemp("languages")) as running:
        asked = running.app.collector.survey.questions
        running.fill({q.id: q.how.pretend(q.mechanism.domain, np.random.default_rng(2), 2000) for q in asked}, 2000)
        yield running


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One more language for a while."""
    tables = {
        part: {name: {**row, STRANGE: strange(row["en"])} for name, row in texts.table(part).items()} for part in texts.PARTS
    }
    monkeypatch.setattr(texts, "table", tables.__getitem__)
    monkeypatch.setitem(texts.LANGUAGES, STRANGE, "العربية")
    page_in.cache_clear()
    yield
    page_in.cache_clear()


def answered(person: Visitor, path: str, name: str, send: str) -> Iterator[str]:
    """From the first question to the receipt."""
    page = person.goto(path)
    page.get_by_label("bus").check()
    page.locator("input[type=text]").fill("25")
    yield "ask"
    person.click(name)
    page.locator(".pair").first.wait_for()
    page.locator("details:has(table) summary").click()
    yield "review"
    person.click(send)
    page.locator(".card.good").wait_for()
    yield "receipt"


@pytest.mark.parametrize(
    ("language", "locale"), [("de", "de-CH"), ("fr", "fr-FR"), ("es", "es-MX")], ids=["german", "french", "spanish"]
)
def test_people_answer_in_their_language(
    several: Site, visit: Visit, picture: Picture, axe: str, language: str, locale: str
) -> None:
    rows = texts.table("answer")
    name, send = (rows[row][language] for row in ("randomize", "send"))
    name = re.sub(r"\{.*\|other:([^}]*)\}", r"\1", name)
    before = several.people
    person = visit(several, viewport={"width": 320, "height": 800}, locale=locale)
    for stage in answered(person, "/", name, send):
        page = person.page
        picture(page, f"{stage}-{language}")
        assert page.evaluate("document.documentElement.lang") == language
        assert page.evaluate(OUTSIDE) == [] and page.evaluate(CLIPPED) == [], stage
        assert violations(page, axe) == [], stage
    assert several.people == before + 1
    expect(page.get_by_text(rows["thanks"][language])).to_be_visible()
    page = person.goto("/results")
    page.locator(".chart rect.raw").first.wait_for()
    assert re.search(r"\d,\d\xa0% ±", page.evaluate("document.querySelector('.chart svg').textContent"))
    said = texts.table("results")["heard_most_common"][language].split(" {")[0]
    expect(page.locator(".findings").first).to_contain_text(said)
    page = person.goto("/try")
    page.locator("tr.picked").wait_for()
    assert page.evaluate(OUTSIDE) == [] and page.evaluate(UNSEEN) == 0


def test_a_language_is_chosen_by_a_link_and_stays(several: Site, visit: Visit) -> None:
    person = visit(several, locale="en-GB")
    page = person.goto("/#i=nothing")
    page.get_by_role("link", name="Français").click()
    page.wait_for_url("**/?lang=fr#i=nothing")
    page.get_by_role("button", name="Brouiller mes réponses").wait_for()
    page.get_by_role("link", name="Essayer").click()
    page.wait_for_url("**/try?lang=fr")
    page.get_by_role("button", name="Mille fois").wait_for()


def test_a_number_that_may_mean_two_is_refused(several: Site, visit: Visit) -> None:
    person = visit(several)
    page = person.goto("/?lang=de")
    page.get_by_label("bus").check()
    for typed, refused in (("1.500", True), ("25,5", False)):
        page.locator("input[type=text]").fill(typed)
        person.click("Meine Antworten zufällig verändern")
        if refused:
            expect(page.locator(".summary")).to_contain_text("ohne Tausendertrennzeichen ein, etwa 1500")
    expect(page.locator(".pair").last).to_contain_text("25,5")


def test_a_survey_is_asked_in_its_language(visit: Visit, tmp_path: Path) -> None:
    with site(ONE.replace("[survey]", '[survey]\nlanguage = "es"'), tmp_path) as running:
        person = visit(running, locale="de-DE")
        page = person.goto()
        page.get_by_label("Nice").check()
        person.click("Aleatorizar mi respuesta")
        person.click("Enviar el informe")
        page.locator(".card.good").wait_for()
        assert running.people == 1
        page = visit(running).goto("/?lang=fr")  # the page in another language than the survey
        expect(page.locator("legend bdi")).to_have_attribute("lang", "es")
        expect(page.locator("h1")).to_have_attribute("lang", "es")


def test_nothing_is_left_in_english_and_right_to_left_works(
    several: Site, visit: Visit, picture: Picture, axe: str, foreign: None
) -> None:
    name, send = (strange(texts.table("answer")[row]["en"]) for row in ("randomize", "send"))
    name = re.sub(r"\{.*\|other:([^}]*)\}", r"\1", name)
    person = visit(several, viewport={"width": 320, "height": 800}, locale="ar")
    own = "|".join(
        re.escape(text)
        for question in several.app.collector.survey.asked
        for text in (question.ask, question.id, *map(str, question.details.get("choices", ())))
    )
    own += "|several-kinds|deniable token|CSV|JSON|PNG|utility-1|wheel-1"
    own += "|(subset|unary|hashing|direct|wheel|design|hadamard|optimized|symmetric|binary)"

    def check(stage: str) -> None:
        page = person.page
        picture(page, f"{stage}-rtl")
        assert page.evaluate("getComputedStyle(document.body).direction") == "rtl"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), stage
        assert page.evaluate(OUTSIDE) == [] and page.evaluate(CLIPPED) == [], stage
        assert violations(page, axe) == [], stage
        left = [text for text in page.evaluate(SEEN) if re.search(r"[A-Za-z]{3,}", re.sub(own, "", text))]
        assert left == [], stage

    for stage in answered(person, "/", name, send):
        check(stage)
    page = person.goto("/results")
    page.locator(".chart rect.raw").first.wait_for()
    person.until("document.getElementById('certificates').lang === 'en'")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    check("results")
    page = person.goto("/try")
    page.locator("tr.picked").wait_for()
    check("try")
