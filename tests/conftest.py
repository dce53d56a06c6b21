"""What a test may need from the machine: where it is missing the test is left out, or fails if ALL=1 asks for everything."""

import importlib.util
import os
import shutil

import pytest

PROGRAMS = {"cc", "java"}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*names): packages or programs without which the test cannot run")


def missing(name: str) -> bool:
    return shutil.which(name) is None if name in PROGRAMS else importlib.util.find_spec(name) is None


def pytest_runtest_setup(item: pytest.Item) -> None:
    absent = [name for mark in item.iter_markers("needs") for name in mark.args if missing(name)]
    if absent and os.environ.get("ALL"):
        pytest.fail(f"ALL=1 leaves nothing out, but {', '.join(absent)} is missing", pytrace=False)
    if absent:
        pytest.skip(f"left out: {', '.join(absent)} is missing")
