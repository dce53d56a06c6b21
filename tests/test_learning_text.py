"""Learning the topic of texts: the committed result is of the experiment that is here, and keeps what was asked for."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from experiments import learning_text

ROOT = Path(__file__).parents[1]


def committed() -> list[str]:
    text = (ROOT / "experiments" / "learning_text.md").read_text(encoding="utf-8")
    return [f"**{part}" for part in re.split(r"^\*\*(?=Features and|Label|Features alone)", text, flags=re.MULTILINE)[1:]]


def rows(text: str) -> list[list[str]]:
    cells = [
        [cell.strip(" *") for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")
    ]
    return [line for line in cells if line[0] != "claimed epsilon"]


def test_the_tables_have_the_learners_and_budgets_of_the_experiment() -> None:
    tables, contests = committed(), learning_text.contests(learning_text.stand_in(40, 8))
    assert len(tables) == len(contests)
    for text, contest in zip(tables, contests, strict=True):
        assert text.startswith(f"**{contest.title}**")
        told = [(float(line[0]), line[2]) for line in rows(text)]
        assert told == [(epsilon, entrant.name) for epsilon in contest.budgets for entrant in contest.entrants]


def test_nothing_of_the_papers_is_ahead_at_the_same_certified_epsilon() -> None:
    for text in committed():
        leads = [float(lead) for lead in re.findall(r"([+-][\d.]+) at", text.strip().splitlines()[-1])]
        assert leads and min(leads) >= 0


def test_the_ceiling_is_that_of_a_linear_probe() -> None:
    for text in committed():
        ceiling = re.search(r"without privacy ([\d.]+)", text)
        assert ceiling is not None and float(ceiling[1]) >= 87.6 - 1


def test_published_bits_cost_thousands_and_the_others_what_they_claim() -> None:
    both, label, features = committed()
    for line in rows(both) + rows(label):
        assert float(line[1]) <= float(line[0])
    true = {float(line[0]): float(line[1]) for line in rows(features) if line[2].startswith("f-RR")}
    assert true[1.0] == pytest.approx(1655, rel=1e-3) and true[10.0] > 15_000


def test_correcting_the_loss_gains_most_where_labels_are_noisiest() -> None:
    found = {(float(line[0]), line[2]): float(line[4].split()[0].strip("*")) for line in rows(committed()[1])}
    raw, corrected = found[1.0, "softmax on raw labels"], found[1.0, "softmax, forward correction"]
    assert corrected > raw + 3


@pytest.mark.needs("scipy")
def test_a_short_run_on_generated_data(tmp_path: Path) -> None:
    """A tenth of a small file: every learner runs, and certified ones keep their budgets."""
    texts = learning_text.stand_in(600, 32)
    np.savez(tmp_path / "texts.npz", x_train=texts.x, y_train=texts.y, x_test=texts.test_x, y_test=texts.test_y)
    done = CliRunner().invoke(learning_text.main, [str(tmp_path / "texts.npz"), "--quick"])
    assert done.exit_code == 0, done.output
    assert len(rows(done.output)) == 7 * 5 + 4 * 4 + 3 * 2
    assert done.output.count("Our best is ahead") == 3


def test_the_documentation_shows_it() -> None:
    page = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")
    for text in committed():
        assert text.strip() in page
    assert "python -m experiments.learning_text FILE" in page
