"""The laws of a survey as devices get them: what the document holds, who serves it, and how it is read."""

import json
from collections.abc import Iterator

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from deniable.core import Program
from deniable.core.running import run
from deniable.survey.law_document import law_document, law_json
from tests import ROOT
from tests.families import INSTANCES
from tests.surveys import COMMUTE, KINDS, survey

SPARSE = """
[survey]
id = "sparse"
epsilon = 1.0
[[question]]
id = "items"
kind = "sparse-set"
size = 500
protects = "item"
"""


def test_it_has_the_law_of_every_question() -> None:
    asked = survey(KINDS)
    document = json.loads(law_json(asked))
    assert (document["format"], document["survey"]) == ("deniable law 1", asked.fingerprint)
    assert list(document["questions"]) == sorted(question.id for question in asked.questions)
    for question in asked.questions:
        found = document["questions"][question.id]
        assert Program.from_json(json.dumps(found["law"])) == question.mechanism.law
        assert [field["name"] for field in found["fields"]] == [field.name for field in question.mechanism.layout.fields]


def test_it_is_canonical_and_changes_no_fingerprint() -> None:
    asked = survey(COMMUTE)
    text = law_json(asked)
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")) and text.isascii()
    assert '"nodes"' not in asked.to_json() and dn.Survey.from_json(asked.to_json()).fingerprint == asked.fingerprint


def test_a_theorem_is_no_program() -> None:
    assert law_document(survey(SPARSE))["questions"] == {"items": None}


def test_the_command_prints_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("law") / "survey.toml"
    file.write_text(KINDS)
    shown = CliRunner().invoke(main, ["law", str(file)])
    assert shown.exit_code == 0 and "often" in shown.output and "= answer, 0..2" in shown.output
    printed = CliRunner().invoke(main, ["law", str(file), "--json"])
    assert printed.output.strip() == law_json(dn.Survey.load(file))
    file.write_text(SPARSE)
    assert "rests on a theorem" in CliRunner().invoke(main, ["law", str(file)]).output


def supporting() -> Iterator[tuple[str, dn.Mechanism]]:
    for name, mechanism in INSTANCES.items():
        if mechanism.traced and hasattr(mechanism, "supports") and mechanism.reading():
            yield name, mechanism


@pytest.mark.parametrize(("name", "mechanism"), [*supporting()], ids=lambda each: each if isinstance(each, str) else "")
def test_devices_read_reports_as_we_do(name: str, mechanism: dn.Mechanism) -> None:
    """The traced program says of every report and answer what `supports` says."""
    domain, size = mechanism.domain, min(mechanism.domain.size, 50)
    answers = [domain.answer(place % domain.size) for place in range(20)]
    columns = mechanism.perturb(answers, dn.SeededCoins(name.encode())).columns
    cells = np.arange(size)
    wanted = mechanism.supports(columns, cells)  # type: ignore[attr-defined]
    program = Program.from_json(json.dumps(mechanism.reading()["supports"])[1:-1])  # the only one of the list
    codes = []
    for field in mechanism.layout.fields:
        column = columns[field.name]
        if column.ndim == 2:
            column = np.unpackbits(column, axis=1, bitorder="little", count=field.bits)
        codes.append(np.repeat(column.astype(np.int64), size, axis=0))
    found = run(program, [*codes, np.tile(cells, len(answers))], dn.SeededCoins(1), len(answers) * size)["supports"]
    assert np.array_equal(np.broadcast_to(np.asarray(found), wanted.size).reshape(wanted.shape).astype(bool), wanted)


def test_vectors_are_those_that_the_command_writes() -> None:
    from tests import law_vectors

    for file, made in (("question_laws", law_vectors.of_questions()), ("memory", law_vectors.memories())):
        assert json.loads((ROOT / "vectors" / f"{file}.json").read_text()) == json.loads(json.dumps([*made]))
