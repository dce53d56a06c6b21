"""Which tests belong to which environment: PyTorch, Flower and scikit-learn are installed apart from the product."""

import importlib.util

import pytest

FRAMEWORKS = {"flwr", "sklearn", "torch"}

# Modules that cannot be imported without Flower have no doctests where it is missing.
federated = "packages/deniable-learn/src/deniable_learn/federated/*.py"
collect_ignore_glob = [] if importlib.util.find_spec("flwr") else [federated]
collect_ignore_glob.append("packages/deniable/src/deniable/learning/*.py")  # the old name, which warns when looked at


def pytest_configure(config: pytest.Config) -> None:
    """Markers that are set below."""
    config.addinivalue_line("markers", "frameworks: needs PyTorch, Flower or scikit-learn (set automatically)")
    config.addinivalue_line("markers", "learn: belongs to deniable-learn (set automatically)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say of each test whether it needs a framework, and whether it is one of deniable-learn."""
    for item in items:
        if any(FRAMEWORKS & set(mark.args) for mark in item.iter_markers("needs")):
            item.add_marker("frameworks")
        if {"learn", "deniable-learn"} & set(item.path.parts):
            item.add_marker("learn")
