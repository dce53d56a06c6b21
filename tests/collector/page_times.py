"""When people see the pages, in Chromium: `python -m tests.collector.page_times`. A fresh profile each time, no cache."""

import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from tests.browsers import Visitor, chromium, site
from tests.collector.test_pages import SEVERAL

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


if __name__ == "__main__":
    for path, times in page_times().items():
        paints, usable, shifts = zip(*times, strict=True)
        print(
            f"{path}: first paint median {median(paints):.0f} ms, slowest {max(paints):.0f} ms; usable after median "
            f"{median(usable):.0f} ms; largest layout shift {max(shifts):.4f} ({len(times)} visits)"
        )
