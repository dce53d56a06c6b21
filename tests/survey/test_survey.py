"""Surveys: what a file may say, what it comes to for a person, and what devices make of it."""

import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.survey import budget
from deniable.survey.kinds.choice import NO_ANSWER
from deniable.survey.kinds.registry import kind_named
from deniable.survey.message import encode
from deniable.survey.statement import statement
from tests.surveys import COMMUTE, ONE, OPENS, SAMPLED, SPARSE, several, survey
from tests.surveys import KINDS as KINDS_OF_QUESTIONS

ALL = [COMMUTE, ONE, SAMPLED, several(2, 3, 4), SPARSE]


@pytest.mark.parametrize("text", ALL)
def test_json_keeps_everything(text: str, tmp_path: Path) -> None:
    first = survey(text)
    again = dn.Survey.from_json(first.to_json())
    assert again.fingerprint == first.fingerprint and again.contract() == first.contract()
    file = tmp_path / "survey.json"
    file.write_text(first.to_json())
    assert dn.Survey.load(file).fingerprint == first.fingerprint
    toml = tmp_path / "survey.toml"
    toml.write_text(text)
    assert dn.Survey.load(toml).fingerprint == first.fingerprint


def test_everything_people_are_told_is_in_the_fingerprint() -> None:
    base = survey(COMMUTE).fingerprint
    for old, new in (
        ("How did you travel", "How do you travel"),
        ("epsilon = 2.0", "epsilon = 1.9"),
        ('"walk"', '"on foot"'),
        ("minimum_reports = 10", "minimum_reports = 11"),
        ("high = 120", "high = 121"),
        ('id = "minutes"', 'id = "time"'),
    ):
        assert survey(COMMUTE.replace(old, new)).fingerprint != base


@pytest.mark.parametrize("text", ALL)
def test_a_person_never_spends_more_than_the_budget(text: str) -> None:
    asked = survey(text)
    certificate = dn.certify_survey(asked)
    assert certificate.holds and "one person" in str(certificate)
    assert certificate.loss.odds == asked.loss().odds
    spent = 0.9 if text == SPARSE else 1 - 1e-12  # thresholds of 32 bits leave a little unspent
    assert spent * asked.epsilon <= certificate.loss.epsilon() <= asked.epsilon


@pytest.mark.parametrize("count", range(1, 12))
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 3.7])
def test_shares_never_round_up(count: int, epsilon: float) -> None:
    for way in budget.BUDGETS:
        sample = min(2, count)
        parts = budget.shares(epsilon, way, sample, [1.0 + place for place in range(count)])
        used = sorted(parts)[-sample:] if way == "sampled" else parts
        odds = math.prod((dn.odds_below(part) for part in used), start=dn.odds_below(epsilon) ** 0)
        assert dn.PrivacyLoss(odds, "theorem").epsilon() <= epsilon
        assert sum(used) == pytest.approx(epsilon)
    weighted = budget.shares(epsilon, "weighted", 1, [1.0] * (count - 1) + [3.0])
    assert weighted[-1] == pytest.approx(epsilon * 3 / (count + 2))


