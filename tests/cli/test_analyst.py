"""Numbers, sets and records on the command line without a survey, compressed files, pipes, and comparisons of any target."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

import deniable as dn
from deniable.files.answers import read_answers
from tests.cli.test_cli import refusal, run

TOOLS = ("--item", "Git", "--item", "Jira", "--item", "Slack", "--at-most", "2")
ROWS = [("Git, Jira", "yes", "1", "12"), ("", "no", "2", "0.5"), ("Slack", "no", "0", "120")] * 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [f'"{tools}",{smokes},{grade},{minutes}' for tools, smokes, grade, minutes in ROWS]
    (tmp_path / "people.csv").write_text("\n".join(["tools,smokes,grade,minutes", *lines, ""]))
    return tmp_path


def done(*arguments: object) -> str:
    result = run(*map(str, arguments))
    assert result.exit_code == 0, result.stderr
    return result.stdout


def planned(folder: Path, *arguments: object) -> Path:
    """The file of a mechanism with so little noise that estimates are close to the truth."""
    file = folder / "mechanism.json"
    done("plan", *arguments, "--epsilon", 12, "--people", 600, "--out", file, "--force")
    return file


def estimated(folder: Path, mechanism: Path, *columns: str, how: str = "", out: str = "a.reports") -> dict[str, float]:
    """The estimate of each answer, from these columns of the table."""
    named = [word for column in columns for word in ("--column", column)]
    target = folder / out
    done("perturb", folder / "people.csv", *named, "--mechanism", mechanism, "--out", target, "--force", "--seed", 1)
    shown = json.loads(done("estimate", target, "--mechanism", mechanism, "--json", *how.split()))
    return {row["value"]: row["estimate"] for row in shown["shares"]}


@pytest.mark.parametrize("out", ["a.reports", "a.reports.gz", "a.reports.zst", "a.parquet"])
@pytest.mark.needs("pyarrow")
def test_sets(folder: Path, out: str) -> None:
    shares = estimated(folder, planned(folder, *TOOLS), "tools", out=out)
    assert shares == pytest.approx({"Git": 1 / 3, "Jira": 1 / 3, "Slack": 1 / 3}, abs=0.05)
    damaged = (folder / out).read_bytes()[:-9]
    (folder / out).write_bytes(damaged)
    assert "Copy or" in refusal("estimate", str(folder / out), "--mechanism", str(folder / "mechanism.json"))


@pytest.mark.needs("pyarrow")
def test_scores(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rated = [{"Alien": 4.0, "Brazil": 1.5}, {"Alien": 2.0}] * 300
    texts = [", ".join(f"{film} = {score}" for film, score in each.items()) for each in rated]
    pq.write_table(pa.table({"films": pa.array(rated, pa.map_(pa.string(), pa.float64()))}), folder / "films.parquet")
    (folder / "films.jsonl").write_text("".join(json.dumps({"films": each}) + "\n" for each in rated))
    (folder / "films.csv").write_text("films\n" + "".join(f'"{each}"\n' for each in texts))
    mechanism = planned(folder, "--item", "Alien", "--item", "Brazil", "--scores", "1", "5")
    domain = dn.mechanism_from_json(mechanism.read_text()).domain
    for name in ("films.csv", "films.jsonl", "films.parquet"):
        (batch,) = read_answers(folder / name, "films", domain, 1000)
        assert list(batch.answers) == rated, name
    (folder / "people.csv").write_text((folder / "films.csv").read_text())
    assert estimated(folder, mechanism, "films", how="--mean") == pytest.approx({"Alien": 3, "Brazil": 1.5}, abs=0.6)
    assert estimated(folder, mechanism, "films") == pytest.approx({"Alien": 1, "Brazil": 0.5}, abs=0.05)


@pytest.mark.parametrize("cell", ["Git, Unknown", "Git = much", "Git, Git", "Git, Jira, Slack", '["Git", 3', "{}x"])
def test_a_set_that_is_none_is_refused_with_its_row_and_without_its_names(folder: Path, cell: str) -> None:
    mechanism = planned(folder, *TOOLS)
    (folder / "one.csv").write_text('tools\nGit\n"{}"\n'.format(cell.replace('"', '""')))
    said = refusal(
        *map(str, ("perturb", folder / "one.csv", "--column", "tools", "--mechanism", mechanism, "--out", folder / "o"))
    )
    assert f"Row 2 of {folder / 'one.csv'}, column 'tools': " in said
    assert "Unknown" not in said and "much" not in said


def test_records(folder: Path) -> None:
    (folder / "grades.txt").write_text("0\n1\n2\n")
    mechanism = planned(folder, "--answers", "yes,no", "--answers", "3")
    shares = estimated(folder, mechanism, "smokes", "grade")
    third = 1 / 3
    names = ["column 1: yes", "column 1: no", "column 2: 0", "column 2: 1", "column 2: 2"]
    assert shares == pytest.approx(dict(zip(names, [third, 2 * third, third, third, third], strict=True)), abs=0.1)
    assert "for 2 columns of answers, and 1 was given" in refusal(
        *map(str, ("perturb", folder / "people.csv", "--column", "smokes", "--mechanism", mechanism, "--out", folder / "o"))
    )
    listed = planned(folder, "--answers", "yes,no", "--answers", f"@{folder / 'grades.txt'}")
    assert estimated(folder, listed, "smokes", "grade").keys() == shares.keys()


def test_a_mean_of_numbers(folder: Path) -> None:
    truth = (12 + 0.5 + 120) / 3
    for target in ("mean", "quantiles"):
        mechanism = planned(folder, "--numbers", 0, 120, "--target", target)
        assert estimated(folder, mechanism, "minutes", how="--mean") == pytest.approx({"mean": truth}, abs=4), target
    assert "A mean is for numbers" in refusal(
        "estimate", *map(str, (folder / "b.reports", "--mean", "--mechanism", _shares(folder)))
    )


def _shares(folder: Path) -> Path:
    mechanism = planned(folder, "--category", "yes", "--category", "no")
    estimated(folder, mechanism, "smokes", out="b.reports")
    return mechanism


def test_an_empty_field_is_refused_or_silence(folder: Path) -> None:
    mechanism = planned(folder, "--category", "yes", "--category", "no", "--category", "silent")
    (folder / "gaps.csv").write_text("smokes,id\nyes,1\n,2\nno,3\n")
    asked = [
        "perturb",
        folder / "gaps.csv",
        "--column",
        "smokes",
        "--mechanism",
        mechanism,
        "--out",
        folder / "gaps.reports",
    ]
    assert "Row 2 of" in (said := refusal(*map(str, asked))) and "The field is empty." in said and "--silence" in said
    assert "Wrote 3 reports" in done(*asked, "--silence", "silent")


@pytest.mark.parametrize("form", ["csv", "csv.gz", "jsonl", "csv.zst"])
@pytest.mark.needs("pyarrow")
def test_pipes(folder: Path, form: str) -> None:
    """Answers in, reports through, a table out: nothing but data on the standard output."""
    import pyarrow as pa

    mechanism = planned(folder, "--category", "yes", "--category", "no")
    lines = (folder / "people.csv").read_bytes()
    if form == "jsonl":
        lines = b"".join(json.dumps({"smokes": row[1]}).encode() + b"\n" for row in ROWS)
    packed = {"csv.gz": gzip.compress, "csv.zst": lambda data: pa.compress(data, codec="zstd", asbytes=True)}
    lines = packed.get(form, bytes)(lines)

    def piped(data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "deniable", *arguments, "--mechanism", str(mechanism)]
        return subprocess.run(command, input=data, capture_output=True, timeout=120, check=True)

    reports = piped(lines, "perturb", "-", "--column", "smokes", "--out", "-")
    assert reports.stderr.decode().startswith("Wrote 600 reports of 1 bit to the standard output")
    table = piped(reports.stdout, "estimate", "-", "--csv", "-")
    assert table.stderr == b""
    header, first, second = table.stdout.decode().splitlines()
    assert (header, first.split(",")[0], second.split(",")[0]) == ("value,estimate,low,high", "yes", "no")


@pytest.mark.parametrize(
    ("arguments", "best"),
    [
        (("--numbers", "0", "120", "--steps", "16"), "three outputs"),
        (("--numbers", "0", "120", "--steps", "7", "--target", "ranges"), "comb"),
        (("--numbers", "0", "120", "--steps", "7", "--target", "distribution"), "comb"),
        (TOOLS, "pckv-direct-frequency"),
        ((*TOOLS, "--scores", "0", "5"), "pckv-direct"),
        (("--answers", "yes,no", "--answers", "3"), "one answer-whole budget"),
    ],
)
def test_compare_any_target(arguments: tuple[str, ...], best: str) -> None:
    shown = json.loads(done("compare", *arguments, "--epsilon", 2, "--people", 300, "--repeats", 2, "--seed", 1, "--json"))
    names = [row["name"] for row in shown["mechanisms"]]
    assert best in names and len(names) > 1


@pytest.mark.parametrize(
    ("domain", "target"),
    [
        (dn.Interval(0, 120, steps=8), "mean"),
        (dn.Interval(0, 120, steps=8), "quantiles"),
        (dn.KeyValue(["a", "b", "c"], 0, 5, at_most=2), "shares"),
        (dn.KeyValue(["a", "b", "c"], 0, 1, at_most=2), "frequencies"),
        (dn.Vectors([dn.Categories(["y", "n"]), dn.Categories(range(3))]), "shares"),
    ],
)
def test_measured_errors_are_the_predicted_ones(domain: dn.Domain, target: str) -> None:
    """Each ratio of 60 collections is within 6 of its standard errors of 1, which chance misses less than once in 10^6."""
    found = dn.compare(domain, 1.0, 400, target=target, repeats=60, coins=dn.SeededCoins(3))
    for row in found.rows:
        assert abs(row.ratio - 1) < 6 * row.ratio_error, row.name
    assert "predicted, measured: " in str(found)


def test_comparisons_refuse_what_they_cannot_measure() -> None:
    with pytest.raises(dn.InvalidParameter, match="sets also by their frequencies alone"):
        dn.compare(dn.KeyValue(["a", "b"], 0, 1, at_most=1), 1.0, target="mean")
    with pytest.raises(dn.InvalidParameter, match="for numbers: give an Interval"):
        dn.compare(dn.Categories(["a", "b"]), 1.0, target="mean")
    with pytest.raises(dn.InvalidParameter, match="for the shares of single answers"):
        dn.compare(dn.Interval(0, 1), 1.0, target="mean", top=3)
    assert "Scores from 0 to 1" in refusal(
        "plan", "--item", "a", "--item", "b", "--scores", "0", "1", "--epsilon", "1", "--people", "9"
    )
    assert "Sets need items" in refusal("plan", "set", "--epsilon", "1", "--people", "9")
