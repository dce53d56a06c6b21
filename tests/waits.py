"""Waits of tests. Each has a limit: a test that hangs says nothing, and stops all that come after it."""

import asyncio
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

PATIENCE = 300.0  # seconds; a busy machine is slow
Returned = TypeVar("Returned")


def together(*work: Callable[[], object]) -> None:
    """Do all of this at the same time, each in a thread of its own; fails if one fails or does not end."""
    trouble = list[BaseException]()

    def carefully(one: Callable[[], object]) -> None:
        try:
            one()
        except BaseException as error:
            trouble.append(error)

    threads = [threading.Thread(target=carefully, args=(one,), daemon=True) for one in work]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + PATIENCE
    for thread in threads:
        thread.join(timeout=max(0.0, deadline - time.monotonic()))
    if trouble:
        raise trouble[0]
    assert not any(thread.is_alive() for thread in threads), f"it did not end within {PATIENCE:.0f} s"


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until this is so."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"it did not happen within {seconds:.0f} s"
        time.sleep(0.02)


def same_day(seconds: float = 120.0) -> None:
    """Wait for the end of a day (UTC) that ends sooner than this, for tests whose reports must come within one."""
    left = 86_400 - time.time() % 86_400
    if left < seconds:
        time.sleep(left + 1)


def finished(work: Coroutine[Any, Any, Returned], seconds: float = PATIENCE) -> Returned:
    """What this gives, run in an event loop of its own."""
    return asyncio.run(asyncio.wait_for(work, seconds))


@contextmanager
def running(command: Sequence[str], **options: Any) -> Iterator["subprocess.Popen[Any]"]:
    """A process, asked to end after the block. It is killed at the limit, so whoever waits for it or its output goes on."""
    with subprocess.Popen(command, **options) as process:
        limit = threading.Timer(PATIENCE, process.kill)
        limit.start()
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)
            limit.cancel()
