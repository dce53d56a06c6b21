"""The documentation: what is public has its place in it, and what it shows is what happens."""

import ast
import inspect
import io
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from deniable.cli.modes import Modes
from deniable.planning import options
from research.experiments.pictures import FOLDER, PICTURES
from tests import ROOT
from tests.servers import free_port, wait_until_ready
from tests.waits import running

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
    assert headings("cli.md") == set(main.list_commands(click.Context(main)))


def test_every_public_name_is_mentioned() -> None:
    words = set(re.findall(r"\w+", " ".join(text(path) for path in PAGES)))
    assert sorted(set(dn.__all__) - words) == []


def test_the_reference_has_every_public_name_once() -> None:
    listed = re.findall(r"^::: deniable\.(\w+)$", text(ROOT / "docs" / "reference.md"), re.MULTILINE)
    assert sorted(listed) == sorted(dn.__all__)


def test_every_wire_name_is_on_the_wire_page() -> None:
    for name in public(dn.Mechanism) - {"Mechanism"}:
        assert f"`{getattr(dn, name).wire}`" in text(ROOT / "docs" / "wire.md")


def shown_after(lines: list[str], statement: ast.stmt) -> list[str]:
    """The comments that show what a statement prints: those on the lines below it, else the one behind it."""
    end = statement.end_lineno or 0
    behind: list[str] = []
    while end + len(behind) < len(lines) and re.match(r"#( |$)", lines[end + len(behind)]):
        behind.append(lines[end + len(behind)][2:])
    if not behind and end < len(lines) and not lines[end] and re.match(r"#( |$)", "".join(lines[end + 1 : end + 2])):
        return shown_after(lines, ast.Pass(lineno=end + 1, end_lineno=end + 1, col_offset=0))  # below an indented block
    rest = lines[end - 1][statement.end_col_offset or 0 :]
    return behind or ([rest.partition("# ")[2]] if "# " in rest else [])


def run_pasted(block: str, names: dict[str, object], page: str) -> None:
    """Runs a block statement by statement, as a prompt would; what each prints must stand in the comments after it."""
    assert ">>>" not in block, "blocks with prompts cannot be pasted"
    lines = block.splitlines()
    for statement in ast.parse(block).body:
        printed = io.StringIO()
        with redirect_stdout(printed):
            tree = ast.Interactive([statement])
            exec(compile(tree, page, "single"), names)
        if printed.getvalue():
            assert printed.getvalue().rstrip("\n").splitlines() == shown_after(lines, statement), ast.unparse(statement)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_code_runs(path: Path) -> None:
    """The blocks of a page run one after the other, as a reader would paste them."""
    page = text(path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in re.finditer(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        run_pasted(block[1], names, path.name)


def test_a_wrong_output_is_noticed() -> None:
    run_pasted("x = 2\nx + 1  # 3\nprint(x)\n# 2\nfor y in (1, 2):\n    print(y)\n\n# 1\n# 2\n", {}, "good")
    for wrong in ("1 + 1  # 3\n", "print(1)\n# 2\n", "1 + 1\n", "for y in (1,):\n    print(y)\n\n# 2\n", ">>> 1\n1\n"):
        with pytest.raises((AssertionError, SyntaxError)):
            run_pasted(wrong, {}, "wrong")


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


def test_the_glossary_is_short_and_sorted_and_names_what_exists() -> None:
    rows = re.findall(r"^\| ([a-z -]+) \| (.+) \| (.+) \|$", text(ROOT / "docs" / "glossary.md"), re.MULTILINE)[1:]
    terms = [term for term, _, _ in rows]
    assert 30 <= len(terms) <= 40
    assert terms == sorted(set(terms))
    named = {name for _, _, where in rows for name in re.findall(r"`(?:dn\.)?([A-Z]\w+)", where)}
    assert sorted(named - set(dn.__all__)) == []


# Words that had many meanings here; the glossary has a word for each of them.
PRIVATE = re.compile(r"\b(told|tells|telling|retold)\b", re.IGNORECASE)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_use_the_words_of_the_glossary(path: Path) -> None:
    lines = text(path).splitlines()
    assert [(number, line) for number, line in enumerate(lines, 1) if PRIVATE.search(line)] == []


# What must keep such a name: a key of the collector's JSON, and former names that still work.
KEPT = {
    "collector/promises.py": {"open_told"},
    "mechanisms/key_value/three_state.py": {"tells_degree", "tells_weight"},
    "privacy/certificate.py": {"open_told"},
    "wrappers/open_answers.py": {"told", "told_index", "told_share"},
}


def test_the_package_uses_the_words_of_the_glossary() -> None:
    """In names, strings, docstrings and comments alike."""
    source = ROOT / "packages" / "deniable" / "src" / "deniable"
    files = [path for kind in ("*.py", "*.pyi", "*.toml", "*.md", "*.html", "*.js") for path in source.rglob(kind)]
    found = {
        path.relative_to(source).as_posix(): set(re.findall(r"\w*(?:told|tells|telling)\w*", text(path), re.IGNORECASE))
        for path in files
    }
    assert {name: words for name, words in found.items() if words} == KEPT


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "LICENSE"])
def test_the_files_that_a_repository_should_have_are_there(name: str) -> None:
    assert len(text(ROOT / name)) > 200


