"""The law of a whole message: one program of all questions, and leaks between questions, none of which is certified."""

import inspect
import os
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core import DRAWS, Node, Program
from deniable.errors import InvalidLaw, NotCertifiable
from deniable.privacy.together import independent
from deniable.survey.law import MessageLaw
from tests.surveys import COMMUTE, KINDS, SAMPLED, SPARSE, several, survey
from tests.vector_surveys import SURVEYS

# One program


@pytest.mark.parametrize("name", SURVEYS)
def test_one_program_gives_the_bytes_of_its_questions_one_by_one(name: str) -> None:
    text, answers, _ = SURVEYS[name]
    asked = dn.Survey.from_json(text)
    for people in (1, 3):
        given = [
            question.gathered([member.answers([answers.get(member.id)] * people) for member in question.members])
            for question in asked.questions
        ]
        together = asked.law().run(given, dn.SeededCoins(5))
        coins = dn.SeededCoins(5)
        for question, own, reports in zip(asked.questions, given, together, strict=True):
            assert question.mechanism.perturb(own, coins).pack() == reports.pack()


@pytest.mark.parametrize("name", SURVEYS)
def test_questions_share_no_draw_and_names_say_whose_they_are(name: str) -> None:
    asked = dn.Survey.from_json(SURVEYS[name][0])
    (piece,) = asked.law().pieces
    program = piece.program
    assert program is not None and Program.from_json(program.to_json()) == program
    assert [group.names for group in independent(program, piece.fields)] == [(q.id,) for q in asked.questions]
    assert len(program.nodes) == sum(len(question.mechanism.law.nodes) for question in asked.questions)
    for _, node in program.codes:
        assert node.params[0].split(": ")[0] in {question.id for question in asked.questions}
    assert [name for name, _ in program.report] == [field for fields in piece.fields.values() for field in fields]


def test_a_device_runs_the_program_and_no_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = dn.Survey.from_json(SURVEYS["kinds"][0])
    asked.law().program  # noqa: B018 (traced here)
    for question in asked.questions:
        monkeypatch.setattr(type(question.mechanism), "randomize", None)
        monkeypatch.setattr(type(question.mechanism), "perturb", dn.Mechanism.perturb)
    assert asked.read(asked.randomize(SURVEYS["kinds"][1]))


def test_a_question_that_is_no_program_runs_in_its_turn() -> None:
    asked = survey(SPARSE)
    pieces = asked.law().pieces
    assert [(piece.program is None, [q.id for q in piece.questions]) for piece in pieces] == [
        (True, ["films"]),
        (False, ["sex"]),
        (True, ["genes"]),
    ]
    assert asked.law().program is None
    shown = str(dn.certify_survey(asked))
    assert "one program, 4 operations, and code for 2 questions; law " in shown and "theorem" in shown


def test_a_law_that_is_too_large_for_one_program_is_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = survey(KINDS).law().fingerprint
    monkeypatch.setattr("deniable.survey.law.MOST_NODES", 20)
    law = MessageLaw(survey(KINDS).questions)
    assert len(law.programs) > 1 and sum(len(piece.questions) for piece in law.pieces) == 6
    assert law.fingerprint != whole


def test_fields_that_would_have_one_name_are_in_two_programs() -> None:
    first, second = survey(several(2, 3)).questions
    renamed = [dn.Question(name, "", q.kind, q.details, 1.0, q.mechanism) for name, q in (("a", first), ("a", second))]
    assert len(MessageLaw(tuple(renamed)).pieces) == 2


def test_an_encoder_cannot_reach_the_codes_of_another_question() -> None:
    class Two(dn.Categories):
        def encode(self, values: Any) -> Any:
            return (self.index(values), np.zeros(len(values), np.int64))

    second = survey(several(2, 3)).questions[1]
    law = MessageLaw((dn.Question("a", "", "category", {}, 1.0, dn.DirectResponse(Two([0, 1]), 1.0)), second))
    with pytest.raises(InvalidLaw, match="a different number of codes"):
        law.run([[0], [0]], dn.SeededCoins(1))


