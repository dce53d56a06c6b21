"""Files to one tally: every row group once, damage by name, runs that go on, memory that does not grow."""

import hashlib
import json
import pickle
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

import deniable as dn
from deniable.aggregate import counting, pieces, sources, work
from deniable.aggregate.manifest import Book
from deniable.cli.main import main
from deniable.core.layout import Columns
from tests.examples import EXAMPLES
from tests.families import answers, written

pytestmark = pytest.mark.needs("pyarrow")
MECHANISM, OTHER = EXAMPLES["subset"], EXAMPLES["direct"]
COUNTED: list[int] = []  # reports that the next class was asked to count


@dataclass(frozen=True)
class Watched(dn.SubsetSelection):
    """The same mechanism; it remembers what it counted."""

    def votes(self, columns: Columns) -> NDArray[np.int64]:
        COUNTED.append(len(columns["cells"]))
        return super().votes(columns)


WATCHED = Watched(MECHANISM.domain, MECHANISM.epsilon, 2)


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    folder = tmp_path / "reports"
    folder.mkdir()
    COUNTED.clear()
    return folder


def spoil(path: Path, group: int) -> None:
    """Flip one bit in a page of this row group."""
    import pyarrow.parquet as pq

    page = pq.ParquetFile(path).metadata.row_group(group).column(0).data_page_offset
    data = bytearray(path.read_bytes())
    data[page + 30] ^= 1
    path.write_bytes(data)


