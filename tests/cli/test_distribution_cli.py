"""The distribution of a number on the command line: from a plan to quantiles, a histogram and a picture."""

import json
from pathlib import Path

import pytest

from tests.cli.test_cli import refusal, run

NUMBER = ("plan", "--numbers", "0", "15", "--steps", "15", "--target", "quantiles")


def test_from_a_plan_to_quantiles_and_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age\n" + "".join(f"{age}\n" for age in range(16)) * 300)
    assert run(*NUMBER, "--epsilon", "4", "--out", "m.json").exit_code == 0
    assert run("perturb", "people.csv", "--column", "age", "--mechanism", "m.json", "--out", "a.reports").exit_code == 0
    asked = ("estimate", "a.reports", "--mechanism", "m.json", "--quantile", ".5", "--quantile", ".9", "--bins", "5")
    found = json.loads(run(*asked, "--confidence", "0.9999999", "--json").stdout)
    median, high = found["quantiles"]
    assert (median["what"], high["what"], len(found["histogram"])) == ("quantile 0.5", "quantile 0.9", 5)
    assert median["low"] <= 7.5 <= median["high"] and high["low"] <= 13.9 <= high["high"]  # a false alarm below 1e-6
    assert run(*asked, "--picture").exit_code == 0 and Path("picture.png").read_bytes()[1:4] == b"PNG"


def test_without_a_budget_several_are_compared() -> None:
    found = json.loads(run(*NUMBER, "--json").stdout)
    errors = [each["error"] for each in found["budgets"]]
    assert found["people"] == 10_000 and errors == sorted(errors, reverse=True)
    assert "Choose one" in (shown := run(*NUMBER).stdout) and all(
        f"{each['epsilon']:g}" in shown for each in found["budgets"]
    )
    assert "needs a budget" in refusal(*NUMBER, "--max-bits", "8")
