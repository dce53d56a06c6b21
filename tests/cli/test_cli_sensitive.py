"""Sensitive answers and histograms on the command line, from plan to estimate."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from tests.cli.test_cli import misused, refusal, run

ILLNESS = [part for word in ("flu", "cold", "AIDS", "cancer") for part in ("--category", word)]
SECRET = ["--sensitive", "AIDS", "--sensitive", "cancer"]
HISTOGRAM = "rating,count,bad\n1,300,1\n2,200,1\n3,500,0\n4,600,0\n5,400,0\n"


def printed(*arguments: str) -> str:
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def histogram(folder: Path, text: str = HISTOGRAM, name: str = "ratings.csv") -> str:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(path)


def test_the_whole_way(tmp_path: Path) -> None:
    """Plan, certify, perturb, estimate: as the library does it."""
    names = [str(tmp_path / name) for name in ("mechanism.json", "answers.csv", "answers.reports")]
    shown = printed("plan", *ILLNESS, *SECRET, "--open-share", "0.9", "--epsilon", "1", "--people", "600", "--out", names[0])
    assert "4 values, 2 of them sensitive" in shown
    mechanism = dn.mechanism_from_json(Path(names[0]).read_text())
    assert isinstance(mechanism, dn.UtilityOptimized)
    assert list(mechanism.sensitive) == ["AIDS", "cancer"]
    assert mechanism.open_share == 0.9
    certificate = printed("certify", names[0])
    assert "sensitive values" in certificate
    assert "non-sensitive" in certificate
    answers = ["flu", "cold", "flu", "cancer"] * 50
    Path(names[1]).write_text("ill\n" + "\n".join(answers) + "\n")
    assert (
        run("perturb", names[1], "--column", "ill", "--mechanism", names[0], "--out", names[2], "--seed", "5").exit_code == 0
    )
    record = json.loads(printed("estimate", names[2], "--mechanism", names[0], "--json"))
    reports = dn.read_reports(names[2], mechanism)
    expected = mechanism.estimate(mechanism.tally(reports))
    assert [row["estimate"] for row in record["shares"]] == expected.values.tolist()
    assert "exact intervals are for" in refusal("estimate", names[2], "--mechanism", names[0], "--exact").lower()


def test_numbered_answers_take_ranges() -> None:
    record = json.loads(
        printed("certify", "hashing", "--values", "9", "--sensitive", "0-3", "--sensitive", "6", "--epsilon", "1", "--json")
    )
    assert record["mechanism"]["sensitive"] == [0, 1, 2, 3, 6]
    assert record["protects"] == "sensitive values"
    assert record["holds"] is True


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--values", "9", "--sensitive", "some"], "takes a number"),
        (["--values", "9", "--sensitive", "3-x"], "takes a number"),
        (["--values", "9", "--sensitive", "0-8"], "Every answer is sensitive"),
        (["--values", "9", "--sensitive", "12"], "The answers are 0 to 8"),
        (["--values", "9", "--sensitive", "5-3"], "The answers are 0 to 8"),
        ([*ILLNESS, "--sensitive", "measles"], "not one of the question"),
        ([*ILLNESS, "--sensitive", "AIDS", "--open-share", "2"], "from 0 to 1"),
        ([*ILLNESS, "--sensitive", "AIDS", "--mechanism", "subset"], "subset does not support 4 values"),
    ],
)
def test_impossible_choices_are_refused(arguments: list[str], says: str) -> None:
    assert says in refusal("plan", *arguments, "--epsilon", "1", "--people", "10")


def test_sizes_are_not_for_sensitive_answers() -> None:
    assert "Only subset takes --size" in refusal("certify", "subset", *ILLNESS, *SECRET, "--epsilon", "1", "--size", "1")


@pytest.mark.parametrize("name", ["ratings.csv", "ratings.csv.gz"])
def test_compare_reads_a_histogram(tmp_path: Path, name: str) -> None:
    """The published mechanisms stand beside ours, and the metrics are there."""
    path = histogram(tmp_path, name=name)
    columns = ["--value-column", "rating", "--sensitive-column", "bad"]
    options = ["--epsilon", "1", "--repeats", "30", "--seed", "3", "--top", "2", "--json"]
    record = json.loads(printed("compare", "--histogram", path, *columns, *options))
    assert record["people"] == 2000
    assert record["truth"] == "histogram"
    found = {row["name"]: row for row in record["mechanisms"]}
    assert {"subset", "design", "subset-published", "unary-published"} <= set(found)
    assert found["subset"]["predicted"] < found["unary-published"]["predicted"]
    for row in found.values():
        assert abs(row["ratio"] - 1) < 6 * row["ratio_error"]
        assert 0 <= row["top_f1"] <= 1 and 0 < row["top_ndcg"] <= 1
        assert 0 < row["mean_absolute"] <= row["measured"]


def test_compare_shows_a_table(tmp_path: Path) -> None:
    path = histogram(tmp_path)
    question = ["--histogram", path, "--value-column", "rating", "--sensitive", "1", "--sensitive", "2", "--people", "200"]
    options = ["--mechanisms", "subset,subset-published", "--epsilon", "1", "--repeats", "3", "--seed", "1", "--top", "2"]
    shown = printed("compare", *question, *options)
    assert "5 answers, 2 of them sensitive, 75.0% of people have another" in " ".join(shown.split())
    assert "NDCG" in shown and "subset-published" in shown
    assert "wheel" not in shown and not re.search(r"^\W*design", shown, re.MULTILINE)
    assert "Left out: design, weighted." in shown  # two answers are too few


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("", [], "no header line"),
        ("rating,count\n1,2\n", ["--value-column", "stars"], "no column 'stars'. Its columns are 'rating', 'count'"),
        ("rating,count\n1,2\n1,3\n", ["--value-column", "rating"], "names an answer twice"),
        ("rating,count\n1,many\n2,3\n", ["--value-column", "rating"], "whole numbers of people"),
        ("rating,count\n1,-2\n2,3\n", ["--value-column", "rating"], "whole numbers of people"),
        ("rating,count\n1,0\n2,0\n", ["--value-column", "rating"], "counts nobody"),
    ],
)
def test_impossible_histograms_are_refused(tmp_path: Path, text: str, options: list[str], says: str) -> None:
    assert says in refusal("compare", "--histogram", histogram(tmp_path, text), *options, "--epsilon", "1")


def test_files_that_are_no_histogram_are_refused(tmp_path: Path) -> None:
    both = ("--histogram", histogram(tmp_path), "--values", "3", "--epsilon", "1")
    assert "No such option '--values'" in misused("compare", *both)
    assert "There is no file" in refusal("compare", "--histogram", str(tmp_path / "none.csv"), "--epsilon", "1")
    broken = tmp_path / "broken.csv.gz"
    broken.write_bytes(b"not packed")
    assert "not a gzip file" in refusal("compare", "--histogram", str(broken), "--epsilon", "1")
    assert "Missing option '--people'" in misused("compare", "--values", "3", "--epsilon", "1")


def test_metrics() -> None:
    truth, values = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.4, 0.1, 0.3, 0.2])
    assert dn.mse(truth, truth) == dn.mae(truth, truth) == 0
    assert dn.mse(truth, values) == pytest.approx((0.01 + 0.04 + 0.0225 + 0.0225) / 4)
    assert dn.mae(truth, values) == pytest.approx((0.1 + 0.2 + 0.15 + 0.15) / 4)
    assert dn.top_f1(truth, values, 2) == 0.5
    assert dn.top_f1(truth, values, 4) == dn.top_ndcg(truth, truth, 3) == 1
    weight = 1 / np.log2(3)
    assert dn.top_ndcg(truth, values, 2) == pytest.approx((0.5 + 0.15 * weight) / (0.5 + 0.3 * weight))
    for wrong in ([0.5], [[0.5, 0.3, 0.15, 0.05]]):
        with pytest.raises(dn.InvalidParameter, match="same length"):
            dn.mse(truth, wrong)
    for count in (0, 5):
        with pytest.raises(dn.InvalidParameter, match="top"):
            dn.top_f1(truth, values, count)
    with pytest.raises(dn.InvalidParameter, match="nothing to rank"):
        dn.top_ndcg([0, 0], [1, 2], 1)
