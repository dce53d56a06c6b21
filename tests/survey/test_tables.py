"""Surveys that ask for tables: how their questions are reported, what is promised, and what is refused."""

import json
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.errors import InvalidSurvey, OutsideDomain
from deniable.survey.group import Group
from deniable.survey.reading import parse_toml
from deniable.wrappers.one_pair import OnePair

QUESTIONS: dict[str, str] = {
    "smokes": 'kind = "category"\nchoices = ["no", "yes"]',
    "town": 'kind = "category"\nchoices = ["Lyon", "Nice", "Metz"]',
    "age": 'kind = "ordered"\nchoices = ["18-39", "40-64", "65+"]',
}


def written(*tables: str, about: str = "", questions: dict[str, str] | None = None) -> str:
    """A survey file with these tables."""
    asked = "".join(f'[[question]]\nid = "{name}"\n{own}\n' for name, own in (questions or QUESTIONS).items())
    return f'[survey]\nid = "health"\nepsilon = 2.0\nminimum_reports = 10\npeople = 20000\n{about}\n{asked}' + "".join(
        f"[[table]]\nquestions = {each}\n" for each in tables
    )


def parsed(*tables: str, **more: Any) -> dn.Survey:
    return parse_toml(written(*tables, **more), "health.toml")


PAIR = '["smokes", "age"]'


def test_the_best_way_to_report_a_pair_is_taken() -> None:
    survey = parsed(PAIR)
    assert [question.id for question in survey.questions] == ["smokes+age", "town"]
    assert [asked.id for asked in survey.asked] == ["smokes", "age", "town"]
    group = survey.questions[0]
    assert isinstance(group, Group) and isinstance(group.mechanism.domain, dn.Product)
    assert group.mechanism.epsilon == pytest.approx(4 / 3) and survey.questions[1].mechanism.epsilon == pytest.approx(2 / 3)
    assert survey.loss().epsilon() <= 2.0


def test_a_large_budget_is_split_only_where_that_is_better() -> None:
    from deniable.survey.arranging import parts_of
    from deniable.survey.tables import ways

    survey = parsed(PAIR)
    found = ways(parts_of(survey.asked[:2], 20_000), [(0, 1)], [0.7, 0.7], 1.4, 20_000, together=False)
    assert [row.name for row in found][-1] == "every answer, split budget"
    assert [row.error for row in found] == sorted(row.error for row in found)
    # The predicted error of a cell is that of the table itself.
    truth = np.full(6, 1 / 6)
    compound = next(row for row in found if row.name == "compound question")
    predicted = compound.mechanism[0].predict(truth, 20_000)
    assert compound.error == pytest.approx(np.sqrt(np.mean(predicted.standard_error**2)), rel=0.02)


def test_many_tables_are_asked_with_pairs_drawn_in_public() -> None:
    names = list("abcdef")
    questions = dict.fromkeys(names, 'kind = "category"\nchoices = ["1", "2", "3", "4"]')
    tables = [json.dumps([a, b]) for a in names for b in names if a < b]
    survey = parsed(*tables, questions=questions)
    (group,) = survey.questions
    assert isinstance(group.mechanism, OnePair) and group.id == "a+5"
    message = survey.read(survey.randomize(dict.fromkeys(names, "2"), dn.SeededCoins(1)))[0]
    assert len(survey.unpack(message)[0]) == 1


def test_a_survey_with_tables_is_read_back_from_its_json() -> None:
    for about in ("", 'budget = "sampled"'):
        survey = parsed(PAIR, about=about)
        again = dn.Survey.from_json(survey.to_json())
        assert again.fingerprint == survey.fingerprint and again.contract() == survey.contract()
        assert again.tables == survey.tables
    contract: Any = survey.contract()
    assert [each["id"] for each in contract["question"]] == ["smokes", "age", "town"]
    assert contract["table"] == [{"questions": ["smokes", "age"]}]


def test_surveys_without_tables_keep_their_fingerprint() -> None:
    survey = parsed()
    assert survey.fingerprint == "7773427dca0c821d3cfd37d661c17ba7" and "table" not in survey.spec()


def test_people_answer_one_by_one_and_the_promise_covers_the_message() -> None:
    survey = parsed(PAIR)
    answers = {"smokes": "yes", "age": "65+", "town": "Nice"}
    device = dn.Device(survey, coins=dn.SeededCoins(1))
    assert len(survey.read(device.answer(answers))) == 1
    with pytest.raises(OutsideDomain, match="'smokes', 'age', 'town' and nothing else"):
        survey.randomize({**answers, "smokes+age": ("yes", "65+")})
    with pytest.raises(OutsideDomain, match="'age' was not answered"):
        survey.randomize({"smokes": "yes", "town": "Nice"})
    certificate = dn.certify_survey(survey)
    assert certificate.holds and certificate.loss.epsilon() <= 2.0
    assert "smokes, age are reported together" in survey.statement()


