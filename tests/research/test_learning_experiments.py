"""The experiments on learning: the same learners as in the committed tables, and what these say."""

import gzip
import hashlib
import math
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from research.contest import Contest
from research.data import tables
from research.data.folder import FILES, Data
from research.experiments import learning_images, learning_trees, learning_vectors
from tests import ROOT

NAMES = ["learning_images", "learning_trees", "learning_vectors"]


def committed(name: str) -> str:
    return (ROOT / "research" / "experiments" / f"{name}.md").read_text(encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    """The lines of the tables with a claimed and a certified epsilon."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]
    return [line for line in cells if len(line) == 7 and re.fullmatch(r"[\d.]+", line[0])]


def learners(contest: Contest) -> list[str]:
    return [entrant.name for entrant in contest.entrants]


def test_the_tables_have_the_learners_of_the_experiments() -> None:
    images = learning_images.contest(learning_images.made_up(100))
    trees = learning_trees.contest(tables.made_up("x", 50, 3, classes=False))
    vectors = learning_vectors.contests(tables.made_up("x", 50, 3, classes=True))[0]
    made = {"learning_images": images, "learning_trees": trees, "learning_vectors": vectors}
    for name in NAMES:
        contest = made[name]
        told = rows(committed(name))
        assert list(dict.fromkeys(line[2] for line in told)) == learners(contest)
        assert sorted({float(line[0]) for line in told}) == sorted(contest.budgets)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_certified_is_within_what_is_claimed_or_marked(name: str) -> None:
    for claimed, certified, *_ in rows(committed(name)):
        if certified.startswith("**"):
            assert certified == "**nothing**"
        else:
            assert float(certified) <= float(claimed) * (1 + 1e-9)


@pytest.mark.parametrize("name", ["learning_text", *NAMES])
def test_our_best_is_never_below_the_best_of_the_papers(name: str) -> None:
    """At every certified epsilon of every table: by what was measured, before it was rounded, and by the rows again."""
    text = committed(name)
    told = re.findall(r"([+-])([\d.]+|inf) at [\d.e+]+", "".join(re.findall(r"^.*Our best.*$(?:\s*^- .*$)*", text, re.M)))
    assert told and {sign for sign, _ in told} == {"+"}
    for epsilon, (ours, _), (theirs, _) in compared(text):
        assert ours >= theirs, f"{theirs} of a paper is better than our {ours} at {epsilon}"


def test_trees_from_reports_are_nowhere_clearly_worse_than_the_mean() -> None:
    """The intervals of the local learner and of the mean of all meet, or it is better, at every budget of every table."""
    tables = committed("learning_trees").split("knowing nothing ")[1:4]
    for table in tables:
        floor, reach = (float(number) for number in table.split(".\n")[0].split("±"))
        local = [scored(line[4], lower=False) for line in rows(table) if line[2].endswith("(local)")]
        assert len(local) == 4
        assert all(mean - own <= floor + reach for mean, own in local)
        assert local[-1][0] + local[-1][1] < floor  # and with the largest budget it has learnt something


def compared(text: str) -> list[tuple[float, tuple[float, float], tuple[float, float]]]:
    """Our best and the best of the papers, of each table and at each certified epsilon where a paper stands."""
    found = []
    for part in text.split("| claimed epsilon |")[1:]:
        lower = "| RMSE |" in part
        lines = [(certified(line[1]), line[3] == "ours", scored(line[4], lower)) for line in rows(part)]
        for epsilon in sorted({each for each, ours, _ in lines if not ours and each < math.inf}):
            best = {
                own: max((score for each, ours, score in lines if ours == own and each <= epsilon * 1.001))
                for own in (True, False)
            }
            found.append((epsilon, best[True], best[False]))
    assert found
    return found


def certified(cell: str) -> float:
    return math.inf if "nothing" in cell else float(cell.strip("*"))


def scored(cell: str, lower: bool) -> tuple[float, float]:
    mean, reach = (float(number) for number in cell.replace("*", "").split("±"))
    return (-mean if lower else mean), reach


@pytest.mark.parametrize("name", NAMES)
def test_the_page_tells_what_was_measured(name: str) -> None:
    page = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")
    assert f"python -m research.experiments.{name}" in page
    assert committed(name).split("Our best less")[1].split("\n\n", 1)[1].strip() in page


def test_edges_of_images() -> None:
    """A line that is down has edges across; a slanted one is put upright; an empty image is no trouble."""
    images = np.zeros((4, 28, 28), np.uint8)
    images[0, 4:24, 14], images[1, 14, 4:24] = 255, 255
    images[2, np.arange(4, 24), np.arange(4, 24)] = 255
    found = learning_images.edges(images)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    across, diagonal = np.moveaxis(found.reshape(4, 2, 49), 1, 0).sum(axis=2)
    assert across[0] > 1 > -1 > across[1] and across[2] > 1 and (np.abs(diagonal[:3]) < 0.5).all()
    upright = learning_images.upright(images / 255)
    np.testing.assert_allclose(upright[2].sum(axis=0)[13:15], [10, 10])  # between the two columns
    np.testing.assert_allclose(upright[:2], images[:2] / 255)


def test_a_table_is_read() -> None:
    cells = np.array([["20", "a", "yes"], ["40", "b", "no"], ["60", "a", "yes"]], object)
    data = tables.table("t", ["age", "job", "y"], cells, "y", positive="yes")
    assert data.rows.tolist() == [[20, 0], [40, 1], [60, 0]] and data.right.tolist() == [1, 0, 1]
    assert data.one_hot.tolist() == [[-1, 1, 0], [0, 0, 1], [1, 1, 0]]
    assert len(data.sampled(2).rows) == 2 and data.sampled(0) is data


def test_lines_with_missing_cells_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(b"age,job,y\n20,a,yes\n40,b,no\n30,,no\nNA,a,yes\n")
    (tmp_path / "tabular").mkdir()
    (tmp_path / tables.ADULT).write_bytes(packed)
    monkeypatch.setitem(FILES, tables.ADULT, hashlib.sha256(packed).hexdigest())
    assert [len(tables.complete(Data(tmp_path), tables.ADULT, names)[1]) for names in (None, ["age"], ["y"])] == [2, 3, 4]


def test_a_quick_run_prints_everything() -> None:
    """On made-up tables, the whole of the smallest experiment."""
    result = CliRunner().invoke(learning_trees.main, ["--quick"])
    assert result.exit_code == 0, result.output
    assert result.output.count("without privacy") >= 3 and "DPBoost, BRR leaves" in result.output
    assert "Our best less the best" in result.output
