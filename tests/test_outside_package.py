"""A package that is not ours brings a mechanism of its own, and everything finds it by its entry point."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.outside import MECHANISM, SURVEY


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder as an installer leaves it: the module, and metadata with the entry point."""
    (tmp_path / "half_honest.py").write_text(MECHANISM)
    metadata = tmp_path / "half_honest-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: half-honest\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[deniable.mechanisms]\nhalf-honest-1 = half_honest:HalfHonest\n")
    (tmp_path / "survey.toml").write_text(SURVEY)
    return tmp_path


def run(folder: Path, *arguments: object, installed: bool = True, code: int = 0) -> str:
    paths = [str(folder)] if installed else []
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])]),
        "COLUMNS": "100",
    }
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder / "..", env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_python_finds_it(outside: Path) -> None:
    code = """
import deniable as dn
from deniable.testing import check_mechanism
from deniable.mechanisms.registry import candidates
mechanism = candidates()["half-honest"].made(dn.Categories(["walk", "bus", "car"]), 2.0)
assert type(mechanism).__module__ == "half_honest"
assert dn.mechanism_from_json(mechanism.to_json()) == mechanism
print(mechanism.to_json())
print(set(check_mechanism(mechanism)))
for n in (100, 10_000):
    assert "half-honest" in dn.plan(dn.Categories(["walk", "bus", "car"]), 2.0, n).explain()
"""
    spec, checked = run(outside, "-c", code).splitlines()
    assert json.loads(spec) == json.loads(spec) | {"mechanism": "half-honest-1", "epsilon": 2.0}
    assert checked == "{'losses'}"  # JSON included: the entry point is found


def test_the_command_line_finds_it(outside: Path) -> None:
    file = outside / "mechanism.json"
    made = "import half_honest as h, deniable as dn; print(h.HalfHonest(dn.Categories(range(3)), 2.0).to_json())"
    file.write_text(run(outside, "-c", made))
    certificate = json.loads(run(outside, "-m", "deniable", "certify", file, "--json"))
    assert certificate["holds"] and certificate["mechanism"]["mechanism"] == "half-honest-1"
    audit = json.loads(run(outside, "-m", "deniable", "audit", file, "--trials", 20_000, "--json"))
    assert audit["claimed"] == 2.0 and audit["client"] == "half-honest-1" and audit["consistent"]
    compared = run(
        *(outside, "-m", "deniable", "compare", "--values", 6, "--epsilon", 2, "--people", 500),
        *("--mechanisms", "half-honest,direct", "--repeats", 3),
    )
    assert "half-honest" in compared and "direct" in compared
    missing = run(outside, "-m", "deniable", "certify", file, installed=False, code=2)
    assert "half-honest-1" in missing and "install the package" in missing


def test_a_survey_uses_it(outside: Path) -> None:
    code = f"""
import numpy as np, deniable as dn
survey = dn.Survey.load({str(outside / "survey.toml")!r})
question, = survey.questions
assert question.mechanism.wire == "half-honest-1"
from deniable.collector import Collector, opened, results
messages = survey.randomize_all({{"mode": ["walk", "bus"] * 500}}, people=1000, coins=dn.SeededCoins(1))
with opened({str(outside / "survey.db")!r}) as store:
    collector = Collector(survey, store)
    collector.take(survey.read(b"".join(messages)))
    found = results(collector.survey, collector.number, store)
print(found.people, *(f"{{row[4]:.3f}}" for row in found.records()))
"""
    people, walk, bus, car = map(float, run(outside, "-c", code).split())
    assert people == 1000 and walk + bus + car == pytest.approx(1, abs=0.002)
    assert abs(walk - 0.5) < 0.15 and abs(bus - 0.5) < 0.15 and abs(car) < 0.15  # five standard errors
    assert "half-honest-1" in run(outside, "-m", "deniable", "plan", outside / "survey.toml")
    certificate = run(outside, "-m", "deniable", "certify", outside / "survey.toml")
    assert "half-honest" in certificate
    refused = run(outside, "-m", "deniable", "certify", outside / "survey.toml", installed=False, code=2)
    assert "No mechanism 'half-honest-1' is installed" in refused
