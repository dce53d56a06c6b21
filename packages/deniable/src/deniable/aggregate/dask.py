"""Dask: one task for each job, sums of sums on the workers. A worker that dies is replaced and its tasks run again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any

from deniable.aggregate.engine import Merge, Returned, Shared, Task, Work, unreachable
from deniable.errors import EngineFailure, InvalidParameter
from deniable.plugins import optional

STEPS = 32  # results that come back at least, so that progress shows
FAN_IN = 16  # results that are merged on a worker
PATIENCE = 10  # seconds after which a result that does not come is asked about


def _package() -> Any:
    return optional("distributed", "Counting on a Dask cluster", "dask")


@dataclass(frozen=True)
class Dask:
    """A cluster behind a client."""

    connection: Any
    package = "distributed"
    client = "a Dask client"
    address = "dask://HOST:8786"
    name_alone = False

    @classmethod
    def of(cls, client: Any) -> "Dask":
        if not isinstance(client, _package().Client) or client.asynchronous:
            raise InvalidParameter("A Dask engine must be a synchronous client: distributed.Client(address).")
        return cls(client)

    @classmethod
    @contextmanager
    def at(cls, place: str, seconds: float) -> Iterator["Dask"]:
        try:
            client = _package().Client(f"tcp://{place}", timeout=seconds)
        except (OSError, ValueError) as error:
            raise unreachable(place) from error
        with client:
            yield cls(client)

    @property
    def workers(self) -> int:
        threads = sum(self.connection.nthreads().values())
        if not threads:
            raise EngineFailure("The Dask cluster has no workers. Start some with: dask worker HOST:8786")
        return int(threads)

    def run(
        self, work: Work[Shared, Task, Returned], shared: Shared, jobs: Sequence[Task], merge: Merge[Returned]
    ) -> Iterator[Returned]:
        distributed = _package()
        # As a task, not as scattered data: it can be made again when the worker that holds it dies.
        common = self.connection.submit(_itself, shared, pure=False)
        results = [self.connection.submit(work, common, job, pure=False) for job in jobs]
        width = max(1, min(FAN_IN, len(jobs) // STEPS))
        starts = range(0, len(results) if width > 1 else 0, width)
        sums = [self.connection.submit(_merged, merge, results[start : start + width], pure=False) for start in starts]
        try:
            for future in distributed.as_completed(sums or results):
                yield _fetched(future)
        except (distributed.KilledWorker, distributed.CancelledError) as error:
            raise _given_up() from error
        finally:
            self.connection.cancel([common, *results, *sums])


def _fetched(future: Any) -> Any:
    """The result. If its worker dies before it is fetched and the task then fails, the client alone would wait for ever."""
    while True:
        try:
            return future.result(timeout=PATIENCE)
        except TimeoutError:
            if future.status not in ("finished", "pending"):
                raise _given_up() from None


def _given_up() -> EngineFailure:
    return EngineFailure(
        "The Dask cluster lost the same task several times, or was closed. It may have run out of memory: see the logs of "
        "the workers. What has been counted is in the manifest, if you asked for one."
    )


def _itself(shared: Shared) -> Shared:
    return shared


def _merged(merge: Merge[Returned], results: list[Returned]) -> Returned:
    return reduce(merge, results)
