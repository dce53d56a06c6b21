"""Plans for a few linear questions: answers that no question tells apart are merged."""

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Floats
from deniable.core import odds_below
from deniable.mechanisms.distributions.workload_channel import OFFERED, WorkloadChannel

SIZE = 100


def parts(many: int) -> Floats:
    """The shares of so many equal parts of the line."""
    return (np.arange(SIZE) * many // SIZE == np.arange(many)[:, None]).astype(np.float64)


QUESTIONS = {
    "prefixes": np.tril(np.ones((SIZE, SIZE)))[[20, 35, 80]],
    "parts": parts(12),
    "weights": np.array([[0.0] * 30 + [2.0] * 30 + [-1.0] * 40]),
}


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.filterwarnings("error")
def test_plans_for_a_few_questions_have_a_fraction_of_the_error(name: str) -> None:
    """Squared errors are less than half of those of plans that do not merge answers, and shares are near the bound."""
    asked = dn.Workload(QUESTIONS[name])
    mechanism = dn.plan(dn.Ordered(range(SIZE)), 1.0, 10_000, target=asked)
    assert "channel for these questions, 5 % points is chosen" in (mechanism.explain() or "")
    assert dn.certify(mechanism).holds
    ours = asked.mean_square(mechanism.even_noise)
    drawn = asked.mean_square(np.eye(SIZE) / SIZE - 1 / SIZE**2)  # the bound is for people who are drawn at random
    least = asked.bound(odds_below(1.0)) - drawn
    # One question with three weights: each person reports one of two signs, as for a mean; no bound is near that.
    assert least < ours < (1.05 * (1.5 / np.tanh(0.5)) ** 2 if name == "weights" else 1.5 * least)
    others = [dn.Hierarchy.comb(mechanism.domain, 1.0, 40), dn.Hierarchy.weighted(mechanism.domain, 1.0, asked)]
    assert 2 * ours < min(asked.mean_square(each.even_noise) for each in others)


def test_errors_are_those_of_the_law_and_everything_can_be_estimated() -> None:
    """The estimate is unbiased for every answer, and the covariance of the questions is that of the reports."""
    rows = QUESTIONS["prefixes"]
    mechanism = WorkloadChannel.merged(dn.Ordered(range(SIZE)), 1.0, dn.Workload(rows))
    assert mechanism.matrix @ mechanism.inverse.T == pytest.approx(np.eye(SIZE), abs=1e-9)
    truth = np.exp(-np.arange(SIZE) / 20)
    truth /= truth.sum()
    spread = np.zeros((SIZE, SIZE))
    for share, row in zip(truth, mechanism.matrix, strict=True):
        mean = mechanism.inverse @ row
        spread += share * ((mechanism.inverse * row) @ mechanism.inverse.T - np.outer(mean, mean))
    assert mechanism.joint_noise(truth) == pytest.approx(spread, rel=1e-6, abs=1e-9)


def test_questions_that_tell_everything_apart_are_left_to_others() -> None:
    for rows in (np.arange(SIZE)[None, :], np.ones((1, SIZE)), parts(OFFERED + 1)):
        with pytest.raises(dn.InvalidParameter, match="distinguish 2 to 32 parts of the answers"):
            WorkloadChannel.merged(dn.Ordered(range(SIZE)), 1.0, dn.Workload(rows))


def test_answers_alike() -> None:
    asked = dn.Workload([[1.0, 1.0, 0.0, 1.0, 0.0], [0.5, 0.5, 2.0, 0.5, 0.1]])
    assert asked.alike.tolist() == [0, 0, 2, 0, 4]
    assert asked.about(np.array([0, 2, 4])).gram == pytest.approx(dn.Workload([[1.0, 0.0, 0.0], [0.5, 2.0, 0.1]]).gram)
    assert (asked.name, dn.Workload([[1, 0]]).name) == ("2 linear questions", "1 linear question")
