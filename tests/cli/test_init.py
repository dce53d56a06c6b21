"""`deniable init`: what it writes can be served, answered and estimated with the commands that it prints."""

import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import deniable as dn
from tests.command import run
from tests.servers import free_port, wait_until_ready
from tests.waits import PATIENCE


def test_three_answers_make_a_survey(tmp_path: Path) -> None:
    asked = run("init", tmp_path / "new", answers='Ärger "hier"?\nja, sehr, nein\n400\n').output
    assert asked.count("?") >= 3 and "Next: deniable serve" in asked
    survey = dn.Survey.load(tmp_path / "new" / "survey.toml")
    assert survey.questions[0].ask == 'Ärger "hier"?' and survey.people == 400 and survey.id == "rger-hier"
    rows = list(csv.reader((tmp_path / "new" / "answers.csv").read_text(encoding="utf-8").splitlines()))
    assert rows[0] == [survey.questions[0].id] and len(rows) == 201
    assert {row[0] for row in rows[1:]} == {"ja", "sehr", "nein"}


def test_flags_ask_nothing_and_no_file_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = ("--ask", "好吗", "--choice", "好", "--choice", "a, b", "--people", "9", "--epsilon", "0.5")
    assert run("init", "a", *given).output.startswith("Wrote")
    survey = dn.Survey.load("a/survey.toml")
    assert (survey.id, survey.epsilon, survey.minimum_reports) == ("survey", 0.5, 1)
    before = Path("a/survey.toml").read_bytes()
    assert "exists already" in run("init", "a", "--yes", code=2).output
    assert Path("a/survey.toml").read_bytes() == before
    for bad in (("--choice", "only"), ("--epsilon", "-1"), ("--choice", "same", "--choice", "same")):
        assert "error: " in run("init", "b", "--yes", *bad, code=2).output
        assert not Path("b").exists()


@pytest.mark.needs("starlette", "uvicorn")
def test_the_commands_it_prints_work_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    following = re.search(r"Next: deniable (serve \S+)", run("init", "--yes").output)
    assert following is not None
    port = free_port()
    command = [sys.executable, "-m", "deniable", *shlex.split(following[1]), "--port", str(port)]
    nowhere = subprocess.DEVNULL
    lines = re.findall(r"^    deniable (.+)$", Path("README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert lines[0] == following[1] and len(lines) == 6
    with subprocess.Popen(command, stdout=nowhere, stderr=nowhere) as process:
        try:
            wait_until_ready(f"http://127.0.0.1:{port}", process)
            for line in lines[1:]:
                here = ["--url", f"http://127.0.0.1:{port}"] if line.startswith("simulate") else []
                shown = run(*shlex.split(line), *here).output
                assert "walk" in shown or not line.startswith("estimate")
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)
