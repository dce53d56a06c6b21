"""The documentation: what is public has its place in it, and what it shows is what happens."""

import doctest
import inspect
import math
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CATEGORIES = ["privacy", "breaking", "added", "changed", "fixed"]


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def headings(page: str) -> set[str]:
    return set(re.findall(r"^##+ (.+)$", text(ROOT / "docs" / page), re.MULTILINE))


def public(kind: type) -> set[str]:
    """The public classes of this kind that can be made."""
    found = {name: getattr(dn, name) for name in dn.__all__}
    return {name for name, each in found.items() if inspect.isclass(each) and issubclass(each, kind)}


def test_every_mechanism_has_a_heading() -> None:
    assert public(dn.Mechanism) - {"Mechanism"} <= headings("mechanisms.md")
    assert "DirectResponse" in public(dn.Mechanism)


def test_every_error_has_a_heading_and_no_other() -> None:
    assert headings("errors.md") == public(dn.DeniableError)


def test_every_verb_has_a_heading_and_no_other() -> None:
    assert headings("cli.md") == set(main.commands)


def test_every_public_name_is_mentioned() -> None:
    words = set(re.findall(r"\w+", " ".join(text(path) for path in PAGES)))
    assert sorted(set(dn.__all__) - words) == []


def test_every_wire_name_is_on_the_wire_page() -> None:
    for name in public(dn.Mechanism) - {"Mechanism"}:
        assert f"`{getattr(dn, name).wire}`" in text(ROOT / "docs" / "wire.md")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_code_runs(path: Path) -> None:
    """The blocks of a page run one after the other, as a reader would type them."""
    page, names, outcome = text(path), dict[str, object](), list[str]()
    runner = doctest.DocTestRunner(verbose=False)
    for block in re.finditer(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        assert ">>>" in block[1], "a block of Python must have prompts, so that it is run"
        assert "+SKIP" not in block[1]
        line = page[: block.start()].count("\n") + 1
        test = doctest.DocTestParser().get_doctest(block[1], names, path.name, str(path), line)
        test.globs = names
        runner.run(test, out=outcome.append, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, "".join(outcome)


def test_there_is_code_to_run() -> None:
    assert sum(text(path).count("```python") for path in PAGES) > 20


def test_shown_commands_print_what_is_shown() -> None:
    page = text(ROOT / "docs" / "cli.md")
    shown = re.findall(r"^    \$ deniable (.+)\n((?:    .+\n)+)", page, re.MULTILINE)
    assert shown
    for command, output in shown:
        result = CliRunner(env={"COLUMNS": "80"}).invoke(main, command.split())
        assert result.stdout == re.sub(r"^    ", "", output, flags=re.MULTILINE)


@pytest.mark.parametrize("path", [*PAGES, ROOT / "changelog.d" / "README.md"], ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)\)", text(path)):
        assert "://" not in target, "pages need nothing from elsewhere"
        assert (path.parent / target).exists(), target


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r": (\S+\.md)$", text(ROOT / "mkdocs.yml"), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in PAGES[1:])
    assert "font: false" in text(ROOT / "mkdocs.yml")


def test_changelog_entries_are_sentences_with_a_category() -> None:
    entries = [path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    assert entries
    for path in entries:
        first = text(path).splitlines()[0]
        assert path.suffix == ".md" and path.stem.split("-")[0] in CATEGORIES, path.name
        assert first.endswith(".") and not first.startswith("#"), path.name
    assert re.findall(r"^\| `(\w+)`", text(ROOT / "docs" / "changelog.md"), re.MULTILINE) == CATEGORIES


def test_the_data_page_has_the_numbers_of_the_file() -> None:
    file = text(ROOT / "src" / "deniable" / "data" / "marital_status.csv").replace('"', "")
    rows = [line.rsplit(",", 1) for line in file.splitlines()[1:]]
    for answer, people in rows:
        assert f"| {answer} | {int(people):,} |" in text(ROOT / "docs" / "data.md")
    assert f"{sum(int(people) for _, people in rows):,}" == "228,421"


def test_the_odds_on_the_promise_page_are_rounded_up() -> None:
    rows = re.findall(r"^\| (\S+) \| (\S+)-fold \| (\S+) to (\S+) \|$", text(ROOT / "docs" / "promise.md"), re.MULTILINE)
    assert len(rows) == 3
    for epsilon, odds, high, low in rows:
        exact = math.exp(float(epsilon))
        assert 0 <= float(odds) - exact < 0.01
        assert 0 <= float(high) - 100 * exact / (1 + exact) < 0.1
        assert float(high) + float(low) == pytest.approx(100)
