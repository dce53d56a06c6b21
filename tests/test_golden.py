"""Golden values: every kind that we can evaluate agrees, and the command tells the truth about the rest."""

import json
from functools import cache
from pathlib import Path

import pytest

from tests import ROOT
from tests.golden.__main__ import main
from tests.golden.compare import close, compare
from tests.golden.kinds import KINDS

FOLDER = ROOT / "tests" / "golden"
FILES = sorted(FOLDER.glob("*.json"))


compared = cache(compare)  # once a file


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_known_entry_agrees(path: Path) -> None:
    assert not compared(path).differences


@pytest.mark.parametrize("name", ["uldp", "brr", "numeric", "bitrand", "rr3", "compressed"])
def test_whole_files_are_evaluated(name: str) -> None:
    assert compared(FOLDER / f"{name}.json").good


def test_every_kind_is_used_and_enough_entries_are_checked() -> None:
    names = [entry.get("quantity", entry.get("kind")) for path in FILES for entry in json.loads(path.read_text())["entries"]]
    assert set(KINDS) <= set(names)
    assert sum(compared(path).agreed for path in FILES) == sum(name in KINDS for name in names) >= 15


def one_entry(folder: Path, **changes: object) -> str:
    entry = next(each for each in json.loads((FOLDER / "uldp.json").read_text())["entries"] if each["id"] == "U001")
    path = folder / "one.json"
    path.write_text(json.dumps({"entries": [{**entry, **changes}]}))
    return str(path)


def test_command_agrees_with_a_good_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([one_entry(tmp_path)]) == 0
    assert "1 agree, 0 differ, 0 of unknown kind" in capsys.readouterr().out


def test_command_works_at_other_points(tmp_path: Path) -> None:
    """k e / (k e + s - k) and the mean of the rest, at a point that no shipped file has."""
    inputs = {"mechanism": "SS", "s": 3, "k": 1, "eps": 1.0986122886681098}
    assert main([one_entry(tmp_path, inputs=inputs, output={"p": 0.6, "q": 0.2})]) == 0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"output": {"p": 0.4753, "q": 0.174877704527109}}, "U001: expected {'p': 0.4753"),
        ({"output": {"p": 0.475366886418672}}, "1 differ"),
        ({"output": 0.5}, "1 differ"),
        ({"quantity": "no such thing"}, "unknown kind 'no such thing': 1 entries"),
        ({"inputs": {"mechanism": "??", "s": 3, "eps": 1.0}}, "unknown kind 'the base of ??'"),
    ],
)
def test_command_fails_on_anything_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, object], says: str
) -> None:
    assert main([one_entry(tmp_path, **changes)]) == 1
    assert says in capsys.readouterr().out


def test_tolerances() -> None:
    assert close(1.0, 1.05, 0.1)
    assert close(100.0, 109.0, 0.1)
    assert not close(100.0, 111.0, 0.1)
    assert close(5, 5, 0)
    assert not close(5, 6, 0)
    assert close(2.0, 2.1, {"rel": 0.1, "abs": 0})
    assert not close(0.0, 0.1, {"rel": 0.1, "abs": 0.01})
    assert not close(True, 1.0, 1)
    assert not close(float("nan"), 1.0, 1)
