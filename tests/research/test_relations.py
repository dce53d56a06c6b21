"""The experiments on relations between answers: their committed results keep what the page promises, and are shown there."""

import re

import numpy as np
import pytest

from research.data.folder import Data
from research.experiments import relations, survey_relations
from tests import ROOT
from tests.research.test_experiments import cells, committed

PAGE = (ROOT / "docs" / "relations.md").read_text(encoding="utf-8")


def numbers(setting: relations.Setting) -> list[float]:
    (line,) = [line for line in committed("relations").splitlines() if line.startswith(f"| {setting.name} |")]
    return [float(cell.replace(",", "")) for cell in cells(line)[1:]]


def test_every_size_coverage_and_power_is_right() -> None:
    assert "Over 4,000 collections each" in committed("relations") and len(relations.NULLS) >= 10
    for setting in relations.NULLS:
        people, size, coverage = numbers(setting)
        assert people == setting.people and abs(size - 5) <= 0.5 and abs(coverage - 95) <= 1, setting.name
    (pooled,) = re.findall(r"\| all together \| \| ([\d.]+)", committed("relations"))
    assert abs(float(pooled) - 5) <= 0.3
    for setting in relations.POWERS:
        people, predicted, measured = numbers(setting)
        assert predicted == pytest.approx(relations.planned(setting), abs=0.06) and abs(measured - predicted) <= 3


@pytest.mark.parametrize("setting", [relations.NULLS[0], relations.NULLS[8]], ids=lambda each: each.name)
def test_sizes_are_measured(setting: relations.Setting) -> None:
    """60 collections: 3 rejections are expected, and 16 or more happen in less than one of 1e7 runs."""
    found = relations.measure(setting, 60)
    assert found.rejected < 100 * 16 / 60 and found.held > 85


def test_the_page_shows_the_results() -> None:
    for table in re.findall(r"(?:^\|.*\n)+", committed("relations"), re.MULTILINE):
        assert table in PAGE
    assert committed("survey_relations").split("```")[1] in PAGE


def test_the_surveys_have_stand_ins() -> None:
    found = survey_relations.regression(Data())
    assert found.converged and found.names[1:] == survey_relations.MODEL.split(" ~ ")[1].split(" + ")
    few = {name: column[:600] for name, column in survey_relations.social(Data()).items()}
    lines = survey_relations.tables(few, 1)
    assert len(lines) == 5 and all(np.isfinite(float(cells(line)[2])) for line in lines[2:])