BAD = [
    ('id = "mode"', 'id = "Mode!"', "line 8: id must be 1 to 64 lower-case letters"),
    ("epsilon = 2.0", "epsilon = 0", "line 4: Epsilon must be a number"),
    ("epsilon = 2.0", 'epsilon = "two"', "line 4: Epsilon must be a number"),
    ('kind = "number"', 'kind = "essay"', "line 17: kind must be one of 'category', 'number'"),
    ('kind = "number"', "", "line 14: kind must be one of"),
    ('sensitive = ["none of these"]', 'sensitive = ["swim"]', "line 12: sensitive must be a list"),
    ('"walk", "bicycle"', '"walk", "walk"', "line 11: Two categories are the same"),
    ("choices = ", "choice = ", "line 11: Unknown key 'choice'"),
    ("low = 0", "low = 200", "line 18: An interval needs two finite ends"),
    ("low = 0", "", "needs low, a number"),
    ('id = "minutes"', 'id = "mode"', "line 15: Two questions have the same id"),
    ("minimum_reports = 10", "minimum_reports = 0", "line 5: minimum_reports must be a whole number"),
    ("minimum_reports = 10", 'budget = "all"', "line 5: budget must be"),
    ("minimum_reports = 10", "sample = 2", "line 5: sample, the number of questions per person, requires"),
    ("minimum_reports = 10", 'window = "day"', "line 5: window requires opens"),
    ("minimum_reports = 10", "opens = 2026-01-01T00:00:00", "line 5: opens must be a date and time with a time zone"),
    ("minimum_reports = 10", "keep_reports = 1", "line 5: keep_reports must be true or false"),
    ("high = 120", "high = 120\nweight = 2", "line 20: weight requires"),
    ("high = 120", "high = 120\nweight = 0", "line 20: weight must be a number above 0"),
    ("epsilon = 2.0", "epsilon = = 2", "line 4: Invalid TOML"),
    ("[survey]", "[poll]", "line 2: Unknown table 'poll'"),
    ("[survey]", "[survey]\nid = ", "line 3: Invalid TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "says"), BAD, ids=[bad[2] for bad in BAD])
def test_errors_point_to_the_line(old: str, new: str, says: str) -> None:
    with pytest.raises(dn.InvalidSurvey) as caught:
        survey(COMMUTE.replace(old, new, 1))
    assert str(caught.value).startswith("survey.toml, ") and says in str(caught.value)


def test_lines_are_not_confused_by_long_texts() -> None:
    text = COMMUTE.replace('ask = "How did you travel today?"', 'ask = """\n[survey]\nid = 3\n"""')
    with pytest.raises(dn.InvalidSurvey, match="line 21: An interval"):
        survey(text.replace("low = 0", "low = 200"))


def test_json_errors_point_to_the_place() -> None:
    with pytest.raises(dn.InvalidSurvey, match="survey, line 2: Invalid JSON"):
        dn.Survey.from_json("{\n oh")
    data = json.loads(survey(COMMUTE).to_json())
    data["question"][1]["high"] = "a lot"
    with pytest.raises(dn.InvalidSurvey, match="survey, question 2, high: "):
        dn.Survey.from_json(json.dumps(data))
    for nonsense in ("[]", "3", '{"survey": 3, "question": []}', '{"survey": {}, "question": {}}', "[" * 5000):
        with pytest.raises(dn.InvalidSurvey):
            dn.Survey.from_json(nonsense)
    with pytest.raises(dn.InvalidSurvey, match="not found"):
        dn.Survey.load("nowhere.toml")


def test_a_written_mechanism_must_fit_question_and_budget() -> None:
    data = json.loads(survey(several(4, 4)).to_json())
    dearer = dn.DirectResponse(dn.Categories(range(4)), epsilon=0.9).spec()
    data["question"][0]["mechanism"] = dearer
    with pytest.raises(dn.InvalidSurvey, match="spend more than the survey's epsilon"):
        dn.Survey.from_json(json.dumps(data))
    data["question"][0]["mechanism"] = dn.DirectResponse(dn.Categories(range(5)), epsilon=0.5).spec()
    with pytest.raises(dn.InvalidSurvey, match="does not match the answers of the question"):
        dn.Survey.from_json(json.dumps(data))


def test_every_kind_can_be_asked() -> None:
    random = np.random.default_rng(0)
    for asked in map(survey, ALL):
        for question in asked.questions:
            domain = question.mechanism.domain
            assert question.how.hint(domain)
            answers = question.how.pretend(domain, random, 50)
            assert len(question.mechanism.perturb(question.answers(answers))) == 50
    number, choice = kind_named("number"), kind_named("category")
    assert number.read(survey(COMMUTE).questions[1].mechanism.domain, " 12,5") == 12.5
    assert choice.read(survey(COMMUTE).questions[0].mechanism.domain, "bus") == "bus"
    assert choice.read(survey(SAMPLED).questions[0].mechanism.domain, "") is None
    for kind, question in ((number, survey(COMMUTE).questions[1]), (choice, survey(COMMUTE).questions[0])):
        with pytest.raises(dn.OutsideDomain) as caught:
            kind.read(question.mechanism.domain, "secret")
        assert "secret" not in str(caught.value)


def test_other_kinds_are_read_asked_and_estimated() -> None:
    """A person's answers, typed; then many people's, and what comes out of their reports."""
    asked = survey(KINDS_OF_QUESTIONS)
    typed = {"mood": "7", "often": "sometimes", "films": "Alien = 4, Brazil = 2.5", "home": "Nice", "taste": "0 0.5 -1 1"}
    typed["apps"] = "map, bank"
    answers = {question.id: question.how.read(question.mechanism.domain, typed[question.id]) for question in asked.questions}
    assert answers["films"] == {"Alien": 4.0, "Brazil": 2.5} and answers["mood"] == 7 and answers["taste"] == [0, 0.5, -1, 1]
    message = asked.randomize(answers, now=0)
    assert answers["apps"] == ["map", "bank"]
    assert sum(len(reports) for each in asked.read(message) for reports in asked.unpack(each)) == 6
    assert dn.certify_survey(asked).holds
    random, found = np.random.default_rng(4), {}
    for question in asked.questions:
        domain = question.mechanism.domain
        assert question.how.hint(domain) and 0 < question.how.error(domain, question.mechanism, 1000) < 10
        made = question.how.pretend(domain, random, 4000)
        tally = question.mechanism.tally(question.mechanism.perturb(question.answers(made), dn.SeededCoins(1)))
        estimate = question.mechanism.estimate(tally)
        found[question.id] = [part.measure for part in question.how.parts(estimate)]
        for part in question.how.parts(estimate):
            assert len(part.labels) == len(part.values) == len(part.standard_error)
        if question.id == "mood":
            mean, error = question.how.more(domain, estimate)["mean"]
            assert abs(mean - np.mean(np.asarray(made))) < 6 * error  # a false alarm once in 5e8
    shares = {"mood": ["share"], "often": ["share"], "home": ["share"], "apps": ["share"]}
    assert found == shares | {"films": ["share", "mean value"], "taste": ["mean"]}
    for question, wrong in zip(asked.questions, ("11", "secret", "secret = 4", "secret, map", "secret", "1 2"), strict=True):
        with pytest.raises(dn.OutsideDomain) as caught:
            question.how.read(question.mechanism.domain, wrong)
        assert "secret" not in str(caught.value)
    for impossible in ("map", ["secret"], [["map"]], 7):
        with pytest.raises(dn.OutsideDomain):
            asked.randomize({**answers, "apps": impossible}, now=0)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("low = 0\nhigh = 10", "low = 0", "either choices in order, or whole numbers"),
        ("low = 0\nhigh = 10", "low = 10\nhigh = 0", "line"),
        ('choices = ["never", "sometimes", "often"]', "", "either choices in order, or whole numbers"),
        ('items = ["Alien", "Brazil", "Casablanca"]', "", "needs items"),
        ('items = ["chat", "map", "game", "bank"]', "", "needs items"),
        ("low = 0.5\n", "", "needs low"),
        ("at_most = 2", "at_most = 9", "line"),
        ('places = ["Lyon", "Paris", "Nice"]', 'places = ["Lyon", "Paris"]', "one .latitude, longitude. for each"),
        ("points = [[45.76, 4.84],", "points = [[95.76, 4.84],", "line"),
        ("dimensions = 4", "dimensions = 0", "line"),
        ("dimensions = 4", "", "needs dimensions"),
    ],
)
def test_impossible_questions_of_other_kinds(old: str, new: str, says: str) -> None:
    assert old in KINDS_OF_QUESTIONS
    with pytest.raises(dn.InvalidSurvey, match=says):
        survey(KINDS_OF_QUESTIONS.replace(old, new))


