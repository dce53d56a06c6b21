"""The experiments on learning: the same learners as in the committed tables, and what these say."""

import gzip
import hashlib
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from research.contest import Contest, Score, Standing, Standings
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


def on_made_up_data(name: str) -> Contest:
    if name == "learning_images":
        return learning_images.contest(learning_images.made_up(60))
    if name == "learning_trees":
        return learning_trees.contest(tables.made_up("x", 60, 5, classes=False))
    return learning_vectors.contests(tables.made_up("x", 60, 5, classes=True))[0]


def test_the_tables_have_the_learners_of_the_experiments() -> None:
    for name in NAMES:
        contest = on_made_up_data(name)
        shown = rows(committed(name))
        assert list(dict.fromkeys(line[2] for line in shown)) == learners(contest)
        assert sorted({float(line[0]) for line in shown}) == sorted(contest.budgets)


@pytest.mark.parametrize("name", NAMES)
def test_the_tables_have_the_certified_epsilons_of_the_learners(name: str) -> None:
    """Every learner is trained again at every budget: losses do not depend on the data, so a few made-up rows will do."""
    contest, losses = on_made_up_data(name), {}
    for entrant in contest.entrants:
        for budget in contest.budgets:
            loss = entrant.train(budget, 0).loss
            assert loss.odds is None or loss.epsilon() <= budget
            losses[budget, entrant.name] = "**nothing**" if loss.odds is None else f"{loss.epsilon():.4g}", loss.proof
    for line in rows(committed(name)):
        assert losses[float(line[0]), line[2]] == (line[1], line[5])


@pytest.mark.parametrize("name", ["learning_text", *NAMES])
def test_our_best_is_never_below_the_best_of_the_papers(name: str) -> None:
    """At every certified epsilon of every table; the printed leads are those that `Standings` computes from the rows."""
    text = committed(name)
    leads = "".join(re.findall(r"^.*[Oo]ur best.*$(?:\s*^- .*$)*", text, re.M))
    printed = re.findall(r"([+-][\d.]+) at ([\d.e+]*\d)", leads)
    found = [(lead, epsilon, each.higher) for each in standings(text) for epsilon, lead in each.leads().items()]
    assert len(printed) == len(found) > 0
    for (shown, place), (lead, epsilon, higher) in zip(printed, found, strict=True):
        assert place == f"{epsilon:.4g}"
        assert lead >= 0, f"a paper is better than ours at {epsilon}"
        assert shown.startswith("+")
        # two scores rounded to a tenth of a point, or to a thousandth, and the lead itself
        assert float(shown) == pytest.approx(lead, abs=0.106 if higher else 0.0016)


def test_trees_from_reports_are_nowhere_clearly_worse_than_the_mean() -> None:
    """The intervals of the local learner and of the mean of all meet, or it is better, at every budget of every table."""
    tables = committed("learning_trees").split("without any data ")[1:4]
    for table in tables:
        floor, reach = (float(number) for number in table.split(".\n")[0].split("±"))
        local = [scored(line[4]) for line in rows(table) if line[2].endswith("(local)")]
        assert len(local) == 4
        assert all(mean - own <= floor + reach for mean, own in local)
        assert local[-1][0] + local[-1][1] < floor  # and with the largest budget it has learnt something


@dataclass(frozen=True)
class Row(Standing):
    """A row of a committed table, with the certified epsilon that it shows."""

    shown: float = math.inf

    @cached_property
    def certified(self) -> float:
        return self.shown


def standings(text: str) -> list[Standings]:
    """The committed tables, read back."""
    found = []
    for part in text.split("| claimed epsilon |")[1:]:
        read, higher = list[Standing](), "| RMSE |" not in part
        for claimed, certified, name, paper, score, *_ in rows(part):
            known = "nothing" not in certified
            loss = dn.PrivacyLoss(Fraction(2) if known else None, "proved")
            epsilon = float(certified.strip("*")) if known else math.inf
            own = Score(*scored(score), 2)
            read.append(Row(name, "" if paper == "ours" else paper, float(claimed), loss, own, shown=epsilon))
        none = Score(0.0, 0.0, 2)
        found.append(Standings("read back", "accuracy" if higher else "RMSE", higher, none, none, read))
    return found


def scored(cell: str) -> tuple[float, float]:
    mean, reach = (float(number) for number in cell.replace("*", "").split("±"))
    return mean, reach


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_what_was_measured(name: str) -> None:
    page = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")
    assert f"python -m research.experiments.{name}" in page
    assert committed(name).split("Lead of our best learner")[1].split("\n\n", 1)[1].strip() in page


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
    assert "Lead of our best learner" in result.output