# Ids and parts


def test_ids_and_parts_are_drawn_where_no_answer_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(inspect.signature(dn.Survey.draw_headers).parameters) == {"self", "people", "coins", "now", "parts"}
    order: list[str] = []
    drawn, answered = os.urandom, dn.Question.answers

    def urandom(size: int) -> bytes:
        order.append("id")
        return drawn(size)

    def answers(self: dn.Question, values: Any) -> Any:
        order.append("answer")
        return answered(self, values)

    monkeypatch.setattr(os, "urandom", urandom)
    monkeypatch.setattr(dn.Question, "answers", answers)
    asked = survey(SAMPLED)
    asked.randomize_all({"a": ["yes"] * 3, "b": [3] * 3, "c": [0.5] * 3}, 3, dn.SeededCoins(1))
    assert order[:3] == ["id"] * 3 and set(order[3:]) == {"answer"}


def test_headers_are_the_same_whatever_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda size: bytes(range(size)))
    cases: list[tuple[str, list[dict[str, object]]]] = [
        (SAMPLED, [{"a": "yes", "b": 0, "c": -1.5}, {"a": None, "b": 16, "c": 1.5}]),
        (COMMUTE, [{"mode": "bus", "minutes": 1}, {"mode": "none of these", "minutes": 120}]),
    ]
    for text, answers in cases:
        messages = [survey(text).randomize(each, dn.SeededCoins(2), 0.0) for each in answers]
        assert len({message[:56] for message in messages}) == 1


# Proofs


def test_a_survey_of_twenty_questions_is_proved() -> None:
    asked = survey(several(*[2, 5, 30, 200, 1000] * 4, epsilon=20.0))
    found = dn.certify_survey(asked)
    assert found.holds
    assert found.loss.odds == asked.loss().odds


def test_the_worst_part_of_a_sampled_survey_has_the_largest_odds() -> None:
    text = several(*[2, 3, 4, 5, 6, 7] * 3, epsilon=3.0).replace(
        "[[question]]", 'budget = "sampled"\nsample = 9\n[[question]]', 1
    )
    found = dn.certify_survey(survey(text))
    assert found.holds
    largest = sorted((each.loss.odds or Fraction(0) for each in found.questions), reverse=True)[:9]
    assert found.loss.odds == np.prod(np.array(largest, object))


# Leaks between questions. The first two nodes are the answers a (0, 1) and b (0 to n - 1)

ODDS = {"a": Fraction(3), "b": Fraction(2)}
Leak = tuple[list[Node], dict[str, list[tuple[str, int]]]]


def law_of_two(n: int, rest: list[Node], report: Mapping[str, int]) -> Program:
    """Honest reports on two questions, nodes 4 and 7, and what else a program does."""
    honest = [
        Node("code", (), ("a: answer", 0, 1)),
        Node("code", (), ("b: answer", 0, n - 1)),
        Node("split", (), (Fraction(3, 4), 1, 1)),
        Node("add", (0, 2)),
        Node("mod", (3,), (2,)),
        Node("split", (), (Fraction(2, n + 1), 1, n - 1)),
        Node("add", (1, 5)),
        Node("mod", (6,), (n,)),
    ]
    return Program((*honest, *rest), tuple(report.items()))


def loss_of(program: Program) -> Fraction | None:
    """The product of the bounds of what is independent; None where a report can rule out answers."""
    reports: dict[str, list[str]] = {}
    for name, _ in program.report:
        reports.setdefault(name.split(".")[0], []).append(name)
    odds = [group.bound().odds for group in independent(program, reports)]
    return None if None in odds else np.prod(np.array(odds, object))


