"""The JavaScript client: its own tests run here too, and the committed bundle is what its source makes."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collector import Collector, open_store, results
from deniable.collector.verdicts import Counted
from deniable.mixing import make_terms
from deniable.mixing.sealing import TICKET_BYTES, ticket_of
from deniable.survey.law_document import law_json
from tests import ROOT
from tests.clients import friends_surveys, large_friends, repeated_surveys
from tests.outside import MECHANISM, SURVEY
from tests.privacy.test_random_laws import DEEP, LARGE
from tests.random_laws import in_javascript

CLIENT = ROOT / "packages" / "deniable" / "src" / "deniable" / "collector" / "web" / "deniable.js"
MODULES = ("deniable.js", "reports.js", "estimate.js", "invitation.js", "strings.js", "repeated.js", "friends.js", "mix.js")
LARGEST = 20_000  # bytes, compressed as a server sends it


def run(*command: str | Path, folder: Path = ROOT / "js") -> str:
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_it_is_small() -> None:
    assert len(gzip.compress(CLIENT.read_bytes(), 9, mtime=0)) < LARGEST
    assert len(gzip.compress((CLIENT.parent / "mix.js").read_bytes(), 9, mtime=0)) < 2_600


def test_it_asks_nobody_else_for_anything() -> None:
    source = "".join((CLIENT.parent / name).read_text() for name in MODULES)
    assert "://" not in source and "Math.random" not in source
    assert set(re.findall(r"import\((.*?)\)", source)) <= {'"./strings.js"'}  # a module of its own, beside it
    lock = (ROOT / "js" / "package-lock.json").read_text()
    assert "resolved" not in lock and '"https:' not in lock
    assert "dependencies" not in json.loads((ROOT / "js" / "package.json").read_text())


def test_the_surveys_that_ask_again_are_those_of_this_release() -> None:
    assert repeated_surveys.FILE.read_text() == repeated_surveys.made()


def test_the_rounds_about_friends_are_those_of_this_release() -> None:
    assert friends_surveys.FILE.read_text() == friends_surveys.made()


@pytest.mark.needs("node")
def test_a_hundred_thousand_members() -> None:
    """The bytes that Python makes in all three rounds, of hubs and of others, in a bounded amount of memory."""
    cases = large_friends.rounds()
    assert all(f'"size":{large_friends.MEMBERS}' in case["survey"] for case in cases)
    for case, cost in zip(cases, large_friends.costs(cases), strict=True):
        assert cost.messages == [each["message"] for each in case["made"]]
        assert cost.memory < 500  # MB, with Node itself


@pytest.mark.needs("node")
def test_its_own_tests_pass() -> None:
    """All vectors agree, laws run as in Python, draws are exact, the device keeps its rules; see js/test."""
    found = re.search(r"^# pass (\d+)$", run("node", "--test", "--test-reporter=tap", "test/"), re.MULTILINE)
    assert found is not None and int(found[1]) > 1000


@pytest.mark.needs("node", "npm")
def test_the_bundle_is_made_from_the_source(tmp_path: Path) -> None:
    if not (ROOT / "js" / "node_modules").exists():
        run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    run("node", "build.mjs", tmp_path)
    for name in MODULES:
        assert (tmp_path / name).read_bytes() == (CLIENT.parent / name).read_bytes(), "run make js and commit what it makes"


PAGE = re.compile(r"^```js\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.needs("node")
def test_the_documented_code_runs(tmp_path: Path) -> None:
    """The blocks of the page run one after the other, against a survey that a file holds and a collector that counts."""
    for name in MODULES:
        shutil.copy(CLIENT.parent / name, tmp_path)
    survey = dn.Survey.load(ROOT / "packages" / "deniable" / "src" / "deniable" / "data" / "survey.toml")
    (tmp_path / "survey.json").write_text(survey.to_json())
    (tmp_path / "law.json").write_text(law_json(survey))
    blocks = "\n".join(PAGE.findall((ROOT / "docs" / "javascript.md").read_text()))
    server = """
