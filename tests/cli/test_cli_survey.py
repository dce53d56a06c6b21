"""The verbs about surveys, as a person uses them."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import deniable as dn
from deniable.cli.main import main
from tests.servers import Served, served
from tests.surveys import COMMUTE, ONE

pytestmark = [pytest.mark.needs("starlette", "uvicorn"), pytest.mark.long]


def run(*arguments: object, answers: str | None = None, code: int = 0) -> Result:
    result = CliRunner(env={"COLUMNS": "80"}).invoke(main, [str(argument) for argument in arguments], input=answers)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(COMMUTE)
    return path


@pytest.fixture
def collector(file: Path) -> Iterator[Served]:
    with served(file, str(file.with_suffix(".db"))) as running:
        yield running


def test_from_a_file_to_results(file: Path, collector: Served, tmp_path: Path) -> None:
    assert "Hidden until there are 10 reports" in run("estimate", file).output
    assert "nothing to draw yet" in run("estimate", file, "--picture", tmp_path / "early.png", code=2).output
    done = run("simulate", file, "--people", "300", "--url", collector.url, "--seed", "4", "--connections", "8")
    assert "300 of 300 people were counted." in done.output
    shown = run("estimate", file).output
    assert "300 people, epsilon 2 for one person over the whole survey" in shown and "mean" in shown and "bicycle" in shown
    assert run("estimate", file, "--url", collector.url).output == shown
    record = json.loads(run("estimate", file, "--json").stdout)
    assert record["people"] == 300 and record == json.loads(run("estimate", file, "--url", collector.url, "--json").stdout)
    for more in ((), ("--url", collector.url)):
        out, parquet = tmp_path / f"results{len(more)}.csv", tmp_path / f"results{len(more)}.parquet"
        run("estimate", file, "--csv", out, "--parquet", parquet, *more)
        assert len(list(csv.DictReader(out.read_text().splitlines()))) == 6 and parquet.read_bytes()[:4] == b"PAR1"
        run("estimate", file, "--picture", tmp_path / f"results{len(more)}.svg", *more)
        assert "How did you travel today?" in drawn_text(tmp_path / f"results{len(more)}.svg")
    run("backup", file, "--out", tmp_path / "backup")
    assert "Restored commute-2026." in run("restore", file, tmp_path / "backup", "--store", tmp_path / "other.db").output
    again = json.loads(run("estimate", file, "--store", tmp_path / "other.db", "--json").stdout)
    assert again == record


def drawn_text(picture: Path) -> str:
    """The texts in a picture, which are kept as comments beside their outlines."""
    return " ".join(re.findall(r"<!-- (.*?) -->", picture.read_text()))


def test_a_person_answers_once(file: Path, collector: Served) -> None:
    ledger = file.with_name("me.ledger")
    command = ("answer", file, "--url", collector.url, "--ledger", ledger)
    done = run(*command, answers="swim\nbus\nlong\n12.5\nn\n", code=2)
    assert "not one of the choices" in done.output and "not a number" in done.output and "was not sent" in done.output
    assert collector.get("/v1/results")["people"] == 0
    done = run(*command, answers="y\n")
    assert "You have already answered this survey." in done.output and "The collector has counted it." in done.output
    run(*command, "--yes")
    assert collector.get("/v1/results")["people"] == 1
    assert "swim" not in ledger.read_text() and "bus" not in ledger.read_text()
    other = run(
        "answer",
        file,
        "--url",
        collector.url,
        "--ledger",
        file.with_name("x"),
        "--lifetime",
        "1",
        answers="bus\n3\n",
        code=2,
    )
    assert "lifetime limit" in other.output


def test_certify_a_survey(file: Path) -> None:
    done = run("certify", file)
    assert "one person    epsilon 2 of 2, over the whole survey" in done.output and "certificate   holds" in done.output
    record = json.loads(run("certify", file, "--json").stdout)
    assert record["holds"] and set(record["questions"]) == {"mode", "minutes"} and record["budget"] == 2.0


def test_plan_a_survey(file: Path) -> None:
    done = run("plan", file)
    assert "mode" in done.output and "minutes" in done.output
    assert "sampled" in done.output


def test_tokens(file: Path) -> None:
    store = file.with_suffix(".db")
    token = run("token", file, "--role", "results").output.strip()
    submit = run("token", file, "--role", "submit").output.strip()
    assert len(token) > 40 and token != submit
    assert token.encode() not in store.read_bytes()
    running = Served(file, str(store))
    running.process.terminate()
    running.process.wait()
    assert "All tokens to submit have been revoked" in run("token", file, "--role", "submit", "--revoke").output


def test_what_cannot_be(file: Path, tmp_path: Path) -> None:
    assert "There is no database" in run("estimate", file, code=2).output
    assert "line 4" in run("certify", _written(tmp_path, COMMUTE.replace("2.0", "-1")), code=2).output
    for verb in ("simulate", "answer"):
        more = ("--people", "3") if verb == "simulate" else ()
        assert "Is it running?" in run(verb, file, *more, "--url", "http://127.0.0.1:9", code=2).output
    assert "Missing option '--mechanism'" in run("estimate", tmp_path / "x.reports", code=2).output
    wrongs = (
        ("plan", "--epsilon", "1"),
        ("certify", "--epsilon", "1"),
        ("certify", "--values", "3"),
        ("estimate", "--top", "3"),
    )
    for wrong in wrongs:
        assert "No such option" in run(wrong[0], file, *wrong[1:], code=2).output
    assert "Missing option '--epsilon'" in run("plan", "--values", "3", code=2).output
    missing = run("estimate", tmp_path / "none.toml", code=2).output
    assert "none.toml" in missing and "database" not in missing
    (tmp_path / "table.csv").write_text("town\nLyon\n")
    assert "There is no file" in run("restore", file, tmp_path / "none", code=2).output
    assert "must begin with http" in run("estimate", file, "--url", "ftp://x", code=2).output


def test_another_survey_at_the_collector(collector: Served, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(ONE)
    assert "another survey than this file" in run("simulate", other, "--people", "1", "--url", collector.url, code=2).output
    changed = _written(tmp_path, COMMUTE.replace("How did", "How had"))
    assert "has changed since" in run("serve", changed, "--store", tmp_path / "survey.db", code=2).output


def test_results_need_a_token(file: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    from tests.servers import free_port, wait_until_ready

    port = free_port()
    command = [sys.executable, "-u", "-m", "deniable", "serve", str(file), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            token = process.stdout.readline().rpartition(" ")[2].strip()
            process.stdout.readline()
            url = f"http://127.0.0.1:{port}"
            wait_until_ready(url)
            assert "Authorization: Bearer" in run("estimate", file, "--url", url, code=2).output
            assert "Hidden" in run("estimate", file, "--url", url, "--token", token).output
        finally:
            process.terminate()


def _written(folder: Path, text: str) -> Path:
    path = folder / "written.toml"
    path.write_text(text)
    return path


@pytest.mark.needs("pyarrow")
def test_kept_reports_are_counted_question_by_question(tmp_path: Path) -> None:
    """The files that a collector writes, by the survey's own file."""
    path, folder = tmp_path / "survey.toml", tmp_path / "survey.reports"
    path.write_text(COMMUTE)
    folder.mkdir()
    expected: dict[str, dn.Tally] = {}
    for question in dn.Survey.load(path).questions:
        answers = question.answers(question.how.pretend(question.mechanism.domain, np.random.default_rng(1), 50))
        for part in (1, 2):
            reports = question.mechanism.perturb(answers, dn.SeededCoins(part))
            dn.write_reports(folder / f"{question.id}-{part:012d}-{part:012d}.parquet", question.mechanism, reports)
            tally = question.mechanism.tally(reports)
            expected[question.id] = tally + expected[question.id] if part == 2 else tally
    for name, tally in expected.items():
        out = tmp_path / f"{name}.json"
        done = run("aggregate", path, folder, "--question", name, "--out", out)
        assert "from 2 files" in done.output
        assert dn.Tally.from_json(out.read_text()) == tally
    for wrong in ([], ["--question", "age"]):
        refused = run("aggregate", path, folder, *wrong, "--out", tmp_path / "none.json", code=2)
        assert "one of mode, minutes" in refused.output


@pytest.mark.needs("starlette")
def test_serve_says_where_the_pages_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = []
    monkeypatch.setattr("deniable.collector.serve.serve", lambda app, place: places.append(place))
    (tmp_path / "survey.toml").write_text(COMMUTE)
    shown = run("serve", tmp_path / "survey.toml", "--port", "8999", "--allow-origin", "https://example.org").output
    for address in ("http://127.0.0.1:8999/ ", "http://127.0.0.1:8999/results", "http://127.0.0.1:8999/try"):
        assert address in shown
    assert places[0].origins == ("https://example.org",)
