"""Files of earlier releases, byte for byte as they were: this one opens, counts, proves and continues them.

From 1.0 on this is a promise. A folder that is here is never changed; a release adds its own with `make.py`.
"""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

import deniable as dn
from deniable.collector import Collector, opened, results
from deniable.survey.law_document import law_json
from deniable.survey.reading import parse_toml
from tests.releases.make import PEOPLE, run

HERE = Path(__file__).parent
RELEASES = sorted(path.name for path in HERE.iterdir() if (path / "survey.toml").is_file())


@pytest.fixture(params=RELEASES)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of what a release made."""
    return Path(shutil.copytree(HERE / request.param, tmp_path / "kept"))


def survey_of(kept: Path) -> dn.Survey:
    return parse_toml((kept / "survey.toml").read_text(encoding="utf-8"), "survey.toml")


def test_nobody_has_touched_them() -> None:
    assert RELEASES
    for name in RELEASES:
        lines = (HERE / name / "SHA256SUMS").read_text().splitlines()
        assert {line.split("  ")[1] for line in lines} == {path.name for path in (HERE / name).iterdir()} - {"SHA256SUMS"}
        for line in lines:
            digest, file = line.split("  ")
            assert hashlib.sha256((HERE / name / file).read_bytes()).hexdigest() == digest, file


def test_a_survey_is_the_same_contract_with_the_same_law(kept: Path) -> None:
    before = dn.Survey.from_json((kept / "survey.json").read_text(encoding="utf-8"))
    assert before.to_json() == (kept / "survey.json").read_text(encoding="utf-8")
    assert before.contract() == survey_of(kept).contract()
    assert json.loads(law_json(before)) == json.loads((kept / "law.json").read_text(encoding="utf-8"))


def test_a_certificate_is_verified(kept: Path) -> None:
    assert json.loads(run("verify", kept / "certificate.json", "--json"))["genuine"] is True


def test_a_ledger_knows_that_it_was_answered_and_with_what(kept: Path) -> None:
    before = dn.Survey.from_json((kept / "survey.json").read_text(encoding="utf-8"))
    device = dn.Device(before, kept / "me.ledger")
    assert device.message() == (kept / "one.body").read_bytes()
    with pytest.raises(dn.BudgetSpent):
        device.answer({"mode": "car", "minutes": 5})


@pytest.mark.parametrize("restored", [False, True])
def test_a_store_and_a_backup_know_what_was_counted_and_go_on(kept: Path, restored: bool) -> None:
    address = str(kept / "store.db")
    if restored:
        address = str(kept / "restored.db")
        run("restore", kept / "survey.toml", kept / "store.backup", "--store", address)
    with opened(address) as store:
        collector = Collector(survey_of(kept), store)
        again = collector.take(collector.survey.read((kept / "many.body").read_bytes()))
        assert [str(getattr(verdict, "value", verdict)) for verdict in again] == ["duplicate"] * PEOPLE
        new = collector.take(collector.survey.read((kept / "one.body").read_bytes()))
        assert [str(getattr(verdict, "value", verdict)) for verdict in new] == ["counted"]
        assert results(collector.survey, collector.number, store).people == PEOPLE + 1


def test_reports_and_tallies_in_files_are_read(kept: Path) -> None:
    for file in ("answers.reports", "tally.json"):
        shown = json.loads(run("estimate", kept / file, "--mechanism", kept / "mechanism.json", "--json"))
        assert shown["people"] == 2 * PEOPLE
