"""The files that a release makes, kept for those that come after it: `python -m tests.releases.make FOLDER`.

Run it once for each release, with that release, and never again: what is kept is what people have on their disks.
"""

import sys
from pathlib import Path

from click.testing import CliRunner

import deniable as dn
from deniable.cli.main import main
from deniable.collector import Collector, opened
from deniable.core import SeededCoins
from deniable.survey.law_document import law_json
from deniable.survey.reading import parse_toml

PEOPLE = 40
SURVEY = """\
[survey]
id = "kept"
title = "A survey of an earlier release"
epsilon = 2.0
minimum_reports = 10
people = 1000

[[question]]
id = "mode"
ask = "How did you travel today?"
kind = "category"
choices = ["walk", "bicycle", "bus", "car"]

[[question]]
id = "minutes"
ask = "How many minutes did it take?"
kind = "number"
low = 0
high = 120
"""


def run(*arguments: object) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def made(folder: Path) -> None:
    """Write one file of each kind."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "survey.toml").write_text(SURVEY, encoding="utf-8")
    survey = parse_toml(SURVEY, "survey.toml")
    (folder / "survey.json").write_text(survey.to_json(), encoding="utf-8")
    (folder / "law.json").write_text(law_json(survey), encoding="utf-8")
    (folder / "certificate.json").write_text(run("certify", folder / "survey.toml", "--json"), encoding="utf-8")
    device = dn.Device(survey, folder / "me.ledger")
    (folder / "one.body").write_bytes(device.answer({"mode": "bus", "minutes": 25}))
    random = SeededCoins(7)
    bodies = survey.randomize_all({"mode": ["walk", "bus"] * (PEOPLE // 2), "minutes": [20.0] * PEOPLE}, PEOPLE, random)
    (folder / "many.body").write_bytes(b"".join(bodies))
    with opened(str(folder / "store.db")) as store:
        Collector(survey, store).take(survey.read((folder / "many.body").read_bytes()))
    run("backup", folder / "survey.toml", "--store", folder / "store.db", "--out", folder / "store.backup")
    mechanism, reports = folder / "mechanism.json", folder / "answers.reports"
    (folder / "answers.csv").write_text("mode\n" + "walk\nbus\n" * PEOPLE, encoding="utf-8")
    run("plan", "--category", "walk", "--category", "bus", "--epsilon", 1, "--people", 80, "--out", mechanism)
    run("perturb", folder / "answers.csv", "--column", "mode", "--mechanism", mechanism, "--out", reports, "--seed", 1)
    run("aggregate", mechanism, reports, "--out", folder / "tally.json", "--workers", 1)


if __name__ == "__main__":
    made(Path(sys.argv[1]))
