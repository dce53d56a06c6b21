"""Real browsers for tests: the system's Chromium, a collector to look at, and eyes on everything a page does."""

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deniable.collector import Collector, open_store, results
from deniable.collector.access import Gate
from deniable.collector.app import App
from deniable.collector.tokens import hash_of
from tests.surveys import survey
from tests.waits import until

if TYPE_CHECKING:
    import uvicorn
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

PATIENCE = 120  # seconds until a page must show something; tests on a busy machine are slow
AXE = "axe-core@4.10.3"
QUIET = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
]
WATCH = """
window.seen = { shift: 0, moved: [], paint: null, violations: [] };
document.addEventListener("securitypolicyviolation", (event) => window.seen.violations.push(event.violatedDirective));
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
  if (entry.hadRecentInput) return;
  window.seen.shift += entry.value;
  window.seen.moved.push(...entry.sources.map(({ node }) => node?.className || node?.nodeName));
})).observe({ type: "layout-shift", buffered: true });
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
  if (entry.name === "first-contentful-paint") window.seen.paint = entry.startTime;
})).observe({ type: "paint", buffered: true });
"""


WIDTHS = (320, 390, 768, 1280)  # pixels: small and large phones, a tablet, a desk
# What sticks out of the page, or of the box that it is in, unless that box scrolls by itself.
OUTSIDE = """[...document.querySelectorAll("main *, header *, footer *")].filter((each) => {
  if (each.closest(".scroll, pre, svg, .skip") && !each.matches(".scroll, pre, svg")) return false;
  const box = each.getBoundingClientRect();
  return box.width > 0 && (box.right > document.documentElement.clientWidth + 0.5 || box.left < -17);
}).map((each) => `${each.tagName} ${each.className} ${each.textContent.slice(0, 40)}`)"""
# The texts of charts that stick out of them or of the box that they are in, and so are cut off.
CUT_OFF = """[...document.querySelectorAll(".chart svg")].flatMap((chart) => {
  const edge = chart.getBoundingClientRect(), room = chart.closest(".chart").getBoundingClientRect();
  const outside = (box) => box.left < edge.left - 1 || box.right > Math.min(edge.right, room.right) + 1;
  const texts = [...chart.querySelectorAll("text")];
  return texts.filter((text) => outside(text.getBoundingClientRect())).map((text) => text.textContent);
})"""
# What is said above tables, as far as it is only seen after scrolling sideways.
UNREAD = """[...document.querySelectorAll(".scroll caption")].filter((caption) => {
  const box = caption.getBoundingClientRect(), room = caption.closest(".scroll").getBoundingClientRect();
  return box.width > 0 && (box.left < room.left - 1 || box.right > room.right + 1);
}).map((caption) => caption.textContent)"""


class Site:
    """A collector on this machine, in a thread, whose store can be asked directly."""

    relay: str | None = None  # where else its answer page may send, if its reports are mixed

    def __init__(self, app: App, url: str) -> None:
        self.app, self.url = app, url

    @property
    def people(self) -> int:
        collector = self.app.collector
        return results(collector.survey, collector.number, collector.store).people

    def fill(self, answers: dict[str, Any], people: int) -> None:
        """So many made-up people."""
        import urllib.request

        from deniable.survey.message import MEDIA_TYPE

        body = self.app.collector.survey.batch(answers, people)
        headers = {"Content-Type": MEDIA_TYPE, "Authorization": "Bearer a batch token"}
        request = urllib.request.Request(self.url + "/v1/reports", body, headers)
        with urllib.request.urlopen(request, timeout=30):
            pass


@contextmanager
def in_a_thread(server: "uvicorn.Server") -> Iterator[int]:
    """This server while the block runs, at a port that nobody else can have taken."""
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        until(lambda: server.started)
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(timeout=PATIENCE)
        assert not thread.is_alive()


@contextmanager
def site(
    text: str, folder: Path, read: Gate | None = None, submit: Gate | None = None, origins: tuple[str, ...] = ()
) -> Iterator[Site]:
    import uvicorn

    from deniable.collector.origins import AllowOrigins

    store = open_store(str(folder / "store.db"))
    app = App(Collector(survey(text), store), submit or Gate(), read or Gate(), batch=Gate([hash_of("a batch token")]))
    config = uvicorn.Config(
        AllowOrigins(app, origins) if origins else app,
        log_level="warning",
        access_log=False,
        lifespan="on",
        ws="none",
    )
    with in_a_thread(uvicorn.Server(config)) as port:
        yield Site(app, f"http://127.0.0.1:{port}")
    store.close()


