"""What a test may need from the machine: where it is missing the test is left out, or fails if ALL=1 asks for everything."""

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.servers import Postgres, postgres, postgres_programs

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PROGRAMS = {"cc", "chromium", "java", "make", "nginx", "node", "npm", "promtool"}
PROGRAMS |= {"caddy", "docker-compose", "systemd-analyze"}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*names): packages or programs without which the test cannot run")


def missing(name: str) -> bool:
    if name == "postgres":
        return postgres_programs() is None
    return shutil.which(name) is None if name in PROGRAMS else importlib.util.find_spec(name) is None


def pytest_runtest_setup(item: pytest.Item) -> None:
    absent = [name for mark in item.iter_markers("needs") for name in mark.args if missing(name)]
    if absent and os.environ.get("ALL"):
        pytest.fail(f"ALL=1 leaves nothing out, but {', '.join(absent)} is missing", pytrace=False)
    if absent:
        pytest.skip(f"left out: {', '.join(absent)} is missing")


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheels, source distributions and the npm package, built once from copies of the tree."""
    from release.build import built

    folder = tmp_path_factory.mktemp("release")
    built(folder / "dist", folder / "work")
    return folder / "dist"


@pytest.fixture(scope="session")
def database_server() -> Iterator[Postgres]:
    """A PostgreSQL of the tests' own, started once."""
    with postgres() as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """The system's Chromium. Where it runs nothing else may start an event loop, so it ends with its file."""
    from tests.browsers import chromium

    with chromium() as running:
        yield running


BOTH_STORES = [
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgresql", id="postgresql", marks=pytest.mark.needs("postgres", "psycopg")),
]


@pytest.fixture(params=BOTH_STORES)
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Addresses of empty stores of either kind."""
    made = 0

    def address() -> str:
        nonlocal made
        made += 1
        if request.param == "sqlite":
            return str(tmp_path / f"store{made}.db")
        server: Postgres = request.getfixturevalue("database_server")
        return server.database()

    return address
