"""Editions of the planner: a survey file has the same mechanisms, to the byte, in every release that knows its edition.

`DENIABLE_WRITE_GOLDEN=1 pytest tests/survey/test_editions.py` rewrites the plans of editions that are not released yet.
"""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import deniable as dn
from deniable.collector import Collector, open_store, results
from deniable.collector.verdicts import Counted
from deniable.core import NEWEST_EDITION, Candidate, offered
from deniable.mechanisms.registry import OURS, candidates, families
from deniable.mixing import make_terms
from deniable.mixing.sealing import TICKET_BYTES
from deniable.planning.distributions import MERGED, MIXED
from deniable.planning.maps import MAPS, map_options
from deniable.planning.repeated import REPEATED
from deniable.survey.kinds.registry import kind_named
from deniable.survey.law_document import law_document
from deniable.survey.plan_bounds import above_best
from deniable.survey.reading import parse_toml
from deniable.survey.rounds import next_survey
from tests.survey.edition_surveys import EPSILONS, QUESTIONS, every_kind, one_question, several_questions

FILE = Path(__file__).parent / "editions.json"
RELEASED = 1  # the last edition that a release had: it never changes again. Raise it with the release that has the next.
ASKED = ("shares", "means", "vectors", "distributions", "key_value")  # what survey files plan
EDITIONS = range(1, NEWEST_EDITION + 1)


def surveys(edition: int) -> dict[str, str]:
    """Survey files that together have every kind of question."""
    single = {f"{name} {epsilon:g}": one_question(name, epsilon, edition) for name in QUESTIONS for epsilon in EPSILONS}
    whole = {"every": every_kind(8.0, edition), "every, sampled": every_kind(2.0, edition, "sampled")}
    return single | several_questions(edition) | whole


def planned(text: str) -> list[str]:
    """The fingerprint of a survey, and which mechanisms it has."""
    survey = parse_toml(text, "survey.toml")
    return [survey.fingerprint, *(question.mechanism.wire for question in survey.questions)]


def stated() -> dict[str, dict[str, int | None]]:
    """The edition that has each of our candidates first."""
    assert set(families()) == set(OURS), "another package has registered a mechanism"
    every: dict[str, list[Candidate]] = {question: [*candidates(question).values()] for question in ASKED}  # type: ignore[call-overload]
    every |= {"ranges": [MIXED, MERGED], "maps": [*MAPS], "repeated": [*REPEATED]}
    return {question: {each.name: each.since for each in found} for question, found in every.items()}


@cache
def golden() -> dict[str, dict[str, object]]:
    """What the file says, after it was written anew if somebody asks for that; released editions are left as they are."""
    found: dict[str, dict[str, object]] = json.loads(FILE.read_text())
    if "DENIABLE_WRITE_GOLDEN" in os.environ:
        for edition in range(RELEASED + 1, NEWEST_EDITION + 1):
            found[str(edition)] = {name: planned(text) for name, text in surveys(edition).items()}
        found["candidates"] = dict(stated())
        rows = {part: ",\n".join(f'"{name}": {json.dumps(row)}' for name, row in own.items()) for part, own in found.items()}
        FILE.write_text("{\n" + ",\n".join(f'"{part}": {{\n{lines}\n}}' for part, lines in rows.items()) + "\n}\n")
    return found


@pytest.mark.parametrize("edition", EDITIONS)
def test_survey_files_are_planned_as_ever(edition: int) -> None:
    """A later candidate must not change the plan of a file that is there already."""
    expected = golden()[str(edition)]
    assert expected.keys() == surveys(edition).keys()
    for name, text in surveys(edition).items():
        assert planned(text) == expected[name], f"edition {edition}: {name}"


def test_every_candidate_states_its_edition() -> None:
    """Whoever adds a candidate says which edition has it first: one that is not released yet, and writes this file anew."""
    found, expected = stated(), golden()["candidates"]
    assert found == expected
    for rows in found.values():
        assert all(since is None or 1 <= since <= NEWEST_EDITION for since in rows.values())


def test_what_an_edition_is_offered() -> None:
    first, second, never = Candidate("a", dn.Unary), Candidate("b", dn.Unary, since=2), Candidate("c", dn.Unary, since=None)
    every = [first, second, never]
    assert [offered(every, edition) for edition in (None, 1, 2)] == [every, [first], [first, second]]
    assert set(candidates("shares")) - set(candidates("shares", 1)) == {"design, weighted"}
    assert candidates("shares", 2) == candidates("shares") and "optimal" not in candidates("means", 2)
    assert set(candidates("means", 2)) - set(candidates("means", 1)) == {"window"}
    for wrong in (0, NEWEST_EDITION + 1):
        with pytest.raises(dn.InvalidParameter, match="editions 1 to"):
            dn.plan(dn.Categories(["a", "b", "c"]), 1.0, edition=wrong)


