"""What a survey may cost, in words; and what a ledger says was spent."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from deniable.survey.statement import statement, surest
from tests.surveys import COMMUTE, ONE, SAMPLED, SPARSE, survey


def test_how_sure_anybody_can_become() -> None:
    assert surest(Fraction(3), Fraction(1, 2)) == 0.75
    assert surest(Fraction(1), Fraction(1, 10)) == 0.1
    assert surest(Fraction(3), Fraction(1, 100)) == 0.0295  # 3/102 = 0.02941..., rounded up


@pytest.mark.parametrize("text", [ONE, COMMUTE, SAMPLED])
def test_a_statement_names_everything_once_for_both_readers(text: str) -> None:
    asked = survey(text)
    words = asked.statement()
    assert words.startswith("For you\n") and "\nFor a regulator\n" in words
    assert asked.fingerprint in words and f"budget epsilon {asked.epsilon:g}" in words
    for question in asked.questions:
        assert f"  - {question.id}: epsilon" in words
    odds = asked.loss().odds
    assert odds is not None
    for before in (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)):
        assert f"- from {100 * float(before):g} % to at most {100 * surest(odds, before):.4g} %" in words


def test_a_certificate_adds_the_worst_inference() -> None:
    found = dn.certify_survey(survey(ONE))
    for part in ("strongest evidence on town: report ", "proved from the law that devices run"):
        assert part in found.statement()
    with pytest.raises(dn.InvalidParameter):
        statement(survey(COMMUTE), found.questions)


def test_what_rests_on_a_theorem_says_so() -> None:
    found = dn.certify_survey(survey(SPARSE)).statement()
    assert "by a published theorem" in found and "proved from the law that devices run" not in found


def test_open_answers_are_named(tmp_path: Path) -> None:
    text = ONE + 'sensitive = ["Nice"]\n'
    words = survey(text).statement()
    assert "In town, only the sensitive answers are protected" in words
    path = tmp_path / "survey.toml"
    path.write_text(text)
    shown = CliRunner().invoke(main, ["certify", str(path)])
    assert shown.exit_code == 0 and "For a regulator" in shown.stdout
    record = json.loads(CliRunner().invoke(main, ["certify", str(path), "--json"]).stdout)
    assert record["statement"].startswith("For you\n")


def test_a_ledger_holds_exact_odds_of_each_question(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    assert dn.Ledger(path).loss() is None and "No survey has been answered" in dn.Ledger(path).statement()
    asked = survey(ONE)
    dn.Device(asked, path).answer({"town": "Nice"})
    ledger = dn.Ledger(path, lifetime=5.0)
    entry = ledger.entry(asked.id)
    assert entry is not None and entry.questions == {"town": str(asked.loss().odds)}
    assert entry.loss().odds == asked.loss().odds
    total = ledger.loss()
    assert total is not None and total.odds == asked.loss().odds and total.unit == "one person over 1 survey"
    words = ledger.statement()
    assert f"{asked.id} (kept): epsilon 1 of 1, one person over the whole survey" in words
    assert "of at most 5 in a lifetime" in words and "Nice" not in words


def test_a_sampled_survey_costs_what_was_asked(tmp_path: Path) -> None:
    asked, path = survey(SAMPLED), tmp_path / "ledger.json"
    device = dn.Device(asked, path)
    answers = {question.id: question.mechanism.domain.answer(0) for question in asked.questions}
    device.answer(answers)
    entry = dn.Ledger(path).entry(asked.id)
    assert entry is not None and set(entry.questions) == {question.id for question in asked.part(device.part)}


def test_a_ledger_of_an_earlier_release_is_read(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    old = {"fingerprint": "00", "epsilon": 1.0, "message": "00", "state": "sent"}
    path.write_text(json.dumps({"format": "deniable ledger 1", "surveys": {"old": old}}))
    ledger = dn.Ledger(path)
    loss = ledger.loss()
    assert loss is not None and loss.odds == dn.odds_below(1.0) and ledger.spent() == 1.0


def test_a_survey_that_promises_nothing_is_not_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = survey(ONE)
    monkeypatch.setattr(type(asked.questions[0].mechanism), "loss", lambda self: dn.PrivacyLoss(None))
    with pytest.raises(dn.InvalidParameter):
        dn.Device(asked, tmp_path / "ledger.json").answer({"town": "Nice"})
    assert not (tmp_path / "ledger.json").exists()
    assert "can prove some of your answers" in asked.statement() and "unbounded" in asked.statement()