def test_sparse_sets_say_whom_they_protect() -> None:
    asked = survey(SPARSE)
    assert (
        asked.unit == "one person over the whole survey; in 'films' one item that differs; in 'genes' one item that differs"
    )
    told = str(dn.certify_survey(asked))
    assert "holds, for one item that differs" in told and "over the whole survey; in 'films' one item" in told
    assert survey(COMMUTE).unit == "one person over the whole survey"
    said = statement(asked)
    assert "In films, genes, this holds for each item on its own" in said and f"unit: {asked.unit}; budget" in said
    assert f"epsilon 6 for {asked.unit}" in dn.plan_survey(asked).explain()
    assert "each item on its own" not in statement(survey(COMMUTE))
    for old, new, says in (
        ('protects = "item"', "", 'add protects = "item"'),
        ('protects = "item"', 'protects = "person"', 'use kind = "set"'),
        ("size = 500", "", "needs size"),
        ("size = 500", "size = 10000000", "at most 131,072"),
        ("at_most = 20", "at_most = 301", "cannot exceed"),
        ("alpha = 2", "alpha = 1", "line"),
    ):
        assert old in SPARSE
        with pytest.raises(dn.InvalidSurvey, match="(?i)" + re.escape(says)):
            survey(SPARSE.replace(old, new, 1))
    domain = asked.questions[0].mechanism.domain
    how = kind_named("sparse-set")
    assert how.read(domain, " 7, 3 7") == [3, 7] and how.read(domain, "") == []
    for impossible in ([500], [-1], [3, 3], 7, ["3"]):
        with pytest.raises(dn.OutsideDomain):
            asked.randomize({"films": impossible, "genes": [], "sex": "f"}, now=0)
    with pytest.raises(dn.OutsideDomain):
        how.read(domain, "3 secret")


