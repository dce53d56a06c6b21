"""Which of two twins runs: the plain one at first, and the compiled one once a process has done enough work to load numba.

Loading numba takes about a second, so a device that randomizes one answer never waits for it.
"""

import importlib
import importlib.util
from collections.abc import Callable
from functools import cache, wraps
from types import ModuleType
from typing import TypeVar, cast

Loop = TypeVar("Loop", bound=Callable[..., object])

COMPILE_AFTER = 1 << 18  # elements of work after which loading numba starts to pay

_done = 0
_available = importlib.util.find_spec("numba") is not None


def pays(work: int) -> bool:
    """Whether, with this much more work, the process has done enough for compiled loops to pay."""
    global _done
    _done += work
    return _available and _done >= COMPILE_AFTER


def twin(plain_name: str, compiled_name: str, work: int) -> ModuleType:
    """The module of plain loops, or the compiled one once that pays."""
    return _loaded(compiled_name if pays(work) else plain_name)


@cache
def _loaded(name: str) -> ModuleType:
    return importlib.import_module(f"deniable.kernels.{name}")


def compiled_in(module: str, work: Callable[..., int]) -> Callable[[Loop], Loop]:
    """A plain loop that gives way to its namesake in a compiled module once that pays; `work` counts its elements."""

    def with_twin(plain: Loop) -> Loop:
        @wraps(plain)
        def run(*given: object, **named: object) -> object:
            loop = getattr(_loaded(module), plain.__name__) if pays(work(*given)) else plain
            return loop(*given, **named)

        return cast("Loop", run)

    return with_twin


def expect_work() -> None:
    """Load the compiled loops at the next call: for a process that is going to work for long."""
    global _done
    _done = max(_done, COMPILE_AFTER)
