"""What an engine must do, and which one is meant. An engine only maps jobs to results; what they mean it does not know.

A new engine is a class with what `Cluster` lists, and a line in `OURS`, or in another package an entry point:

    [project.entry-points."deniable.engines"]
    ray = "my_package.ray:Ray"
"""

import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Protocol, TypeVar

from deniable.errors import EngineFailure, InvalidParameter
from deniable.plugins import registered

GROUP = "deniable.engines"
OURS = {"dask": "aggregate.dask:Dask", "spark": "aggregate.spark:Spark"}

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Returned = TypeVar("Returned")

Work = Callable[[Shared, Task], Returned]
Merge = Callable[[Returned, Returned], Returned]

SECONDS = 10  # to wait for a scheduler


class Engine(Protocol):
    """Processes or machines that work on jobs."""

    @property
    def workers(self) -> int:
        """How many jobs run at a time."""

    def run(
        self, work: Work[Shared, Task, Returned], shared: Shared, jobs: Sequence[Task], merge: Merge[Returned]
    ) -> Iterator[Returned]:
        """The results of all jobs in any order, some of them merged already. Every job is in exactly one of them.

        A job whose worker dies is done again elsewhere, and only one of its results is used.
        """


class Cluster(Engine, Protocol):
    """An engine of other machines: somebody's client of it, or the address of one."""

    package: ClassVar[str]  # that its clients come from
    client: ClassVar[str]  # what they are called in a sentence
    address: ClassVar[str]  # how an address is written
    name_alone: ClassVar[bool]  # whether its name without a place is an address too

    @classmethod
    def of(cls, client: Any) -> Engine:
        """The engine of a client that somebody else opened and will close."""

    @classmethod
    def at(cls, place: str, seconds: float) -> AbstractContextManager[Engine]:
        """The cluster at a host and port, or the one that its name alone stands for."""


def cores() -> int:
    """How many cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


@contextmanager
def engine_of(engine: object, workers: int | None) -> Iterator[Engine]:
    """The engine for a client of a cluster, for the address of one, or for None: processes on this machine."""
    if workers is not None and (engine is not None or workers < 1):
        raise InvalidParameter("workers must be at least 1 and apply to this machine only; a cluster has its own workers.")
    if engine is None:
        from deniable.aggregate.processes import Processes

        yield Processes(workers or cores(), at_once=workers is not None)
    elif isinstance(engine, str):
        with _at(engine) as reached:
            yield reached
    else:
        yield _adapted(engine)


def clusters() -> Mapping[str, type[Cluster]]:
    """All engines of other machines by name, ours and those of other packages."""
    return {name: entry.load() for name, entry in registered(GROUP, OURS).items()}


def _adapted(engine: object) -> Engine:
    package, known = type(engine).__module__.partition(".")[0], clusters().values()
    for cluster in known:
        if package == cluster.package:
            return cluster.of(engine)
    clients = ", ".join(cluster.client for cluster in known)
    raise InvalidParameter(
        f"engine must be {clients}, an address such as dask://host:8786, or left out for processes on this machine."
    )


def _at(address: str) -> AbstractContextManager[Engine]:
    (name, separator, place), known = address.partition("://"), clusters()
    if name in known and (place or (known[name].name_alone and not separator)):
        return known[name].at(place, SECONDS)
    raise InvalidParameter(f"Unknown engine {address!r}. Use {' or '.join(cluster.address for cluster in known.values())}.")


def reach(place: str, seconds: float = SECONDS) -> None:
    """Refuse a host and port where nobody listens, before a slow client finds out."""
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host, int(port)), seconds).close()
    except (OSError, ValueError, OverflowError) as error:
        raise unreachable(place) from error


def unreachable(place: str) -> EngineFailure:
    """Nobody listens there."""
    return EngineFailure(
        f"No response from a scheduler at {place}. Check the host and port, that it is running, and that no "
        "firewall blocks it."
    )
