"""Joint tallies from files: those of one process, to the integer, on every engine."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.aggregate import joint
from deniable.analysis.decoder import decoder
from deniable.files import write_batches

pytestmark = [pytest.mark.needs("pyarrow"), pytest.mark.long]

DOMAINS = [dn.Categories(["no", "yes"]), dn.Categories(["18-39", "40-64", "65+"]), dn.Categories(["a", "b", "c", "d"])]
MECHANISMS: dict[str, dn.Mechanism] = {
    "smokes": dn.DirectResponse(DOMAINS[0], 1.0),
    "age": dn.SubsetSelection(DOMAINS[1], 1.0),
    "town": dn.LocalHashing(DOMAINS[2], 1.0),
}
EACH = 40


def written(folder: Path, groups: int = 3, packed: bool = True) -> dn.JointTally:
    """Three files of each question, the last one packed; their joint tally as one process counts it."""
    tallies = []
    for file in range(3):
        reports = {}
        for place, (name, mechanism) in enumerate(MECHANISMS.items()):
            answers = [
                mechanism.domain.answer((person * person + file) % mechanism.domain.size) for person in range(groups * EACH)
            ]
            own = reports[name] = mechanism.perturb(answers, dn.SeededCoins(10 * file + place))
            ending = "reports" if packed and file == 2 else "parquet"
            step = EACH if name != "town" else 2 * EACH  # of another file the row groups differ
            batches = (own[start : start + step] for start in range(0, len(own), step))
            write_batches(folder / f"{name}-{file}.{ending}", mechanism, batches)
        decoders = [decoder(each) for each in MECHANISMS.values()]
        tallies.append(dn.JointTally.of(decoders, list(reports.values()), list(reports)))
    return sum(tallies[1:], tallies[0])


def files(folder: Path, *names: str) -> dict[str, str]:
    return {name: str(folder / f"{name}-*") for name in names}


def test_row_groups_are_counted_by_themselves_and_progress_is_reported(tmp_path: Path) -> None:
    expected = written(tmp_path, packed=False)
    asked = joint.Asked(("smokes", "age"), (MECHANISMS["smokes"], MECHANISMS["age"]))
    found = [sorted(str(path) for path in tmp_path.glob(f"{name}-*")) for name in asked.names]
    assert len(list(joint._rows(asked, found))) == 9
    done: list[float] = []
    pair = dn.aggregate_joint(MECHANISMS, files(tmp_path, "smokes", "age"), "smokes", "age", workers=1, progress=done.append)
    assert np.array_equal(pair.counts, expected.counts[:, :, -1]) and done[-1] == 1 and len(done) == 9


class Forgetful:
    """An engine that does its work twice, or not at all."""

    workers = 1

    def __init__(self, times: int) -> None:
        self.times = times

    def run(self, work: Any, shared: Any, jobs: Any, merge: Any) -> Any:
        yield work(shared, jobs[0])
        yield from (work(shared, job) for job in jobs[:1] * self.times)


@pytest.mark.parametrize(("times", "words"), [(1, "same rows twice"), (0, "lost some of its work")])
def test_every_row_counts_once(times: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    written(tmp_path)
    monkeypatch.setattr(joint, "engine_of", lambda *_: nullcontext(Forgetful(times)))
    with pytest.raises(dn.EngineFailure, match=words):
        dn.aggregate_joint(MECHANISMS, files(tmp_path, "smokes", "age"), "smokes", "age")


def test_bad_files_are_refused(tmp_path: Path) -> None:
    written(tmp_path)
    smokes = MECHANISMS["smokes"]
    own = {"smokes": smokes, "again": smokes}
    (tmp_path / "damaged.parquet").write_bytes((tmp_path / "smokes-0.parquet").read_bytes()[:300])
    for name, people in (("short.parquet", 7), ("short.reports", 7)):
        write_batches(tmp_path / name, smokes, [smokes.perturb(["no"] * people)])
    cases: list[tuple[Any, Any, str]] = [
        (
            own,
            {"smokes": tmp_path / "smokes-0.parquet", "again": tmp_path / "short.parquet"},
            "not answered by the same people",
        ),
        (
            own,
            {"smokes": tmp_path / "smokes-0.parquet", "again": tmp_path / "short.reports"},
            "not answered by the same people",
        ),
        (own, {"smokes": str(tmp_path / "smokes-*"), "again": tmp_path / "short.parquet"}, "same number of files"),
        (own, {"smokes": tmp_path / "smokes-0.parquet"}, "needs both its mechanism and its files"),
        (own, {"smokes": tmp_path / "smokes-0.parquet", "again": tmp_path / "damaged.parquet"}, "damaged"),
        (own, {"smokes": tmp_path / "smokes-0.parquet", "again": tmp_path / "age-0.parquet"}, "made by mechanism"),
        (smokes, tmp_path / "smokes-0.parquet", "counted by aggregate"),
        ({"smokes": smokes}, {"smokes": tmp_path / "smokes-0.parquet"}, "two or three questions"),
    ]
    for mechanisms, given, words in cases:
        with pytest.raises(dn.DeniableError, match=words):
            dn.aggregate_joint(mechanisms, given, workers=1)
    records = dn.EveryAttribute.of(dn.Vectors(DOMAINS[:1] * 2), 1.0)
    with pytest.raises(dn.InvalidParameter, match="one set of files"):
        dn.aggregate_joint(records, {"smokes": "x"})
    with pytest.raises(dn.InvalidParameter, match="joint tally"):
        dn.crosstab(records.tally(records.perturb([("no", "yes")])), records)
