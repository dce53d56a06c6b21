"""Surveys that ask again: what their files say, what they cost, and what is certified."""

import json

import pytest

import deniable as dn
from deniable.errors import InvalidSurvey
from deniable.survey.certificate_record import certificate_record
from deniable.survey.reading import parse_toml
from deniable.survey.repeating import MONDAY, lifetime_loss, own_reports, spoken
from deniable.survey.verification import verify

EXAMPLE = """
[survey]
id = "wellbeing"
window = "day"
lifetime_epsilon = 4.0

[[question]]
id = "mood"
kind = "category"
choices = ["good", "so-so", "bad"]
repeat = "permanent"
"""
ALL = (
    EXAMPLE
    + """
[[question]]
id = "pain"
kind = "ordered"
low = 0
high = 5
repeat = "permanent"

[[question]]
id = "screen"
kind = "number"
low = 0
high = 16
repeat = "permanent"

[[question]]
id = "symptoms"
kind = "set"
items = ["cough", "fever", "pain"]
repeat = "permanent"

[[question]]
id = "sex"
kind = "category"
choices = ["f", "m", "x"]
"""
)
WEEKLY = """
[survey]
id = "weekly"
window = "day"
epsilon = 1.0

[[question]]
id = "mood"
kind = "category"
choices = ["good", "so-so", "bad"]
repeat = "windows"
span = 7
"""


def survey(text: str) -> dn.Survey:
    return parse_toml(text, "survey.toml")


def test_the_example_of_the_documentation() -> None:
    found = survey(EXAMPLE)
    assert (found.epsilon, found.lifetime_epsilon, found.opens) == (2.0, 4.0, MONDAY)
    (question,) = found.questions
    assert isinstance(question.mechanism, dn.Memoized) and question.mechanism.twice
    assert question.mechanism.loss().epsilon() <= 2.0 < question.mechanism.lifetime_loss().epsilon() <= 4.0


def test_all_kinds_stay_within_both_budgets_and_keep_their_fingerprint() -> None:
    found = survey(ALL)
    wires = [question.mechanism.wire for question in found.questions]
    assert wires == ["memoized-1", "memoized-1", "permanent-mean-1", "permanent-set-1", "direct-1"]
    ever = lifetime_loss(found)
    assert ever is not None and 1.99 < found.loss().epsilon() <= 2.0 and 3.99 < ever.epsilon() <= 4.0
    assert found.later == 0b1111  # the last question is asked once
    again = dn.Survey.from_json(found.to_json())
    assert again.fingerprint == found.fingerprint and again.repeats == found.repeats


def test_the_certificate_states_both_losses_and_what_a_change_shows() -> None:
    found = dn.certify_survey(survey(ALL))
    assert found.holds and found.ever is not None
    text = str(found)
    assert "one person    epsilon 2 of 2, in one period" in text
    assert "all reports   epsilon 4 of 4, all reports ever on one value" in text
    assert "that a value changed, and when," in text
    assert "If the change itself is secret, do not answer again" in found.statement()
    record = certificate_record(found)
    assert record["lifetime"]["epsilon"] == found.ever.epsilon() and set(record["lifetime"]["questions"]) == {
        "mood", "pain", "screen", "symptoms",
    }  # fmt: skip
    assert verify(json.dumps(record)).genuine
    record["lifetime"]["epsilon"] = 1.0
    assert not verify(json.dumps(record)).genuine


def test_windows_cost_one_report_in_any_span() -> None:
    found = survey(WEEKLY)
    assert found.unit == "one person in any 7 periods in a row"
    assert lifetime_loss(found) is None and "no bound" in str(dn.certify_survey(found))
    assert "Any 7 periods in a row cost you epsilon 1" in " ".join(spoken(found))
    closing = WEEKLY.replace('window = "day"', 'window = "day"\nopens = 2026-01-01T00:00:00Z\ncloses = 2026-01-31T00:00:00Z')
    ended = survey(closing.replace("epsilon = 1.0", "epsilon = 1.0\nlifetime_epsilon = 5.0"))
    assert own_reports(ended) == 5  # of 30 days, one in 7
    ever = lifetime_loss(ended)
    assert ever is not None and 4.99 < ever.epsilon() <= 5.0


@pytest.mark.parametrize(
    ("text", "change", "message"),
    [
        (EXAMPLE, ("lifetime_epsilon = 4.0", "epsilon = 1.0"), 'line 11: repeat = "permanent" needs lifetime_epsilon'),
        (EXAMPLE, ("lifetime_epsilon = 4.0", "lifetime_epsilon = 4.0\nepsilon = 5.0"), "must be below lifetime_epsilon, 4"),
        (EXAMPLE, ('repeat = "permanent"', 'repeat = "daily"'), 'line 11: repeat must be "permanent"'),
        (EXAMPLE, ('window = "day"\n', ""), "need a window"),
        (EXAMPLE, ('repeat = "permanent"', 'repeat = "permanent"\nspan = 7'), 'requires repeat = "windows"'),
        (EXAMPLE, ('repeat = "permanent"', 'repeat = "permanent"\nsensitive = ["bad"]'), "cannot have sensitive"),
        (EXAMPLE, ('repeat = "permanent"', ""), "lifetime_epsilon is for questions with repeat"),
        (EXAMPLE, ("lifetime_epsilon = 4.0", "lifetime_epsilon = -4.0"), "line 5: lifetime_epsilon must"),
        (EXAMPLE, ('window = "day"', 'window = "day"\nrounds = 3'), "cannot be combined with rounds"),
        (EXAMPLE, ('repeat = "permanent"', 'repeat = "permanent"\nmechanism = { mechanism = "direct-1" }'), "that keeps it"),
        (WEEKLY, ("span = 7\n", ""), "needs a span"),
        (WEEKLY, ("span = 7", "span = 1"), "from 2 to 1,000"),
        (WEEKLY, ("epsilon = 1.0", "epsilon = 1.0\nlifetime_epsilon = 9.0"), "grows with time"),
        (ALL, ('lifetime_epsilon = 4.0', 'lifetime_epsilon = 4.0\nbudget = "sampled"'), "all questions repeat, or none"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_said(text: str, change: tuple[str, str], message: str) -> None:
    with pytest.raises(InvalidSurvey, match=message.replace("(", r"\(")):
        survey(text.replace(*change))


def test_a_survey_within_a_lifetime_that_its_windows_exceed_is_refused() -> None:
    closing = WEEKLY.replace('window = "day"', 'window = "day"\nopens = 2026-01-01T00:00:00Z\ncloses = 2026-03-01T00:00:00Z')
    with pytest.raises(InvalidSurvey, match="may cost epsilon 9"):
        survey(closing.replace("epsilon = 1.0", "epsilon = 1.0\nlifetime_epsilon = 5.0"))