class TestFiles:
    def test_names_folders_patterns_and_addresses(self, reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        expected = written(MECHANISM, reports)
        monkeypatch.chdir(reports)
        assert dn.aggregate(MECHANISM, "*") == dn.aggregate(MECHANISM, ".") == dn.aggregate(MECHANISM, reports) == expected
        several: list[Any] = ["*.parquet", reports / "?.parquet", ["0.parquet", reports / "1.parquet"]]
        for some in (*several, f"file://{reports}/*.parquet"):
            tally = dn.aggregate(MECHANISM, some)
            assert (tally.n, len(tally.manifest.files)) == (240, 2)
        for one in ("2.reports", [reports / "2.reports"], f"file://{reports}/2.reports"):
            assert dn.aggregate(MECHANISM, one).n == 120
        assert dn.aggregate(MECHANISM, f"file://{reports}") == expected
        assert dn.aggregate(MECHANISM, f"file://{reports.parent}/**.parquet").n == 240

    def test_workers_get_absolute_names(self, reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        written(MECHANISM, reports)
        monkeypatch.chdir(reports)
        assert all(Path(name).is_absolute() for name in sources.find("*.parquet"))

    def test_a_file_that_is_named_twice_counts_once(self, reports: Path) -> None:
        expected = written(MECHANISM, reports)
        (reports / "link.parquet").symlink_to(reports / "0.parquet")
        assert dn.aggregate(MECHANISM, [reports, reports / "*", reports / "0.parquet"]) == expected

    def test_files_that_are_being_written_are_left_alone(self, reports: Path) -> None:
        expected = written(MECHANISM, reports)
        (reports / ".3.parquet").write_bytes(b"PAR1")
        (reports / "notes.txt").write_text("of no concern")
        assert dn.aggregate(MECHANISM, reports) == expected

    @pytest.mark.parametrize("pattern", ["*.csv", "none.parquet", "", "file:///no/such/place/*.parquet"])
    def test_no_files(self, pattern: str, reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        written(MECHANISM, reports)
        monkeypatch.chdir(reports)
        with pytest.raises(dn.InvalidParameter, match="No files match"):
            dn.aggregate(MECHANISM, pattern)
        with pytest.raises(dn.InvalidParameter, match="empty"):
            dn.aggregate(MECHANISM, [])

    def test_an_address_of_nothing_known(self) -> None:
        with pytest.raises(dn.InvalidParameter, match="cannot be read"):
            dn.aggregate(MECHANISM, "gopher://host/*.parquet")

    def test_without_pyarrow(self, reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        written(MECHANISM, reports)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        assert dn.aggregate(MECHANISM, reports / "2.reports").n == 120  # packed files need nothing
        with pytest.raises(dn.MissingExtra, match=r"deniable\[parquet\]"):
            dn.aggregate(MECHANISM, reports)

    @pytest.mark.parametrize("name", EXAMPLES)
    def test_a_mechanism_that_has_run_can_be_sent_to_a_worker(self, name: str) -> None:
        mechanism = EXAMPLES[name]
        mechanism.perturb([mechanism.domain.answer(0)], dn.SeededCoins(1))
        sent = pickle.loads(pickle.dumps(mechanism))
        assert sent == mechanism and sent.fingerprint == mechanism.fingerprint and sent.law == mechanism.law

    def test_an_error_survives_the_way_from_a_worker(self) -> None:
        error = pickle.loads(pickle.dumps(dn.MissingExtra("A thing", "parquet")))
        assert str(error) == str(dn.MissingExtra("A thing", "parquet"))

    def test_jobs_hold_every_row_group_once(self, reports: Path) -> None:
        written(MECHANISM, reports, files=7, groups=5, each=8)
        files, _ = pieces.look(MECHANISM, sources.find(reports))
        for workers in (1, 2, 5, 1000):
            jobs = pieces.jobs(MECHANISM, files, {(files[1].name, 3)}, workers)
            groups = [(piece.file, group) for job in jobs for piece in job for group in piece.groups or [(0, 0)]]
            assert len(groups) == len(set(groups)) == 6 * 5 + 1 - 1
            assert len(jobs) >= min(len(groups), 4 * workers)

    def test_a_script_needs_no_guard(self, reports: Path) -> None:
        expected = written(OTHER, reports)
        (reports / "mechanism.json").write_text(OTHER.to_json())
        code = """
import deniable as dn
mechanism = dn.mechanism_from_json(open("mechanism.json").read())
print(dn.aggregate(mechanism, ".", workers=2).to_json())
"""
        (reports / "script.py").write_text(code)
        done = subprocess.run(
            [sys.executable, "script.py"], cwd=reports, capture_output=True, text=True, check=True, timeout=300
        )
        assert dn.Tally.from_json(done.stdout) == expected


class TestDamage:
    @pytest.fixture(params=["truncated", "page", "foreign", "table", "packed", "empty", "text"])
    def bad(self, request: pytest.FixtureRequest, reports: Path) -> tuple[dn.Tally, Path, type[Exception], int]:
        """Sound files and a bad one: the tally of all, the bad one, what is raised, how many of its reports are lost."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        tally, path = written(MECHANISM, reports), reports / "1.parquet"
        kind, error, lost = request.param, dn.InvalidReport, 120
        if kind == "truncated":
            path.write_bytes(path.read_bytes()[:-20])
        elif kind == "page":
            spoil(path, 1)
            lost = 40
        elif kind == "foreign":
            path.unlink()
            dn.write_reports(path, OTHER, OTHER.perturb(answers(OTHER, 50)))
            return tally, path, dn.SurveyMismatch, lost
        elif kind == "table":
            pq.write_table(pa.table({"cells": [1, 2]}), path)
        elif kind == "text":
            path.write_text("cells\n1\n")
        else:
            path = reports / "2.reports"
            path.write_bytes(path.read_bytes()[:-1] if kind == "packed" else b"")
        return tally, path, error, lost

    def test_it_stops_the_run_by_name(self, bad: tuple[dn.Tally, Path, type[Exception], int], reports: Path) -> None:
        _, path, error, _ = bad
        with pytest.raises(error, match=path.name):
            dn.aggregate(MECHANISM, reports)

    def test_it_is_left_out_and_listed(self, bad: tuple[dn.Tally, Path, type[Exception], int], reports: Path) -> None:
        whole, path, error, lost = bad
        tally = dn.aggregate(MECHANISM, reports, damaged="skip")
        (left_out,) = tally.manifest.left_out
        assert (left_out.file, left_out.error) == (str(path), error.__name__)
        assert str(path) in left_out.why
        assert left_out.group == (1 if lost == 40 else None)
        assert tally.n == whole.n - lost
        sound = [dn.read_batches(each, MECHANISM) for each in reports.iterdir() if each != path]
        batches = [batch for file in sound for batch in file]
        if lost == 40:
            kept = MECHANISM.perturb(answers(MECHANISM, 120), dn.SeededCoins(1))
            batches += [kept[:40], kept[80:]]
        assert tally == MECHANISM.tally(dn.concatenate(batches))

    def test_nothing_else_than_stop_or_skip(self, reports: Path) -> None:
        written(MECHANISM, reports)
        with pytest.raises(dn.InvalidParameter, match="stop"):
            dn.aggregate(MECHANISM, reports, damaged="ignore")  # type: ignore[arg-type]

    def test_nothing_that_can_be_counted(self, reports: Path) -> None:
        dn.write_reports(reports / "other.parquet", OTHER, OTHER.perturb(answers(OTHER, 50)))
        with pytest.raises(dn.EmptyBatch, match=r"1 were left out.*other\.parquet"):
            dn.aggregate(MECHANISM, reports, damaged="skip")

    def test_a_file_that_changes_under_way(self, reports: Path) -> None:
        written(MECHANISM, reports)
        files, _ = pieces.look(MECHANISM, [str(reports / "0.parquet")])
        (reports / "0.parquet").unlink()
        job = pieces.jobs(MECHANISM, files, set(), 1)
        with pytest.raises(dn.EngineFailure, match="shared"):
            [work.count(MECHANISM, each) for each in job]
        dn.write_reports(reports / "0.parquet", MECHANISM, MECHANISM.perturb(answers(MECHANISM, 41)))
        parts = [work.count(MECHANISM, each) for each in job]
        assert all(part.tally is None and "changed" in part.left_out[0].why for part in parts)


class TestManifest:
    def test_it_lists_row_groups_with_checksums_of_their_reports(self, reports: Path) -> None:
        written(MECHANISM, reports)
        manifest = dn.aggregate(MECHANISM, reports).manifest
        assert [(Path(each.file).name, each.group, each.n) for each in manifest.groups] == [
            *((f"{file}.parquet", group, 40) for file in (0, 1) for group in (0, 1, 2)),
            ("2.reports", 0, 120),
        ]
        cells = dn.read_reports(reports / "2.reports", MECHANISM).columns["cells"]
        column = hashlib.sha256(cells.tobytes()).digest()
        assert manifest.groups[-1].checksum == hashlib.sha256(column).hexdigest()
        assert len({each.checksum for each in manifest.groups}) == 7
        assert [file.size for file in manifest.files] == [path.stat().st_size for path in sorted(reports.iterdir())]

    def test_checksums_do_not_depend_on_how_reports_are_read(self, reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        written(EXAMPLES["hashing"], reports)
        before = dn.aggregate(EXAMPLES["hashing"], reports).manifest
        monkeypatch.setattr("deniable.files.reports.MOST_REPORTS", 7)
        assert dn.aggregate(EXAMPLES["hashing"], reports).manifest == before

    def test_copies_are_pointed_out(self, reports: Path) -> None:
        written(MECHANISM, reports)
        shutil.copy(reports / "0.parquet", reports / "copy.parquet")
        tally = dn.aggregate(MECHANISM, reports)
        assert tally.n == 480
        assert tally.manifest.repeated() == [(str(reports / "0.parquet"), str(reports / "copy.parquet"))]

    def test_a_run_goes_on_where_it_was_broken_off(self, reports: Path, tmp_path: Path) -> None:
        expected, manifest = written(MECHANISM, reports, files=6), tmp_path / "manifest.json"

        def interrupt(share: float) -> None:
            if share > 0.5:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            dn.aggregate(WATCHED, reports, manifest=manifest, workers=1, progress=interrupt)
        done = sum(COUNTED)
        assert 0 < done < expected.n
        shares: list[float] = []
        assert dn.aggregate(WATCHED, reports, manifest=manifest, workers=1, progress=shares.append) == expected
        assert sum(COUNTED) == expected.n  # each report once in both runs together
        assert shares == sorted(shares) and shares[-1] == 1.0

    def test_a_finished_run_adds_only_what_is_new(self, reports: Path, tmp_path: Path) -> None:
        first, manifest = written(MECHANISM, reports), tmp_path / "manifest.json"
        assert dn.aggregate(WATCHED, reports, manifest=manifest) == first
        assert dn.aggregate(WATCHED, reports, manifest=manifest) == first
        new = WATCHED.perturb(answers(WATCHED, 33))
        dn.write_reports(reports / "new.parquet", WATCHED, new)
        assert dn.aggregate(WATCHED, reports, manifest=manifest) == first + MECHANISM.tally(new)
        assert sum(COUNTED) == first.n + 33

    def test_what_was_left_out_is_tried_again(self, reports: Path, tmp_path: Path) -> None:
        expected, manifest = written(MECHANISM, reports), tmp_path / "manifest.json"
        whole = (reports / "0.parquet").read_bytes()
        (reports / "0.parquet").write_bytes(whole[:-30])
        assert dn.aggregate(MECHANISM, reports, manifest=manifest, damaged="skip").n == 240
        (reports / "0.parquet").write_bytes(whole)
        tally = dn.aggregate(MECHANISM, reports, manifest=manifest, damaged="skip")
        assert tally == expected and tally.manifest.left_out == ()

    def test_a_counted_file_must_not_change(self, reports: Path, tmp_path: Path) -> None:
        written(MECHANISM, reports)
        manifest = tmp_path / "manifest.json"
        dn.aggregate(MECHANISM, reports, manifest=manifest)
        dn.write_reports(reports / "0.parquet", MECHANISM, MECHANISM.perturb(answers(MECHANISM, 120)), overwrite=True)
        with pytest.raises(dn.SurveyMismatch, match=r"0\.parquet has changed"):
            dn.aggregate(MECHANISM, reports, manifest=manifest)

    def test_manifests_of_something_else(self, reports: Path, tmp_path: Path) -> None:
        written(MECHANISM, reports)
        manifest = tmp_path / "manifest.json"
        dn.aggregate(MECHANISM, reports, manifest=manifest)
        with pytest.raises(dn.SurveyMismatch, match=OTHER.fingerprint[:8]):
            dn.aggregate(OTHER, reports, manifest=manifest)
        record = json.loads(manifest.read_text())
        record["tally"]["n"] += 1
        for wrong in ("", "[]", "{}", "{", json.dumps(record), json.dumps({**record, "format": "2"})):
            manifest.write_text(wrong)
            with pytest.raises(dn.InvalidParameter, match="not a manifest"):
                dn.aggregate(MECHANISM, reports, manifest=manifest)

    def test_a_row_group_enters_once_however_often_it_is_handed_in(self, reports: Path) -> None:
        written(MECHANISM, reports)
        files, _ = pieces.look(MECHANISM, sources.find(reports))
        parts = [work.count(MECHANISM, job) for job in pieces.jobs(MECHANISM, files, set(), 1)]
        book = Book(MECHANISM.fingerprint, None)
        book.expect(files)
        for part in (*parts, *parts, parts[0]):
            book.add(part)
        tally = book.close()
        assert tally is not None and tally == dn.aggregate(MECHANISM, reports)
        with pytest.raises(dn.EngineFailure, match="twice"):
            Book(MECHANISM.fingerprint, None).add(parts[0] + parts[0])
        half = Book(MECHANISM.fingerprint, None)
        half.add(parts[0])
        with pytest.raises(dn.EngineFailure, match="twice"):
            half.add(parts[0] + parts[1])

    def test_an_engine_that_repeats_itself(self, reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever an engine does, a row group counts once."""
        expected = written(MECHANISM, reports)

        class Twice:
            workers = 1

            def run(self, work: Any, shared: Any, jobs: Any, merge: Any) -> Iterator[Any]:
                for job in (*jobs, *jobs):
                    yield work(shared, job)

        from contextlib import nullcontext

        monkeypatch.setattr(counting, "engine_of", lambda *_: nullcontext(Twice()))
        assert dn.aggregate(MECHANISM, reports) == expected


def test_memory_holds_one_batch_whatever_the_file(reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a row group as large as the file, which somebody else may have written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    mechanism, most = dn.Unary(dn.Categories(range(1 << 13)), 1.0), [0]
    table = dn.to_arrow(mechanism, mechanism.perturb(np.arange(1 << 13), dn.SeededCoins(1)))
    pq.write_table(table, reports / "0.parquet", row_group_size=1 << 13, write_page_checksum=True)
    del table
    monkeypatch.setattr("deniable.files.reports.MOST_REPORTS", 256)
    (job,) = pieces.jobs(mechanism, pieces.look(mechanism, sources.find(reports))[0], set(), 1)
    before, tally_of = pa.total_allocated_bytes(), dn.Mechanism.tally

    def watched(self: dn.Mechanism, batch: dn.Reports) -> dn.Tally:
        assert len(batch) <= 256
        most[0] = max(most[0], pa.total_allocated_bytes() - before)
        return tally_of(self, batch)

    monkeypatch.setattr(dn.Mechanism, "tally", watched)
    tally = work.count(mechanism, job).tally
    assert tally is not None and tally.n == 1 << 13
    assert (reports / "0.parquet").stat().st_size > 6_000_000
    assert 0 < most[0] < 4_000_000


class TestPerturbFiles:
    @pytest.fixture
    def places(self, tmp_path: Path) -> tuple[Path, Path]:
        for name in ("answers", "reports"):
            (tmp_path / name).mkdir()
        for name, people in (("north", 30), ("south", 20)):
            (tmp_path / "answers" / f"{name}.csv").write_text("smokes\n" + "yes\nno\n" * people)
        return tmp_path / "answers", tmp_path / "reports"

    mechanism = dn.DirectResponse(dn.Categories(["yes", "no"]), 1.0)

    def test_a_file_of_reports_for_each_file_of_answers(self, places: tuple[Path, Path]) -> None:
        answers, reports = places
        shares: list[float] = []
        made = dn.perturb_files(self.mechanism, answers, "smokes", reports, progress=shares.append)
        assert made == {str(reports / "north.parquet"): 60, str(reports / "south.parquet"): 40}
        assert shares == [0.5, 1.0]
        assert dn.aggregate(self.mechanism, reports).n == 100

    def test_nobody_is_randomized_twice(self, places: tuple[Path, Path]) -> None:
        answers, reports = places
        made = dn.perturb_files(self.mechanism, answers, "smokes", reports)
        before = {path: path.read_bytes() for path in reports.iterdir()}
        (reports / "south.parquet").unlink()
        assert dn.perturb_files(self.mechanism, answers, "smokes", reports) == made
        north = reports / "north.parquet"
        assert north.read_bytes() == before[north]
        with pytest.raises(dn.SurveyMismatch):
            dn.perturb_files(dn.DirectResponse(self.mechanism.domain, 2.0), answers, "smokes", reports)

    def test_an_answer_that_is_not_allowed(self, places: tuple[Path, Path]) -> None:
        answers, reports = places
        (answers / "south.csv").write_text("smokes\nyes\nsecret word\n")
        with pytest.raises(dn.OutsideDomain, match=r"Row 2 of .*south\.csv") as caught:
            dn.perturb_files(self.mechanism, answers, "smokes", reports)
        assert "secret word" not in str(caught.value)
        assert not (reports / "south.parquet").exists()

    def test_places_that_will_not_do(self, places: tuple[Path, Path], tmp_path: Path) -> None:
        answers, reports = places
        with pytest.raises(dn.InvalidParameter, match="does not exist"):
            dn.perturb_files(self.mechanism, answers, "smokes", tmp_path / "none")
        shutil.copy(answers / "north.csv", tmp_path / "north.csv")
        with pytest.raises(dn.InvalidParameter, match="same name"):
            dn.perturb_files(self.mechanism, [answers, tmp_path / "north.csv"], "smokes", reports)
        dn.write_reports(reports / "a.parquet", self.mechanism, self.mechanism.perturb(["yes"]))
        with pytest.raises(dn.InvalidParameter, match="different folder"):
            dn.perturb_files(self.mechanism, reports / "a.parquet", "value", reports)


class TestVerb:
    def run(self, *arguments: object) -> Result:
        runner = CliRunner(env={"COLUMNS": "80"})
        return runner.invoke(main, ["aggregate", *map(str, arguments)], catch_exceptions=False)

    @pytest.fixture
    def contract(self, tmp_path: Path) -> Path:
        path = tmp_path / "mechanism.json"
        path.write_text(MECHANISM.to_json())
        return path

    def test_it_writes_the_tally(self, contract: Path, reports: Path, tmp_path: Path) -> None:
        expected, out = written(MECHANISM, reports), tmp_path / "tally.json"
        result = self.run(contract, reports, "--out", out)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == f"Wrote the tally of 360 reports to {out}, from 3 files in 7 row groups.\n"
        assert dn.Tally.from_json(out.read_text()) == expected
        done = CliRunner().invoke(main, ["estimate", str(out), "--mechanism", str(contract), "--json"])
        assert json.loads(done.stdout)["people"] == 360

    def test_what_is_left_out_and_what_is_there_twice_is_told(self, contract: Path, reports: Path, tmp_path: Path) -> None:
        written(MECHANISM, reports)
        spoil(reports / "1.parquet", 2)
        shutil.copy(reports / "0.parquet", reports / "copy.parquet")
        arguments = [contract, reports, "--damaged", "skip", "--manifest", tmp_path / "manifest.json", "--out"]
        shown = self.run(*arguments, tmp_path / "a.json").stdout
        assert "from 4 files in 9 row groups" in shown
        assert f"left out: {reports / '1.parquet'}, row group 2: " in shown
        assert f"the same reports: {reports / '0.parquet'}, {reports / 'copy.parquet'}" in shown
        record = json.loads(self.run(*arguments, tmp_path / "b.json", "--json").stdout)
        assert (record["reports"], record["files"], record["row_groups"]) == (440, 4, 9)
        assert [each["group"] for each in record["left_out"]] == [2]
        assert len(record["repeated"]) == 1

    @pytest.mark.parametrize(
        "arguments, says",
        [
            (["none/*.parquet"], "No files match"),
            (["reports", "--engine", "ray://host:1"], "Unknown engine"),
            (["reports", "--engine", "spark://127.0.0.1:1"], "No response from a scheduler"),
            (["reports", "--workers", "2", "--engine", "dask://127.0.0.1:1"], "workers"),
            (["reports", "other.parquet"], "made by mechanism"),
        ],
    )
    def test_refusals(
        self, arguments: list[str], says: str, contract: Path, reports: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        written(MECHANISM, reports)
        monkeypatch.chdir(reports.parent)
        dn.write_reports("other.parquet", OTHER, OTHER.perturb(answers(OTHER, 50)))
        result = self.run(contract, *arguments, "--out", "tally.json")
        assert result.exit_code == 2 and says in result.stderr and result.stderr.count("\n") == 1
        assert not Path("tally.json").exists()

    def test_a_tally_that_exists_is_kept(self, contract: Path, reports: Path, tmp_path: Path) -> None:
        written(MECHANISM, reports)
        (tmp_path / "tally.json").write_text("mine")
        assert self.run(contract, reports, "--out", tmp_path / "tally.json").exit_code == 2
        assert self.run(contract, reports, "--out", tmp_path / "tally.json", "--force").exit_code == 0
