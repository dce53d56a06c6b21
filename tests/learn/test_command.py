"""`deniable learn`: the learners as a verb."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.cli.main import ELSEWHERE, Refusal, Verbs, main
from deniable_learn.command import learn


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Who is older than 50 has a car in nine of ten cases, and lives in the country more often."""
    random = np.random.default_rng(1)
    lines = ["age,home,car"]
    for age in random.integers(0, 101, 4000):
        car = (age > 50) == (random.random() < 0.9)
        lines.append(f"{age},{'country' if random.random() < 0.2 + 0.6 * car else 'town'},{'yes' if car else 'no'}")
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_accuracy_comes_near_that_without_privacy(table: Path) -> None:
    words = [str(table), "--label", "car", "--epsilon", "8", "--range", "age=0:100"]
    found = json.loads(CliRunner().invoke(learn, [*words, "--json"], catch_exceptions=False).stdout)
    assert found["people"] == 3000 and found["tested"] == 1000 and found["features"] == 3 and found["classes"] == 2
    assert 0 < found["epsilon"] <= 8 and found["accuracy_without_privacy"] > 0.8
    assert found["accuracy_of_the_largest_class"] + 0.1 < found["accuracy"] <= found["accuracy_without_privacy"] + 0.05
    shown = CliRunner().invoke(learn, words, catch_exceptions=False).stdout
    assert "accuracy without privacy" in shown and "exact privacy loss: epsilon" in shown


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "--range age=LOW:HIGH"),
        (["--range", "age=0"], "COLUMN=LOW:HIGH"),
        (["--range", "age=9:1"], "lower end first"),
        (["--range", "size=0:1"], "not among the features"),
        (["--features", "house"], "no column 'house'"),
    ],
)
def test_refusals(table: Path, words: list[str], why: str) -> None:
    assert_refused(table, words, why)


@pytest.mark.parametrize(("words", "why"), [([], "No such file"), (["--features", "age"], "There is no file")])
def test_a_missing_table_is_refused(tmp_path: Path, words: list[str], why: str) -> None:
    assert_refused(tmp_path / "no.csv", words, why)


def assert_refused(table: Path, words: list[str], why: str) -> None:
    group = Verbs(commands={"learn": learn})
    group.get_command = lambda ctx, name: learn  # type: ignore[method-assign]
    done = CliRunner().invoke(group, ["learn", str(table), "--label", "car", "--epsilon", "1", *words])
    assert done.exit_code == Refusal.exit_code and why in done.stderr


def test_it_is_named_where_it_is_not_installed() -> None:
    assert "deniable-learn" in ELSEWHERE["learn"] and isinstance(main, Verbs)
