"""When people see the pages, in Chromium: `python -m tests.collector.page_times`. A fresh profile each time, no cache."""

import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

import deniable as dn
from deniable.collector import open_store
from deniable.collector.collector import Collector
from deniable.device.panel import Panel
from tests.browsers import Visitor, chromium, site
from tests.collector.test_pages import SEVERAL
from tests.surveys import survey

DAYS, DAY, PANEL = 365, 86_400, 500
WELLBEING = """
[survey]
id = "wellbeing"
window = "day"
lifetime_epsilon = 4.0
minimum_reports = 1

[[question]]
id = "mood"
ask = "How was your day?"
kind = "category"
choices = ["good", "so-so", "bad"]
repeat = "permanent"
"""
# The page itself takes the time of the first frame that has the trend: whoever asks from outside asks only now and then.
DRAWN = """
new MutationObserver((_, watch) => {
  if (!document.querySelector(".trend path.band")) return;
  watch.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.drawn = performance.now(); }));
}).observe(document, { childList: true, subtree: true });
"""
READY = {"/": "button.main", "/results": ".chart rect.raw", "/try": "tr.picked"}


def page_times(visits: int = 15) -> dict[str, list[tuple[float, float, float]]]:
    """For each page: milliseconds to the first contentful paint, milliseconds until it can be used, and the layout shift."""
    found: dict[str, list[tuple[float, float, float]]] = {path: [] for path in READY}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser, site(SEVERAL, Path(folder)) as running:
        asked = running.app.collector.survey.questions
        running.fill({q.id: q.how.pretend(q.mechanism.domain, np.random.default_rng(2), 2000) for q in asked}, 2000)
        for _ in range(visits):
            for path, ready in READY.items():
                person = Visitor(browser, running, viewport={"width": 390, "height": 844})
                page = person.goto(path)
                page.locator(ready).first.wait_for()
                usable = float(page.evaluate("performance.now()"))
                page.wait_for_timeout(300)
                seen = person.seen()
                found[path].append((float(seen["paint"]), usable, float(seen["shift"])))
                person.context.close()
    return found


def year_times(visits: int = 15) -> list[float]:
    """Milliseconds until the results of a year of daily reports are drawn, each time after another report was counted."""
    asked, found = survey(WELLBEING), []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        now = time.time() - DAYS * DAY
        store, panel = open_store(f"{folder}/store.db"), Panel(asked, PANEL, dn.SeededCoins(b"year"))
        collector = Collector(asked, store, clock=lambda: now)
        answers = np.random.default_rng(3).choice(["good", "so-so", "bad"], PANEL, p=[0.5, 0.3, 0.2])
        for _ in range(DAYS):
            collector.take(asked.read(panel.batch({"mood": answers}, now)))
            now += DAY
        store.close()
        with site(WELLBEING, Path(folder)) as running:
            for _ in range(visits):
                running.app.collector.take(asked.read(Panel(asked, 1).batch({"mood": answers[:1]}, time.time())))
                person = Visitor(browser, running, viewport={"width": 1280, "height": 900})
                person.context.add_init_script(DRAWN)
                page = person.goto("/results")
                person.until("window.drawn !== undefined")
                found.append(float(page.evaluate("window.drawn")))
                person.context.close()
    return found


if __name__ == "__main__":
    year = year_times()
    print(f"/results with {DAYS} periods: drawn after median {median(year):.0f} ms, slowest {max(year):.0f} ms")
    for path, times in page_times().items():
        paints, usable, shifts = zip(*times, strict=True)
        print(
            f"{path}: first paint median {median(paints):.0f} ms, slowest {max(paints):.0f} ms; usable after median "
            f"{median(usable):.0f} ms; largest layout shift {max(shifts):.4f} ({len(times)} visits)"
        )
