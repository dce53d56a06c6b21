"""What people install: the wheel is small, holds nothing of the laboratory, and works alone in an empty environment."""

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deniable.cli.doctor import EXTRAS
from tests import ROOT
from tests.servers import free_port, wait_until_ready
from tests.waits import PATIENCE

pytestmark = [pytest.mark.needs("uv", "setuptools"), pytest.mark.xdist_group("wheel")]

LARGEST = 1_570_000  # bytes: 630,000 before laws, distributions, relations, invitations, discovery, rounds and graphs
MOST_PER_LINE = 700_000 / 32_000  # bytes of the wheel for a line of source: what is no source would make it more
SURVEY = """
[survey]
id = "wheel"
epsilon = 2.0
minimum_reports = 10

[[question]]
id = "mode"
ask = "How did you travel today?"
kind = "category"
choices = ["walk", "bus", "car"]
"""


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (built,) = dist.glob("deniable-*.whl")
    return built


class Installed:
    """An environment with nothing in it but what is installed here."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder, folder / ("Scripts" if os.name == "nt" else "bin")
        self.uv("venv", "--python", sys.executable, str(folder))

    def uv(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "uv", "--quiet", *arguments]
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)

    def install(self, what: str, folder: Path) -> None:
        """Install a package by its name, from a folder of wheels."""
        constraints = str(ROOT / "constraints.txt")
        found = ("--find-links", str(folder), "--constraint", constraints)
        self.uv("pip", "install", "--python", str(self.bin / "python"), *found, what)

    @property
    def environment(self) -> dict[str, str]:
        """Without the folders of this checkout."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COVERAGE"))}
        return {**kept, "COLUMNS": "100"}

    def run(self, program: str, *arguments: object, code: int = 0, answers: str = "") -> "subprocess.CompletedProcess[str]":
        command = [str(self.bin / program), *map(str, arguments)]
        pipes = {"capture_output": True, "text": True, "timeout": 120, "cwd": self.folder, "env": self.environment}
        done: subprocess.CompletedProcess[str] = subprocess.run(command, input=answers, **pipes)  # type: ignore[call-overload]
        assert done.returncode == code, done.stdout + done.stderr
        return done


@pytest.fixture(scope="module")
def alone(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    installed = Installed(tmp_path_factory.mktemp("alone") / "venv")
    installed.install("deniable", dist)
    return installed


@pytest.fixture(scope="module")
def with_collector(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    installed = Installed(tmp_path_factory.mktemp("collector") / "venv")
    installed.install("deniable[collector]", dist)
    return installed


def test_the_wheel_is_small_and_whole(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    lines = sum(archive.read(name).count(b"\n") for name in names if name.endswith(".py"))
    assert wheel.stat().st_size <= min(LARGEST, MOST_PER_LINE * lines)
    assert {name.split("/")[0] for name in names} == {"deniable", f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"}
    for left_out in ("research", "deniable_learn", "tests", "benchmarks", "__pycache__"):
        assert not any(left_out in name.split("/") for name in names), left_out
    source = ROOT / "packages" / "deniable" / "src"
    tracked = subprocess.run(
        ["git", "ls-files", "."], cwd=source, capture_output=True, text=True, timeout=PATIENCE
    ).stdout.split()
    wanted = set(tracked) or {"deniable/py.typed", "deniable/__init__.pyi"}
    assert {"deniable/py.typed", "deniable/__init__.pyi", "deniable/data/survey.toml"} <= wanted
    assert any(name.startswith("deniable/collector/web/") for name in wanted)
    assert {name for name in wanted if not name.endswith(".md") and (source / name).exists()} <= set(names)


def test_the_first_example_of_the_readme_runs(alone: Installed) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)[0]
    shown = re.findall(r"^# (.*)$", example, re.MULTILINE)
    assert shown and alone.run("python", "-c", example).stdout.splitlines() == shown


def test_nothing_else_is_needed_or_there(alone: Installed) -> None:
    code = "import importlib.util as u; print([n for n in {} if u.find_spec(n)])"
    others = ["research", "deniable_learn", "tests", "scipy", "numba", "pyarrow", "matplotlib", "starlette"]
    assert alone.run("python", "-c", code.format(others)).stdout == "[]\n"


def test_help_and_verbs_that_are_elsewhere(alone: Installed) -> None:
    shown = alone.run("deniable", "--help").stdout
    assert "certify" in shown and "serve" in shown and "reproduce" not in shown
    for verb in ("reproduce", "claims"):
        missing = alone.run("deniable", verb, code=2).stderr
        assert missing.startswith("error: ") and "research" in missing and "Traceback" not in missing
    learning = alone.run("python", "-c", "import deniable.learning as l; l.PrivateData", code=1).stderr.splitlines()[-1]
    assert "deniable-learn" in learning
    serve = alone.run("deniable", "serve", "--help").stdout
    assert "--port" in serve


def test_the_doctor_lists_every_extra_as_missing(alone: Installed) -> None:
    missing = json.loads(alone.run("deniable", "doctor", "--json").stdout)["missing"]
    assert set(missing) == set(EXTRAS)
    assert [module for module in EXTRAS["otel"][0] if module not in missing["otel"]] == []


def test_a_mechanism_is_planned_and_certified(alone: Installed) -> None:
    arguments = ("--category", "yes", "--category", "no", "--epsilon", 1, "--people", 5000, "--out", "m.json")
    alone.run("deniable", "plan", *arguments)
    certificate = json.loads(alone.run("deniable", "certify", "m.json", "--json").stdout)
    assert certificate["holds"] is True
    checked = (
        "import deniable.testing as t, deniable as d; print(t.check_mechanism(d.mechanism_from_json(open('m.json').read())))"
    )
    assert "losses" in alone.run("python", "-c", checked).stdout
    (alone.folder / "survey.toml").write_text(SURVEY)
    refused = alone.run("deniable", "serve", "survey.toml", code=2).stderr
    assert "deniable[collector]" in refused and "Traceback" not in refused


@contextmanager
def served(installed: Installed, survey: Path) -> Iterator[str]:
    port = free_port()
    command = [str(installed.bin / "deniable"), "serve", str(survey), "--port", str(port), "--open-results"]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": installed.environment}
    process = subprocess.Popen(command, cwd=survey.parent, **silent)  # type: ignore[call-overload]
    try:
        wait_until_ready(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def test_a_survey_is_served_answered_and_estimated(with_collector: Installed, tmp_path: Path) -> None:
    survey = tmp_path / "survey.toml"
    survey.write_text(SURVEY)
    with served(with_collector, survey) as url:
        with_collector.run("deniable", "answer", survey, "--url", url, "--yes", answers="bus\n")
        done = with_collector.run("deniable", "simulate", survey, "--people", 60, "--url", url, "--seed", 1, "--yes")
        assert "60 of 60 people" in done.stdout
        found = json.loads(with_collector.run("deniable", "estimate", survey, "--url", url, "--json").stdout)
        assert found["people"] == 61
