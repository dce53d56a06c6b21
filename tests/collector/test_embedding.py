"""The answer page on other sites: as an element, in a plain frame, and under a path; refused everywhere else."""

import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browsers import PATIENCE, expect
from tests.servers import Served
from tests.surveys import ONE
from tests.waits import until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FrameLocator, Page

pytestmark = [
    pytest.mark.needs("starlette", "uvicorn", "playwright", "chromium"),
    pytest.mark.xdist_group("browser"),
]
ELEMENT = """<!doctype html><title>A newspaper</title><h1>News</h1>
<script type="module" src="{url}/pages/embed.js"></script>
<deniable-survey src="{url}/" title="Towns"></deniable-survey>
<script>addEventListener("deniable-state", (event) => document.title = event.detail)</script>"""
FRAME = '<!doctype html><title>A newspaper</title><iframe src="{url}/" title="Towns"></iframe>'


@contextmanager
def newspaper(pages: dict[str, str]) -> Iterator[int]:
    """Another site on this machine, whose pages are added while it runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path, "").encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, int, dict[str, str]]]:
    """A collector under a path, and a newspaper that may embed it, by two names: of the same site, and of another."""
    folder, pages = tmp_path_factory.mktemp("embedded"), dict[str, str]()
    survey = folder / "survey.toml"
    survey.write_text(ONE)
    with newspaper(pages) as port:
        origins = [f"--allow-embedding=http://{host}:{port}" for host in ("127.0.0.1", "localhost")]
        collector = Served(survey, str(folder / "x.db"), None, *origins, "--root-path", "/asked")
        try:
            collector.ready()
            yield collector, port, pages
        finally:
            collector.stop()


def answer(frame: "FrameLocator") -> None:
    frame.get_by_label("Nice").check()
    frame.get_by_role("button", name="Randomize my answer").click()
    frame.get_by_role("button", name="Send the report").click()
    frame.get_by_role("heading", name="Thank you").wait_for()


@pytest.fixture
def page(browser: "Browser") -> "Iterator[Page]":
    context = browser.new_context()
    context.set_default_timeout(1000 * PATIENCE)
    yield context.new_page()
    context.close()


def test_people_answer_in_the_element(places: tuple[Served, int, dict[str, str]], page: "Page") -> None:
    collector, port, pages = places
    pages["/element"] = ELEMENT.format(url=f"{collector.url}/asked")
    before = collector.get("/v1/results")["people"]
    page.goto(f"http://127.0.0.1:{port}/element")
    frame = page.frame_locator("deniable-survey iframe")
    frame.get_by_label("Nice").wait_for()
    expect(page.locator("iframe")).to_have_attribute("title", "Towns")
    for hidden in ("header.top", "footer"):
        expect(frame.locator(hidden)).to_be_hidden()
    answer(frame)
    page.wait_for_function("document.title === 'sent'")
    assert collector.get("/v1/results")["people"] == before + 1

    def fits() -> bool:
        inner, outer = frame.locator("html").bounding_box(), page.locator("iframe").bounding_box()
        return inner is not None and outer is not None and abs(inner["height"] - outer["height"]) < 2

    until(fits)  # no scroll bar inside


def test_the_element_has_a_language_and_the_title_of_the_survey(
    places: tuple[Served, int, dict[str, str]], page: "Page"
) -> None:
    collector, port, pages = places
    pages["/german"] = ELEMENT.format(url=f"{collector.url}/asked").replace('title="Towns"', 'lang="de-AT"')
    page.goto(f"http://127.0.0.1:{port}/german")
    page.frame_locator("iframe").get_by_role("button", name="Meine Antwort zufällig verändern").wait_for()
    expect(page.locator("iframe")).to_have_attribute("title", "one")


def test_a_plain_frame_works_and_other_sites_are_refused(places: tuple[Served, int, dict[str, str]], page: "Page") -> None:
    collector, port, pages = places
    pages["/frame"] = FRAME.format(url=f"{collector.url}/asked")
    page.goto(f"http://127.0.0.1:{port}/frame")
    page.frame_locator("iframe").get_by_label("Nice").wait_for()
    with newspaper(pages) as other, page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        page.goto(f"http://127.0.0.1:{other}/frame")
    expect(page.frame_locator("iframe").get_by_label("Nice")).to_have_count(0)


def test_people_hear_of_blocked_storage_in_frames(places: tuple[Served, int, dict[str, str]], page: "Page") -> None:
    """As private windows do for frames of other sites: the page says so, and answers after a click."""
    collector, port, pages = places
    pages["/frame"] = FRAME.format(url=f"{collector.url}/asked")
    page.goto(f"http://localhost:{port}/frame")
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", name="This browser blocks storage").wait_for()
    frame.get_by_role("button", name="Answer once in this tab").click()
    answer(frame)


def test_only_the_answer_page_may_be_framed(places: tuple[Served, int, dict[str, str]]) -> None:
    collector, port, _ = places
    origin = f"http://localhost:{port}"
    both = f"http://127.0.0.1:{port} {origin}"

    def headers(path: str, **given: str) -> dict[str, str]:
        request = urllib.request.Request(collector.url + path, headers=given)
        with urllib.request.urlopen(request, timeout=PATIENCE) as found:
            return {name.lower(): value for name, value in found.headers.items()}

    for path in ("/asked/", "/", "/s/one/"):
        assert headers(path)["content-security-policy"].endswith(f"frame-ancestors {both}")
    for path in ("/asked/results", "/results", "/try", "/pages/results.html"):
        assert headers(path)["content-security-policy"].endswith("frame-ancestors 'none'")
    assert headers("/pages/embed.js", origin=origin)["access-control-allow-origin"] == origin
    assert "access-control-allow-origin" not in headers("/pages/embed.js", origin="http://evil.example")
    assert "access-control-allow-origin" not in headers("/pages/deniable.js", origin=origin)


def test_the_path_without_a_slash_leads_to_the_one_with_it(places: tuple[Served, int, dict[str, str]], page: "Page") -> None:
    collector, _, _ = places
    page.goto(f"{collector.url}/asked")
    page.get_by_label("Nice").wait_for()
    assert page.url == f"{collector.url}/asked/"


def test_an_origin_is_exact(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from deniable.cli.main import main

    survey = tmp_path / "survey.toml"
    survey.write_text(ONE)
    for bad in ("*", "https://*.example.org", "example.org", "https://example.org/"):
        result = CliRunner().invoke(main, ["serve", str(survey), "--check", "--allow-embedding", bad])
        assert result.exit_code == 2 and "An origin is" in result.output
