"""A survey that asks again in a real browser: answer, come back in the next period, and see the answers over time."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deniable as dn
from deniable.collector import Collector
from deniable.device.panel import Panel
from tests.browsers import Picture, Visitor, expect, settled, site, violations
from tests.survey.test_repeating import EXAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [
    pytest.mark.needs("starlette", "uvicorn", "playwright", "chromium"),
    pytest.mark.xdist_group("browser"),
    pytest.mark.long,
]
DAYS, PEOPLE = 36, 800
TEXT = (
    EXAMPLE.replace('window = "day"', 'window = "day"\nminimum_reports = 1\nshare_results = true').replace("so-so", "W" * 20)
    + '\n[[question]]\nid = "town"\nkind = "category"\nchoices = ["Lyon", "Paris"]\n'
)
NEXT_PERIOD = """
async () => {
  const opening = indexedDB.open("deniable", 1);
  await new Promise((done) => (opening.onsuccess = done));
  const store = opening.result.transaction("ledger", "readwrite").objectStore("ledger");
  const reading = store.get("all");
  await new Promise((done) => (reading.onsuccess = done));
  const data = reading.result;
  data.repeated.wellbeing.periods = data.repeated.wellbeing.periods.map((period) => period - 1);
  const writing = store.put(data, "all");
  await new Promise((done) => (writing.onsuccess = done));
  return [Object.keys(data.memories).length, data.surveys.wellbeing.epsilon];
}
"""


DATES = """(() => {
  const [from, to] = [...document.querySelectorAll(".trend svg text")].slice(-2).map((text) => text.getBoundingClientRect());
  return to.left - from.right;
})()"""


def test_answer_today_and_tomorrow_and_read_the_trend(
    browser: "Browser", tmp_path: Path, axe: str, picture: Picture
) -> None:
    with site(TEXT, tmp_path) as place:
        survey, store = place.app.collector.survey, place.app.collector.store
        now = [time.time() - 86_400 * DAYS]
        past = Collector(survey, store, clock=lambda: now[0])
        panel = Panel(survey, PEOPLE, dn.SeededCoins(b"pages"))
        for day in range(DAYS):
            moods = np.where(np.arange(PEOPLE) % 10 < (1 if day < 18 else 7), "bad", "good").tolist()
            past.take(survey.read(panel.batch({"mood": moods, "town": ["Lyon"] * PEOPLE}, now[0])))
            now[0] += 86_400
        visitor = Visitor(browser, place)
        page = visitor.goto()
        page.get_by_label("good").check()
        page.get_by_label("Paris").check()
        visitor.click("Randomize my answers")
        visitor.click("Send the report")
        visitor.heading("Thank you. Your report has arrived")
        for said in ("You are asked again on", "so far: 1."):
            expect(page.locator("main")).to_contain_text(said)
        assert settled(page, NEXT_PERIOD) == [1, pytest.approx(4, abs=1e-9)]  # one question keeps its answer
        page = visitor.goto()
        page.get_by_label("good").check()
        expect(page.get_by_label("Paris")).to_have_count(0)  # it is asked once
        visitor.click("Randomize my answer")
        visitor.click("Send the report")
        visitor.heading("Thank you. Your report has arrived")
        expect(page.locator("main")).to_contain_text("so far: 2. Together they cost epsilon 4")
        page = visitor.goto("/results")
        page.locator("path.line").first.wait_for()
        expect(page.locator(".trend path.band")).to_have_count(3)
        expect(page.locator(".trend line.change").first).to_be_attached()
        for said in ("bad rose by about", "A person spends epsilon 4 with the first report", "at most 0.0001"):
            expect(page.locator("main")).to_contain_text(said)
        expect(page.get_by_text("Weekdays: good", exact=True)).to_have_count(1)
        visitor.fits("trend-results", picture)
        page.set_viewport_size({"width": 320, "height": 700})
        visitor.until("document.querySelector('.trend svg').clientWidth < 300")
        assert page.evaluate(DATES) > 4  # pixels between the first and the last day
        assert violations(page, axe) == []
        visitor.check()
