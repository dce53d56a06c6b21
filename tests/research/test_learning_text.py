"""Learning the topic of texts: the committed result is of the experiment that is here, and keeps what was asked for."""

import hashlib
import math
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from research.data.folder import FILES
from research.data.samples import TEXTS
from research.experiments import learning_text
from tests import ROOT


def committed() -> list[str]:
    text = (ROOT / "research" / "experiments" / "learning_text.md").read_text(encoding="utf-8")
    return [f"**{part}" for part in re.split(r"^\*\*(?=Features and|Label|Features alone)", text, flags=re.MULTILINE)[1:]]


def rows(text: str) -> list[list[str]]:
    cells = [
        [cell.strip(" *") for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")
    ]
    return [line for line in cells if len(line) == 7 and line[0] != "claimed epsilon"]


def shown(text: str) -> str:
    """What the documentation repeats: the smaller table, and who is ahead by how much."""
    return text[text.index("\n\n", text.rindex("| claimed epsilon |")) :].strip()


def test_the_tables_have_the_learners_and_budgets_of_the_experiment() -> None:
    tables, contests = committed(), learning_text.contests(learning_text.stand_in(40, 8))
    assert len(tables) == len(contests)
    for text, contest in zip(tables, contests, strict=True):
        assert text.startswith(f"**{contest.title}**")
        listed = [(float(line[0]), line[2]) for line in rows(text)]
        assert listed == [(epsilon, entrant.name) for epsilon in contest.budgets for entrant in contest.entrants]


def test_there_are_enough_trainings_for_intervals() -> None:
    for text, least in zip(committed(), (learning_text.REPEATS, learning_text.REPEATS, learning_text.FEW), strict=True):
        trainings = re.search(r"mean of (\d+) trainings", text)
        assert trainings is not None and int(trainings[1]) >= least >= 4


def test_the_ceiling_is_that_of_a_linear_probe() -> None:
    for text in committed():
        ceiling = re.search(r"without privacy ([\d.]+)", text)
        assert ceiling is not None and float(ceiling[1]) >= 87.6 - 1


def test_published_bits_cost_thousands_and_the_others_what_they_claim() -> None:
    both, label, features = committed()
    for line in rows(both) + rows(label):
        assert float(line[1]) <= float(line[0])
    true: dict[str, list[float]] = {}
    for line in rows(features):
        true.setdefault(line[2].split(" as")[0] + line[2].partition("alpha")[2], []).append(float(line[1]))
    claimed = range(1, 11)
    exact = [384 * bits_loss(epsilon) for epsilon in claimed]  # r times the sum of |ln alpha + epsilon i / l|
    assert true["f-RR"] == pytest.approx(exact, rel=1e-3) and true["f-RR"][0] > 1600
    assert true["OME 100"] == pytest.approx([384 * 5 * 3 * math.log(100)] * 10, rel=1e-2)
    assert true["LATENT 7"] == pytest.approx([0.875 * epsilon for epsilon in claimed], rel=1e-3)  # less than it claims
    assert true["OME 1"] == pytest.approx([0.5 * epsilon for epsilon in claimed], rel=1e-3)


def bits_loss(epsilon: float, d: int = 384, bits: int = 10) -> float:
    """The loss of one number of f-RR with the largest alpha of its theorem."""
    alpha = math.sqrt((epsilon + d * bits) / (2 * d * sum(math.exp(2 * epsilon * i / bits) for i in range(bits))))
    return sum(abs(math.log(alpha) + epsilon * i / bits) for i in range(bits))


def test_correcting_the_loss_gains_most_where_labels_are_noisiest() -> None:
    found = {(float(line[0]), line[2]): float(line[4].split()[0].strip("*")) for line in rows(committed()[1])}
    raw, corrected = found[1.0, "softmax on raw labels"], found[1.0, "softmax, forward correction"]
    assert corrected > raw + 3


@pytest.mark.needs("scipy")
def test_a_short_run_on_generated_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of a small file: every learner runs, and certified ones keep their budgets."""
    texts, file = learning_text.stand_in(600, 32), tmp_path / TEXTS
    file.parent.mkdir()
    np.savez(file, x_train=texts.x, y_train=texts.y, x_test=texts.test_x, y_test=texts.test_y)
    monkeypatch.setitem(FILES, TEXTS, hashlib.sha256(file.read_bytes()).hexdigest())
    done = CliRunner().invoke(learning_text.main, ["--data", str(tmp_path), "--quick"])
    assert done.exit_code == 0, done.output
    assert len(rows(done.output)) == 7 * 5 + 4 * 4 + 10 * 7
    assert done.output.count("Our best is ahead") == 3


def test_the_documentation_shows_it() -> None:
    page = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")
    for text in committed():
        assert shown(text) in page
    assert "python -m research.experiments.learning_text --data DIR" in page
