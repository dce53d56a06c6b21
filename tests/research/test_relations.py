"""The experiments on relations between answers: their committed results keep what the page promises, and are shown there."""

import re

import numpy as np
import pytest

import deniable as dn
from research.data.folder import Data
from research.experiments import regression, relations, survey_relations
from tests import ROOT
from tests.research.test_experiments import cells, committed

PAGE = (ROOT / "docs" / "relations.md").read_text(encoding="utf-8")


def numbers(setting: relations.Setting) -> list[float]:
    (line,) = [line for line in committed("relations").splitlines() if line.startswith(f"| {setting.name} |")]
    return [float(cell.replace(",", "")) for cell in cells(line)[1:]]


def test_every_size_coverage_and_power_is_right() -> None:
    assert "Percentages of 4,000 collections each" in committed("relations") and len(relations.NULLS) >= 10
    for setting in relations.NULLS:
        people, size, coverage = numbers(setting)
        assert people == setting.people and abs(size - 5) <= 0.5 and abs(coverage - 95) <= 1, setting.name
    (pooled,) = re.findall(r"\| all together \| \| ([\d.]+)", committed("relations"))
    assert abs(float(pooled) - 5) <= 0.3
    for setting in relations.POWERS:
        people, predicted, measured = numbers(setting)
        assert predicted == pytest.approx(relations.planned(setting), abs=0.06) and abs(measured - predicted) <= 3
    for setting in relations.INTERVALS:
        people, coverage = numbers(setting)
        assert people == setting.people and abs(coverage - 95) <= 1, setting.name


@pytest.mark.parametrize("setting", [relations.NULLS[0], relations.NULLS[8]], ids=lambda each: each.name)
def test_sizes_are_measured(setting: relations.Setting) -> None:
    """60 collections: 3 rejections are expected, and 16 or more happen in less than one of 1e7 runs."""
    _, rejected, held = relations.measure(setting, 60)
    assert rejected < 100 * 16 / 60 and held > 85


def test_the_page_shows_the_results() -> None:
    for table in re.findall(r"(?:^\|.*\n)+", committed("relations"), re.MULTILINE):
        assert table in PAGE
    model, table = committed("survey_relations").split("```")[1::2]
    assert model in PAGE and table in PAGE
    (error,) = re.findall(r"error of a cell (0\.\d+)", committed("survey_relations"))
    assert float(error) <= 0.030 and f"it was {100 * float(error):.2f}" in PAGE


def test_regressions_of_100_000_people_take_less_than_two_seconds() -> None:
    text = committed("regression")
    times = {
        name: float(cells(line)[1]) for line in text.splitlines() for name in regression.SETTINGS if f"| {name} (" in line
    }
    assert text.startswith("100,000 people, 5 covariates") and times.keys() == regression.SETTINGS.keys()
    assert max(times.values()) < 2 and f"{max(times.values()):.2f}" in PAGE
    data = regression.people(500)
    for formula in list(regression.SETTINGS.values())[2:6]:
        assert dn.regress(formula, data, regression.MECHANISMS).n == 500


def test_the_surveys_have_stand_ins() -> None:
    found = survey_relations.regression(Data())
    assert found.converged and found.names[1:] == survey_relations.MODEL.split(" ~ ")[1].split(" + ")
    few = {name: column[:600] for name, column in survey_relations.social(Data()).items()}
    lines = survey_relations.tables(few, 1)
    assert len(lines) == 5 and all(np.isfinite(float(cells(line)[2])) for line in lines[2:])
