"""`deniable discover`: from a file of lines to verified names."""

import json
from pathlib import Path

from tests.cli.test_cli import refusal, run


def test_names_are_found_and_blocked(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("yes\n" * 6000 + "\n" + "Perhaps \n" * 4000)
    result = run("discover", str(words), "--epsilon", "4", "--seed", "1", "--json")
    record = json.loads(result.stdout)
    assert result.exit_code == 0 and record["people"] == 10_000
    assert [name["name"] for name in record["names"]] == ["yes", "perhaps"]
    shown = run("discover", str(words), "--epsilon", "4", "--seed", "1", "--block", "YES").stdout
    assert "perhaps: " in shown and "yes: " not in shown and "is missing (95 % confidence)" in shown
    assert "1 more passed verification (not shown); no string above" in shown and "10,000 people, 28 bits each" in shown


def test_a_line_that_is_too_long_is_refused_without_being_repeated(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("secret " * 12 + "\n")
    assert "64 bytes" in (said := refusal("discover", str(words), "--epsilon", "1")) and "secret" not in said


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("\n\n")
    assert "no lines" in refusal("discover", str(tmp_path / "words.txt"), "--epsilon", "1")
