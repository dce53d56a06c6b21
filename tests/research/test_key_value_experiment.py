"""The experiment on ratings and visits: it reads such tables, measures coverage, and its result is what the page shows."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.arrays import Floats
from deniable.mechanisms.algebra.score_interval import SlantedEstimate
from research.experiments import key_value
from tests import ROOT


def tables(folder: Path) -> tuple[Path, Path]:
    """Invented ratings of thirty films by 300 people, and visits to twelve areas by as many."""
    random = np.random.default_rng(1)
    ratings, visits = ["user,movie,rating_x2,timestamp"], ["user,area"]
    for person in range(300):
        for film in random.choice(30, random.integers(1, 6), replace=False):
            ratings.append(f"{person},{film},{random.integers(1, 11)},0")
        visits += [f"{person},{area}" for area in random.choice(12, random.integers(1, 4), replace=False)]
    for name, lines in (("ratings.csv", ratings), ("visits.csv", visits)):
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder / "ratings.csv", folder / "visits.csv"


def test_it_reads_tables_and_knows_the_truth(tmp_path: Path) -> None:
    ratings, visits = tables(tmp_path)
    films = key_value.read_ratings([ratings, ratings])
    assert len(films.pairs) == 600 and len(films.domain.labels) == 30 and films.domain.at_most == 5
    frequency, weight = films.truth
    rows = [line.split(",") for line in ratings.read_text().splitlines()[1:]]
    place = films.domain.labels.index("7")
    assert frequency[place] == pytest.approx(sum(row[1] == "7" for row in rows) / 300)
    assert weight[place] == pytest.approx(sum(int(row[2]) / 2 for row in rows if row[1] == "7") / 300)
    assert key_value.read_visits(visits).domain.at_most == 3


def test_coverage_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """100 runs of 12 items: chance moves coverage by about 0.7 points; 10 % shorter intervals lose 2.8."""
    asked = key_value.read_visits(tables(tmp_path)[1])
    mechanism = dn.PCKVDirect(asked.domain, 4.0)
    measured = key_value.measured(asked, mechanism, 100, "coverage")
    assert abs(measured.degree - 0.95) < 0.03 and abs(measured.weight - 0.95) < 0.03
    right = SlantedEstimate.interval

    def narrow(self: SlantedEstimate, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        low, high = right(self, confidence, together)
        return self.values - 0.7 * (self.values - low), self.values + 0.7 * (high - self.values)

    monkeypatch.setattr(SlantedEstimate, "interval", narrow)
    assert key_value.measured(asked, mechanism, 100, "coverage").degree < 0.9


def test_the_command_prints_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ratings, visits = tables(tmp_path)
    monkeypatch.setattr(key_value, "QUICK", 2)
    done = CliRunner().invoke(key_value.main, ["--ratings", str(ratings), "--visits", str(visits), "--quick"])
    assert done.exit_code == 0 and done.output.count("\n| ratings |") == done.output.count("\n| visits |") == 9


def test_the_page_shows_the_result() -> None:
    result = (ROOT / "research" / "experiments" / "key_value.md").read_text(encoding="utf-8").strip()
    assert result in (ROOT / "docs" / "key-value.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:ratings|visits) \| \S+ \| planned: .*? \| \d+ \| (\S+) \| (\S+) \|", result, re.MULTILINE)
    assert len(rows) == 6 and all(abs(float(cell) - 95) <= 1 for row in rows for cell in row)
