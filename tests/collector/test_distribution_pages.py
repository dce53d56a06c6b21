"""Distributions and maps in a real browser, with bands and intervals; and a round that opens while a page loads."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from deniable.survey.law_document import law_document
from tests.browsers import Picture, Site, Visitor, expect, site, violations
from tests.surveys import with_planner

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

pytestmark = [
    pytest.mark.needs("starlette", "uvicorn", "playwright", "chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]

MAP = """
[survey]
id = "where-and-when"
epsilon = 4.0
people = 3000
minimum_reports = 1

[[question]]
id = "home"
ask = "Where do you live?"
kind = "place"
area = [[48.80, 2.25], [48.92, 2.41]]
grid = [3, 4]
target = "ranges"

[[question]]
id = "pay"
ask = "How much do you earn?"
kind = "number"
low = 0
high = 120_000
target = "distribution"
"""


@pytest.mark.parametrize(("edition", "wire"), [(1, "tiles-1"), (2, "shifted-tiles-1")])
def test_a_distribution_and_a_map(
    edition: int, wire: str, browser: "Browser", tmp_path: Path, axe: str, picture: Picture
) -> None:
    with site(with_planner(MAP, edition), tmp_path) as place:
        assert place.app.collector.survey.questions[0].mechanism.wire == wire
        visitor = Visitor(browser, place, viewport={"width": 390, "height": 900})
        page = visitor.goto()
        page.get_by_label("Where do you live?").select_option("48.84 to 48.88, 2.29 to 2.33")
        page.get_by_label("How much do you earn?").fill("42000")
        visitor.fits("map-ask", picture)
        visitor.click("Randomize my answers")
        visitor.heading("This is what will be sent")
        visitor.fits("map-review", picture)
        visitor.click("Send the report")
        visitor.heading("Thank you. Your report has arrived")
        random, cells = np.random.default_rng(1), place.app.collector.survey.questions[0].domain.labels
        homes = [cells[5] if each < 0.7 else cells[0] for each in random.random(3000)]
        place.fill({"home": homes, "pay": np.clip(random.normal(40_000, 12_000, 3000), 0, 120_000)}, 3000)
        page = visitor.goto("/results")
        page.get_by_text("Half of the people answered").wait_for()
        shown = page.locator("table.map-cells td.n")
        expect(shown).to_have_count(12)
        inside = "(table) => table.getBoundingClientRect().bottom <= table.closest('.chart').getBoundingClientRect().bottom"
        assert page.locator("table.map-cells").evaluate(inside)  # no row is cut off
        rows = page.locator("table.map-cells tbody th").all_inner_texts()
        assert rows == ["48.88 to 48.92", "48.84 to 48.88", "48.8 to 48.84"]  # the north above
        first = shown.nth(5).get_attribute("aria-label") or ""  # the second row, the second column
        assert first.startswith("48.84 to 48.88, 2.29 to 2.33: ") and "interval" in first
        assert 55 < float(first.split(": ")[1].split(" ")[0]) < 85  # 70 %, with a standard error below 3
        expect(page.locator(".findings").first).to_contain_text("Most people are in: 48.84 to 48.88, 2.29 to 2.33")
        charts = page.locator("section.card").nth(1)
        for mark, number in (("path.band", 1), ("line.median", 1), ("rect.raw", 12)):
            expect(charts.locator(mark)).to_have_count(number)
        visitor.fits("map-results", picture)
        assert violations(page, axe) == []
        visitor.check()


def served_later(place: Site, times: int) -> "tuple[list[int], object]":
    """A handler that gives the law of another survey so many times, as if a round had opened in between, and its calls."""
    calls: list[int] = []

    def handle(route: "Route") -> None:
        calls.append(1)
        document = law_document(place.app.collector.survey)
        if len(calls) <= times:
            document["survey"] = "0" * 16
        route.fulfill(json=document)

    return calls, handle


def test_a_round_opens_while_the_page_loads(browser: "Browser", tmp_path: Path) -> None:
    with site(MAP, tmp_path) as place:
        visitor = Visitor(browser, place, service_workers="block")
        calls, handle = served_later(place, 1)
        visitor.page.route("**/v1/law", handle)  # type: ignore[arg-type]
        visitor.goto()
        visitor.page.get_by_label("How much do you earn?").wait_for()
        assert len(calls) == 2
        visitor.check()
        other = Visitor(browser, place, service_workers="block")
        calls, handle = served_later(place, 9)
        other.page.route("**/v1/law", handle)  # type: ignore[arg-type]
        other.goto()
        other.heading("This survey is changing right now")
        assert len(calls) == 2
