"""The verbs about surveys, as a person uses them."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from deniable.collector.tokens import hash_of
from tests.command import run
from tests.servers import Served, free_port, served
from tests.surveys import COMMUTE, ONE
from tests.waits import running

pytestmark = [pytest.mark.needs("starlette", "uvicorn"), pytest.mark.long]


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
    command = ("simulate", file, "--people", "300", "--url", collector.url, "--seed", "4", "--connections", "8")
    asked = run(*command, code=2).output
    assert "300 made-up people like real ones" in asked and "Nothing was sent" in asked
    assert collector.get("/v1/results")["people"] == 0
    done = run(*command, "--yes")
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
    submit = run("token", "create", file, "--role", "submit", "--name", "app", "--expires", "90d").output.strip()
    assert len(token) > 40 and token != submit
    assert token.encode() not in store.read_bytes()
    shown = run("token", "list", file).output
    assert "results-1" in shown and "app" in shown and "valid" in shown and token not in shown and submit not in shown
    rotated = run("token", "rotate", file, "app", "--overlap", "2d")
    assert len(rotated.stdout.strip()) > 40 and "for 2d more" in rotated.stderr
    old = hash_of(submit).hex()[:8]
    assert f"The submit token app ({old}) has been revoked." in run("token", "revoke", file, old).output
    assert "All tokens to submit have been revoked (1)." in run("token", file, "--role", "submit", "--revoke").output
    assert run("token", "list", file).output.count("revoked") == 2
    assert "Missing option '--role'" in run("token", file, code=2).output
    assert "not a duration" in run("token", file, "--role", "submit", "--expires", "soon", code=2).output
    assert "Give the name" in run("token", "revoke", file, code=2).output
    with served(file, str(store)) as collector:  # submitting was closed once, and stays closed
        answers = run("answer", file, "--url", collector.url, "--yes", answers="bus\n3\n", code=2).output
        assert "Authorization: Bearer" in answers


def test_a_store_from_a_file_or_the_environment(file: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.write_text(f"{tmp_path / 'elsewhere.db'}\n")
    run("token", file, "--role", "submit", "--store-file", place)
    assert (tmp_path / "elsewhere.db").is_file() and not file.with_suffix(".db").exists()
    done = CliRunner(env={"DENIABLE_STORE": str(tmp_path / "third.db")}).invoke(
        main, ["token", str(file), "--role", "submit"]
    )
    assert done.exit_code == 0 and (tmp_path / "third.db").is_file()
    place.write_text("two words")
    assert "must hold one line" in run("token", file, "--role", "submit", "--store-file", place, code=2).output


def test_the_life_of_a_survey(file: Path, collector: Served) -> None:
    simulate = ("simulate", file, "--people", "20", "--url", collector.url, "--yes")
    run(*simulate)
    assert "commute-2026 is closed." in run("manage", "close", file).output
    assert "410" in run(*simulate, code=2).output
    assert "commute-2026 is open." in run("manage", "reopen", file).output
    file.write_text(COMMUTE.replace("[survey]", '[survey]\ntitle = "Travelling"'))
    assert "is now shown as: Travelling" in run("manage", "title", file).output
    assert "Travelling: 20 people" in run("estimate", file, "--url", collector.url).output
    assert "Travelling: 20 people" in run("estimate", file).output
    assert "until the end of 2099-01-31" in run("manage", "retain", file, "--until", "2099-01-31").output
    assert "for ever" in run("manage", "retain", file, "--for-ever").output
    assert "Give either" in run("manage", "retain", file, code=2).output
    assert "Nothing was changed" in run("manage", "delete", file, answers="n\n", code=2).output
    assert "closed for good" in run("manage", "close", file, "--final", "--yes").output
    assert "the ids of its reports are deleted" in run("manage", "reopen", file, code=2).output
    assert "Deleted commute-2026, which had 20 people." in run("manage", "delete", file, "--yes").output
    assert "no data" in run("manage", "delete", file, "--yes", code=2).output
    assert "There is no database" in run("manage", "close", file, "--store", file.with_name("x.db"), code=2).output


def test_what_cannot_be(file: Path, tmp_path: Path) -> None:
    assert "There is no database" in run("estimate", file, code=2).output
    assert "line 4" in run("certify", _written(tmp_path, COMMUTE.replace("2.0", "-1")), code=2).output
    for verb in ("simulate", "answer"):
        more = ("--people", "3", "--yes") if verb == "simulate" else ()
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

    from tests.servers import wait_until_ready

    port = free_port()
    command = [sys.executable, "-u", "-m", "deniable", "serve", str(file), "--port", str(port), "--print-token"]
    with running(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        token = process.stdout.readline().rpartition(" ")[2].strip()
        process.stdout.readline()
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(url)
        assert "Authorization: Bearer" in run("estimate", file, "--url", url, code=2).output
        assert "Hidden" in run("estimate", file, "--url", url, "--token", token).output


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
    monkeypatch.setattr("deniable.collector.serve.serve", lambda app, place, bound: places.append(place))
    (tmp_path / "survey.toml").write_text(COMMUTE)
    port = free_port()
    shown = run("serve", tmp_path / "survey.toml", "--port", port, "--allow-origin", "https://example.org").output
    for address in (f"http://127.0.0.1:{port}/ ", f"http://127.0.0.1:{port}/results", f"http://127.0.0.1:{port}/try"):
        assert address in shown
    assert places[0].origins == ("https://example.org",)
