"""Every planner says how far its plan is at most from the best possible, or why that is unknown."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.releases.comparison import Comparison
from deniable.planning.key_value import plan_key_value
from deniable.planning.measured import MeasuredErrors
from deniable.survey.plan_bounds import own_and_smallest
from tests.cli.test_cli import run
from tests.surveys import COMMUTE, KINDS, ONE, SAMPLED, SPARSE, survey

SCATTERED = np.random.default_rng(1).random((100, 2))
EVEN = np.full(16, 1 / 16)
SIXTEEN, HOURS, NUMBER = dn.Ordered(range(16)), dn.Ordered(range(24)), dn.Interval(0, 100, steps=15)
SETS, ONE_KEY = dn.KeyValue(range(20), 0, 1, at_most=3), dn.KeyValue(range(20), 0, 1, at_most=1)
QUESTIONS = dn.Workload([[1] * 8 + [0] * 8, [1] * 4 + [0] * 12])

Planned = Callable[[], Any]
# Plans with a figure.
BOUNDED: dict[str, Planned] = {
    "shares": lambda: dn.plan(dn.Categories(range(16)), 1.0),
    "many shares": lambda: dn.plan(dn.Categories(range(5000)), 1.0),
    "combinations": lambda: dn.plan(dn.Product([dn.Categories(range(4)), dn.Categories(range(3))]), 1.0),
    "aimed shares": lambda: dn.plan(dn.Categories(range(16)), 1.0, error=0.02),
    "sensitive": lambda: dn.plan(dn.Categories(range(10)), 1.0, sensitive=range(4)),
    "many sensitive": lambda: dn.plan(dn.Categories(range(1000)), 1.0, sensitive=range(300)),
    "very many sensitive": lambda: dn.plan(dn.Categories(range(2200)), 1.0, sensitive=range(1100)),
    "mean": lambda: dn.plan(NUMBER, 1.0, target="mean"),
    "mean, tiny budget": lambda: dn.plan(NUMBER, 1e-4, target="mean"),
    "mean of hours": lambda: dn.plan(HOURS, 1.0, target="mean", circular=True),
    "vectors": lambda: dn.plan(dn.Features(20, -1, 1), 1.0, target="mean"),
    "typical vectors": lambda: dn.plan(dn.Features(20, -1, 1), 1.0, target="mean", prior=0.1),
    "few numbers": lambda: dn.plan(dn.Features(3, -1, 1), 1.0, target="mean"),
    "directions": lambda: dn.plan(dn.UnitVectors(16), 2.0, target="mean"),
    "release on a line": lambda: dn.plan(SIXTEEN, 1.0, target="release"),
    "release on a long line": lambda: dn.plan(dn.Ordered(range(5000)), 1.0, target="release"),
    "release of places": lambda: dn.plan(dn.Points(SCATTERED[:10]), 1.0, target="release"),
    "release of many places": lambda: dn.plan(dn.Points(SCATTERED), 1.0, target="release"),
    "release, worst": lambda: dn.plan_release(dn.Points(SCATTERED[:10]), 1.0, worst=True),
    "release, prior": lambda: dn.plan_release(SIXTEEN, 1.0, prior=EVEN),
    "key-value": lambda: dn.plan(SETS, 1.0),
    "one key": lambda: dn.plan(ONE_KEY, 1.0),
    "sets": lambda: plan_key_value(SETS, 1.0, 1000, values=False),
    "records": lambda: dn.plan(dn.Vectors([dn.Categories(range(4)), dn.Categories(range(3))]), 1.0),
    "tables": lambda: dn.plan_tables([dn.Categories(range(3))] * 3, 1.0, 1000),
    "distribution": lambda: dn.plan(NUMBER, 1.0, target="distribution"),
    "smooth": lambda: dn.plan(NUMBER, 1.0, target="distribution", prior="smooth"),
    "spiky": lambda: dn.plan(NUMBER, 1.0, target="distribution", prior="spiky"),
    "mean, large budget": lambda: dn.plan(NUMBER, 8.0, target="mean"),
    "mean, larger budget": lambda: dn.plan(NUMBER, 12.0, target="mean"),
    "mean, prior": lambda: dn.plan(NUMBER, 1.0, target="mean", prior=EVEN),
    "mean, prior, large budget": lambda: dn.plan(NUMBER, 12.0, target="mean", prior=EVEN),
    "quantiles": lambda: dn.plan(NUMBER, 1.0, target="quantiles"),
    "ranges": lambda: dn.plan(NUMBER, 1.0, target="ranges"),
    "ranges, prior": lambda: dn.plan(NUMBER, 1.0, target="ranges", prior=EVEN),
    "workload, prior": lambda: dn.plan(SIXTEEN, 1.0, target=QUESTIONS, prior=np.arange(16) / 120),
    "circle": lambda: dn.plan(HOURS, 1.0, target="distribution", circular=True),
    "arcs": lambda: dn.plan(HOURS, 1.0, target="ranges", circular=True),
    "workload": lambda: dn.plan(SIXTEEN, 1.0, target=QUESTIONS),
    "map": lambda: dn.plan(dn.Product([SIXTEEN, dn.Ordered(range(4))]), 1.0, target="ranges"),
    "repeated": lambda: dn.plan_repeated(dn.Categories(range(10)), 2.0, 1.0),
    "first round": lambda: dn.next_round(SIXTEEN, 1.0, 1000),
}
# Plans without one, and what they say instead.
UNKNOWN: dict[str, tuple[Planned, str]] = {
    "nobody open": (
        lambda: dn.plan(dn.Categories(range(10)), 1.0, sensitive=range(4), open_share=0.0),
        "nobody is expected to have an answer that is not sensitive",
    ),
    "mean, everybody alike": (
        lambda: dn.plan(NUMBER, 30.0, target="mean", prior=np.eye(1, NUMBER.size)[0]),
        "nothing above 0 is proved for this prior",
    ),
    "many places": (lambda: dn.plan_release(dn.Points([(i, i % 7) for i in range(4200)]), 1.0), "at most 4,096 answers"),
    "distribution, prior": (
        lambda: dn.plan(NUMBER, 1.0, target="distribution", prior=EVEN),
        "another that knew the expected shares would have none",
    ),
}
# Plans at the limits of what is proved: a figure or a reason, whichever it is.
LIMITS: dict[str, Planned] = {
    "many keys": lambda: dn.plan(dn.KeyValue(range(3000), 0, 1, 2), 1.0),
    "large map": lambda: dn.plan(dn.Product([dn.Ordered(range(33)), dn.Ordered(range(32))]), 1.0, target="ranges"),
    "many numbers": lambda: dn.plan(dn.Features(2000, -1, 1), 0.1, target="mean"),
    "vectors, large budget": lambda: dn.plan(dn.Features(3, -1, 1), 20.0, target="mean"),
    "sets, large budget": lambda: dn.plan(SETS, 20.0),
}
PUBLIC = {"plan", "plan_release", "plan_repeated", "plan_tables", "next_round", "plan_discovery", "plan_windows"}
PUBLIC |= {"plan_survey", "compare", "compare_releases", "compare_metric_releases"}
OTHERS = {"compare_groups", "compare_estimates"}  # which compare results


def test_all_planners_are_here() -> None:
    found = {name for name in dn.__all__ if re.match(r"plan|compare|next_", name)}
    assert found == PUBLIC | OTHERS


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("name", BOUNDED)
def test_a_plan_says_how_far_it_is_from_the_best_possible(name: str) -> None:
    lines = BOUNDED[name]().explain().splitlines()
    chosen = next(line for line in lines if line.startswith("* "))
    heading = next(line for line in lines if line.split()[:1] == ["mechanism"])
    column = heading.index("above") + len("above")
    figure = chosen[:column].split()[-1]
    assert re.fullmatch(r"[\d.]+%", figure) and float(figure[:-1]) >= 0
    (meaning,) = [line for line in lines if line.startswith("above: ")]
    assert "at most this far above the best that any" in meaning and meaning.endswith("; 0 % cannot be beaten")


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("name", UNKNOWN)
def test_a_plan_says_why_that_is_unknown(name: str) -> None:
    make, why = UNKNOWN[name]
    words = make().explain()
    (meaning,) = [line for line in words.splitlines() if line.startswith("above: ")]
    assert (
        meaning.startswith("above: not shown: the distance from the best possible is unknown, because ") and why in meaning
    )


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("name", LIMITS)
def test_a_plan_at_the_limits_has_a_figure_or_a_reason(name: str) -> None:
    lines = LIMITS[name]().explain().splitlines()
    (meaning,) = [line for line in lines if line.startswith("above: ")]
    shown = any(line.split()[:1] == ["mechanism"] and "above" in line.split() for line in lines)
    why = meaning.partition(", because ")[2]
    assert shown == meaning.endswith("; 0 % cannot be beaten") and (shown or len(why) > 20)


def test_plans_without_a_table_say_it_in_words() -> None:
    found = dn.plan_windows(dn.Categories(range(10)), 1.0, 4)
    assert found.above is not None and 0 <= found.above < 0.02
    assert "above the best possible for that many reports with the whole budget" in found.explain()
    assert "The distance from the best possible is not known" in dn.plan_discovery(1.0).explain()
    first = dn.next_round(SIXTEEN, 1.0, 1000)
    later = dn.next_round(SIXTEEN, 1.0, 1000, earlier=[(first, first.tally(first.perturb([3] * 1000, dn.SeededCoins(1))))])
    assert later.wire == "cuts-1" and "The distance from the best possible is not known" in later.explain()


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("text", [ONE, COMMUTE, SAMPLED, KINDS, SPARSE])
def test_every_question_of_a_survey_has_a_figure_or_a_reason(text: str) -> None:
    found = dn.plan_survey(survey(text), 20_000)
    words = found.explain()
    assert "above" in words.splitlines()[1].split() and "\nabove: squared error, at most this far above the best" in words
    for each in found.questions:
        if isinstance(each.above, str):
            assert each.above and f"above, not shown for {each.id}: {each.above}" in words
        else:
            assert each.above >= 0
    for question, each in zip(survey(text).questions, found.questions, strict=True):
        assert isinstance(each.above, str) == (question.kind == "sparse-set")
        if not isinstance(each.above, str):
            own, best = own_and_smallest(question, each.reports)
            assert best is not None and own >= best * (1 - 1e-9) and each.above == max(0.0, (own / best) ** 2 - 1)


def compared(domain: Any, **given: Any) -> MeasuredErrors:
    return dn.compare(domain, 1.0, 200, repeats=2, coins=dn.SeededCoins(1), **given)


@pytest.mark.needs("scipy")
@pytest.mark.parametrize(
    ("domain", "given"),
    [
        (dn.Categories(range(8)), {}),
        (dn.Categories(range(8)), {"sensitive": [1, 2]}),
        (NUMBER, {"target": "mean"}),
        (NUMBER, {"target": "ranges"}),
        (NUMBER, {"target": "distribution"}),
        (SETS, {}),
        (dn.Vectors([dn.Categories(range(4)), dn.Categories(range(3))]), {}),
    ],
)
def test_measured_errors_stand_beside_the_same_figure(domain: Any, given: dict[str, Any]) -> None:
    found = compared(domain, **given)
    assert all(row.above_bound is not None and row.above_bound >= 0 for row in found.rows)
    assert "above" in found.table().splitlines()[0].split() and "\nabove: in a plan, " in str(found)


@pytest.mark.parametrize("points", [5, 100])
def test_comparisons_of_releases_have_a_bound_at_every_size(points: int) -> None:
    found = dn.compare_releases(dn.Points(SCATTERED[:points]), 1.0)
    assert isinstance(found, Comparison) and found.bound is not None
    assert all(line.expected >= found.bound * (1 - 1e-9) for line in found.lines)
    assert "to the bound: expected loss over" in str(found)


COMMANDS = [
    "plan --values 16 --epsilon 1 --people 5000",
    "plan --values 16 --sensitive 0-3 --epsilon 1 --people 5000",
    "plan --numbers 0 120 --epsilon 1",
    "plan --numbers 0 120 --epsilon 8",
    "plan --numbers 0 120 --epsilon 40",
    "plan --numbers 0 120 --target quantiles --steps 24 --epsilon 1",
    "plan --item Git --item Jira --item Slack --epsilon 1 --people 5000",
    "plan --item Git --item Jira --item Slack --scores 0 5 --epsilon 1 --people 5000",
    "plan --answers yes,no --answers car,bus,walk --epsilon 1 --people 5000",
]


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_line_shows_the_figure(command: str) -> None:
    record = json.loads(run(*command.split(), "--json").stdout)
    shown = run(*command.split()).stdout
    chosen = next(row for row in record["options"] if row["name"] == record["chosen"])
    if "bound" in record:
        assert chosen["above_bound"] >= 0 and record["bound"] > 0
        assert "\nabove: squared error" in shown or "\nabove: error" in shown
    else:
        assert record["no_bound_because"] and "\nabove: not shown" in shown


@pytest.mark.needs("scipy")
def test_other_commands_show_the_figure_too(tmp_path: Path) -> None:
    assert (
        "\nabove: squared error"
        in run("plan", "--values", "20", "--epsilon", "2", "--once", "1", "--people", "50000").stdout
    )
    budgets = json.loads(run("plan", "--numbers", "0", "120", "--json").stdout)["budgets"]
    assert all(0 <= each["above_bound"] < 0.02 for each in budgets)
    table = run("plan", "--numbers", "0", "120").stdout.splitlines()
    assert table[0].split() == ["mechanism", "epsilon", "error", "above"]
    asked = tmp_path / "survey.toml"
    asked.write_text(ONE)
    assert "above" in run("plan", str(asked)).stdout.splitlines()[1].split()
    releases = json.loads(run("release", "--city", "80", "--epsilon", "1", "--json").stdout)
    assert releases["bound"] and "to the bound: expected loss over" in run("release", "--city", "80").stdout
