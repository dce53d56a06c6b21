"""The answer page of a survey for invited people, in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from deniable.collector import opened
from deniable.collector.invited import make_invitations, make_keys
from tests.browsers import Site, Visitor, site
from tests.surveys import ONE, survey

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [
    pytest.mark.needs("starlette", "uvicorn", "gmpy2", "playwright", "chromium"),
    pytest.mark.xdist_group("browser"),
]


# The longest of all waits: the four random bytes that draw it are all ones.
LONG = """
const secure = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (bytes) => (bytes.length === 4 ? bytes.fill(255) : secure(bytes));
"""


@contextmanager
def invited_site(folder: Path, delay: int = 0) -> Iterator[tuple[Site, list[str]]]:
    """A collector for invited people, and the paths of a few invitations."""
    with opened(str(folder / "store.db")) as store:
        listed = ", ".join(f'"{key}"' for key in make_keys(store, survey(ONE)))
    with site(f"{ONE}\n[invitations]\nkeys = [{listed}]\ndelay = {delay}\n", folder) as running:
        collector = running.app.collector
        yield running, [f"/#invitation={code}" for code in make_invitations(collector.store, collector.survey, 3)]


def answered(visitor: Visitor) -> None:
    visitor.page.get_by_label("Nice").check()
    visitor.click("Randomize my answer")
    visitor.heading("This is what will be sent")
    visitor.click("Send the report")


def test_an_invitation_counts_once_and_stays_out_of_every_address(browser: "Browser", tmp_path: Path) -> None:
    with invited_site(tmp_path) as (where, links):
        seen: list[Any] = []
        mine, other = Visitor(browser, where), Visitor(browser, where)
        mine.context.on("request", lambda request: seen.append((request.url, request.post_data_buffer or b"")))
        mine.goto("/")
        mine.heading("This survey is for invited people")
        mine.page.goto("about:blank")
        mine.goto(links[0])
        mine.page.locator("#anonymous").wait_for()
        assert "invitation=" not in mine.page.url  # no longer: the ledger has the token
        mine.page.reload()
        answered(mine)
        mine.heading("Thank you. Your report has arrived")
        mine.page.reload()
        mine.heading("You have answered")
        code = links[0].partition("=")[2]
        exchange, report = [(url, body) for url, body in seen if body]
        assert not any(code in url for url, _ in seen)
        assert code.encode() in exchange[1] and code.encode() not in report[1]
        other.goto(links[0])
        other.heading("Your invitation cannot be used")
        other.page.goto("about:blank")
        other.goto("/#invitation=wrong")
        other.heading("Your invitation cannot be used")
        assert where.people == 1
        for visitor in (mine, other):
            visitor.check()
            visitor.context.close()


def test_a_lost_exchange_is_repeated(browser: "Browser", tmp_path: Path) -> None:
    with invited_site(tmp_path) as (where, links):
        visitor = Visitor(browser, where)

        def lose(route: Any) -> None:
            route.fetch()  # it is exchanged, and the answer is lost
            route.abort()

        visitor.context.route("**/v1/invitation", lose)
        visitor.goto(links[0])
        visitor.page.locator("#anonymous").wait_for()
        visitor.context.unroute("**/v1/invitation")
        answered(visitor)
        visitor.heading("Thank you. Your report has arrived")
        assert where.people == 1
        visitor.context.close()


def test_the_report_waits_as_the_survey_says(browser: "Browser", tmp_path: Path) -> None:
    with invited_site(tmp_path, delay=600_000) as (where, links):
        visitor = Visitor(browser, where)
        visitor.context.add_init_script(LONG)
        visitor.goto(links[0])
        visitor.page.locator("#anonymous").wait_for()
        answered(visitor)
        visitor.heading("Saved, to be sent soon")
        assert where.people == 0
        visitor.context.close()
