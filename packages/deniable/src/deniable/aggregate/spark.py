"""Spark: it schedules, and Python on the executors reads the files. Rows never pass through the Java side."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any

from deniable.aggregate.engine import Merge, Returned, Shared, Task, Work, reach
from deniable.errors import DeniableError, EngineFailure, InvalidParameter
from deniable.plugins import optional

WAVE = 8  # jobs for each worker in one Spark job: few, so that progress shows and little is lost
BARS = "spark.ui.showConsoleProgress"  # of Spark's own: there is one already


def _package(module: str = "pyspark") -> Any:
    return optional(module, "Counting on Spark", "spark")


@dataclass(frozen=True)
class Spark:
    """A session's cluster."""

    context: Any
    package = "pyspark"
    client = "a Spark session"
    address = "spark://HOST:7077, or spark under spark-submit"
    name_alone = True

    @classmethod
    def of(cls, client: Any) -> "Spark":
        pyspark = _package()
        if isinstance(client, pyspark.SparkContext):
            return cls(client)
        if not isinstance(client, _package("pyspark.sql").SparkSession):
            raise InvalidParameter(
                "A Spark engine must be a classic session or its context. Spark Connect sessions cannot run Python on files."
            )
        return cls(client.sparkContext)

    @classmethod
    @contextmanager
    def at(cls, place: str, seconds: float) -> Iterator["Spark"]:
        if place:
            reach(place, seconds)
        builder = _package("pyspark.sql").SparkSession.builder.appName("deniable aggregate").config(BARS, "false")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        try:
            session = (builder.master(f"spark://{place}") if place else builder).getOrCreate()
        except Exception as error:  # Java's errors have no common class here
            raise EngineFailure(
                "Spark could not be started. It needs a Java runtime (17 or later) and a master that runs its version."
            ) from error
        try:
            yield cls(session.sparkContext)
        finally:
            session.stop()

    @property
    def workers(self) -> int:
        return int(self.context.defaultParallelism)

    def run(
        self, work: Work[Shared, Task, Returned], shared: Shared, jobs: Sequence[Task], merge: Merge[Returned]
    ) -> Iterator[Returned]:
        from py4j.protocol import Py4JError

        common, workers = self.context.broadcast(shared), self.workers

        def fold(part: Iterable[Task]) -> Iterator[Returned | DeniableError]:
            try:
                results = (work(common.value, job) for job in part)
                first = next(results, None)
                return iter(()) if first is None else iter([reduce(merge, results, first)])
            except DeniableError as error:  # as a result: trying again would not help
                return iter([error])

        try:
            for start in range(0, len(jobs), WAVE * workers):
                wave = jobs[start : start + WAVE * workers]
                for result in self.context.parallelize(wave, min(len(wave), 2 * workers)).mapPartitions(fold).collect():
                    if isinstance(result, DeniableError):
                        raise result
                    yield result
        except Py4JError as error:
            raise EngineFailure(
                "Spark gave up on a task. See its log for the reason; with a master such as local[2,4] a task may "
                "fail a few times. What has been counted is in the manifest, if you asked for one."
            ) from error
        finally:
            common.unpersist()