def true_loss(program: Program) -> Fraction | None:
    """The same from the definition: all answers, all outcomes of all draws."""
    sizes = [kind.size for kind in program.types]
    free = [place for place, node in enumerate(program.nodes) if node.op in DRAWS]
    laws: list[dict[tuple[int, ...], Fraction]] = []
    for codes in np.ndindex(*(sizes[place] for place, _ in program.codes)):
        law: dict[tuple[int, ...], Fraction] = {}
        for drawn in np.ndindex(*(sizes[place] for place in free)):
            given = dict(zip(free, drawn, strict=True)) | {
                place: c for (place, _), c in zip(program.codes, codes, strict=True)
            }
            values: list[int] = []
            chance = Fraction(1)
            for place, node in enumerate(program.nodes):
                if place in free:
                    p, first, second = node.params
                    chance *= p / first if given[place] < first else (1 - p) / second
                values.append(
                    given[place] if place in given else VALUE[node.op](*(values[a] for a in node.args), *node.params)
                )
            report = tuple(values[place] for _, place in program.report)
            law[report] = law.get(report, Fraction(0)) + chance
        laws.append(law)
    worst = Fraction(1)
    for report in {report for law in laws for report in law}:
        chances = [law.get(report, Fraction(0)) for law in laws]
        if not min(chances):
            return None
        worst = max(worst, max(chances) / min(chances))
    return worst


