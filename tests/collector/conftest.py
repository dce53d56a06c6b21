"""A browser for the tests of the pages, people who visit them, the accessibility checker, and where screenshots go."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browsers import Site, Visit, Visitor, axe_source, chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def axe(request: pytest.FixtureRequest) -> str:
    cache = request.config.cache
    assert cache is not None
    return axe_source(cache.mkdir("axe"))


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.environ.get("DENIABLE_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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
