"""Which tests belong to which environment, and which of them one process runs together.

PyTorch, Flower and scikit-learn are installed apart from the product. Under xdist, the tests of a file stay in one process,
which makes what they share once; `xdist_group` divides a file in other ways. Tests that are marked `long` start first, so
that no process waits for another at the end. Hypothesis tries the same examples each time, however slow the machine is.
"""

import gc
import importlib.util
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadGroupScheduling

settings.register_profile(
    "same", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("same")
FRAMEWORKS = {"flwr", "nvflare", "sklearn", "torch"}

# Modules that cannot be imported without Flower or NVFLARE have no doctests where it is missing.
learning = "packages/deniable-learn/src/deniable_learn"
framed = {"flwr": f"{learning}/federated/*.py", "nvflare": f"{learning}/nvflare_filters.py"}
collect_ignore_glob = [path for name, path in framed.items() if not importlib.util.find_spec(name)]
collect_ignore_glob.append("packages/deniable/src/deniable/learning/*.py")  # the old name, which warns when looked at


def pytest_configure(config: pytest.Config) -> None:
    """Markers that are set below."""
    config.addinivalue_line("markers", "frameworks: needs PyTorch, Flower, NVFLARE or scikit-learn (set automatically)")
    config.addinivalue_line("markers", "learn: belongs to deniable-learn (set automatically)")
    config.addinivalue_line("markers", "long: takes many seconds, or many tests of its group do; starts before the others")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> "LoadGroupScheduling":
    """Groups as they are marked; otherwise files."""
    from xdist.scheduler import LoadGroupScheduling

    class Files(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            group = super()._split_scope(nodeid)
            return nodeid.partition("::")[0] if group == nodeid else group

    return Files(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Say of each test whether it needs a framework, and whether it is one of deniable-learn; long ones come first."""
    for item in items:
        if any(FRAMEWORKS & set(mark.args) for mark in item.iter_markers("needs")):
            item.add_marker("frameworks")
        if {"learn", "deniable-learn"} & set(item.path.parts):
            item.add_marker("learn")
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """All modules stay to the end: cycles are not looked for among them again and again."""
    gc.collect()
    gc.freeze()
