"""The planner beyond single questions: records, questions asked again and again, whole surveys, measured costs."""

import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from deniable.planning.records import record_options
from deniable.planning.repeated import REPEATED
from tests.surveys import COMMUTE, ONE, SAMPLED, survey

RECORDS = dn.Vectors([dn.Categories(range(4)), dn.Categories(range(30)), dn.Categories(["yes", "no"])])


def test_records_are_told_the_best_way() -> None:
    best = dn.plan(RECORDS, epsilon=1.0, n=10_000)
    found = record_options(RECORDS, 1.0, 10_000)
    assert best.total_error(10_000) == min(way.error for way in found) == found[0].error
    assert isinstance(best, dn.OneGroup) and best.groups == ((2,), (0,), (1,))  # most people report the 30 answers
    assert (
        "one answer, whole budget" in best.explain() and "The groups are answer 3 from 10% of the people" in best.explain()
    )
    assert all(dn.certify(way.mechanism).holds for way in found)
    two = dn.Vectors([dn.Categories(["yes", "no"])] * 2)
    assert isinstance(dn.plan(two, 1.0, 1000), dn.OneAttribute) and isinstance(dn.plan(two, 8.0, 1000), dn.WholeRecord)
    assert "All answers are in one group." in dn.plan(two, 8.0, 1000).explain()
    many = dn.plan(dn.Vectors([dn.Categories(["yes", "no"])] * 40), 3.0, 1000).explain()
    assert "There are 14 groups, of 2 to 3 answers." in many


def test_records_keep_to_the_bits_they_may_take() -> None:
    small = dn.plan(RECORDS, 1.0, 10_000, max_bits=9)
    assert small.layout.bits <= 9
    with pytest.raises(dn.InvalidParameter):
        dn.plan(RECORDS, 1.0, 10_000, max_bits=2)
    with pytest.raises(dn.InvalidParameter):
        dn.plan(RECORDS, 1.0, 0)


@pytest.mark.parametrize("size", [2, 4, 20, 200])
def test_repeated_questions_get_the_smallest_error(size: int) -> None:
    domain = dn.Categories(range(size))
    best = dn.plan_repeated(domain, 2.0, 1.0, 5000)
    even = np.full(size, 1 / size)
    errors = [np.mean(each.make(domain, 2.0, 1.0).predict(even, 5000).standard_error ** 2) for each in REPEATED]
    assert np.mean(best.predict(even, 5000).standard_error ** 2) == pytest.approx(min(errors), rel=1e-9)
    assert best.lifetime_loss().epsilon() <= 2.0 and best.loss().epsilon() <= 1.0
    assert "all reports ever" in best.explain()


def test_a_plan_of_repeated_reports_says_whether_they_can_be_linked() -> None:
    """By hashing, a report names the function that a person keeps."""
    linked = "all reports of a person can be linked"
    assert linked in dn.plan_repeated(dn.Categories(range(20)), 2.0, 1.0).explain()  # hashing
    assert linked not in dn.plan_repeated(dn.Categories(range(3)), 2.0, 1.0).explain()  # direct


def test_values_that_change_share_the_budget() -> None:
    domain = dn.Categories(range(50))
    often = dn.plan_repeated(domain, 4.0, 0.5, changes=5)
    assert often.lifetime_loss(5).epsilon() <= 4.0 * (1 + 1e-12)
    assert often.lifetime_loss(5).odds == often.lifetime_loss(50).odds  # two buckets are as many as there can be
    with pytest.raises(dn.InvalidParameter):
        dn.plan_repeated(domain, 2.0, 1.0, changes=3)
    with pytest.raises(dn.InvalidParameter):
        dn.plan_repeated(domain, 2.0, 1.0, 0)


@pytest.mark.parametrize("text", [ONE, COMMUTE, SAMPLED])
def test_a_survey_is_planned_whole(text: str) -> None:
    asked = survey(text)
    found = dn.plan_survey(asked, 50_000)
    words = found.explain()
    for question, own in zip(asked.questions, found.questions, strict=True):
        assert own.id in words and own.wire == question.mechanism.wire
        reports = 50_000 * asked.sample // len(asked.questions) if asked.budget == "sampled" else 50_000
        error = question.how.error(question.mechanism.domain, question.mechanism, reports)
        assert own.reports == reports and own.error == error
        assert own.needed == math.ceil(50_000 * (100 * own.error) ** 2)
    assert "50,000 people" in words and "For a person:" in words
    assert found.bits <= sum(question.mechanism.layout.bits for question in asked.questions)
    assert dn.plan_survey(asked).people == asked.people
    with pytest.raises(dn.InvalidParameter):
        dn.plan_survey(asked, 0)


def test_costs_are_measured() -> None:
    cost = dn.measured_cost(dn.DirectResponse(dn.Categories(range(8)), 1.0), 256, 0.001)
    assert cost.bits == 3 and cost.device > 0 and cost.server > 0 and "3 bits" in str(cost)
    assert dn.measured_cost(dn.Duchi(dn.Interval(0, 10, steps=5), 1.0), 64, 0.001).bits == 1
    with pytest.raises(dn.InvalidParameter):
        dn.measured_cost(dn.DirectResponse(dn.Categories(range(8)), 1.0), 0)


def run(*arguments: str) -> str:
    result = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["plan", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_plans_surveys_and_repeated_questions(tmp_path: Path) -> None:
    path = tmp_path / "survey.toml"
    path.write_text(COMMUTE)
    assert "50,000 people" in run(str(path), "--n", "50000")
    assert "device" in run(str(path), "--time")
    out = tmp_path / "kept.json"
    shown = run("--values", "20", "--epsilon", "2", "--once", "1", "--people", "5000", "--out", str(out), "--time")
    assert "OLOLOHA" in shown and "Cost of a report" in shown
    assert isinstance(dn.mechanism_from_json(out.read_text()), dn.Memoized)
    for wrong in (
        [str(path), "--epsilon", "1"],
        ["--values", "20", "--epsilon", "2", "--people", "5", "--changes", "2"],
        ["--values", "20", "--epsilon", "2", "--people", "5", "--once", "1", "--max-bits", "5"],
    ):
        assert CliRunner().invoke(main, ["plan", *wrong]).exit_code != 0


def test_certificates_tell_what_else_counts(tmp_path: Path) -> None:
    kept, fake = tmp_path / "kept.json", tmp_path / "fake.json"
    kept.write_text(dn.Memoized.direct(dn.Categories(range(3)), 2.0, 1.0).to_json())
    fake.write_text(dn.FakeAttributes.as_published(dn.Vectors([dn.Categories(range(2))] * 2), 1.0).to_json())
    shown = CliRunner().invoke(main, ["certify", str(kept)])
    assert shown.exit_code == 0 and "For all reports ever on one value, any two values: epsilon 2 (proved)." in shown.stdout
    shown = CliRunner().invoke(main, ["certify", str(fake)])
    assert shown.exit_code == 1 and "For one answer, records that differ in one answer: epsilon 1 (theorem)." in shown.stdout
