"""Every engine gives the tally of one process, to the integer, for every family, and also when its workers are killed."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.aggregate import engine as engine_module
from deniable.aggregate import pieces, sources
from deniable.aggregate import processes as processes_module
from deniable.aggregate.dask import Dask
from deniable.aggregate.engine import engine_of, reach
from deniable.aggregate.graphs import count_clustering, count_triangles
from deniable.aggregate.processes import TRIES
from deniable.aggregate.spark import Spark
from deniable.graphs import estimate_clustering, estimate_triangles
from deniable.mechanisms.registry import OURS
from research.experiments.graph_shapes import power_law
from tests import ROOT
from tests.aggregate.test_joint import DOMAINS
from tests.aggregate.test_joint import MECHANISMS as RELATED
from tests.aggregate.test_joint import files as files_of
from tests.aggregate.test_joint import written as joint_files
from tests.families import FAMILIES, MECHANISMS, written
from tests.workers import Pair, Partials, both, count_of, fatal

pytestmark = [pytest.mark.needs("pyarrow"), pytest.mark.long]
dask = [pytest.mark.needs("distributed"), pytest.mark.xdist_group("dask")]
spark = [pytest.mark.needs("pyspark", "java"), pytest.mark.xdist_group("spark")]
engines = pytest.mark.parametrize(
    "engine", ["processes", pytest.param("dask_client", marks=dask), pytest.param("spark_session", marks=spark)]
)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """No engine: two processes on this machine, however little there is to do."""
    monkeypatch.setattr(engine_module, "cores", lambda: 2)
    monkeypatch.setattr(processes_module, "PAYS", -1e9)


@pytest.fixture(scope="module")
def dask_client() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def spark_session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), *sys.path]))
        builder = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false")
        for setting in ("spark.driver.host", "spark.driver.bindAddress"):
            builder = builder.config(setting, "127.0.0.1")
        session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def test_every_family_is_among_the_examples() -> None:
    assert set(FAMILIES) == set(OURS), "add an instance of the family to tests/families.py"


@pytest.mark.parametrize("place", range(len(MECHANISMS)), ids=lambda place: f"{place}-{MECHANISMS[place].wire}")
def test_one_process_gives_the_tally(place: int, tmp_path: Path) -> None:
    mechanism = MECHANISMS[place]
    expected = written(mechanism, tmp_path)
    tally = dn.aggregate(mechanism, tmp_path, workers=1)
    assert tally == expected and isinstance(tally, dn.Tally)
    assert sum(group.n for group in tally.manifest.groups) == expected.n == 360
    assert [len(file.groups or (0,)) for file in tally.manifest.files] == [3, 3, 1]


@engines
def test_engines_give_the_tally_of_every_family(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """All families in one run, since starting one takes a while."""
    expected: dict[str, dn.Tally] = {}
    jobs: list[Pair] = []
    for wire, mechanism in FAMILIES.items():
        (tmp_path / wire).mkdir()
        expected[wire] = written(mechanism, tmp_path / wire, files=2, groups=2)
        files, _ = pieces.look(mechanism, sources.find(tmp_path / wire))
        jobs += [(mechanism, job) for job in pieces.jobs(mechanism, files, set(), 2)]
    assert len(jobs) == 3 * len(FAMILIES)
    done: Partials = {}
    with engine_of(request.getfixturevalue(engine), None) as chosen:
        for part in chosen.run(count_of, None, jobs, both):
            done = both(done, part)
    assert {wire: part.tally for wire, part in done.items()} == expected


@engines
def test_engines_randomize_files(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    mechanism = dn.DirectResponse(dn.Categories(["yes", "no"]), 1.0)
    for name, people in (("north", 30), ("south", 20)):
        (tmp_path / f"{name}.csv").write_text("smokes\n" + "yes\nno\n" * people)
    out = tmp_path / "reports"
    out.mkdir()
    made = dn.perturb_files(mechanism, tmp_path / "*.csv", "smokes", out, request.getfixturevalue(engine))
    assert made == {str(out / "north.parquet"): 60, str(out / "south.parquet"): 40}
    assert dn.aggregate(mechanism, out, workers=1).n == 100
    (tmp_path / "west.csv").write_text("smokes\nyes\nsecret word\n")
    with pytest.raises(dn.OutsideDomain, match=r"Row 2 of .*west\.csv") as caught:
        dn.perturb_files(mechanism, tmp_path / "*.csv", "smokes", out, request.getfixturevalue(engine))
    assert "secret word" not in str(caught.value)
    assert len(list(out.iterdir())) == 2


@engines
def test_engines_give_the_joint_tally(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    expected = joint_files(tmp_path)
    chosen = request.getfixturevalue(engine)
    whole = dn.aggregate_joint(RELATED, files_of(tmp_path, *RELATED), engine=chosen)
    assert whole == expected and whole.n == 360
    pair = dn.aggregate_joint(RELATED, files_of(tmp_path, *RELATED), "smokes", "age", engine=chosen)
    assert np.array_equal(pair.counts, expected.counts[:, :, -1])  # the last place of an axis counts all reports
    table = dn.crosstab(pair, RELATED, "smokes", "age")
    assert table.questions == ("smokes", "age") and table.n == 360 and np.isclose(table.shares.sum(), 1)


@engines
def test_engines_relate_the_attributes_of_records(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    records = dn.EveryAttribute.of(dn.Vectors(DOMAINS), 2.0)
    rows = [tuple(part.labels[person % part.size] for part in records.domain.parts) for person in range(200)]
    reports = records.perturb(rows, dn.SeededCoins(1))
    dn.write_batches(tmp_path / "records.parquet", records, (reports[start : start + 50] for start in range(0, 200, 50)))
    tally = dn.aggregate_joint(
        records, tmp_path / "records.parquet", "age", "town", names=list(RELATED), engine=request.getfixturevalue(engine)
    )
    found = dn.crosstab(tally, records, "age", "town", names=list(RELATED))
    expected = dn.crosstab(reports, records, "age", "town", names=list(RELATED))
    assert np.array_equal(found.shares, expected.shares) and found.questions == ("age", "town")


@engines
def test_engines_count_the_same_triangles(
    engine: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every number of one process: lists, largest sums and pairs of neighbours are in several jobs each."""
    small = {"listed.PEOPLE": 100, "passes.COLUMNS": 64, "passes.PAIRS": 200, "outlook.MANY": 100, "outlook.FEW": 8}
    for name, value in small.items():
        monkeypatch.setattr(f"deniable.graphs.{name}", value)
    graph, chosen, shares = power_law(400, 12.0, 2.5, 1), request.getfixturevalue(engine), list[float]()
    alone = estimate_triangles(graph, 2.0, coins=dn.SeededCoins(4))
    assert count_triangles(graph, 2.0, chosen, coins=dn.SeededCoins(4), progress=shares.append) == alone
    assert shares == sorted(shares) and shares[-1] == 1.0
    share = estimate_clustering(graph, 2.0, coins=dn.SeededCoins(5))
    assert count_clustering(graph, 2.0, chosen, coins=dn.SeededCoins(5)) == share