def test_a_file_without_the_line_has_the_first_edition() -> None:
    text = one_question("category", 1.0, 1)
    bare, first, second = (
        parse_toml(text.replace("epsilon", f"{line}epsilon", 1), "survey.toml")
        for line in ("", "planner = 1\n", "planner = 2\n")
    )
    assert bare.planner == 1 and "planner" not in bare.to_json() and bare.fingerprint == first.fingerprint
    assert second.planner == 2 and '"planner":2' in second.to_json() and second.contract() != bare.contract()
    again = dn.Survey.from_json(second.to_json())
    assert (again.planner, again.fingerprint) == (2, second.fingerprint)
    assert [question.edition for question in again.questions] == [2]


@pytest.mark.parametrize("wrong", ["0", "3", '"2"', "true", "2.0"])
def test_an_unknown_edition_is_refused_with_what_to_do(wrong: str) -> None:
    text = one_question("category", 1.0, 2).replace("planner = 2", f"planner = {wrong}")
    with pytest.raises(dn.InvalidSurvey) as refused:
        parse_toml(text, "survey.toml")
    said = str(refused.value)
    assert said.startswith("survey.toml, line 4: Unknown edition of the planner.")
    assert "editions 1 to 2" in said and "upgrade deniable" in said


def test_plans_of_a_survey_are_made_by_its_edition() -> None:
    for edition, wires in ((1, ["subset-1", "pckv-direct-1"]), (2, ["weighted-design-1", "pckv-direct-1"])):
        text = every_kind(2.0, edition, left_out=frozenset(QUESTIONS) - {"category", "set"})
        survey = parse_toml(text, "survey.toml")
        assert [question.mechanism.wire for question in survey.questions] == wires
        assert survey.questions[0].how is kind_named("category", edition) and survey.questions[0].how.edition == edition
        shown = dn.plan_survey(survey).explain()
        assert ("planner = 2 under [survey]" in shown) == (edition == 1)
        anew = survey.questions[1].how.mechanism(survey.questions[1].domain, {}, 1.0, 10_000)
        assert anew == survey.questions[1].mechanism


def test_a_set_is_planned_for_frequencies_alone() -> None:
    errors = []
    for edition in EDITIONS:
        (question,) = parse_toml(one_question("set", 1.0, edition), "survey.toml").questions
        errors.append(question.how.error(question.domain, question.mechanism, 10_000))
        answers = [["a", "c"], ["b"], []] * 4000
        mechanism = question.mechanism
        estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(question.answers(answers), dn.SeededCoins(1))))
        (part,) = question.how.parts(estimate)
        assert part.measure == "share" and len(part.values) == 12
        spread = 5.5 * part.standard_error[:4]  # false alarms below 4e-8 for each
        assert (np.abs(part.values[:4] - [1 / 3, 1 / 3, 1 / 3, 0]) < spread).all()
    assert errors[1] < 0.6 * errors[0]


@pytest.mark.parametrize("name", [name for name in QUESTIONS if name != "sparse"])
def test_every_kind_is_certified_counted_and_published(name: str, tmp_path: Path) -> None:
    survey = parse_toml(one_question(name, 2.0, 2).replace("planner", "minimum_reports = 1\nplanner"), "survey.toml")
    assert dn.certify_survey(survey).holds
    (question,) = survey.questions
    law: Any = law_document(survey)["questions"]
    assert "mechanism" in question.spec() and None not in law["q"].get("reads", {}).get("supports", [])
    answers = {"q": question.how.pretend(question.domain, np.random.default_rng(1), 300)}
    messages = survey.randomize_all(answers, 300, dn.SeededCoins(1))
    store = open_store(str(tmp_path / "survey.db"))
    collector = Collector(survey, store)
    counted = collector.take(survey.read(b"".join(messages)))
    assert counted == [Counted.NOW] * 300
    found = results(collector.survey, collector.number, store)
    assert found.people == 300 and (found.records() or name == "text")
    store.close()


def test_tables_rounds_and_permanent_answers(tmp_path: Path) -> None:
    for name, text in several_questions(2).items():
        survey = parse_toml(text, "survey.toml")
        assert survey.planner == 2 and dn.certify_survey(survey).holds, name
        assert {each.edition for question in survey.questions for each in (question, *question.members)} == {2}
        assert dn.plan_survey(survey).questions


TEN = 'kind = "category"\nchoices = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]'
FOUR = 'kind = "ordered"\nlow = 1\nhigh = 4'


