"""Fair contests: everybody chooses from the same settings on training people, and is then scored with fresh seeds."""

from pathlib import Path

import numpy as np
import pytest

from research.data.folder import Data
from research.experiments import fair_vectors
from research.experiments.learning_vectors import tables
from research.fair_contest import FRESH, SELECTING, Fair, Lead, Setting, best_of, entered, markdown
from research.papers.figure import Pace

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
