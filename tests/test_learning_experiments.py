"""The experiments on learning: the same learners as in the committed tables, and what these say."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.learning import Contest
from experiments import learning_data, learning_images, learning_trees, learning_vectors

ROOT = Path(__file__).parents[1]
NAMES = ["learning_images", "learning_trees", "learning_vectors"]


def committed(name: str) -> str:
    return (ROOT / "experiments" / f"{name}.md").read_text(encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    """The lines of the tables with a claimed and a certified epsilon."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]
    return [line for line in cells if len(line) == 7 and line[0] != "claimed epsilon"]


def learners(contest: Contest) -> list[str]:
    return [entrant.name for entrant in contest.entrants]


def test_the_tables_have_the_learners_of_the_experiments() -> None:
    images = learning_images.contest(learning_images.made_up(100))
    trees = learning_trees.contest(learning_data.made_up("x", 50, 3, classes=False))
    tables = learning_vectors.contests(learning_data.made_up("x", 50, 3, classes=True))[0]
    made = {"learning_images": images, "learning_trees": trees, "learning_vectors": tables}
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


@pytest.mark.parametrize("name", NAMES)
def test_our_best_is_never_below_the_best_of_the_papers(name: str) -> None:
    """At every certified epsilon of every table, up to the half-widths of both intervals."""
    leads = re.findall(r"([+-][\d.]+|[+-]inf) at [\d.]+", committed(name).split("Our best less")[1])
    assert leads
    for part in committed(name).split("| claimed epsilon |")[1:]:
        lines, lower = rows(part), "| RMSE |" in part
        for epsilon in {float(line[0]) for line in lines}:
            fair = [line for line in lines if not line[1].startswith("**") and float(line[1]) <= epsilon * (1 + 1e-9)]
            best = {
                ours: max((scored(line[4], lower) for line in fair if (line[3] == "ours") == ours), default=(-math.inf, 0.0))
                for ours in (True, False)
            }
            assert best[True][0] + best[True][1] + best[False][1] >= best[False][0]


def scored(cell: str, lower: bool) -> tuple[float, float]:
    mean, reach = (float(number) for number in cell.replace("*", "").split("±"))
    return (-mean if lower else mean), reach


@pytest.mark.parametrize("name", NAMES)
def test_the_page_tells_what_was_measured(name: str) -> None:
    page = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")
    assert f"python -m experiments.{name}" in page
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


def test_a_table_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,job,y\n20,a,yes\n40,b,no\n30,,no\n60,a,yes\n", encoding="utf-8")
    data = learning_data.table(tmp_path / "t.csv", "y", positive="yes")
    assert data.rows.tolist() == [[20, 0], [40, 1], [60, 0]] and data.right.tolist() == [1, 0, 1]
    assert data.one_hot.tolist() == [[-1, 1, 0], [0, 0, 1], [1, 1, 0]]
    assert len(learning_data.sampled(data, 2).rows) == 2 and learning_data.sampled(data, 0) is data


def test_a_quick_run_prints_everything() -> None:
    """On made-up tables, the whole of the smallest experiment."""
    result = CliRunner().invoke(learning_trees.main, ["--quick"])
    assert result.exit_code == 0, result.output
    assert result.output.count("without privacy") >= 3 and "DPBoost, BRR leaves" in result.output
    assert "Our best less the best" in result.output