@pytest.mark.parametrize("own", ["", '\nmechanism = { mechanism = "weighted-design-1" }'], ids=["together", "apart"])
def test_tables_of_weighted_designs(own: str, tmp_path: Path) -> None:
    text = f"""[survey]\nid = "table"\nepsilon = 2.0\nplanner = 2\nminimum_reports = 1\n
[[question]]\nid = "x"\n{TEN}{own}\n[[question]]\nid = "y"\n{FOUR}{own}\n[[table]]\nquestions = ["x", "y"]\n"""
    survey, people = parse_toml(text, "survey.toml"), 20_000
    wires = {question.mechanism.wire for question in survey.questions}
    assert wires == {"weighted-design-1"} and len(survey.questions) == (2 if own else 1)
    random = np.random.default_rng(2)
    y = random.integers(1, 5, people)
    x = np.where(random.random(people) < 0.5, y, random.integers(0, 10, people))
    answers = {"x": [*np.array(list("abcdefghij"))[x]], "y": y.tolist()}
    store = open_store(str(tmp_path / "survey.db"))
    collector = Collector(survey, store)
    collector.take(survey.read(survey.batch(answers, people, dn.SeededCoins(3), now=0)))
    table = results(collector.survey, collector.number, store).tables[0].table
    store.close()
    assert table is not None and table.n == people
    truth = np.zeros((10, 4))
    np.add.at(truth, (x, y - 1), 1 / people)
    errors = np.sqrt(np.diag(table.covariance())).reshape(table.shares.shape)
    assert (np.abs(table.shares - truth) < 6 * errors).all()  # 40 cells, false alarms below 40 times 2e-9


def test_the_next_round_keeps_the_edition() -> None:
    first = parse_toml(several_questions(2)["rounds"], "survey.toml")
    (question,) = first.questions
    other = parse_toml(several_questions(1)["rounds"], "survey.toml").questions[0]
    assert question.mechanism != other.mechanism  # levels are mixed
    answers = np.random.default_rng(1).integers(0, 101, 3000)
    tally = question.mechanism.tally(question.mechanism.perturb(answers, dn.SeededCoins(1)))
    second = next_survey([(first, {question.id: tally})])
    assert (second.planner, second.round, second.questions[0].mechanism.wire) == (2, 2, "cuts-1")
    assert second.lasting == first.lasting != parse_toml(several_questions(1)["rounds"], "survey.toml").lasting
    assert dn.Survey.from_json(second.to_json()).fingerprint == second.fingerprint


def test_devices_answer_again_and_through_a_relay(tmp_path: Path) -> None:
    survey = parse_toml(several_questions(2)["repeated"], "survey.toml")
    day, moment = 86_400.0, 1_800_000_000.0
    ledger = dn.Ledger(tmp_path / "me.ledger")
    for today in range(2):
        device = dn.Device(survey, ledger, clock=lambda today=today: moment + today * day)  # type: ignore[misc]
        message = device.answer({"mood": "fair", "hours": 7.5, "tools": ["a"], "town": "j"})
        assert [each.reports for each in survey.read(message)] == [1]
    asked = parse_toml(
        every_kind(4.0, 2, left_out=frozenset(QUESTIONS) - {"category", "set", "map", "ranges"}), "survey.toml"
    )
    terms, opener = make_terms(asked, "https://mix.example", 1000, 512)
    answers = {q.id: q.how.pretend(q.domain, np.random.default_rng(1), 1)[0] for q in asked.questions}
    message = asked.randomize(answers)
    assert list(opener.messages(terms.seal(message)[TICKET_BYTES:])) == [message]


def test_the_kinds_of_other_packages_keep_what_they_say() -> None:
    """A kind may plan without editions; then its plan is the same in all of them."""

    class Own(type(kind_named("category"))):  # type: ignore[misc]
        def mechanism(self, domain: object, details: object, epsilon: float, people: int) -> dn.Mechanism:
            return dn.DirectResponse(dn.Categories(["a", "b", "c"]), epsilon)

    own = Own()
    assert own.edition == 1 and own.mechanism(None, {}, 1.0, 10).wire == "direct-1"


def test_the_old_name_says_the_new_one() -> None:
    from deniable.planning.shares import plan_brief_shares

    with pytest.deprecated_call(match=r"plan\(\.\.\., edition=1\)"):
        assert plan_brief_shares(dn.Categories(range(10)), 1.0, 1000).wire == "subset-1"


@pytest.mark.parametrize("edition", [1, 2])
def test_a_map_is_compared_with_the_bound_of_its_rectangles(edition: int) -> None:
    """The plan of a survey states the distance that the planner does: both are about the shares of rectangles."""
    (question,) = parse_toml(one_question("map", 1.0, edition), "map").questions
    ranking = map_options(cast(dn.Domain, question.mechanism.domain), 1.0, 10_000, edition)
    assert above_best(question, 10_000) == pytest.approx(ranking.above(ranking.best), rel=1e-6)