def test_sparse_sets_are_counted() -> None:
    """Half of all people have film 7: within six standard errors, wrong once in 5e8."""
    asked, people = survey(SPARSE), 4000
    films = [[7, 9] if person % 2 else [] for person in range(people)]
    answers: dict[str, list[object]] = {"films": [*films], "genes": [[1]] * people, "sex": ["f"] * people}
    messages = asked.read(b"".join(asked.randomize_all(answers, people, dn.SeededCoins(5), now=0)))
    reports = asked.unpack_singles(asked.whole, [each.payload for each in messages])
    for place, number, share in ((0, 7, 0.5), (0, 8, 0.0), (2, 1, 1.0), (2, 2, 0.0)):
        mechanism = asked.questions[place].mechanism
        estimate = mechanism.estimate(mechanism.tally(reports[place]))
        assert abs(estimate.values[number] - share) < 6 * estimate.standard_error[number]


def test_lengths_that_lie_are_refused() -> None:
    asked = survey(SPARSE)
    (message,) = asked.read(asked.randomize({"films": [3], "genes": [], "sex": "m"}, now=0))
    for lie in (0, 11, 2**63, 2**64 - 1, len(message.payload)):
        payload = lie.to_bytes(8, "little") + message.payload[8:]
        with pytest.raises(dn.InvalidReport):
            for each in asked.read(encode(asked.fingerprint_bytes, message._replace(payload=payload))):
                asked.unpack(each)
        with pytest.raises(dn.InvalidReport):
            asked.unpack_singles(message.part, [message.payload, payload])
    with pytest.raises(dn.InvalidReport, match="cut off"):
        asked.read(encode(asked.fingerprint_bytes, message._replace(payload=message.payload[:5])))


def test_silence_is_as_sensitive_as_what_it_hides() -> None:
    text = COMMUTE.replace('sensitive = ["none of these"]', 'sensitive = ["none of these"]\noptional = true')
    mechanism = survey(text).questions[0].mechanism
    assert isinstance(mechanism, dn.UtilityOptimized) and list(mechanism.sensitive) == ["none of these", NO_ANSWER]


