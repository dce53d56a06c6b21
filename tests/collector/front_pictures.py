"""The pictures on the front page of the documentation: `python -m tests.collector.front_pictures` takes them anew."""

import tempfile
from pathlib import Path

from tests import ROOT
from tests.browsers import chromium, site

FOLDER = ROOT / "docs" / "pictures"
SURVEY = """
[survey]
id = "front"
title = "How we get to work"
epsilon = 2.0
minimum_reports = 100
share_results = true

[[question]]
id = "mode"
ask = "How did you travel today?"
kind = "category"
choices = ["walk", "bicycle", "bus", "train", "car"]
"""


def main() -> None:
    """Answer a survey of 5,000 made-up people, and take a picture of each page."""
    with tempfile.TemporaryDirectory() as folder, site(SURVEY, Path(folder)) as where, chromium() as browser:
        people = ["walk"] * 700 + ["bicycle"] * 1200 + ["bus"] * 1500 + ["train"] * 600 + ["car"] * 1000
        where.fill({"mode": people}, len(people))
        page = browser.new_page(base_url=where.url, viewport={"width": 620, "height": 760}, device_scale_factor=1)
        page.set_default_timeout(60_000)
        page.goto("/")
        page.get_by_label("bus").check()
        page.get_by_role("button", name="Randomize my answer").click()
        page.get_by_role("heading", name="This is what will be sent").wait_for()
        page.wait_for_timeout(1500)  # the share of true reports is counted in the page
        page.screenshot(path=FOLDER / "page-answer.png")
        page.goto("/results")
        page.locator("svg").first.wait_for()
        page.wait_for_timeout(1500)
        page.locator("#stage .card, main .card").filter(has=page.locator("svg")).first.screenshot(
            path=FOLDER / "page-results.png"
        )
        for text in page.get_by_text("certificate").all():
            if text.evaluate("node => node.tagName") == "SUMMARY":
                text.click()
                text.scroll_into_view_if_needed()
                text.evaluate("node => node.scrollIntoView()")
                break
        page.wait_for_timeout(500)
        page.screenshot(path=FOLDER / "page-certificate.png")


if __name__ == "__main__":
    main()
