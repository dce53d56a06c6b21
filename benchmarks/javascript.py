"""The JavaScript client: surveys a second beside the Python device, and its proofs and size beside what they may take."""

import gzip
import http.server
import json
import shutil
import subprocess
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import deniable as dn
from benchmarks.effort import Effort
from benchmarks.figure import Figure
from deniable.survey.law_document import law_json
from tests.surveys import KINDS, survey

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "packages" / "deniable" / "src" / "deniable" / "collector" / "web" / "deniable.js"
RUNS = 7
LOAD = """async () => { globalThis.client = await import("/deniable.js"); }"""
VERIFY = """({ survey, law }) => { globalThis.client.Survey.parse(survey, { law }); }"""
ANSWERS = {
    "mood": 7,
    "often": "sometimes",
    "films": {"Brazil": 4.5},
    "apps": ["bank", "chat"],
    "home": "Nice",
    "taste": [0.25, -1, 0.3, 1],
}


def milliseconds(what: str, effort: Effort) -> float:
    """How long Node takes; the first time, code that was never run is slow."""
    with tempfile.TemporaryDirectory(prefix="deniable-bench-") as folder:
        made = {"survey": survey(KINDS).to_json(), "law": law_json(survey(KINDS)), "answers": json.dumps(ANSWERS)}
        for name, text in made.items():
            (Path(folder) / f"{name}.json").write_text(text)
        command = ["node", "bench.mjs", *(f"{folder}/{name}.json" for name in made), str(max(100, effort.n // 500))]
        done = subprocess.run(command, cwd=ROOT / "js", capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)[what])


def in_node(what: str, effort: Effort) -> float:
    """How many times a second Node does it."""
    return 1000 / milliseconds(what, effort)


def least_in_node(what: str, effort: Effort) -> float:
    """The least of several processes."""
    return min(milliseconds(what, effort) for _ in range(RUNS))


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files, and no line for each."""

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


def _spent(session: Any) -> float:
    """The milliseconds that the thread of a page has computed."""
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    return 1000 * float(metrics["ThreadTime"])


def in_chromium(effort: Effort) -> float:
    """The least of several new pages that read the survey and prove its laws, by the processor's time of the page."""
    from tests.browsers import chromium

    given = {"survey": survey(KINDS).to_json(), "law": law_json(survey(KINDS))}
    handler = partial(Quiet, directory=str(CLIENT.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, chromium() as browser:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = []
        for _ in range(RUNS):
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{server.server_port}/deniable.js")
            page.evaluate(LOAD)
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            before = _spent(session)
            page.evaluate(VERIFY, given)
            found.append(_spent(session) - before)
            page.close()
        server.shutdown()
    return min(found)


def in_python(effort: Effort) -> tuple[float, str]:
    made, coins, people = survey(KINDS), dn.SecureCoins(), 100
    made.randomize(ANSWERS, coins)
    start = time.process_time()
    for _ in range(people):
        made.randomize(ANSWERS, coins)
    return people / (time.process_time() - start), "Python"


def size(effort: Effort) -> float:
    return float(len(gzip.compress(CLIENT.read_bytes(), 9)))


def allowed(effort: Effort) -> tuple[float, str]:
    return 50.0, "allowed"


UNIT = "surveys of six questions a second"
VERIFYING = "milliseconds to verify a survey of six questions"
NODE = [
    Figure("client/randomize", UNIT, partial(in_node, "each"), in_python, has_peers=False),
    Figure("client/randomize/first", UNIT, partial(in_node, "first"), in_python, has_peers=False),
    Figure("client/verify/node", VERIFYING, partial(least_in_node, "reading"), allowed, has_peers=False),
    Figure("client/verify/node/laws-alone", VERIFYING, partial(least_in_node, "proving"), allowed, has_peers=False),
]
CHROMIUM = [Figure("client/verify/chromium", VERIFYING, in_chromium, allowed, has_peers=False)]
FIGURES = [
    *(NODE if shutil.which("node") else []),
    *(CHROMIUM if shutil.which("chromium") else []),
    Figure("client/size", "bytes, minified and gzipped", size, lambda effort: (20_000.0, "allowed"), has_peers=False),
]