@contextmanager
def chromium() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=QUIET)
        yield browser
        browser.close()


def axe_source(folder: Path) -> str:
    """The accessibility checker, installed once into this folder."""
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        command = ["npm", "install", "--prefix", str(folder), "--no-save", "--no-audit", "--no-fund", AXE]
        if shutil.which("npm") is None or subprocess.run(command, capture_output=True, timeout=120).returncode:
            tell = pytest.fail if os.environ.get("ALL") else pytest.skip
            tell(f"left out: npm cannot install {AXE}")
    return script.read_text()


class Visitor:
    """Somebody with a browser of their own. At the end nothing may have gone elsewhere, broken the policy or failed."""

    def __init__(self, browser: "Browser", site: Site, **options: Any) -> None:
        self.site = site
        self.context: BrowserContext = browser.new_context(base_url=site.url, **options)
        self.context.set_default_timeout(PATIENCE * 1000)
        self.context.add_init_script(WATCH)
        self.elsewhere: list[str] = []
        self.trouble: list[str] = []
        self.posts = 0
        self.context.on("request", self._request)
        self.context.on("weberror", lambda error: self.trouble.append(str(error.error)))
        self.context.on("console", lambda message: self._console(message.text))
        self.page: Page = self.context.new_page()

    def _request(self, request: Any) -> None:
        sealed = self.site.relay is not None and request.url == self.site.relay + "/v1/mix"
        if not request.url.startswith((self.site.url, "blob:" + self.site.url)) and not sealed:
            self.elsewhere.append(request.url)
        if request.method == "POST":
            self.posts += 1

    def _console(self, text: str) -> None:
        if "Content Security Policy" in text or "Content-Security-Policy" in text:
            self.trouble.append(text)

    def goto(self, path: str = "/") -> "Page":
        self.page.goto(path)
        return self.page

    def click(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def heading(self, text: str) -> None:
        """Wait for this heading."""
        self.page.get_by_role("heading", name=text).wait_for()

    def until(self, script: str) -> None:
        """Wait until this is so; the policy forbids the page to evaluate it by itself."""
        until(lambda: self.page.evaluate(script))

    def fits(self, name: str, picture: "Picture") -> None:
        """Nothing sticks out of the page, whatever its width; with pictures under this name."""
        before = self.page.viewport_size
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": 800})
            self.until(f"innerWidth === {width} && !({OUTSIDE}).length && !({CUT_OFF}).length")  # charts are drawn anew
            assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, width)
            assert self.page.evaluate(UNREAD) == [], (name, width)
            picture(self.page, f"{name}-{width}")
        if before:
            self.page.set_viewport_size(before)

    def seen(self) -> dict[str, Any]:
        found: dict[str, Any] = self.page.evaluate("window.seen")
        return found

    def check(self) -> None:
        """Nothing but this collector, and its relay, was asked, and nothing was forbidden or failed."""
        assert not self.elsewhere, self.elsewhere
        assert not self.trouble, self.trouble
        assert all(page.evaluate("window.seen?.violations ?? []") == [] for page in self.context.pages)

    def ledger(self) -> dict[str, Any]:
        found: dict[str, Any] = settled(
            self.page,
            """() => new Promise((done) => {
                 const opening = indexedDB.open("deniable", 1);
                 opening.onsuccess = () => {
                   const read = opening.result.transaction("ledger").objectStore("ledger").get("all");
                   read.onsuccess = () => { opening.result.close(); done(read.result.surveys); };
                 };
               })""",
        )
        return found


Visit = Callable[..., Visitor]
Picture = Callable[["Page", str], None]


def expect(what: "Locator") -> Any:
    """What must become so of a part of a page: its count, its text, whether it is seen."""
    from playwright.sync_api import expect

    expect.set_options(timeout=1000 * PATIENCE)
    return expect(what)


def settled(page: "Page", work: str, *given: object) -> Any:
    """What an asynchronous function of a page gives. Playwright itself would wait for it without a limit."""
    late = f"new Promise((_, fail) => setTimeout(() => fail(new Error('it did not end in time')), {1000 * PATIENCE}))"
    return page.evaluate(f"(given) => Promise.race([({work})(...given), {late}])", list(given))


def violations(page: "Page", source: str) -> list[str]:
    """What axe-core finds on a page, in all its rules."""
    page.evaluate(source)
    found = settled(page, "() => axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations)")
    return [f"{each['id']}: {node['html'][:200]} {node['failureSummary']}" for each in found for node in each["nodes"]]
