"""Spark: it schedules, and Python on the executors reads the files. Rows never pass through the Java side."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any

from deniable.aggregate.engine import Result, Shared, Task
from deniable.errors import DeniableError, EngineFailure, InvalidParameter, MissingExtra

WAVE = 8  # jobs for each worker in one Spark job: few, so that progress shows and little is lost
BARS = "spark.ui.showConsoleProgress"  # of Spark's own: there is one already


def package() -> Any:
    """The optional package, or an error that tells how to install it."""
    try:
        import pyspark.sql
    except ImportError:
        raise MissingExtra("Counting on Spark", "spark") from None
    return pyspark


@dataclass(frozen=True)
class Spark:
    """A session's cluster."""

    context: Any

    @classmethod
    def of(cls, session: Any) -> "Spark":
        """The engine of a session that somebody else opened and will stop."""
        pyspark = package()
        if isinstance(session, pyspark.SparkContext):
            return cls(session)
        if not isinstance(session, pyspark.sql.SparkSession):
            raise InvalidParameter(
                "An engine on Spark is a classic session or its context. A Spark Connect session cannot run Python on files."
            )
        return cls(session.sparkContext)

    @classmethod
    @contextmanager
    def at(cls, master: str | None) -> Iterator["Spark"]:
        """The cluster of this master, or the one that spark-submit set."""
        builder = package().sql.SparkSession.builder.appName("deniable aggregate").config(BARS, "false")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        try:
            session = (builder.master(master) if master else builder).getOrCreate()
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
        self,
        work: Callable[[Shared, Task], Result],
        shared: Shared,
        jobs: Sequence[Task],
        merge: Callable[[Result, Result], Result],
    ) -> Iterator[Result]:
        from py4j.protocol import Py4JError

        common, workers = self.context.broadcast(shared), self.workers

        def fold(part: Iterable[Task]) -> Iterator[Result | DeniableError]:
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
                "Spark gave up on a task. Its log tells why; with a master such as local[2,4] a task may fail a few times. "
                "What was counted is in the manifest, if one was asked for."
            ) from error
        finally:
            common.unpersist()
