"""Jobs that may run anywhere: what they share, what each is, and how far they are."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from deniable.arrays import Progress
from deniable.core import Coins, SeededCoins
from deniable.mechanisms.sparse.encoder import stream

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Returned = TypeVar("Returned")


class Run(Protocol):
    """How jobs are done: the `run` of an engine, on processes or a cluster, or `in_turn`."""

    def __call__(
        self,
        work: Callable[[Shared, Task], Returned],
        shared: Shared,
        jobs: Sequence[Task],
        merge: Callable[[Returned, Returned], Returned],
    ) -> Iterator[Returned]:
        """The results of all jobs in any order, some of them merged already."""


def in_turn(
    work: Callable[[Shared, Task], Returned],
    shared: Shared,
    jobs: Sequence[Task],
    merge: Callable[[Returned, Returned], Returned],
) -> Iterator[Returned]:
    """One job after the other, in this process."""
    for job in jobs:
        yield work(shared, job)


@dataclass
class Meter:
    """How much of the work is done: stages, each with its share of the whole."""

    tell: Progress | None = None
    done: float = field(default=0.0, init=False)

    def add(self, share: float) -> None:
        """So much more of the whole is done."""
        self.done += share
        if self.tell is not None:
            self.tell(min(self.done, 1.0))


def seeds(coins: Coins, count: int) -> list[bytes]:
    """A seed for each job, so that its coins are the same wherever it runs."""
    drawn = stream(coins).draw(32 * count).tobytes()
    return [drawn[start : start + 32] for start in range(0, 32 * count, 32)]


def coins_for(seed: bytes) -> Coins:
    """The coins of a job."""
    return SeededCoins(seed)