VALUE: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "mod": lambda a, by: a % by,
    "eq": lambda a, b: int(a == b),
    "const": lambda value: value,
    "where": lambda condition, a, b: a if condition else b,
}
HONEST = {"a.value": 4, "b.value": 7}
ORDER = [Node("const", (), (0,)), Node("eq", (0, 8)), Node("where", (9, 4, 7)), Node("where", (9, 7, 4))]
MOD, FRESH = Node("mod", (8,), (2,)), Node("split", (), (Fraction(3, 4), 1, 1))
HASH = [Node("const", (), (7,)), Node("mul", (0, 8)), Node("add", (9, 1)), Node("mod", (10,), (5,))]
AGAIN = [FRESH, Node("add", (0, 8)), Node("mod", (9,), (2,))]
LEAKS: dict[str, tuple[Program, Fraction | None]] = {
    "honest": (law_of_two(3, [], HONEST), Fraction(6)),
    "one draw for two questions": (law_of_two(2, [Node("add", (1, 2)), MOD], HONEST | {"b.value": 9}), None),
    "the draw of another question is sent too": (law_of_two(3, [], HONEST | {"b.draw": 2}), None),
    "a bit of two draws is sent": (law_of_two(2, [Node("add", (2, 5)), MOD], HONEST | {"id.low": 9}), None),
    "the id is a hash of the answers": (law_of_two(3, HASH, HONEST | {"id.low": 11}), None),
    "the id is a hash of answer and draw": (law_of_two(2, [Node("add", (0, 5)), MOD], HONEST | {"id.low": 9}), None),
    "an answer in another field": (law_of_two(3, [], HONEST | {"b.more": 0}), None),
    "an answer added to a report": (law_of_two(2, [Node("add", (7, 0)), MOD], HONEST | {"b.value": 9}), Fraction(6)),
    "a report twice, with fresh draws": (law_of_two(2, AGAIN, HONEST | {"b.more": 10}), Fraction(18)),
    "an order that depends on an answer": (law_of_two(2, ORDER, {"a.value": 10, "b.value": 11}), Fraction(6)),
    "an order that shows in a report": (law_of_two(3, ORDER, {"a.value": 10, "b.value": 11}), None),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_between_questions_gets_its_true_loss(name: str) -> None:
    program, expected = LEAKS[name]
    assert loss_of(program) == true_loss(program) == expected


@pytest.mark.parametrize("name", [name for name in LEAKS if name != "honest"])
def test_no_such_program_passes_for_the_law_of_a_survey(name: str) -> None:
    from deniable.survey.certificate import check_piece
    from deniable.survey.law import Piece

    program = LEAKS[name][0]
    asked = survey(several(2, max(2, program.types[1].size)))
    (piece,) = asked.law().pieces
    named = tuple(
        (field.replace("a.", "q0.", 1) if field[0] == "a" else field.replace("b.", "q1.", 1), place)
        for field, place in program.report
    )
    assert isinstance(piece, Piece)
    with pytest.raises(NotCertifiable):
        check_piece(piece, Program(program.nodes, named))


class SharedStream(dn.Survey):
    """Every question is randomized with the same coins."""

    def randomize_all(self, answers: Any, people: int, coins: Any = None, now: Any = None, parts: Any = None) -> list[bytes]:
        return [b"".join(q.mechanism.perturb([answers[q.id][0]], dn.SeededCoins(1)).pack() for q in self.questions)]


class HashedId(dn.Survey):
    """The id is a hash of the answers."""

    def randomize(self, answers: Any, coins: Any = None, now: Any = None, part: Any = None) -> bytes:
        message = super().randomize(answers, coins, now, part)
        return message[:24] + hash(str(answers)).to_bytes(16, "little", signed=True) + message[40:]


class Reordered(dn.Survey):
    """The questions that are asked depend on an answer."""

    def _rows(self, bits: Any, answers: Any, places: Any, coins: Any) -> Any:
        rows = super()._rows(bits, answers, places, coins)
        return rows[::-1] if answers["q0"][0] == 1 else rows


@pytest.mark.parametrize("family", [SharedStream, HashedId, Reordered])
def test_a_survey_with_code_of_its_own_is_not_certified(family: type[dn.Survey]) -> None:
    plain = survey(several(2, 2))
    fields = {name: getattr(plain, name) for name in plain.__dataclass_fields__}
    with pytest.raises(NotCertifiable, match="custom code"):
        dn.certify_survey(family(**fields))
    patched = dn.Survey(**fields)
    object.__setattr__(patched, "randomize", lambda answers: b"")
    with pytest.raises(NotCertifiable, match="custom code"):
        dn.certify_survey(patched)


KEPT: list[Any] = []


class Keeping(dn.DirectResponse):
    """Keeps the answer for the next question."""

    wire = "keeping-1"

    def randomize(self, truth: Any, coins: dn.Coins) -> Any:
        KEPT.append(truth)
        return super().randomize(truth, coins)


class Sending(dn.DirectResponse):
    """Sends the answer that the question before it kept."""

    wire = "sending-1"

    def randomize(self, truth: Any, coins: dn.Coins) -> Any:
        super().randomize(truth, coins)
        return {"value": KEPT[-1]}


class OwnLaw(dn.DirectResponse):
    """Shows a law that it does not run."""

    wire = "own-law-1"
    law = dn.DirectResponse(dn.Categories([0, 1]), 0.5).law


def asking(first: dn.Mechanism, second: dn.Mechanism) -> dn.Survey:
    """A survey of two questions with these mechanisms."""
    plain = survey(several(2, 2))
    made = [(q, m) for q, m in zip(plain.questions, (first, second), strict=True)]
    questions = tuple(dn.Question(q.id, q.ask, q.kind, q.details, q.weight, mechanism) for q, mechanism in made)
    fields = {name: getattr(plain, name) for name in plain.__dataclass_fields__} | {"questions": questions}
    return dn.Survey(**fields)


def test_a_question_cannot_send_the_answer_to_another() -> None:
    yes = dn.Categories([0, 1])
    asked = asking(Keeping(yes, 0.5), Sending(yes, 0.5))
    with pytest.raises(NotCertifiable, match="value of another run"):
        dn.certify_survey(asked)
    with pytest.raises(InvalidLaw, match="value of another run"):
        asked.randomize({"q0": 0, "q1": 1})


def test_a_law_that_does_not_run_is_no_law() -> None:
    yes = dn.Categories([0, 1])
    with pytest.raises(NotCertifiable, match="`law` of its own"):
        dn.certify_survey(asking(OwnLaw(yes, 0.5), dn.DirectResponse(yes, 0.5)))
