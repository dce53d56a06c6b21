"""`deniable invite`, as those who run a survey and those who answer it use it."""

import csv
from pathlib import Path

import pytest

from deniable.survey import Survey
from tests.command import run
from tests.servers import served
from tests.surveys import ONE

pytestmark = pytest.mark.needs("starlette", "uvicorn", "gmpy2")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(ONE)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as text:
        return list(csv.DictReader(text))


def test_from_keys_to_links(file: Path) -> None:
    assert "any number of times" in run("certify", file).output
    assert "open to everybody" in run("invite", file, "--people", 3, code=2).output
    assert not file.with_suffix(".invitations.csv").exists()
    assert "Only invited people" in run("invite", "keys", file, "--delay", 0).output
    terms = Survey.load(file).invitations
    assert terms is not None and len(terms.keys) == 2 and terms.delay == 0
    certified = run("certify", file).output
    assert "which report is yours" in certified and "any number of times" not in certified
    assert "has keys already" in run("invite", "keys", file, code=2).output
    shown = run("invite", file, "--people", 3, "--url", "https://survey.example/a/").output
    links = file.with_suffix(".invitations.csv")
    made = rows(links)
    assert links.stat().st_mode & 0o777 == 0o600 and file.with_suffix(".db").stat().st_mode & 0o777 == 0o600
    assert len(made) == 3 and all(row["link"].startswith("https://survey.example/a/#invitation=") for row in made)
    assert not any(row["link"].partition("=")[2] in shown for row in made)  # no secret in a terminal
    assert "exists already" in run("invite", file, "--people", 1, code=2).output
    printed = run("invite", file, "--people", 2, "--print-links").output.splitlines()
    assert printed[0] == "id,link" and len(printed) == 3
    run("invite", file, "--people", 1, "--out", file.parent / "more.csv")
    assert "Revoked 1" in run("invite", "revoke", file, made[0]["id"]).output
    assert "2 are unknown" not in run("invite", "revoke", file, "--from", file.parent / "more.csv").output
    assert "note: 1 are unknown" in run("invite", "revoke", file, made[0]["id"]).output
    listed = run("invite", "list", file).output
    assert "unused: 4" in listed and "exchanged: 0" in listed and "revoked: 2" in listed
    assert listed.count(": current") == 1 and listed.count(": reserve") == 1
    assert "is retired" in run("invite", "rotate", file).output
    assert "no key in reserve" in run("invite", "rotate", file, code=2).output
    assert "Revoked 4" in run("invite", "revoke", file, "--unused").output
    assert "Give either" in run("invite", "revoke", file, code=2).output
    assert "no #" in run("invite", file, "--people", 1, "--url", "https://x/#a", code=2).output


def test_an_invited_person_answers_once(file: Path) -> None:
    run("invite", "keys", file, "--delay", 0)
    run("invite", file, "--people", 1)
    link = rows(file.with_suffix(".invitations.csv"))[0]["link"]
    with served(file, str(file.with_suffix(".db"))) as collector:
        answering = ["answer", file, "--url", collector.url, "--yes"]
        ledgers = [("--ledger", file.parent / f"{name}.ledger") for name in ("mine", "other", "nobody")]
        shown = run(*answering, "--invitation", link, *ledgers[0], answers="Nice\n").output
        assert "exchanged for a token" in shown and "has counted it" in shown
        again = run(*answering, "--invitation", link, *ledgers[1], answers="Nice\n", code=2).output
        assert "was exchanged on another device" in again
        assert "for invited people" in run(*answering, *ledgers[2], answers="Nice\n", code=2).output
        assert (
            "it cannot be simulated" in run("simulate", file, "--people", 3, "--url", collector.url, "--yes", code=2).output
        )
    assert "exchanged: 1" in run("invite", "list", file).output
