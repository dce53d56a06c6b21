"""`deniable crosstab`: tables of files of reports."""

import csv
import json
from pathlib import Path

import pytest

import deniable as dn
from tests.cli.test_cli import refusal, run

FIRST = dn.DirectResponse(dn.Categories(["no", "yes"]), 2.0)
SECOND = dn.Unary(dn.Categories(["young", "old"]), 2.0)


def written(folder: Path) -> list[str]:
    """Two questions of 400 people, each in its file, and their mechanisms."""
    arguments = []
    for name, mechanism, answers in (("smokes", FIRST, ["no", "no", "yes", "no"]), ("age", SECOND, ["young", "old"])):
        reports = mechanism.perturb(answers * (400 // len(answers)), dn.SeededCoins(name.encode()))
        dn.write_reports(folder / f"{name}.reports", mechanism, reports)
        (folder / f"{name}.json").write_text(mechanism.to_json())
        arguments += ["--mechanism", str(folder / f"{name}.json")]
    return [str(folder / "smokes.reports"), str(folder / "age.reports"), *arguments]


def table_of(folder: Path) -> dn.Table:
    reports = {
        "smokes": dn.read_reports(folder / "smokes.reports", FIRST),
        "age": dn.read_reports(folder / "age.reports", SECOND),
    }
    return dn.crosstab(reports, {"smokes": FIRST, "age": SECOND})


def test_it_prints_the_table_and_the_test(tmp_path: Path) -> None:
    result = run("crosstab", *written(tmp_path))
    table = table_of(tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{table.text()}\n{table.test()}\n"


def test_json_and_csv_hold_the_same_cells(tmp_path: Path) -> None:
    arguments, table = written(tmp_path), table_of(tmp_path).for_population()
    target = tmp_path / "cells.csv"
    result = run("crosstab", *arguments, "--population", "--json", "--csv", str(target), "--name", "a", "--name", "b")
    record = json.loads(result.stdout)
    assert record["questions"] == ["a", "b"] and record["people"] == 400 and record["population"]
    assert [cell["share"] for cell in record["cells"]] == table.shares.ravel().tolist()
    assert record["independence"]["p_value"] == table.test().p_value
    rows = list(csv.DictReader(target.read_text().splitlines()))
    assert [float(row["low"]) for row in rows] == table.interval()[0].ravel().tolist()


def test_one_mechanism_for_several_questions(tmp_path: Path) -> None:
    pairs = dn.OnePair(dn.Vectors([FIRST.domain, SECOND.domain, FIRST.domain]), 2.0)
    reports = pairs.perturb([("no", "old", "yes"), ("yes", "young", "no")] * 200, dn.SeededCoins(1))
    dn.write_reports(tmp_path / "pairs.reports", pairs, reports[:150])
    dn.write_reports(tmp_path / "more.parquet", pairs, reports[150:])
    (tmp_path / "pairs.json").write_text(pairs.to_json())
    arguments = [
        str(tmp_path / "pairs.reports"),
        str(tmp_path / "more.parquet"),
        "--mechanism",
        str(tmp_path / "pairs.json"),
    ]
    result = run("crosstab", *arguments, "--questions", "0", "2")
    assert result.stdout.startswith(dn.crosstab(reports, pairs, 0, 2).text())
    picture = tmp_path / "table.png"
    named = ["--questions", "x", "z", "--name", "x", "--name", "y", "--name", "z"]
    assert run("crosstab", *arguments, *named, "--picture", str(picture)).exit_code == 0 and picture.stat().st_size > 1000
    assert "no question 'w'" in refusal("crosstab", *arguments, "--questions", "w", "0")


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    first, second, *mechanisms = written(tmp_path)
    assert "3 files of reports and 2 mechanisms" in refusal("crosstab", first, second, second, *mechanisms)
    assert "a different name" in refusal("crosstab", first, first, *mechanisms)
    assert "different name" in refusal("crosstab", first, second, *mechanisms, "--name", "a")
    assert "not an answer" not in refusal("crosstab", second, first, *mechanisms)
    dn.write_reports(tmp_path / "short.reports", SECOND, SECOND.perturb(["old"] * 7))
    assert "not answered by the same people" in refusal("crosstab", first, str(tmp_path / "short.reports"), *mechanisms)
    assert "confidence level" in refusal("crosstab", first, second, *mechanisms, "--confidence", "2")


def test_a_mode_refuses_the_options_of_the_other(tmp_path: Path) -> None:
    arguments, asked = written(tmp_path), ("crosstab", "survey.toml", "smokes", "age")
    for option in ("--store", "--url", "--token"):
        assert f"No such option '{option}'" in run("crosstab", *arguments, option, "x").stderr
    for option in ("--mechanism", "--name", "--questions", "--engine", "--workers"):
        assert f"No such option '{option}'" in run(*asked, option, "x").stderr
    assert "confidence level" in refusal(*asked, "--confidence", "2")
    assert "Missing option '--mechanism'" in run("crosstab", arguments[0]).stderr


@pytest.mark.needs("pyarrow")
def test_counted_by_processes_it_is_the_same(tmp_path: Path) -> None:
    first, second, *mechanisms = written(tmp_path)
    alone = run("crosstab", first, second, *mechanisms, "--json").stdout
    assert run("crosstab", first, second, *mechanisms, "--workers", "1", "--json").stdout == alone
    pattern = str(tmp_path / "smokes*.reports")
    assert json.loads(run("crosstab", pattern, second, *mechanisms, "--workers", "1", "--json").stdout)["cells"]
    pairs = dn.OnePair(dn.Vectors([FIRST.domain, SECOND.domain]), 2.0)
    every = dn.EveryAttribute.of(dn.Vectors([FIRST.domain, SECOND.domain]), 2.0)
    for mechanism in (pairs, every):
        dn.write_reports(tmp_path / "both.parquet", mechanism, mechanism.perturb([("no", "old")] * 50), overwrite=True)
        (tmp_path / "both.json").write_text(mechanism.to_json())
        arguments = [str(tmp_path / "both.parquet"), "--mechanism", str(tmp_path / "both.json"), "--questions", "0", "1"]
        assert run("crosstab", *arguments, "--workers", "1").stdout == run("crosstab", *arguments).stdout
    assert "No files match" in refusal("crosstab", str(tmp_path / "none-*"), second, *mechanisms, "--workers", "1")
