"""Fair contests: everybody chooses from the same settings on training people, and is then scored with fresh seeds."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from research.data.folder import Data
from research.experiments import fair_images, fair_text, fair_torch, fair_trees, fair_vectors
from research.experiments.learning_images import made_up
from research.experiments.learning_text import Texts, stand_in
from research.experiments.learning_vectors import tables
from research.fair_contest import (
    FRESH,
    SELECTING,
    Fair,
    FairContest,
    Lead,
    Setting,
    best_of,
    entered,
    fair_command,
    markdown,
)
from research.papers.figure import Pace
from tests import ROOT

GRID = ({"size": "small"}, {"size": "large"})


def learner(name: str, small: float, large: float, paper: str = "") -> Fair:
    """Scores that a setting decides, with a little noise by the seed; looks better while choosing."""

    def train(setting: Setting, epsilon: float, seed: int, choosing: bool) -> tuple[float, float]:
        noise = np.random.default_rng([seed, len(name)]).normal(0, 0.01)
        return (small if setting["size"] == "small" else large) + noise + 0.2 * choosing, epsilon

    return Fair(name, train, paper)


def test_the_best_setting_enters_and_the_choice_does_not_count() -> None:
    entry = entered(learner("A", 0.5, 0.7), GRID, 1.0, selecting=3, fresh=10)
    assert entry.setting == {"size": "large"} and entry.tried == 6 and len(entry.scores) == 10
    assert entry.score.mean == pytest.approx(0.7, abs=0.02) and entry.certified == 1.0


def test_seeds_of_the_choice_are_not_those_of_the_scores() -> None:
    seen: dict[bool, set[int]] = {True: set(), False: set()}

    def train(setting: Setting, epsilon: float, seed: int, choosing: bool) -> tuple[float, float]:
        seen[choosing].add(seed)
        return 0.0, epsilon

    entered(Fair("A", train), GRID, 1.0, selecting=4, fresh=5)
    assert seen == {True: set(range(SELECTING, SELECTING + 4)), False: set(range(FRESH, FRESH + 5))}


def test_leads_have_intervals_and_ties_are_named() -> None:
    first, second, third = (
        entered(each, GRID, 1.0, 2, 10)
        for each in (learner("A", 0.5, 0.7), learner("BB", 0.5, 0.6, "somebody"), learner("CCC", 0.7, 0.5, "somebody"))
    )
    assert Lead(first, second).words == "A leads" and Lead(second, first).words == "A leads"
    assert Lead(first, third).words == "tie" and best_of([first, second, third], ours=False) is third
    shown = "\n".join(markdown("data", "AUC", [first, second, third]))
    assert "| A | CCC |" in shown and "tie" in shown and "size large" in shown


def test_trainings_are_kept(tmp_path: Path) -> None:
    first = entered(learner("A", 0.5, 0.7), GRID, 1.0, 2, 3, Pace(kept=tmp_path))
    broken = Fair("A", lambda *_: pytest.fail("trained again"))
    assert entered(broken, GRID, 1.0, 2, 3, Pace(kept=tmp_path)).scores == first.scores


def test_the_choice_sees_training_people_only(monkeypatch: pytest.MonkeyPatch) -> None:
    (table, _) = tables(Data(), quick=True)
    seen = []

    def watched(setting: Setting, own: np.ndarray, held: np.ndarray, epsilon: float, seed: int) -> tuple[object, float]:
        seen.append((set(own.tolist()), set(held.tolist())))
        return np.arange(len(held)), epsilon

    monkeypatch.setattr(fair_vectors, "means", lambda _: watched)
    fair = fair_vectors.learners(table)[0]
    fair.train(fair_vectors.GRID[0], 1.0, 5, True)
    fair.train(fair_vectors.GRID[0], 1.0, 5, False)
    (chosen_on, judged_on), (trained_on, tested_on) = seen
    assert (chosen_on | judged_on) == trained_on and not (chosen_on & judged_on) and not (trained_on & tested_on)


def test_digits_and_texts_are_chosen_on_training_people_only() -> None:
    images = made_up(400)
    seen: list[tuple[int, int, bool]] = []

    def watched(
        rows: np.ndarray, labels: np.ndarray, test: np.ndarray, right: np.ndarray, *_: object
    ) -> tuple[float, float]:
        seen.append((len(rows), len(test), test is images[2]))
        return 0.5, 1.0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fair_images, "means", watched)
        first = fair_images.learners(images)[0]
        for choosing in (True, False):
            first.train({}, 1.0, 3, choosing)
    assert seen == [(225, 75, False), (300, 100, True)]

    texts = stand_in(80, 8)
    parts = []

    def scored(own: Texts, *_: object) -> tuple[float, float]:
        parts.append((len(own.x), len(own.test_x), own is texts))
        return 0.5, 1.0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fair_text, "ours", lambda _: scored)
        first = fair_text.learners(texts)[0]
        for choosing in (True, False):
            first.train({}, 1.0, 3, choosing)
    assert parts == [(60, 20, False), (80, 80, True)]


def test_rivals_on_texts_get_every_setting_and_keep_epsilon() -> None:
    """Shares of the budget, losses and penalties are used: scores differ, and the certified epsilon stays within 2."""
    rivals = [each for each in fair_text.learners(stand_in(400, 16)) if each.tuned]
    assert len(rivals) == 2 and all(each.paper for each in rivals)
    found = [rivals[1].train(setting, 2.0, 1, True) for setting in fair_text.GRID]
    assert all(1.99 < loss <= 2 for _, loss in found) and len({score for score, _ in found}) > 3


def test_trees_explain_variance_within_epsilon() -> None:
    contest = next(fair_trees.contests(Data()))
    ours = contest.learners[0]
    scores = [ours.train(setting, 50.0, 1, True) for setting in contest.grid[:2]]
    assert all(score <= 1 and loss <= 50 for score, loss in scores) and scores[0] != scores[1]
    assert {each.paper for each in contest.learners} == {"", "DPBoost", "BRR"} and len(contest.grid) == 32


@pytest.mark.needs("torch")
def test_networks_in_pytorch_learn_from_reports_within_epsilon() -> None:
    """With much budget they rank people well; each has the settings of everybody, and fresh seeds give other networks."""
    (table, _) = tables(Data(), quick=True)
    ours, *rivals = (each for each in fair_torch.learners(table) if "PyTorch" in each.name)
    assert not ours.paper and [each.paper for each in rivals] == ["BRR", "DNN-DP"]
    first, again, other = (ours.train(fair_vectors.GRID[0], 60.0, seed, False) for seed in (1, 1, 2))
    assert first[0] > 0.7 and first[1] <= 60 and first == again != other
    assert rivals[0].train(fair_vectors.GRID[-1], 2.0, 1, True)[1] <= 2


def test_a_command_runs_a_contest(tmp_path: Path) -> None:
    contest = FairContest("data", "AUC", [learner("A", 0.5, 0.7), learner("B", 0.5, 0.6, "somebody")], GRID, [1.0])
    command = fair_command(tmp_path / "page.md", "chosen with {selecting} seeds", lambda _: [contest], fresh=4)
    run = CliRunner().invoke(command, ["--data", str(tmp_path), "--kept", str(tmp_path / "kept"), "--selecting", "3"])
    assert run.exit_code == 0 and "chosen with 3 seeds" in run.output and "A leads" in run.output
    assert "| 6 |" in run.output and (tmp_path / "page.md").read_text(encoding="utf-8") in run.output


def test_the_page_quotes_every_lead() -> None:
    """All leads of all contests, with their intervals, as the committed tables have them."""
    page = " ".join((ROOT / "docs" / "learning.md").read_text(encoding="utf-8").split())
    tables = sorted((ROOT / "research" / "experiments").glob("fair_*.md"))
    row = re.compile(r"^\| [\d.]+ \| [^|]+ \| [^|]+ \| (-?[\d.]+ ± [\d.]+) \| [^|]+ \|$", re.MULTILINE)
    leads = {path.stem: row.findall(path.read_text(encoding="utf-8")) for path in tables}
    assert set(leads) == {"fair_images", "fair_text", "fair_torch", "fair_trees", "fair_vectors"} and all(leads.values())
    assert [lead for each in leads.values() for lead in each if lead not in page] == []


def test_who_has_no_settings_chooses_nothing() -> None:
    fixed = Fair("A", lambda setting, epsilon, *_: (float(len(setting)), epsilon), tuned=False)
    entry = entered(fixed, GRID, 1.0, selecting=2, fresh=3)
    assert entry.setting == {} and entry.tried == 0 and entry.scores == [0.0] * 3
    assert "| - | 0 |" in "\n".join(markdown("data", "AUC", [entry, entered(learner("B", 0, 1, "other"), GRID, 1.0, 1, 3)]))