class TestKilledWorkers:
    """Each with a real SIGKILL in the middle of the run, after some row groups were counted."""

    @engines
    def test_the_result_is_exact(self, engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
        mechanism = fatal(tmp_path / "fate")
        (tmp_path / "reports").mkdir()
        expected = written(dn.DirectResponse(mechanism.domain, 1.0), tmp_path / "reports", files=6)
        tally = dn.aggregate(mechanism, tmp_path / "reports", request.getfixturevalue(engine))
        assert mechanism.died == 1
        assert tally == expected
        assert len(tally.manifest.groups) == 16

    def test_a_job_that_always_kills_ends_the_run_and_can_be_resumed(self, tmp_path: Path) -> None:
        mechanism = fatal(tmp_path / "fate", deaths=1000)
        honest = dn.DirectResponse(mechanism.domain, 1.0)
        (tmp_path / "reports").mkdir()
        expected = written(honest, tmp_path / "reports", files=6)
        manifest = tmp_path / "manifest.json"
        with pytest.raises(dn.EngineFailure, match=f"ended {TRIES} worker processes"):
            dn.aggregate(mechanism, tmp_path / "reports", workers=2, manifest=manifest)
        # Two jobs may be lost in turn, and workers go on until the failure is heard: a few more than twice the tries.
        assert TRIES <= mechanism.died <= 4 * TRIES
        assert manifest.exists()
        assert dn.aggregate(honest, tmp_path / "reports", workers=1, manifest=manifest) == expected


class Inline:
    """An engine of another package: it works in this process."""

    package, client, address, name_alone, workers = "builtins", "anything", "inline", True, 1

    @classmethod
    def of(cls, client: object) -> "Inline":
        return cls()

    @classmethod
    def at(cls, place: str, seconds: float) -> Any:
        return nullcontext(cls())

    def run(self, work: Any, shared: Any, jobs: Any, merge: Any) -> Iterator[Any]:
        return (work(shared, job) for job in jobs)


def test_engines_of_other_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One class and one entry point; the address and the client then work everywhere."""
    entry = EntryPoint("inline", f"{__name__}:Inline", engine_module.GROUP)
    monkeypatch.setattr("deniable.plugins.entry_points", lambda group: [entry])
    mechanism = FAMILIES["direct-1"]
    expected = written(mechanism, tmp_path)
    assert expected == dn.aggregate(mechanism, tmp_path, "inline") == dn.aggregate(mechanism, tmp_path, "inline://here")
    assert expected == dn.aggregate(mechanism, tmp_path, object())
    with pytest.raises(dn.InvalidParameter, match=r"Use dask://HOST:8786 or spark.* or inline"), engine_of("ray://x", None):
        pass


class TestAddresses:
    @pytest.mark.parametrize("address", ["dask", "dask://", "ray://host:1", "spark://", "", "localhost:8786"])
    def test_of_nothing_known(self, address: str) -> None:
        with pytest.raises(dn.InvalidParameter, match="Unknown engine"), engine_of(address, None):
            pass

    @pytest.mark.parametrize("engine", [object(), 2, ["dask"]])
    def test_engines_of_nothing_known(self, engine: object) -> None:
        with pytest.raises(dn.InvalidParameter, match="Dask client"), engine_of(engine, None):
            pass

    def test_workers_are_for_this_machine(self) -> None:
        for engine, workers in (("dask://host:1", 2), (None, 0)):
            with pytest.raises(dn.InvalidParameter, match="workers"), engine_of(engine, workers):
                pass

    @pytest.mark.parametrize("place", ["127.0.0.1:1", "127.0.0.1", "127.0.0.1:port", "127.0.0.1:99999999"])
    def test_where_nobody_listens(self, place: str) -> None:
        with pytest.raises(dn.EngineFailure, match=f"No response from a scheduler at {place}"):
            reach(place)

    @pytest.mark.needs("distributed")
    def test_of_no_dask_scheduler(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(engine_module, "SECONDS", 1)
        with pytest.raises(dn.EngineFailure, match="No response from a scheduler"), engine_of("dask://127.0.0.1:1", None):
            pass

    @pytest.mark.needs("pyspark")
    def test_of_no_spark_master(self) -> None:
        with pytest.raises(dn.EngineFailure, match="No response from a scheduler"), engine_of("spark://127.0.0.1:1", None):
            pass

    @pytest.mark.parametrize("package, address", [("distributed", "dask://h:1"), ("pyspark.sql", "spark")])
    def test_without_the_package(self, package: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(dn.MissingExtra, match=rf"deniable\[{address[:4]}"), engine_of(address, None):
            pass

    @pytest.mark.needs("distributed")
    @pytest.mark.xdist_group("dask")
    def test_of_a_cluster(self, dask_client: Any, tmp_path: Path) -> None:
        mechanism = FAMILIES["direct-1"]
        address = dask_client.scheduler.address.replace("tcp", "dask")
        assert written(mechanism, tmp_path) == dn.aggregate(mechanism, tmp_path, address)

    @pytest.mark.needs("distributed", "pyspark")
    def test_engines_that_cannot_work(self) -> None:
        with pytest.raises(dn.EngineFailure, match="no workers"):
            _ = Dask(SimpleNamespace(nthreads=dict)).workers
        with pytest.raises(dn.InvalidParameter, match="must be a synchronous client"):
            Dask.of(object())
        with pytest.raises(dn.InvalidParameter, match="Spark Connect"):
            Spark.of(object())

    @pytest.mark.needs("pyspark")
    def test_spark_without_java(self, tmp_path: Path) -> None:
        mechanism = FAMILIES["direct-1"]
        written(mechanism, tmp_path)
        (tmp_path / "mechanism.json").write_text(mechanism.to_json())
        arguments = ["aggregate", "mechanism.json", "0.parquet", "--out", "tally.json", "--engine", "spark"]
        done = subprocess.run(
            [sys.executable, "-m", "deniable", *arguments],
            cwd=tmp_path,
            env={**os.environ, "JAVA_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 2 and "error: Spark could not be started. It needs a Java runtime" in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.needs("pyspark", "java")
    @pytest.mark.xdist_group("spark")
    def test_a_context_will_do(self, spark_session: Any, tmp_path: Path) -> None:
        mechanism = FAMILIES["direct-1"]
        assert written(mechanism, tmp_path) == dn.aggregate(mechanism, tmp_path, spark_session.sparkContext)
