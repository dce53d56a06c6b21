"""The experiment on ratings and visits: it reads such tables, measures coverage, and its result is what the page shows."""

import gzip
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import deniable as dn
from deniable.arrays import Floats
from deniable.mechanisms.algebra.score_interval import SlantedEstimate
from research.data.folder import FILES, Data
from research.data.lists import RATINGS, VISITS
from research.experiments import key_value
from tests import ROOT


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Data:
    """Invented ratings of thirty films by 300 people, the same in both files, and visits to twelve areas by as many."""
    random = np.random.default_rng(1)
    ratings, visits = ["user,movie,rating_x2,timestamp"], ["user,area"]
    for person in range(300):
        for film in random.choice(30, random.integers(1, 6), replace=False):
            ratings.append(f"{person},{film},{random.integers(1, 11)},0")
        visits += [f"{person},{area}" for area in random.choice(12, random.integers(1, 4), replace=False)]
    for name, lines in ((RATINGS[0], ratings), (RATINGS[1], ratings), (VISITS, visits)):
        packed = gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(packed)
        monkeypatch.setitem(FILES, name, hashlib.sha256(packed).hexdigest())
    return Data(tmp_path)


def test_it_reads_tables_and_knows_the_truth(data: Data) -> None:
    films = key_value.ratings(data)
    assert len(films.pairs) == 600 and len(films.domain.labels) == 30 and films.domain.at_most == 5
    frequency, weight = films.truth
    movies, stars = data.table(RATINGS[0], ["movie", "rating_x2"])
    place = films.domain.labels.index("7")
    assert frequency[place] == pytest.approx(movies.count("7") / 300)
    assert weight[place] == pytest.approx(sum(int(s) / 2 for m, s in zip(movies, stars, strict=True) if m == "7") / 300)
    assert key_value.visits(data).domain.at_most == 3


def test_coverage_is_measured(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    """100 runs of 12 items: chance moves coverage by about 0.7 points; 10 % shorter intervals lose 2.8."""
    asked = key_value.visits(data)
    mechanism = dn.PCKVDirect(asked.domain, 4.0)
    measured = key_value.measured(asked, mechanism, 100, "coverage")
    assert abs(measured.degree - 0.95) < 0.03 and abs(measured.weight - 0.95) < 0.03
    right = SlantedEstimate.interval

    def narrow(self: SlantedEstimate, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
        low, high = right(self, confidence, together)
        return self.values - 0.7 * (self.values - low), self.values + 0.7 * (high - self.values)

    monkeypatch.setattr(SlantedEstimate, "interval", narrow)
    assert key_value.measured(asked, mechanism, 100, "coverage").degree < 0.9


def test_the_command_prints_a_table(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_value, "QUICK", 2)
    done = CliRunner().invoke(key_value.main, ["--data", str(data.folder), "--quick"])
    assert done.exit_code == 0 and done.output.count("\n| ratings |") == done.output.count("\n| visits |") == 9


def test_the_page_shows_the_result() -> None:
    result = (ROOT / "research" / "experiments" / "key_value.md").read_text(encoding="utf-8").strip()
    assert result in (ROOT / "docs" / "key-value.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:ratings|visits) \| \S+ \| planned: .*? \| \d+ \| (\S+) \| (\S+) \|", result, re.MULTILINE)
    assert len(rows) == 6 and all(abs(float(cell) - 95) <= 1 for row in rows for cell in row)
