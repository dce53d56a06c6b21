"""What people get wrong at first: each mistake is answered by a sentence that says what to do, never by a traceback."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

import deniable as dn
from deniable.cli import panel
from deniable.cli.main import main
from deniable.collector import Collector, opened
from deniable.planning.ranking import counted, there_are
from deniable.survey import Survey
from tests.cli.test_cli import refusal, run
from tests.surveys import ONE

COIN = dn.DirectResponse(dn.Categories(["a", "b"]), 1.0)
UNKNOWN = COIN.to_json().replace("direct-1", "mine-1")
REPORTS = COIN.perturb(["a", "b"])


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (lambda: dn.plan(["a", "b"], 1.0, 100), "Wrap a list of answers as Categories"),  # type: ignore[call-overload]
        (lambda: dn.Categories(16), "Categories(range(16))"),  # type: ignore[arg-type]
        (lambda: dn.plan(dn.Categories(["a", "b"]), "1", 100), "Epsilon must be a number"),  # type: ignore[call-overload]
        (lambda: dn.plan(dn.Categories(["a", "b"]), 1.0, "9"), "the number of people"),  # type: ignore[call-overload]
        (lambda: dn.required_n(dn.Categories(["a", "b"]), 1.0, "1 %"), "for example 0.01"),  # type: ignore[call-overload]
        (lambda: dn.plan(dn.Interval(0, 1, 9), 1.0, target=None), "Give one of them"),  # type: ignore[call-overload]
        (lambda: dn.compare(["a", "b"], 1.0), "needs a domain of answers"),  # type: ignore[arg-type]
        (lambda: COIN.estimate(REPORTS), "mechanism.estimate(mechanism.tally(reports))"),  # type: ignore[arg-type]
        (lambda: COIN.tally(["a", "b"]), "mechanism.perturb(answers)"),  # type: ignore[arg-type]
        (lambda: COIN.perturb("a"), "perturb([answer])"),
        (lambda: dn.certify("x"), "Only a mechanism can be certified"),  # type: ignore[arg-type]
        (lambda: dn.certify_survey("survey.toml"), 'Survey.load("survey.toml")'),  # type: ignore[arg-type]
        (lambda: dn.plan_survey("survey.toml"), 'Survey.load("survey.toml")'),  # type: ignore[arg-type]
        (lambda: dn.Device("survey.toml"), 'Survey.load("survey.toml")'),  # type: ignore[arg-type]
        (lambda: dn.mechanism_from_json(UNKNOWN), "install the package that the mechanism comes from"),
        (lambda: dn.answers([None, "a"]), "1 of 2 answers are missing"),
    ],
)  # fmt: skip
def test_in_python(mistake: Callable[[], object], said: str) -> None:
    with pytest.raises(dn.DeniableError) as refused:
        mistake()
    assert said in str(refused.value)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a few files, which the commands run in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mechanism.json").write_text(COIN.to_json())
    (tmp_path / "some.csv").write_text("age\n20\n17\n")
    (tmp_path / "some.csv.gz").write_bytes(b"age\n20\n")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("release some.csv --numbers 18 99 --column age --epsilon 1 --out r.csv", "Row 2 of some.csv, column 'age'"),
        ("estimate some.csv --mechanism mechanism.json", "This is a table, not a file of reports"),
        ("estimate some.csv.gz --mechanism mechanism.json", "This is a table, not a file of reports"),
        ("perturb some.csv.gz --column age --mechanism mechanism.json --out r", "not a gzip file"),
        ("estimate survey.toml", "File 'survey.toml' not found."),
        ("plan survey.toml", "File 'survey.toml' not found."),
        ("serve survey.toml", "File 'survey.toml' not found."),
        ("audit nobody:report --value 0 --value 1 --claimed 1", "nobody"),
        ("certify nothing.json", "There is no mechanism or file 'nothing.json'"),
    ],
)
def test_on_the_command_line(folder: Path, command: str, said: str) -> None:
    line = refusal(*command.split())
    assert said in line
    assert "17" not in line and "snap" not in line and "store" not in line


def test_a_client_in_the_current_folder_is_audited(folder: Path) -> None:
    (folder / "my_own_client.py").write_text("import random\n\n\ndef report(value):\n    return random.random() < 0.5\n")
    shown = run("audit", "my_own_client:report", "--value", "0", "--value", "1", "--claimed", "1", "--trials", "2000")
    assert shown.exit_code == 0 and "lower bound" in shown.stdout


def test_compare_of_two_answers_leaves_out_what_cannot_do_them(folder: Path) -> None:
    shown = run("compare", "--values", "2", "--epsilon", "1", "--people", "50", "--repeats", "2")
    assert shown.exit_code == 0 and "direct" in shown.stdout


@pytest.mark.parametrize("interrupted", ["deniable.cli.main", "click", "numpy", "deniable.cli.plan", "rich.console"])
def test_an_interrupt_while_it_loads_is_quiet(tmp_path: Path, interrupted: str) -> None:
    """Ctrl-C at the moment when this module is imported."""
    code = f"""
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {interrupted!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
sys.argv = ["deniable", "plan", "--values", "3", "--epsilon", "1", "--people", "10"]
from deniable.cli import run
run()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode in (1, 130)
    assert done.stderr.strip() == "Aborted!"
    assert done.stdout == ""


def test_one_is_singular() -> None:
    assert (counted(1, "report"), counted(1, "copy", "copies"), there_are(1, "report")) == (
        "1 report", "1 copy", "there is 1 report",
    )  # fmt: skip
    alone = dn.plan(dn.Categories(["a", "b"]), 1.0, 1).explain()
    assert "1 person" in alone and "1 people" not in alone and "1 bits" not in alone


def test_estimates_name_answers() -> None:
    estimate = COIN.estimate(COIN.tally(COIN.perturb(["b"] * 500 + ["a"] * 10)))
    assert estimate.top(1) == ["b"]


@pytest.mark.parametrize(
    ("words", "begun", "offered"),
    [
        ([], "cer", {"certify"}),
        ([], "pl", {"plan"}),
        (["plan"], "n", {"number"}),
        (["plan"], "--nu", {"--numbers"}),
        (["plan", "--values", "3"], "--eps", {"--epsilon"}),
        (["perturb", "data.csv"], "--col", {"--column"}),
        (["compare", "--numbers", "0", "9"], "--tar", {"--target"}),
        (["estimate", "survey.toml"], "--u", {"--url"}),
    ],
)
def test_the_tab_key_completes(words: list[str], begun: str, offered: set[str]) -> None:
    complete = BashComplete(main, {}, "deniable", "_DENIABLE_COMPLETE")
    assert {item.value for item in complete.get_completions(words, begun)} == offered


def test_the_shells_get_a_script() -> None:
    for shell in ("bash", "zsh", "fish"):
        environment = {**os.environ, "_DENIABLE_COMPLETE": f"{shell}_source"}
        program = [sys.executable, "-c", "from deniable.cli import run; run()"]
        done = subprocess.run(program, capture_output=True, text=True, timeout=120, env=environment)
        assert "_deniable_completion" in done.stdout, shell


def test_progress_on_a_terminal_and_none_on_a_pipe(folder: Path) -> None:
    """With the share that is done and the time left; the standard output stays as it is."""
    import pty

    (folder / "many.csv").write_text("x\n" + "a\nb\n" * 150_000)
    command = [sys.executable, "-m", "deniable", "perturb", "many.csv", "--column", "x", "--mechanism", "mechanism.json"]
    command += ["--force", "--out"]
    piped = subprocess.run([*command, "1.reports"], capture_output=True, text=True, timeout=120)
    assert piped.stderr == "" and piped.stdout.startswith("Wrote 300,000 reports")
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([*command, "2.reports"], stdout=subprocess.PIPE, stderr=theirs, env=environment) as running:
        os.close(theirs)
        shown = b""
        while part := _read(ours):
            shown += part
        assert running.wait(timeout=120) == 0
    assert b"randomizing" in shown and b"100%" in shown and b":" in shown.split(b"100%")[1]


@pytest.mark.needs("starlette")
def test_long_verbs_say_how_far_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reports the share that is done, never less than before, up to all of it."""
    seen: dict[str, list[float]] = {}

    @contextmanager
    def progress(what: str) -> Iterator[Callable[[float], None]]:
        yield seen.setdefault(what, []).append

    monkeypatch.setattr(panel, "progress", progress)
    (folder / "few.csv").write_text("x\n" + "a\nb\n" * 500)
    (folder / "survey.toml").write_text(ONE)
    with opened("survey.db") as store:
        asked = Survey.load("survey.toml")
        Collector(asked, store).take(asked.read(asked.batch({"town": ["Nice"] * 50}, 50)))
    expected = {
        "perturb few.csv --column x --mechanism mechanism.json --out few.reports": "randomizing",
        "aggregate mechanism.json few.reports --out few.json --workers 1": "counting",
        "certify survey.toml": "certifying",
        "audit mechanism.json --trials 2000": "collecting reports from the client",
        "compare --values 4 --epsilon 1 --people 50 --repeats 2": "simulating",
        "backup survey.toml --out survey.backup": "writing",
        "restore survey.toml survey.backup --store other.db": "restoring",
        "move survey.toml --to third.db": "moving",
    }
    for command, what in expected.items():
        seen.clear()
        done = run(*command.split())
        assert done.exit_code == 0, (command, done.output)
        assert seen[what][-1] == 1 and seen[what] == sorted(seen[what]), command


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other end was closed
        return b""


def test_importing_is_light() -> None:
    """At most 40 of our modules, and none of the packages that only some people need."""
    code = "import sys, deniable; print(sum(n.startswith('deniable') for n in sys.modules), 'numba' in sys.modules)"
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=environment)
    modules, numba = done.stdout.split()
    assert int(modules) <= 40 and numba == "False"
