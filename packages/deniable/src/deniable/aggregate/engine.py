"""What an engine must do, and which one is meant. An engine only maps jobs to results; what they mean it does not know."""

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeVar

from deniable.errors import EngineFailure, InvalidParameter

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")

SECONDS = 10  # to wait for a scheduler


class Engine(Protocol):
    """Processes or machines that work on jobs."""

    @property
    def workers(self) -> int:
        """How many jobs run at a time."""

    def run(
        self,
        work: Callable[[Shared, Task], Result],
        shared: Shared,
        jobs: Sequence[Task],
        merge: Callable[[Result, Result], Result],
    ) -> Iterator[Result]:
        """The results of all jobs in any order, some of them merged already. Every job is in exactly one of them.

        A job whose worker dies is done again elsewhere, and only one of its results is used.
        """


def cores() -> int:
    """How many cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


@contextmanager
def engine_of(engine: object, workers: int | None) -> Iterator[Engine]:
    """The engine for a Dask client, a Spark session, the address of one of them, or None: processes on this machine."""
    if workers is not None and (engine is not None or workers < 1):
        raise InvalidParameter("The number of workers is 1 or more, and only for this machine: an engine has its own.")
    if engine is None:
        from deniable.aggregate.processes import Processes

        yield Processes(workers or cores(), at_once=workers is not None)
    elif isinstance(engine, str):
        with _at(engine) as reached:
            yield reached
    else:
        yield _adapted(engine)


def _adapted(engine: Any) -> Engine:
    package = type(engine).__module__.partition(".")[0]
    if package == "distributed":
        from deniable.aggregate.dask import Dask

        return Dask.of(engine)
    if package == "pyspark":
        from deniable.aggregate.spark import Spark

        return Spark.of(engine)
    raise InvalidParameter(
        "An engine is a Dask client, a Spark session, an address such as dask://host:8786, or left out for this machine."
    )


def _at(address: str) -> AbstractContextManager[Engine]:
    scheme, _, place = address.partition("://")
    if scheme == "dask" and place:
        from deniable.aggregate.dask import Dask

        return Dask.at(place, SECONDS)
    if address == "spark" or (scheme == "spark" and place):
        from deniable.aggregate.spark import Spark

        if place:
            reach(place)
        return Spark.at(address if place else None)
    raise InvalidParameter(
        f"There is no engine {address!r}. Use dask://HOST:8786, spark://HOST:7077, or spark under spark-submit."
    )


def reach(place: str) -> None:
    """Refuse a host and port where nobody listens, before a slow client finds out."""
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host, int(port)), SECONDS).close()
    except (OSError, ValueError, OverflowError) as error:
        raise unreachable(place) from error


def unreachable(place: str) -> EngineFailure:
    """Nobody listens there."""
    return EngineFailure(
        f"No scheduler answers at {place}. Check the host and port, that it runs, and that no firewall stands between."
    )
