"""A survey with a question of each kind, planned by the newest edition of the planner, from the file to the results."""

import json
from pathlib import Path

import pytest

from deniable.core import NEWEST_EDITION
from tests.command import run
from tests.servers import served
from tests.survey.edition_surveys import QUESTIONS, every_kind

pytestmark = [pytest.mark.needs("starlette", "uvicorn"), pytest.mark.long]

PEOPLE = 150
LEFT_OUT = frozenset({"sparse", "few", "steps", "quantiles", "distribution"})  # Python alone answers the first
TYPED = {
    "category": "c", "many": "17", "sensitive": "b", "number": "42", "ranges": "7", "ordered": "often", "marks": "9",
    "place": "Paris", "map": "48.8 to 48.815, 2.25 to 2.27125", "ratings": "a = 4, c = 2", "set": "a, d", "one": "b",
    "text": "hello", "features": "0.1 0.2 0.3 0.4",
}  # fmt: skip


def test_every_kind_from_the_file_to_the_results(tmp_path: Path) -> None:
    file, asked = tmp_path / "survey.toml", [name for name in QUESTIONS if name not in LEFT_OUT]
    file.write_text(every_kind(20.0, NEWEST_EDITION, left_out=LEFT_OUT).replace("planner", "minimum_reports = 10\nplanner"))
    planned = run("plan", file).output
    assert "weighted-design-1" in planned and "shifted-tiles-1" in planned and "Edition" not in planned
    assert "certificate   holds" in run("certify", file).output
    with served(file, str(file.with_suffix(".db"))) as collector:
        command = ("simulate", file, "--people", str(PEOPLE), "--url", collector.url, "--seed", "4", "--yes")
        assert f"{PEOPLE} of {PEOPLE} people were counted." in run(*command).output
        ledger = tmp_path / "me.ledger"
        typed = "\n".join(TYPED[name] for name in asked) + "\ny\n"
        answered = run("answer", file, "--url", collector.url, "--ledger", ledger, answers=typed).output
        assert "The collector has counted it." in answered
        shown = json.loads(run("estimate", file, "--json").stdout)
        assert shown["people"] == PEOPLE + 1
        measures = {each["question"]: {row["measure"] for row in each["estimates"]} for each in shown["questions"]}
        assert {name for name, found in measures.items() if found} >= {*asked} - {"text"}
        assert measures["set"] == measures["one"] == {"share"}
        assert collector.get("/v1/results")["people"] == PEOPLE + 1
