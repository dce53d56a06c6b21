"""Rankings: which row is chosen, what is left out and why, and how it is printed; measured beside predicted errors."""

from typing import Any

import pytest

import deniable as dn
from deniable.core.candidate import Candidate
from deniable.planning import Ranking, Row, options
from deniable.planning.ranking import CLOSE, Column, made
from deniable.planning.shares import aimed_at

ROWS = (
    Row("wide", None, 1.0, 100, {"work": 1}),
    Row("busy", None, 1.001, 8, {"work": 9}),
    Row("idle", None, 1.002, 8, {"work": 1}),
    Row("poor", None, 3.0, 1, {"work": 1}),
)
RANKING: Ranking[None] = Ranking(ROWS[::-1], "a question", columns=(Column("work", "of the server"), Column("none", "")))


def test_near_the_smallest_error_size_and_work_decide() -> None:
    assert [row.name for row in RANKING] == ["wide", "busy", "idle", "poor"]
    assert RANKING.best.name == "idle"
    assert RANKING.within(7).best.name == "poor"
    assert RANKING.within(None, "wide").best.name == "wide"
    assert CLOSE > RANKING.ratio(RANKING.best) > 1
    with pytest.raises(dn.InvalidParameter, match="No mechanism fits in 0 bits per report; the smallest needs 1"):
        _ = RANKING.within(0).best
    with pytest.raises(dn.InvalidParameter, match="none of these does not support a question"):
        _ = RANKING.within(None, "none of these").best


def test_a_ranking_is_a_table_with_a_legend_and_words() -> None:
    lines = RANKING.explain("More.").splitlines()
    assert lines[0] == "idle for a question"
    assert lines[4].startswith("* idle") and lines[4].split()[-1] == "1"
    assert len({line.index("x") for line in lines[2:6]}) == 1  # aligned
    assert "work: of the server" in lines and not any(line.startswith("none") for line in lines)
    assert lines[-1].startswith("In words: of 4 mechanisms, idle is chosen: its squared error is 0.4 % above")
    assert lines[-1].endswith("More.")


def test_candidates_that_cannot_be_made_are_left_out_with_a_remark() -> None:
    def row(candidate: Candidate[dn.Mechanism]) -> Row[object]:
        return Row(candidate.name, candidate.make(dn.Categories(range(3)), 1.0), 1.0, 1)

    def refuse(domain: dn.Domain, epsilon: float) -> Any:
        raise ValueError("It needs three answers.")

    def divide(domain: dn.Domain, epsilon: float) -> Any:
        return 1 / 0

    good, big = Candidate("good", dn.DirectResponse), Candidate("big", dn.DirectResponse, largest=1)
    bad, worse = Candidate("bad", refuse), Candidate("worse", divide)
    rows, remarks = made([bad, worse, big, good], 2, row)
    assert [each.name for each in rows] == ["good"]
    assert remarks[0] == "Left out: bad. It needs three answers."
    assert "worse" in remarks[1] and "at most 1 values" in remarks[2]
    with pytest.raises(ValueError, match="three answers"):
        made([bad], 2, row)


def test_what_is_nothing_but_rounding_is_no_figure() -> None:
    """At the largest budgets an error or a bound underflows to 0: nothing is so many times as large."""
    ranking: Ranking[None] = Ranking((Row("exact", None, 0.0, 90), Row("noisy", None, 0.1, 1)), "a question", bound=1e-120)
    exact, noisy = ranking.records()
    assert (exact["squared_to_smallest"], noisy["squared_to_smallest"]) == (1.0, None)
    assert "above" not in ranking.table() and "x" in ranking.table().splitlines()[1]
    assert ranking.table().splitlines()[2].split() == ["noisy", "10", "1"]
    assert "above: not shown" in ranking.legend() and "no bound above 0 is proved" in ranking.legend()
    assert "noisy is chosen: another has no error but rounding" in ranking.within(1).reason()


def test_a_plan_that_is_too_noisy_says_so() -> None:
    towns = dn.Categories(range(20))
    assert "TOO NOISY: from 1 person, an estimated share can be off by more than 100" in dn.plan(towns, 1.0, 1).explain()
    assert "At this epsilon, about 5,400 people bring it within 5 percentage points" in dn.plan(towns, 1.0, 1).explain()
    assert "share is within 5 percentage points" in dn.plan(towns, 1.0, 5400).explain()
    assert "TOO NOISY" not in dn.plan(towns, 1.0, 100).explain()
    assert "within 1 percentage point at" in aimed_at(options(towns, 1.0, 100), 0.01).legend()


@pytest.mark.parametrize("epsilon", [1e-6, 100.0])
@pytest.mark.parametrize("size", [2, 10])
def test_extreme_budgets_are_planned(epsilon: float, size: int) -> None:
    ranking = options(dn.Categories(range(size)), epsilon, 100)
    assert len(ranking) >= 7 and any("unary, symmetric" in remark for remark in ranking.remarks)
    assert "Left out: unary, symmetric" in dn.plan(dn.Categories(range(size)), epsilon, 100).explain()


def test_a_list_is_no_domain() -> None:
    with pytest.raises(dn.InvalidParameter, match="Wrap a list of answers as Categories"):
        dn.plan(["a", "b"], 1.0, 100)  # type: ignore[call-overload]
    with pytest.raises(dn.InvalidParameter, match="For sparse vectors, use Compressed"):
        dn.plan(dn.SparseVector(100, 3), 1.0, 100)


def test_measured_errors_stand_beside_predicted_ones() -> None:
    domain = dn.Categories(range(8))
    found = dn.compare(domain, 1.0, 500, repeats=60, coins=dn.SeededCoins(5), mechanisms=["direct", "unary, symmetric"])
    assert [row.name for row in found.rows] == ["direct", "unary, symmetric"]
    for row in found.rows:
        assert abs(row.ratio - 1) < 5 * row.ratio_error
    assert "8 answers, epsilon 1 for one answer, 500 people, 60 collections each:" in str(found)
    counts = [300, 100, 50, 25, 10, 10, 4, 1]
    ranked = dn.compare(domain, 1.0, counts, repeats=2, top=2, coins=dn.SeededCoins(5), mechanisms=["direct"])
    assert ranked.people == 500 and ranked.rows[0].top_f1 is not None and "NDCG" in str(ranked)
    for wrong in ({"repeats": 1}, {"mechanisms": ["laplace"]}, {"n": [1, 2]}, {"n": 0}):
        with pytest.raises(dn.InvalidParameter):
            dn.compare(domain, 1.0, **wrong)
    with pytest.raises(dn.InvalidParameter, match="sets also by their frequencies alone"):
        dn.compare(dn.KeyValue(["a"], -1, 1, at_most=1), 1.0, target="ranges")
