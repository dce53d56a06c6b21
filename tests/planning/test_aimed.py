"""Plans for an aimed error: of all candidates that are listed, the one that is chosen needs the fewest people for it."""

import json
from collections.abc import Collection

import numpy as np
import pytest

import deniable as dn
from deniable.planning import options
from deniable.planning.means import aimed_at_mean, mean_options, people_for_mean
from deniable.planning.shares import aimed_at, people_for
from tests.cli.test_cli import run


@pytest.mark.parametrize("error", [0.3, 0.02, 0.001])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5, 5.0])
@pytest.mark.parametrize(("size", "sensitive"), [(2, None), (3, None), (16, None), (100, None), (500, None), (16, range(5))])
def test_no_candidate_needs_fewer_people(
    size: int, sensitive: Collection[object] | None, epsilon: float, error: float
) -> None:
    domain = dn.Categories(range(size))
    ranking = options(domain, epsilon, 1000, sensitive)
    needed = {row.name: people_for(row.mechanism, error) for row in ranking}
    aimed = aimed_at(ranking, error)
    assert needed[aimed.best.name] == min(needed.values()) == aimed.best.costs["people"]
    assert dn.required_n(domain, epsilon, error, sensitive=sensitive) == min(needed.values())
    assert dn.plan(domain, epsilon, 1000, sensitive=sensitive, error=error).fingerprint == aimed.best.mechanism.fingerprint


def test_the_smallest_error_of_all_shares_is_another_aim() -> None:
    """For 16 answers, weighted designs have the smallest error and need a tenth more people than others for one share."""
    domain = dn.Categories(range(16))
    usual, aimed = dn.plan(domain, 1.0, 5000), dn.plan(domain, 1.0, 5000, error=0.02)
    assert usual.wire == "weighted-design-1" != aimed.wire
    assert people_for(usual, 0.02) > 1.05 * people_for(aimed, 0.02)
    assert "none needs fewer people" in aimed.explain() and "\npeople: how many must answer" in aimed.explain()


def test_the_number_of_people_is_enough_for_the_least_favourable_share_and_not_one_fewer() -> None:
    domain = dn.Categories(range(16))
    mechanism, truth = dn.plan(domain, 1.0, error=0.02), np.eye(16)[0]
    for people, enough in ((dn.required_n(domain, 1.0, 0.02), True), (dn.required_n(domain, 1.0, 0.02) - 1, False)):
        low, high = mechanism.predict(truth, people).interval(0.95)
        assert (float((high - low).max() / 2) <= 0.02) is enough


def test_limits_and_names_come_first() -> None:
    ranking = aimed_at(options(dn.Categories(range(16)), 1.0, 1000), 0.02)
    assert ranking.within(7).best.bits <= 7
    fewest = min(row.costs["people"] or 0 for row in ranking if row.bits <= 7)
    assert ranking.within(7).best.costs["people"] == fewest
    assert ranking.within(None, "direct").best.name == "direct"
    assert "used as you asked" in ranking.within(None, "direct").reason()


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_a_mean_takes_the_fewest_people_too(epsilon: float) -> None:
    domain = dn.Interval(0, 120)
    ranking = aimed_at_mean(mean_options(domain, epsilon), 0.5)
    assert people_for_mean(ranking.best.mechanism, 0.5) == min(people_for_mean(row.mechanism, 0.5) for row in ranking)
    prior = np.eye(1025)[512]  # everybody in the middle: what is best for them is not best at worst
    planned = dn.plan(domain, epsilon, target="mean", prior=prior, error=0.5)
    assert planned.fingerprint == ranking.best.mechanism.fingerprint


@pytest.mark.parametrize(
    "arguments",
    [
        ["--values", "16", "--epsilon", "1", "--people", "5000", "--error", "0.02"],
        ["--values", "16", "--epsilon", "1", "--people", "5000", "--error", "0.02", "--max-bits", "7"],
        ["--values", "40", "--sensitive", "0-9", "--epsilon", "2", "--people", "5000", "--error", "0.01"],
        ["--numbers", "0", "120", "--epsilon", "2", "--people", "5000", "--error", "0.5"],
    ],
)
def test_the_command_line_asks_for_the_fewest_people(arguments: list[str]) -> None:
    limit = int(arguments[arguments.index("--max-bits") + 1]) if "--max-bits" in arguments else 1 << 30
    record = json.loads(run("plan", *arguments, "--json").stdout)
    people = {row["name"]: row["people"] for row in record["options"] if row["bits"] <= limit}
    assert record["people_needed"] == people[record["chosen"]] == min(people.values())
    assert f"{record['people_needed']:,}" in run("plan", *arguments).stdout


def test_aims_of_other_plans_are_refused() -> None:
    for domain, target in (
        (dn.Features(3, -1, 1), "mean"),
        (dn.Ordered(range(9)), "ranges"),
        (dn.Points([[0], [1]]), "release"),
    ):
        with pytest.raises(dn.InvalidParameter, match="A target error is for"):
            dn.plan(domain, 1.0, target=target, error=0.1)  # type: ignore[call-overload]
    with pytest.raises(dn.InvalidParameter, match="between 0 and 1"):
        dn.plan(dn.Categories(range(3)), 1.0, error=2.0)
