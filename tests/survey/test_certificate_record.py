"""Certificates that are handed on: what they hold, and that a changed one is refused."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.core import Program
from deniable.privacy.rules import RULES as PROOFS
from deniable.survey import certificate_record as records
from deniable.survey.certificate_page import page
from deniable.survey.certificate_record import certificate_record
from deniable.survey.verification import verify
from tests.command import run
from tests.surveys import COMMUTE, KINDS, SAMPLED, SPARSE, several, survey
from tests.vector_surveys import SURVEYS

Record = dict[str, Any]


def made(text: str) -> Record:
    record: Record = json.loads(json.dumps(certificate_record(dn.certify_survey(survey(text)))))
    return record


@pytest.fixture(scope="module")
def commute() -> Record:
    return made(COMMUTE)


@pytest.mark.parametrize("text", [COMMUTE, KINDS, SAMPLED, SPARSE, several(2, 300, 4)])
def test_an_honest_certificate_is_valid(text: str) -> None:
    record = made(text)
    found = verify(json.dumps(record))
    assert found.genuine and len(found.checked) == 3 and record["holds"]
    shown = page(record, survey(text).law())
    assert verify(shown).genuine and "<script src" not in shown and "http" not in shown.replace("http-equiv", "")


@pytest.mark.parametrize("name", SURVEYS)
def test_every_kind_of_survey_is_certified_and_verified(name: str) -> None:
    asked = dn.Survey.from_json(SURVEYS[name][0])
    found = verify(json.dumps(certificate_record(dn.certify_survey(asked))))
    assert found.genuine, found.fault


def test_it_holds_date_release_fingerprints_programs_and_steps(commute: Record) -> None:
    asked = survey(COMMUTE)
    assert commute["date"].count("-") == 2 and commute["release"] == records.release()
    assert commute["fingerprint"] == asked.fingerprint and commute["law"] == asked.law().fingerprint
    (only,) = commute["programs"]
    assert Program.from_json(json.dumps(only["program"])) == asked.law().program
    steps = "\n".join(commute["steps"])
    assert (
        "minutes: any report is at most 2.71828183 times as likely" in steps and "Rules used: selection (a random" in steps
    )
    assert "mode: a report either discloses an answer that is not sensitive" in steps
    assert "published theorem" in "\n".join(made(SPARSE)["steps"])
    assert "A person is asked 2 of 3 questions." in "\n".join(made(SAMPLED)["steps"])


def test_every_rule_is_explained() -> None:
    assert {rule.__name__.replace("_", " ") for rule in PROOFS} <= set(records.RULES)


def with_odds(record: Record) -> None:
    record["questions"]["minutes"]["odds"] = "2"


def other_chance(record: Record) -> None:
    """The first toss of the program, which then lies about its probability."""
    nodes = record["programs"][0]["program"]["nodes"]
    toss = next(node for node in nodes if node[0] in ("toss", "split"))
    toss[2] = "1/2"


def other_chance_and_fingerprint(record: Record) -> None:
    other_chance(record)
    first = record["programs"][0]
    first["fingerprint"] = record["law"] = Program.from_json(json.dumps(first["program"])).fingerprint


def shared_draw(record: Record) -> None:
    """A field of one question that is made of the draws of another."""
    report = record["programs"][0]["program"]["report"]
    report[0][1] = report[1][1]


CHANGES: dict[str, tuple[Callable[[Record], object], str]] = {
    "epsilon": (lambda r: r.update(epsilon=1.0), "states epsilon 1.0; the proof gives 1.99999"),
    "odds of all": (lambda r: r.update(odds="2"), 'states odds "2"; the proof gives'),
    "odds of a question": (with_odds, "states odds of 2 for 'minutes'; the proof of its program gives"),
    "odds of an open question": (
        lambda r: r["questions"]["mode"].update(odds="2"),
        "states odds of 2 for 'mode'; the proof of its program gives",
    ),
    "budget": (lambda r: r.update(budget=9.0), "states budget 9.0"),
    "verdict": (lambda r: r.update(holds=False), "states holds false; the proof gives true"),
    "a verdict of another kind": (lambda r: r.update(holds=1), "states holds 1; the proof gives true"),
    "an epsilon that is no number": (lambda r: r.update(epsilon=float("nan")), "states epsilon NaN"),
    "an epsilon beyond all numbers": (lambda r: r.update(epsilon=10**400), "changed: its epsilon is not"),
    "a figure as text": (lambda r: r.update(budget="2.0"), 'states budget "2.0"'),
    "a name that Python knows": (lambda r: r.update(__class__="x"), "missing or unexpected entries: __class__"),
    "a family of one's own": (
        lambda r: r["asked"]["question"][0]["mechanism"].update(mechanism="leak-1"),
        "cannot be right",
    ),
    "a lone surrogate": (lambda r: r["asked"]["question"][0].update(ask="\ud800"), "One of them was changed"),
    "proof": (lambda r: r["questions"]["mode"].update(proof="theorem"), "its questions are not what the proof gives"),
    "rules": (lambda r: r["questions"]["minutes"].update(rules=[]), "its questions are not"),
    "statement": (lambda r: r.update(statement="All is well."), "statement"),
    "a step": (lambda r: r["steps"].pop(), "its steps are not what the proof gives"),
    "law": (lambda r: r.update(law="0" * 32), "states law"),
    "survey": (lambda r: r["asked"]["question"][0].update(ask="Really?"), "One of them was changed"),
    "epsilon of the survey": (lambda r: r["asked"]["survey"].update(epsilon=1.0), "cannot be right"),
    "fingerprint": (lambda r: r.update(fingerprint="0" * 32), "One of them was changed"),
    "a probability": (other_chance, "does not have the fingerprint that is stated"),
    "a probability with its fingerprint": (other_chance_and_fingerprint, "is not the law of the survey in it"),
    "a field": (shared_draw, "fingerprint"),
    "an operation": (lambda r: r["programs"][0]["program"]["nodes"].append(["leak", []]), "no operation 'leak'"),
    "no program": (lambda r: r.update(programs=[]), "does not have the programs"),
    "fields of questions": (lambda r: r["programs"][0]["questions"].update(mode=[]), "is not the law"),
    "a missing part": (lambda r: r.pop("questions"), "damaged"),
    "a part of the wrong kind": (lambda r: r.update(programs=7), "damaged"),
    "a part too many": (lambda r: r.update(signature="trust me"), "missing or unexpected entries: signature"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_certificate_is_not_valid(name: str, commute: Record) -> None:
    change, why = CHANGES[name]
    record = copy.deepcopy(commute)
    change(record)
    found = verify(json.dumps(record))
    assert not found.genuine and why in found.fault, found.fault


def test_a_page_that_says_something_else_is_not_valid(commute: Record) -> None:
    shown = page(commute, survey(COMMUTE).law())
    found = verify(shown.replace("discloses at most epsilon 2.", "discloses at most epsilon 0.1."))
    assert not found.genuine and "does not match the data in it" in found.fault


def test_another_release_may_use_other_words(commute: Record) -> None:
    record = {**commute, "release": "0.1", "statement": "In other words."}
    assert verify(json.dumps(record)).genuine
    assert "were not checked" in verify(page(record, survey(COMMUTE).law())).checked[-1]
    assert not verify(json.dumps({**record, "epsilon": 1.0})).genuine


def test_nothing_is_said_twice(commute: Record) -> None:
    """Of two values under one name some readers take the first and others the last, so that one may show another loss."""
    text = json.dumps(commute)
    for twice in (
        text.replace('"epsilon"', '"epsilon": 0.1, "epsilon"', 1),
        text.replace('{"nodes"', '{"nodes": 1, "nodes"', 1),
    ):
        with pytest.raises(dn.InvalidParameter, match="not a certificate"):
            verify(twice)


def test_only_a_page_has_a_certificate_in_it(commute: Record) -> None:
    """Else a text could say anything around a certificate that is right, and be found to be right."""
    other = page({**commute, "release": "0.1"}, survey(COMMUTE).law())
    assert verify(other).genuine and "Its words" in verify(other).checked[2]
    with pytest.raises(dn.InvalidParameter, match="not a certificate"):
        verify('{"epsilon": 0.1}' + other)


def test_html_in_a_survey_is_text(commute: Record) -> None:
    text = COMMUTE.replace("How did you travel today?", "</script><script>alert(1)</script>")
    shown = page(made(text.replace('id = "commute-2026"', 'id = "commute-2026"\ntitle = "<b>&"')), survey(text).law())
    assert "<script>alert" not in shown and "<b>" not in shown and shown.count("</script>") == 1


def test_from_the_terminal(tmp_path: Path) -> None:
    file, certificate, html = (tmp_path / name for name in ("survey.toml", "certificate.json", "certificate.html"))
    file.write_text(COMMUTE)
    certificate.write_text(run("certify", file, "--json").stdout)
    done = run("verify", certificate).output
    assert "one person    epsilon 2 of 2 (proved)" in done and "valid, and the promise holds" in done
    assert json.loads(run("verify", certificate, "--json").stdout)["genuine"] is True
    assert f"deniable verify {html}" in run("certify", file, "--html", html).output
    assert "already" in run("certify", file, "--html", html, code=2).output
    assert json.loads(run("certify", file, "--html", html, "--json", "--force").stdout)["holds"]
    assert "The text of the page matches the data in it." in run("verify", html).output
    record = json.loads(certificate.read_text())
    certificate.write_text(json.dumps({**record, "epsilon": 0.5}))
    done = run("verify", certificate, code=1).output
    assert "This certificate is not valid. The certificate states epsilon 0.5; the proof gives 1.99999" in done
    broken = json.loads(run("verify", certificate, "--json", code=1).stdout)
    assert broken["genuine"] is False and "states epsilon 0.5" in broken["fault"]


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1]", b"null", b'{"format": "deniable survey 1"}', b"\xff\xfe", b"[" * 10**5]
)
def test_what_is_no_certificate(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_bytes(content)
    assert "not a certificate" in run("verify", file, code=2).output
    assert "cannot be read" in run("verify", tmp_path / "nothing.json", code=2).output


def test_a_proof_says_how_far_it_is() -> None:
    heard: list[float] = []
    dn.certify_survey(survey(COMMUTE), heard.append)
    assert heard == [0.5, 1.0]
