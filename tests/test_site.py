"""The documentation as a site: its playground is the client of surveys, and estimates what is true."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from docs.hooks import FIXED, MODULES, WEB
from research.experiments.playground import FILE, cases
from tests import ROOT

SCRIPT = """
import { crowd, survey } from "./playground.js";
import { readFileSync } from "node:fs";
const cases = JSON.parse(readFileSync("laws.json", "utf8"));
const people = crowd(cases[0].spec.domain.labels, [40, 30, 20, 10], 20000);
console.log(JSON.stringify(cases.map((each) => survey(each, people))));
"""


def test_the_laws_are_those_that_python_makes() -> None:
    assert json.loads(FILE.read_text(encoding="utf-8")) == json.loads(json.dumps(cases()))


@pytest.mark.needs("node")
def test_the_playground_runs_without_a_server(tmp_path: Path) -> None:
    """Four epsilons and four shares; an estimate is further than six standard errors off with probability below 1e-7."""
    for path in (FILE, ROOT / "docs" / "playground" / "playground.js", *(WEB / name for name in MODULES)):
        shutil.copy(path, tmp_path)
    (tmp_path / "run.mjs").write_text(SCRIPT)
    done = subprocess.run(["node", "run.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    widths = []
    for found, epsilon in zip(json.loads(done.stdout), (0.5, 1, 2, 4), strict=True):
        assert 0 <= epsilon - found["epsilon"] < 1e-6
        errors = [half / 1.96 for half in found["half"]]
        truth = (0.4, 0.3, 0.2, 0.1)
        assert all(abs(value - share) < 6 * e for value, share, e in zip(found["values"], truth, errors, strict=True))
        widths.append(sum(errors))
    assert widths == sorted(widths, reverse=True)


def test_fixed_addresses_are_found() -> None:
    for bad in ('<a href="/x">', '<script src="https://x.example/a.js">', "<img alt='' src='/a.png'>"):
        assert FIXED.search(bad)
    for good in ('<a href="x.html">', '<a href="https://x.example">', '<a href="../x.html#a">'):
        assert not FIXED.search(good)