import { readFileSync, writeFileSync } from "node:fs";
globalThis.fetch = async (url, options) => {
  const [, name] = /\\/v1\\/(survey|law)$/.exec(url) ?? [];
  if (name) return new Response(readFileSync(`${name}.json`, "utf8"));
  if (url === "https://mix.example/v1/mix") {
    writeFileSync("sealed.bin", options.body);
    return Response.json({ stored: 1, survey: JSON.parse(readFileSync("survey.mix", "utf8")).survey }, { status: 202 });
  }
  writeFileSync("report.bin", options.body);
  const survey = Buffer.from(options.body.slice(8, 24)).toString("hex");
  return Response.json({ survey, counted: 1, duplicates: 0 });
};
"""
    terms, opener = make_terms(survey, "https://mix.example", 1000, 256)
    terms.save(tmp_path / "survey.mix")
    for module in ("deniable", "estimate", "reports", "mix"):
        blocks = re.sub(rf'from "(deniable/)?{module}"', f'from "./{module}.js"', blocks)
    blocks = blocks.replace('from "deniable/node"', f'from "{(ROOT / "js" / "src" / "node.js").as_uri()}"')
    (tmp_path / "page.mjs").write_text(server + blocks)
    said = run("node", "page.mjs", folder=tmp_path)
    assert "sent" in said and f"{terms.fingerprint} true" in said and "sent 202" in said
    sealed = (tmp_path / "sealed.bin").read_bytes()
    (opened,) = opener.messages(sealed[TICKET_BYTES:])  # what JavaScript sealed, Python opens
    assert opened is not None and sealed[:TICKET_BYTES] == ticket_of(opened)
    with closing(open_store(str(tmp_path / "survey.db"))) as store:
        sent = [*survey.read((tmp_path / "report.bin").read_bytes()), *survey.read(opened)]
        verdicts = Collector(survey, store).take(sent)
    assert verdicts == [Counted.NOW] * 2


OUTSIDE = """
import { readFileSync, writeFileSync } from "node:fs";
import { Survey } from "./deniable.js";
import { supports } from "./reports.js";
const [text, law] = ["survey.json", "law.json"].map((name) => readFileSync(name, "utf8"));
const survey = Survey.parse(text, { law });
const [{ mechanism, choices }] = survey.questions;
const reports = mechanism.perturb(Array.from({ length: 3000 }, () => "bus"));
const named = reports.filter((report) => supports(mechanism, report).includes(choices.indexOf("bus"))).length;
writeFileSync("message.bin", survey.randomize({ mode: "bus" }));
console.log(JSON.stringify({ loss: survey.loss, wire: mechanism.wire, named }));
"""


@pytest.mark.needs("node")
def test_a_mechanism_of_another_package_runs_here_too(tmp_path: Path) -> None:
    """Nothing in js/ knows it: its law, its fields and how reports are read come with the survey."""
    (tmp_path / "half_honest.py").write_text(MECHANISM)
    metadata = tmp_path / "half_honest-1.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text("[deniable.mechanisms]\nhalf-honest-1 = half_honest:HalfHonest\n")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: half-honest\nVersion: 1.0\n")
    (tmp_path / "survey.toml").write_text(SURVEY)
    for name in MODULES:
        shutil.copy(CLIENT.parent / name, tmp_path)
    (tmp_path / "page.mjs").write_text(OUTSIDE)
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])

    def python(code: str) -> str:
        code = f"import deniable as dn\nfrom deniable.survey.law_document import law_json\n{code}"
        environment = {**os.environ, "PYTHONPATH": paths}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    python("""
survey = dn.Survey.load("survey.toml")
open("survey.json", "w").write(survey.to_json())
open("law.json", "w").write(law_json(survey))
""")
    found = json.loads(run("node", "page.mjs", folder=tmp_path))
    assert (found["wire"], found["loss"]["odds"]) == ("half-honest-1", "4")
    assert 1850 < found["named"] < 2150  # of 3,000 with probability 2/3: outside with probability below 1e-8
    counted = """
