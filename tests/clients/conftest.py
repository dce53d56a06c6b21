"""The client in C, built once."""

from pathlib import Path

import pytest

from tests.clients import c_library
from tests.clients.c_library import Library


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(c_library.compiled(tmp_path_factory.mktemp("c") / "libdeniable.so", "-Os", "-fPIC", "-shared", "-s"))


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("c") / "test"
    return c_library.compiled(out, *c_library.SANITIZED, sources=["test.c", *c_library.SOURCES])
