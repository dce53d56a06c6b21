"""A browser for the tests of the pages, people who visit them, the accessibility checker, and where screenshots go."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browsers import Picture, Site, Visit, Visitor, axe_source

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def axe(request: pytest.FixtureRequest) -> str:
    cache = request.config.cache
    assert cache is not None
    return axe_source(cache.mkdir("axe"))


@pytest.fixture(scope="module")
def picture() -> Picture:
    """Pictures of whole pages for people to look at, if DENIABLE_SCREENSHOTS names a folder. The browser makes its window as
    long as the page for each, which can move things: whoever measures that does so without pictures.
    """
    folder = os.environ.get("DENIABLE_SCREENSHOTS")

    def take(page: "Page", name: str) -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    return take


@pytest.fixture
def visit(browser: "Browser") -> Iterator[Visit]:
    visitors: list[Visitor] = []

    def come(where: Site, **options: Any) -> Visitor:
        visitors.append(Visitor(browser, where, **options))
        return visitors[-1]

    yield come
    for visitor in visitors:
        visitor.check()
        visitor.context.close()
