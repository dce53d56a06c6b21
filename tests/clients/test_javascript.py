"""The JavaScript client: its own tests run here too, and the committed bundle is what its source makes."""

import gzip
import json
import re
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

import deniable as dn
from deniable.collector import Collector, open_store
from deniable.collector.verdicts import Counted
from tests import ROOT

CLIENT = ROOT / "packages" / "deniable" / "src" / "deniable" / "collector" / "web" / "deniable.js"
LARGEST = 20_000  # bytes, compressed as a server sends it


def run(*command: str | Path, folder: Path = ROOT / "js") -> str:
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_it_is_small() -> None:
    assert len(gzip.compress(CLIENT.read_bytes(), 9, mtime=0)) < LARGEST


def test_it_asks_nobody_else_for_anything() -> None:
    source = CLIENT.read_text()
    assert "://" not in source and "import(" not in source and "Math.random" not in source
    lock = (ROOT / "js" / "package-lock.json").read_text()
    assert "resolved" not in lock and '"https:' not in lock
    assert "dependencies" not in json.loads((ROOT / "js" / "package.json").read_text())


@pytest.mark.needs("node")
def test_its_own_tests_pass() -> None:
    """All vectors agree, laws run as in Python, draws are exact, the device keeps its rules; see js/test."""
    found = re.search(r"^# pass (\d+)$", run("node", "--test", "--test-reporter=tap", "test/"), re.MULTILINE)
    assert found is not None and int(found[1]) > 1000


@pytest.mark.needs("node", "npm")
def test_the_bundle_is_made_from_the_source(tmp_path: Path) -> None:
    if not (ROOT / "js" / "node_modules").exists():
        run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    run("node", "build.mjs", tmp_path / "made.js")
    assert (tmp_path / "made.js").read_bytes() == CLIENT.read_bytes(), "run make js and commit what it makes"


PAGE = re.compile(r"^```js\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.needs("node")
def test_the_documented_code_runs(tmp_path: Path) -> None:
    """The blocks of the page run one after the other, against a survey that a file holds and a collector that counts."""
    shutil.copy(CLIENT, tmp_path / "deniable.js")
    survey = dn.Survey.load(ROOT / "packages" / "deniable" / "src" / "deniable" / "data" / "survey.toml")
    (tmp_path / "survey.json").write_text(survey.to_json())
    blocks = "\n".join(PAGE.findall((ROOT / "docs" / "javascript.md").read_text()))
    server = """
import { readFileSync, writeFileSync } from "node:fs";
globalThis.fetch = async (url, options) => {
  if (url.endsWith("/v1/survey")) return new Response(readFileSync("survey.json", "utf8"));
  writeFileSync("report.bin", options.body);
  return new Response("{}", { status: 202 });
};
"""
    (tmp_path / "page.mjs").write_text(server + blocks.replace('from "deniable"', 'from "./deniable.js"'))
    assert "sent" in run("node", "page.mjs", folder=tmp_path)
    with closing(open_store(str(tmp_path / "survey.db"))) as store:
        verdicts = Collector(survey, store).take(survey.read((tmp_path / "report.bin").read_bytes()))
    assert verdicts == [Counted.NOW]