def test_silence_is_an_answer_or_refused() -> None:
    asked = survey(SAMPLED)
    assert NO_ANSWER in asked.questions[0].mechanism.domain.labels
    asked.randomize({"b": 3, "c": 0.0}, now=OPENS, part=0b011)
    with pytest.raises(dn.OutsideDomain, match="'b' was not answered"):
        asked.randomize({"a": "yes"}, now=OPENS, part=0b011)
    with pytest.raises(dn.OutsideDomain, match="and nothing else"):
        asked.randomize({"a": "yes", "b": 3, "c": 0, "d": 4}, now=OPENS)


def test_parts_are_uniform_and_only_those() -> None:
    asked = survey(SAMPLED)
    seen = Counter(asked.draw_parts(30_000, dn.SeededCoins(1)))
    assert set(seen) == {0b011, 0b101, 0b110}
    # 6 standard deviations of a binomial count: a false alarm once in 5e8
    assert all(abs(count - 10_000) < 6 * math.sqrt(30_000 * 2 / 9) for count in seen.values())
    for part in (0, 0b001, 0b111, 0b1001, 1 << 63):
        with pytest.raises(dn.InvalidReport, match="No device"):
            asked.part(part)


@pytest.mark.parametrize("text", ALL)
def test_one_by_one_and_in_batches_the_reports_are_what_was_sent(text: str) -> None:
    asked, people = survey(text), 300
    random = np.random.default_rng(2)
    answers = {q.id: q.how.pretend(q.mechanism.domain, random, people) for q in asked.questions}
    singles = asked.randomize_all(answers, people, now=OPENS)
    messages = asked.read(b"".join(singles))
    assert len(messages) == people and len({each.id for each in messages}) == people
    for part in {each.part for each in messages}:
        chosen = [each for each in messages if each.part == part]
        together = asked.unpack_singles(part, [each.payload for each in chosen])
        apart = [asked.unpack(each) for each in chosen]
        for place, reports in enumerate(together):
            joined = dn.concatenate(each[place] for each in apart)
            for name, column in reports.columns.items():
                assert np.array_equal(column, joined.columns[name])
    batch = asked.read(asked.batch(answers, people, now=OPENS))
    assert sum(each.reports for each in batch) == people
    assert len(batch) == len({each.part for each in messages})


def test_the_mean_of_numbers_is_right() -> None:
    asked = survey(COMMUTE)
    question = asked.questions[1]
    answers = np.full(200_000, 30.0)
    tally = question.mechanism.tally(question.mechanism.perturb(answers, dn.SeededCoins(3)))
    estimate = question.mechanism.estimate(tally)
    mean, error = question.how.more(question.mechanism.domain, estimate)["mean"]
    assert abs(mean - 30) < 6 * error < 6  # a false alarm once in 5e8


def test_advice_is_about_these_sizes() -> None:
    two, many = survey(several(2, epsilon=4.0)).advice(), survey(several(*[16] * 8)).advice()
    assert two.shared == two.sampled
    assert many.better == "sampled" and len(many.questions) == 8
    assert max(many.sampled) < max(many.shared)


def test_advice_at_the_largest_budget_where_errors_are_0() -> None:
    assert budget.Advice(("a", "b"), (0.0, 0.1), (0.0, 0.2)).better == "equal"
    assert budget.Advice(("a", "b"), (0.1, 0.1), (0.0, 0.2)).better == "sampled"


@pytest.mark.parametrize("cut", [0, 10, 59, 60, -1])
def test_damaged_messages_are_refused(cut: int) -> None:
    asked = survey(ONE)
    message = dn.Device(asked).answer({"town": "Nice"})
    with pytest.raises(dn.InvalidReport):
        asked.read(message[:cut])
    with pytest.raises(dn.InvalidReport):
        asked.read(message + b"\0")
    for place in range(len(message)):
        bent = bytearray(message)
        bent[place] ^= 0x10
        with pytest.raises((dn.InvalidReport, dn.SurveyMismatch)):
            asked.read(bytes(bent))
