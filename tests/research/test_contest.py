"""Contests of learners: what is reported, and who is compared with whom."""

import math
from fractions import Fraction

import pytest

import deniable as dn
from research.contest import Contest, Entrant, Score, Trial


def entrant(name: str, score: float, odds: Fraction | None = None, paper: str = "", claimed: float = 0.0) -> Entrant:
    def train(epsilon: float, seed: int) -> Trial:
        exact = odds if odds is not None else dn.odds_below(epsilon)
        return Trial(score + 0.01 * (seed % 1000), dn.PrivacyLoss(exact, proof="proved"))

    return Entrant(name, train, paper, {1.0: "66 %"} if paper else {})


def contest(*entrants: Entrant, measure: str = "accuracy") -> Contest:
    return Contest("digits", measure, [0.5, 1.0], entrants, lambda seed: 0.9, lambda seed: 0.1, "10 people")


def test_everything_is_reported() -> None:
    done: list[float] = []
    run = contest(entrant("mean", 0.8), entrant("BRR", 0.7, Fraction(9), "BRR 2025")).run(3, progress=done.append)
    assert done == [pytest.approx(k / 12) for k in range(1, 13)]
    text = run.markdown()
    assert "without privacy 90.0 ± 0.0, without any data 10.0 ± 0.0" in text
    assert "| 1 | 1 | mean | ours | **81.0 ± 2.5** | proved | - |" in text
    assert "| 1 | **2.197** | BRR | BRR 2025 | 71.0 ± 2.5 | proved | 66 % |" in text
    assert [row.holds for row in run.rows] == [True, False, True, False]
    small = run.summary()
    assert "| learner | from | epsilon 0.5 | epsilon 1 |" in small
    assert "| mean | ours | 81.0 ± 2.5 | 81.0 ± 2.5 |" in small
    assert "| BRR (**more than it claims**) | BRR 2025 |" in small
    assert "| its certified epsilon | | **2.197** | **2.197** |" in small and small.count("its certified") == 1


def test_only_what_keeps_the_epsilon_is_compared() -> None:
    run = contest(entrant("mean", 0.6), entrant("BRR", 0.7, Fraction(2), "BRR"), entrant("all", 0.9, Fraction(9), "X")).run(
        1
    )
    assert run.lead(0.5) == math.inf  # odds of 2 are more than an epsilon of 0.5 allows
    assert run.lead(1.0) == pytest.approx(-0.1)
    assert run.lead(3.0) == pytest.approx(-0.3)
    best = run.best(1.0, ours=False)
    assert best is not None and best.name == "BRR"
    with pytest.raises(dn.InvalidParameter, match="No learner of ours"):
        run.lead(0.1)


def test_leads_are_reported_where_papers_stand() -> None:
    """At the epsilon they claim, or at the certified one where that is more or less than they say."""
    ours, kept = entrant("mean", 0.6), entrant("kept", 0.5, None, "A")
    less, more = entrant("less", 0.2, Fraction(3, 2), "B"), entrant("more", 0.9, Fraction(9), "C")
    certified = dn.PrivacyLoss(Fraction(9), proof="proved").epsilon()
    low = dn.PrivacyLoss(Fraction(3, 2), proof="proved").epsilon()
    run = contest(ours, kept, more).run(1)
    assert run.leads() == {0.5: pytest.approx(0.1), 1.0: pytest.approx(0.1), certified: pytest.approx(-0.3)}
    with pytest.raises(dn.InvalidParameter, match="No learner of ours"):  # at 0.405 nobody of ours stands
        contest(ours, less).run(1).leads()
    small = entrant("small", 0.1, Fraction(7, 5))
    assert contest(small, less).run(1).leads() == {low: pytest.approx(-0.1)}


def test_less_is_better_for_errors() -> None:
    run = contest(entrant("mean", 2.0), entrant("BRR", 3.0, None, "BRR"), measure="RMSE").run(1)
    assert run.lead(1.0) == pytest.approx(1.0)
    assert "RMSE, less is better" in run.markdown() and "2.000" in run.markdown()


def test_nothing_promised_is_said() -> None:
    def train(epsilon: float, seed: int) -> Trial:
        return Trial(0.9, dn.PrivacyLoss(None, proof="theorem"))

    run = contest(Entrant("sign discloses all", train, "paper")).run(1)
    assert "| 1 | **nothing** | sign discloses all |" in run.markdown()
    assert run.best(100.0, ours=False) is None
    assert "sign discloses all (**nothing is promised**)" in run.summary()


def test_intervals_are_students() -> None:
    assert math.isnan(Score.of([1.0]).reach)
    assert Score.of([1.0, 2.0, 3.0]).reach == pytest.approx(4.303 / math.sqrt(3))


@pytest.mark.needs("matplotlib")
def test_the_plot_has_every_learner() -> None:
    run = contest(entrant("mean", 0.8), entrant("BRR", 0.7, Fraction(9), "BRR")).run(2)
    (axes,) = run.plot().axes
    assert axes.get_legend_handles_labels()[1] == ["mean", "BRR"]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: contest(), "at least one learner"),
        (lambda: contest(entrant("a", 1), entrant("a", 1)), "names of their own"),
        (lambda: contest(entrant("a", 1), measure="luck"), "judged by"),
        (lambda: contest(entrant("a", 1)).run(0), "at least once"),
        (lambda: Contest("x", "AUC", [-1.0], [entrant("a", 1)], lambda s: 1, lambda s: 0), "Epsilon must be"),
        (lambda: Score.of([math.nan]), "finite"),
    ],
)
def test_refusals(make: object, message: str) -> None:
    with pytest.raises(dn.InvalidParameter, match=message):
        make()  # type: ignore[operator]
