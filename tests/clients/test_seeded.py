"""Reports by a public seed need an encoder that browsers lack: refused where a survey is served, and by the client."""

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

import deniable as dn
from deniable.collector import open_store
from deniable.collector.folder import Folder
from deniable.collector.serve import application
from deniable.collector.service import Shared
from deniable.collector.site import Site
from deniable.core import Mechanism
from deniable.survey.browsers import check_browsers
from deniable.survey.law_document import law_json
from tests.cli.test_cli import refusal, run
from tests.clients.test_javascript import CLIENT, MODULES
from tests.clients.test_javascript import run as execute

TOWNS = dn.Categories(["Lyon", "Paris", "Nice", "Lille", "Metz"])
ROWS = [[3 if column % 5 == value else 1 for column in range(100)] for value in range(5)]
SHORT = {
    "seeded-1": dn.Seeded(dn.SubsetSelection(TOWNS, 1.0)),
    "seeded-channel-1": dn.SeededChannel(dn.FiniteChannel(TOWNS, 1.1, ROWS)),
}
both = pytest.mark.parametrize("wire", SHORT)
SAID = "for which browsers have no encoder"


def asked(mechanism: Mechanism | None, epsilon: float = 1.1) -> str:
    question: dict[str, object] = {"id": "town", "kind": "category", "choices": list(TOWNS.labels)}
    if mechanism is not None:
        question["mechanism"] = json.loads(mechanism.to_json())
    return json.dumps({"survey": {"id": "short", "epsilon": epsilon, "minimum_reports": 10}, "question": [question]})


@pytest.fixture
def file(tmp_path: Path, wire: str) -> Path:
    path = tmp_path / "short.json"
    path.write_text(asked(SHORT[wire]))
    return path


@both
def test_such_a_survey_is_not_served(wire: str, file: Path) -> None:
    said = refusal("serve", str(file))
    assert f"Question 'town' uses {wire}, {SAID}" in said
    assert "needs mechanisms whose law starts from the answer itself" in said and "Leave the line mechanism out" in said
    checked = run("serve", str(file), "--check")
    assert checked.exit_code == 2 and SAID in checked.stdout
    assert not file.with_suffix(".db").exists() and not file.with_suffix(".token").exists()


@both
def test_an_application_of_such_a_survey_is_not_made(wire: str, file: Path, tmp_path: Path) -> None:
    survey = dn.Survey.load(file)
    with closing(open_store(str(tmp_path / "own.db"))) as store, pytest.raises(dn.InvalidParameter, match=SAID):
        application(survey, store, open_results=True)


@both
def test_in_a_folder_it_is_left_out_with_the_reason(wire: str, file: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(asked(None).replace('"short"', '"other"'))
    with closing(open_store(str(tmp_path / "all.db"))) as store:
        site = Site(store, Shared())
        folder = Folder(tmp_path, site, lambda survey, path: application(survey, store, open_results=True))
        folder.look()
        assert [app.collector.survey.id for app in site.apps] == ["other"]
        assert SAID in folder.refused[file]


def test_what_is_advised_is_served(tmp_path: Path) -> None:
    path = tmp_path / "advised.json"
    path.write_text(asked(None).replace('"choices"', '"mechanism": {"mechanism": "hashing-1"}, "choices"'))
    survey = dn.Survey.load(path)
    assert survey.questions[0].mechanism.wire == "hashing-1"
    check_browsers(survey)


@both
def test_python_devices_answer_it_all_the_same(wire: str, file: Path) -> None:
    mechanism = dn.Survey.load(file).questions[0].mechanism
    assert mechanism.wire == wire and dn.certify(mechanism).holds
    assert mechanism.tally(mechanism.perturb(["Lyon", "Nice"])).n == 2


PAGE = """
import { readFileSync } from "node:fs";
import { mechanismFromSpec, Survey } from "./deniable.js";
const [text, law] = ["survey.json", "law.json"].map((name) => readFileSync(name, "utf8"));
const [question] = JSON.parse(text).question;
const said = [
  () => Survey.parse(text, { law }),
  () => mechanismFromSpec(question.mechanism, JSON.parse(law).questions.town),
].map((attempt) => {
  try {
    return String(attempt());
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
});
console.log(JSON.stringify(said));
"""


@pytest.mark.needs("node")
@both
def test_the_client_refuses_it_and_says_who_can(wire: str, file: Path, tmp_path: Path) -> None:
    for name in MODULES:
        shutil.copy(CLIENT.parent / name, tmp_path)
    survey = dn.Survey.load(file)
    (tmp_path / "survey.json").write_text(survey.to_json())
    (tmp_path / "law.json").write_text(law_json(survey))
    (tmp_path / "page.mjs").write_text(PAGE)
    whole, alone = json.loads(execute("node", "page.mjs", folder=tmp_path))
    words = "The law is for other answers than this device encodes. Use the Python client."
    assert whole == f"InvalidLaw: Question 1: {words}" and alone == f"InvalidLaw: {words}"


COUNTED = """
import { mechanismFromSpec } from "./deniable.js";
import { estimate, estimates, tally } from "./estimate.js";
import { readFileSync } from "node:fs";
const { spec, law, answers } = JSON.parse(readFileSync("case.json", "utf8"));
const mechanism = mechanismFromSpec(spec, law);
const said = [estimates(mechanism)];
for (const attempt of [
  () => tally(mechanism, mechanism.perturb(answers)).counts.length,
  () => estimate(mechanism, { n: 4, counts: [1, 2, 1] }).n,
]) {
  try {
    said.push(attempt());
  } catch (error) {
    said.push(`${error.name}: ${error.message}`);
  }
}
console.log(JSON.stringify(said));
"""


@pytest.mark.needs("node")
@pytest.mark.parametrize(
    ("mechanism", "answers"),
    [
        (dn.WeightedDesign(dn.Categories(range(7)), 1.0), [0, 3, 3]),
        (dn.PairWheel(dn.KeyValue(["a", "b", "c"], 0, 1, 1), 1.0), [{"a": 1}]),
    ],
    ids=["weighted design", "pair wheel"],
)
def test_reports_are_counted_or_refused_in_words(mechanism: Mechanism, answers: list[object], tmp_path: Path) -> None:
    for name in MODULES:
        shutil.copy(CLIENT.parent / name, tmp_path)
    case = {"spec": json.loads(mechanism.to_json()), "law": mechanism.device_law(), "answers": answers}
    (tmp_path / "case.json").write_text(json.dumps(case))
    (tmp_path / "page.mjs").write_text(COUNTED)
    known, counted, estimated = json.loads(execute("node", "page.mjs", folder=tmp_path))
    if mechanism.wire == "weighted-design-1":
        assert (known, counted) == (True, 7) and "A tally has 7 counts" in estimated
    else:
        words = (
            f"InvalidParameter: This client does not count reports of {mechanism.wire}. It counts categories and numbers. "
        )
        assert not known and counted == estimated == words + "Use the Python package: deniable estimate."
