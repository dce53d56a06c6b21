"""The JavaScript client in Node: whole surveys a second, beside the Python device; and its size beside what it may be."""

import gzip
import json
import shutil
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import deniable as dn
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from deniable.survey.law_document import law_json
from tests.surveys import KINDS, survey

ROOT = Path(__file__).parents[1]
ANSWERS = {
    "mood": 7,
    "often": "sometimes",
    "films": {"Brazil": 4.5},
    "apps": ["bank", "chat"],
    "home": "Nice",
    "taste": [0.25, -1, 0.3, 1],
}


def in_node(what: str, effort: Effort) -> float:
    """How many times a second Node does it; the first time, code that was never run is slow."""
    with tempfile.TemporaryDirectory(prefix="deniable-bench-") as folder:
        made = {"survey": survey(KINDS).to_json(), "law": law_json(survey(KINDS)), "answers": json.dumps(ANSWERS)}
        for name, text in made.items():
            (Path(folder) / f"{name}.json").write_text(text)
        command = ["node", "bench.mjs", *(f"{folder}/{name}.json" for name in made), str(max(100, effort.n // 500))]
        done = subprocess.run(command, cwd=ROOT / "js", capture_output=True, text=True, check=True)
    return float(1000 / json.loads(done.stdout)[what])


def in_python(effort: Effort) -> tuple[float, str]:
    made, coins, people = survey(KINDS), dn.SecureCoins(), 100
    made.randomize(ANSWERS, coins)
    start = time.process_time()
    for _ in range(people):
        made.randomize(ANSWERS, coins)
    return people / (time.process_time() - start), "Python"


def size(effort: Effort) -> float:
    client = ROOT / "packages" / "deniable" / "src" / "deniable" / "collector" / "web" / "deniable.js"
    return float(len(gzip.compress(client.read_bytes(), 9)))


UNIT = "surveys of six questions a second"
NODE = [
    Figure("client/randomize", UNIT, partial(in_node, "each"), in_python, has_peers=False),
    Figure("client/randomize/first", UNIT, partial(in_node, "first"), in_python, has_peers=False),
]
FIGURES = [
    *(NODE if shutil.which("node") else []),
    Figure("client/size", "bytes, minified and gzipped", size, lambda effort: (20_000.0, "allowed"), has_peers=False),
]
