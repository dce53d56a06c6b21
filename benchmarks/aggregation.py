"""Aggregation over files: reports a second of each engine on all cores, beside reading and counting and nothing else."""

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy.typing as npt

import deniable as dn
from benchmarks import frequency
from benchmarks.cell import Cell
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from benchmarks.frequency import mechanism, values
from deniable.aggregate.engine import cores
from deniable.files.arrow import open_parquet

DISTINCT = 10  # files that are made; the others are the same under other names
FILES = {Cell("direct", "count", "", 1024): 200, Cell("hashing", "count", "", 1024): 40}


@contextmanager
def files(cell: Cell, effort: Effort) -> Iterator[Path]:
    oracle, truth = mechanism(cell), values(cell, effort.n)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(FILES[cell]):
            path = folder / f"{number}.parquet"
            if number < DISTINCT:
                dn.write_reports(path, oracle, oracle.perturb(truth))
            else:
                path.hardlink_to(folder / f"{number % DISTINCT}.parquet")
        yield folder


@contextmanager
def dask() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=cores(), threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores()},4]").config("spark.ui.enabled", "false")
    for setting in ("spark.driver.host", "spark.driver.bindAddress"):
        builder = builder.config(setting, "127.0.0.1")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def by_processes(cell: Cell, effort: Effort) -> float:
    """From the first result on, since until then the processes start; the best of three."""
    oracle = mechanism(cell)
    with files(cell, effort) as folder:
        return max(_after_start(oracle, folder) for _ in range(3))


def _after_start(oracle: dn.Mechanism, folder: Path) -> float:
    ticks = list[tuple[float, float]]()
    tally = dn.aggregate(oracle, folder, workers=cores(), progress=lambda share: ticks.append((share, perf_counter())))
    (first, start), (last, stop) = ticks[0], ticks[-1]
    return tally.n * (last - first) / (stop - start)


def by_cluster(started: Callable[[], Any], cell: Cell, effort: Effort) -> float:
    """Whole runs, after one to warm up."""
    oracle = mechanism(cell)
    with files(cell, effort) as folder, started() as engine:
        return effort.rate(lambda: dn.aggregate(oracle, folder, engine), FILES[cell] * effort.n)


def bound(cell: Cell, effort: Effort) -> tuple[float, str]:
    """One core reads a file into arrays and counts them by the plain loop; all cores together at best do that each."""
    with files(cell, effort) as folder:
        reading = effort.rate(lambda: read(folder / "0.parquet"), effort.n)
    counting, name = frequency.bound(cell, effort)
    return cores() / (1 / reading + 1 / counting), f"pyarrow and {name}, {cores()} cores"


def read(path: Path) -> list[npt.NDArray[Any]]:
    with open_parquet(path) as file:
        return [column.to_numpy() for column in file.read(use_threads=False).columns]


ENGINES: dict[str, Callable[[Cell, Effort], float]] = {"processes": by_processes}
if importlib.util.find_spec("distributed"):
    ENGINES["dask"] = partial(by_cluster, dask)
if importlib.util.find_spec("pyspark") and shutil.which("java"):
    ENGINES["spark"] = partial(by_cluster, spark)

FIGURES = [
    Figure(
        f"aggregate/{engine}/{cell.mechanism}", "reports/second", partial(ours, cell), partial(bound, cell), has_peers=False
    )
    for engine, ours in ENGINES.items()
    for cell in FILES
]