@pytest.mark.needs("yaml")
def test_the_citation_is_valid_and_of_this_version() -> None:
    import yaml  # type: ignore[import-untyped, unused-ignore]

    citation = yaml.safe_load(text(ROOT / "CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)  # what version 1.2.0 of the format requires
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software" and citation["license"] == "MIT"
    assert all("name" in author for author in citation["authors"])
    project = tomllib.loads(text(ROOT / "packages" / "deniable" / "pyproject.toml"))["project"]
    assert citation["version"] == project["version"]
    assert "urls" not in project


def test_changelog_entries_are_sentences_with_a_category() -> None:
    entries = [path for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    assert entries
    for path in entries:
        first = text(path).splitlines()[0]
        assert path.suffix == ".md" and path.stem.split("-")[0] in CATEGORIES, path.name
        assert first.endswith(".") and not first.startswith("#"), path.name
    assert re.findall(r"^\| `(\w+)`", text(ROOT / "docs" / "changelog.md"), re.MULTILINE) == CATEGORIES


def test_the_data_page_has_the_numbers_of_the_file() -> None:
    file = text(ROOT / "packages" / "deniable" / "src" / "deniable" / "data" / "marital_status.csv").replace('"', "")
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


def test_the_table_of_beliefs_is_rounded_up() -> None:
    page = text(ROOT / "docs" / "which-epsilon.md")
    rows = re.findall(r"^\| (\S+) \| (\S+)-fold \| (\S+) in 100 \| (\S+) in 100 \| (\S+) in 100 \|$", page, re.MULTILINE)
    assert len(rows) == 6
    for epsilon, odds, *after in rows:
        exact = math.exp(float(epsilon))
        assert 0 <= float(odds) - exact < (1 if exact > 1000 else 0.01)
        for prior, shown in zip((0.01, 0.1, 0.5), after, strict=True):
            assert 0 <= float(shown) - 100 * prior * exact / (1 - prior + prior * exact) < 0.01


def test_the_readme_is_short_and_in_order() -> None:
    page = text(ROOT / "README.md")
    assert len(page.splitlines()) <= 120
    parts = ["![", "    make demo", "```python", "## Why not the others", "| deniable |", "## Where to go"]
    assert [page.index(part) for part in parts] == sorted(page.index(part) for part in parts)
    first = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[0]
    assert len([line for line in first.splitlines() if line and not line.startswith("#")]) <= 10


def shown_commands() -> list[tuple[str, str]]:
    """Every command on any page, in a fence of shell or indented, without what a shell adds."""
    found = []
    for path in PAGES:
        page = text(path)
        lines = re.findall(r"^    (?:\$ )?(deniable .+)$", page, re.MULTILINE)
        lines += [
            line
            for block in re.findall(r"^```sh\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
            for line in block.splitlines()
            if line.startswith("deniable ")
        ]
        found += [(path.name, re.sub(r"\s+#.*$|\s*&$", "", line)) for line in lines]
    return found


def test_every_shown_command_has_the_options_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mechanism = tmp_path / "mechanism.json"
    commands = shown_commands()
    assert len(commands) > 60
    for page, line in commands:
        words = shlex.split(line)[1:]
        if "..." in line or words[0].startswith("-"):
            continue
        command: click.Command = main
        name = words[0]
        while isinstance(command, click.Group):
            if isinstance(command, Modes) and words[0] not in command.commands:
                words = [command.pick(words), *words]
            _, found, words = command.resolve_command(click.Context(command), words)
            assert found is not None, f"{page}: {line}"
            command = found
        mechanism.unlink(missing_ok=True)
        if "--config deniable.toml" in line:
            (tmp_path / "deniable.toml").write_text('survey = "survey.toml"', encoding="utf-8")
        for named in re.findall(r"--mechanism (\S+\.json)", line):  # read as soon as the option is
            (tmp_path / named).write_text(dn.DirectResponse(dn.Categories(["yes", "no"]), 1.0).to_json(), encoding="utf-8")
        try:
            command.make_context(name, list(words), parent=click.Context(main, **main.context_settings))
        except click.UsageError as error:
            pytest.fail(f"{page}: {line}: {error.format_message()}")


@contextmanager
def started(command: list[str], folder: Path, port: int) -> Iterator[None]:
    """A collector that runs beside the other commands, until they are done."""
    program = [sys.executable, "-m", "deniable", *command, "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "packages" / "deniable" / "src")}
    nowhere = subprocess.DEVNULL
    with running(program, cwd=folder, env=environment, stdout=nowhere, stderr=nowhere) as process:
        wait_until_ready(f"http://127.0.0.1:{port}", process)
        yield


@pytest.mark.parametrize("page", ["howto.md", "install.md"])
@pytest.mark.needs("starlette", "uvicorn")
def test_shell_blocks_run_in_an_empty_folder(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that a page shows are written, then its commands run one after the other, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    port, ran, running = free_port(), 0, []
    pattern = r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$|^<!-- edit: (\S+): (.+) -> (.+) -->$|^```sh\n(.*?)^```$"
    try:
        for file, content, edited, old, new, block in re.findall(
            pattern, text(ROOT / "docs" / page), re.DOTALL | re.MULTILINE
        ):
            if file:
                Path(file).write_text(content, encoding="utf-8")
            if edited:
                before = Path(edited).read_text(encoding="utf-8")
                assert old in before
                Path(edited).write_text(before.replace(old, new.replace("\\n", "\n")), encoding="utf-8")
            for line in block.splitlines():
                program, *words = shlex.split(line, comments=True)
                if program in ("sleep", "kill"):
                    continue  # `started` waits until the collector answers, and stops it
                if words[-1] == "&":
                    running.append(started(words[:-1], tmp_path, port))
                    running[-1].__enter__()
                else:
                    here = ["--url", f"http://127.0.0.1:{port}"] if words[0] in ("simulate", "answer") else []
                    result = CliRunner().invoke(main, [*words, *here])
                    assert result.exit_code == 0, f"{line}: {result.output}"
                ran += 1
    finally:
        for each in running:
            each.__exit__(None, None, None)
    assert ran >= 6


PROGRAM = """#!/bin/sh
case "$1" in
serve) set -- "$@" --port {port} ;;
simulate) set -- "$@" --url http://127.0.0.1:{port} ;;
esac
exec {python} -m deniable "$@"
"""
WAIT = """#!{python}
import time, urllib.request
for _ in range(300):
    try:
        urllib.request.urlopen("http://127.0.0.1:{port}/health/ready", timeout=10).close()
        break
    except OSError:
        time.sleep(0.2)
"""


@pytest.mark.parametrize(
    ("page", "commands", "made"),
    [
        ("README.md", 11, {"answers.csv", "mechanism.json", "answers.reports", "survey.toml", "survey.db"}),
        ("docs/tutorial.md", 7, {"lunch"}),
    ],
    ids=["readme", "tutorial"],
)
@pytest.mark.needs("starlette", "uvicorn")
def test_shell_blocks_paste_in_order(page: str, commands: int, made: set[str], tmp_path: Path) -> None:
    """All in one shell, in an empty folder. Only the port differs, and `sleep` ends when the collector is ready."""
    programs, folder, port = tmp_path / "bin", tmp_path / "empty", free_port()
    programs.mkdir()
    folder.mkdir()
    for name, content in (("deniable", PROGRAM), ("sleep", WAIT), ("python", '#!/bin/sh\nexec {python} "$@"\n')):
        (programs / name).write_text(content.format(port=port, python=sys.executable), encoding="utf-8")
        (programs / name).chmod(0o755)
    blocks = re.findall(r"^```sh\n(.*?)^```$", text(ROOT / page), re.DOTALL | re.MULTILINE)
    assert blocks[0].startswith("deniable init ")
    source = str(ROOT / "packages" / "deniable" / "src")
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": source}
    command, pipe = ["bash", "-eu", "-c", "".join(blocks)], subprocess.PIPE
    with running(
        command, cwd=folder, env=environment, stdout=pipe, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as shell:
        try:
            output, _ = shell.communicate(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGTERM)
    assert shell.returncode == 0, output
    assert sum(line.startswith("deniable ") for block in blocks for line in block.splitlines()) >= commands
    assert made <= {path.name for path in folder.iterdir()}


def test_every_picture_is_the_one_that_is_drawn() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.svg")) == sorted(PICTURES)
    for name, draw in PICTURES.items():
        assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == draw(), (
            f"python -m research.experiments.pictures: {name}"
        )


def test_the_accuracy_beside_other_libraries_is_that_of_the_planner() -> None:
    rows = re.findall(r"^\| (\S+) \| (\d+) \| (\S+) \| \S+ \| (\S+) \|$", text(ROOT / "docs" / "peers.md"), re.MULTILINE)
    assert len(rows) == 6
    for epsilon, size, unary, ours in rows:
        domain = dn.Categories(range(int(size)))
        ranking = options(domain, float(epsilon), 1000)
        ranked = {option.name: option for option in ranking}
        best = min(option.error for option in ranked.values())
        assert dn.plan(domain, float(epsilon), 1000) == ranking.best.mechanism
        assert f"{(ranking.best.error / best) ** 2:.3f}" == ours
        assert f"{(ranked['unary, optimized'].error / best) ** 2:.2f}" == unary


def test_the_figure_on_predicted_errors_is_the_measured_one() -> None:
    furthest = re.findall(r"the furthest ratio is (\d\.\d+)", text(ROOT / "research" / "experiments" / "planned.md"))[0]
    assert f"the furthest within {100 * abs(float(furthest) - 1):.1f} %" in text(ROOT / "docs" / "choosing.md")