def test_a_group_reports_the_combination_with_its_law() -> None:
    survey = parsed(PAIR)
    people = 4000
    answers = {"smokes": ["yes", "no"] * 2000, "age": ["65+", "18-39"] * 2000, "town": ["Nice"] * people}
    (message,) = survey.read(survey.batch(answers, people, dn.SeededCoins(2), now=0))
    group, reports = survey.questions[0], survey.unpack(message)[0]
    table = dn.crosstab(reports, group.mechanism, "age", "smokes", names=["smokes", "age"])
    assert table.questions == ("age", "smokes")
    wanted = np.zeros((3, 2))
    wanted[2, 1] = wanted[0, 0] = 0.5
    assert np.abs(table.shares - wanted).max() < 5.5 * table.standard_error.max()  # false alarm below 1e-6


def test_sensitive_and_named_mechanisms_are_reported_by_themselves() -> None:
    questions = {**QUESTIONS, "town": QUESTIONS["town"] + '\nsensitive = ["Metz"]'}
    survey = parsed('["smokes", "town"]', questions=questions)
    assert [question.id for question in survey.questions] == ["smokes", "town", "age"]
    assert [joint.id for joint in survey.joints] == ["smokes*town"]
    fixed = {**QUESTIONS, "smokes": QUESTIONS["smokes"] + '\nmechanism = { mechanism = "direct-1" }'}
    assert [each.id for each in parsed(PAIR, questions=fixed).questions] == ["smokes", "age", "town"]


def test_three_questions_are_one_table() -> None:
    survey = parsed('["smokes", "age", "town"]')
    (group,) = survey.questions
    assert isinstance(group, Group) and group.tables == ((0, 2, 1),)


@pytest.mark.parametrize(
    ("tables", "more", "wanted"),
    [
        (['["smokes"]'], {}, "line 20: A table needs two or three different questions"),
        (['["smokes", "smokes"]'], {}, "two or three different questions"),
        (['["smokes", "height"]'], {}, "There is no question 'height'. The questions are 'smokes', 'town', 'age'"),
        ([PAIR, PAIR], {}, "Two tables have the same questions"),
        (
            [PAIR],
            {"questions": {**QUESTIONS, "age": 'kind = "number"\nlow = 0\nhigh = 99'}},
            "not a list to choose from.*bands of numbers",
        ),
        (
            [PAIR],
            {"questions": {**QUESTIONS, "age": 'kind = "ordered"\nlow = 0\nhigh = 200'}},
            "'age' has 201 answers; a question in a table has at most 128. Combine rare answers",
        ),
        (
            ['["town", "age"]'],
            {"questions": dict.fromkeys(("town", "age"), 'kind = "ordered"\nlow = 1\nhigh = 40')},
            "1,600 cells; at most 1,024 are estimated. Combine",
        ),
        (
            ['["smokes", "town"]'],
            {
                "about": 'budget = "sampled"',
                "questions": {**QUESTIONS, "town": QUESTIONS["town"] + '\nsensitive = ["Metz"]'},
            },
            'different people would answer the questions.* Use budget = "equal"',
        ),
        ([PAIR], {"about": 'budget = "sampled"\nsample = 3'}, "reported together are one part, so there are 2"),
    ],
)
def test_tables_that_cannot_be_had_are_refused_with_the_line(tables: list[str], more: Any, wanted: str) -> None:
    with pytest.raises(InvalidSurvey, match=wanted):
        parsed(*tables, **more)


def test_the_plan_says_what_can_be_seen() -> None:
    plan = dn.plan_survey(parsed(PAIR))
    effects = {effect.what: effect for effect in plan.effects}
    assert set(effects) == {"smokes", "age", "town", "smokes and age"}
    town = next(question for question in plan.survey.questions if question.id == "town")
    exact = dn.smallest_effect(dn.share_of(town.mechanism, 1 / 3), plan.people)
    assert effects["town"].smallest == pytest.approx(exact)
    target = dn.table_of(plan.survey.questions[0].mechanism)
    assert target.power(effects["smokes and age"].smallest or 0.0, plan.people) == pytest.approx(0.8, abs=1e-3)
    text = plan.explain()
    assert "* compound question" in text and "Cramer's V" in text and "every answer, split budget" in text
    few = dn.plan_survey(parsed(PAIR), people=20).explain()
    assert "none" in few