survey = dn.Survey.load("survey.toml")
(message,) = survey.read(open("message.bin", "rb").read())
print(len(survey.unpack(message)))
"""
    assert python(counted) == "1\n"


TABLES = """
import { readFileSync, writeFileSync } from "node:fs";
import { Survey } from "./deniable.js";
import { explain } from "./reports.js";

const survey = Survey.parse(readFileSync("survey.json", "utf8"), { law: readFileSync("law.json", "utf8") });
const answers = JSON.parse(readFileSync("answers.json", "utf8"));
const messages = answers.map((each) => survey.randomize(each, { now: 0 }));
writeFileSync("messages.bin", Buffer.concat(messages));
const refused = [{}, { ...answers[0], nobody: 1 }, { ...answers[0], age: "90+" }].map((each) => {
  try {
    survey.randomize(each);
  } catch (error) {
    return error.name;
  }
});
const asked = survey.questions.map(({ id, asked }) => [id, asked.map(({ id, choices }) => [id, choices])]);
console.log(JSON.stringify({ asked, refused, loss: survey.loss, text: explain(survey, messages[0])[0].text }));
"""


@pytest.mark.needs("node")
@pytest.mark.parametrize("pairs", [False, True])
def test_questions_that_are_reported_together_are_answered_one_by_one(pairs: bool, tmp_path: Path) -> None:
    names = ("smokes", "age", "town")
    asked: list[dict[str, object]] = [
        {"id": name, "kind": "category", "choices": ["no", "some", "many", "all"]} for name in names
    ]
    asked[2]["optional"] = True
    tables = [{"questions": list(each)} for each in (("smokes", "age"), ("age", "town"), ("smokes", "town"))]
    text = json.dumps(
        {
            "survey": {"id": "t", "epsilon": 1.5, "minimum_reports": 1},
            "question": asked,
            "table": tables if pairs else tables[:1],
        }
    )
    survey = dn.Survey.from_json(text)
    assert survey.questions[0].mechanism.wire == ("one-pair-1" if pairs else survey.questions[0].mechanism.wire)
    assert survey.questions[0].id == ("smokes+age+town" if pairs else "smokes+age")
    people = 3000
    answers = [{"smokes": "no", "age": "many", "town": "all"}] * (people // 2)
    answers += [{"smokes": "all", "age": "some"}] * (people // 2)
    for name, content in (("survey", survey.to_json()), ("law", law_json(survey)), ("answers", json.dumps(answers))):
        (tmp_path / f"{name}.json").write_text(content)
    for module in ("deniable.js", "reports.js"):
        shutil.copy(CLIENT.parent / module, tmp_path / module)
    (tmp_path / "tables.mjs").write_text(TABLES)
    found = json.loads(run("node", "tables.mjs", folder=tmp_path))
    assert found["refused"] == ["OutsideDomain"] * 3
    assert found["asked"][0][1][0] == ["smokes", ["no", "some", "many", "all"]]
    assert found["loss"]["epsilon"] <= 1.5 and found["text"].startswith("The report ")
    messages = survey.read((tmp_path / "messages.bin").read_bytes())
    with closing(open_store(str(tmp_path / "a.db"))) as store:
        collector = Collector(survey, store)
        assert set(collector.take(messages)) == {Counted.NOW}
        table = results(survey, collector.number, store).tables[0].table
    assert table is not None and table.n == people
    wanted = np.zeros((4, 4))
    wanted[0, 2] = wanted[3, 1] = 0.5
    errors = np.abs(table.shares - wanted) / table.standard_error
    assert errors.max() < 6  # of 16 cells, with probability below 1e-7


@pytest.mark.needs("node")
def test_leaks_are_not_bounded_and_deep_laws_end_here_too() -> None:
    """The laws that once fooled a rule of proof in Python, or kept it busy."""
    laws = {name: json.dumps({"nodes": nodes, "report": [["y", len(nodes) - 1]]}) for name, nodes in LARGE.items()}
    found = in_javascript([{"law": text, "runs": []} for text in (*laws.values(), *DEEP.values())])
    verdicts = [each and each["odds"] for each in found]
    assert [name for name, odds in zip(laws, verdicts, strict=False) if odds not in ("unbounded", "not proved")] == []
