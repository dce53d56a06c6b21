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
from research.experiments import key_means, key_value, padding
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


class TestMeans:
    def test_the_allowance_holds_more(self) -> None:
        """The interval with the allowance holds all that the plain one holds; a mean is reported only if it is clear."""
        held = key_means.measured(0.06, 0.9, 60)
        assert 0 < held.reported < 60 and held.plain <= held.allowed <= held.reported

    def test_together_as_one_by_one(self) -> None:
        domain = dn.KeyValue(["key"], -1, 1, at_most=1)
        mechanism, (pairs, _) = dn.plan(domain, 1.0, key_means.PEOPLE), key_means.people(0.25, 0.3)
        found = [
            mechanism.estimate(mechanism.tally(mechanism.perturb(pairs, dn.SeededCoins(seed)))).mean for seed in range(4)
        ]
        both = key_means.joined(found, type(found[0])).interval(0.95)
        assert np.allclose(np.concatenate([each.interval(0.95) for each in found], axis=1), both)

    def test_the_page_says_what_was_measured(self) -> None:
        result = (ROOT / "research" / "experiments" / "key_means.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| \d+% \| \S+ \| \S+ \| (\S+) \| (\S+) \|", result, re.MULTILINE)
        plain, allowed = (sorted(map(float, column)) for column in zip(*rows, strict=True))
        page = (ROOT / "docs" / "key-value.md").read_text(encoding="utf-8")
        assert f"hold the truth in {allowed[0]} to {allowed[-1]} % of collections" in page and allowed[0] >= 95
        assert f"and in {plain[0]} to {plain[-1]} % without the allowance" in page and len(rows) == 10


class TestPadding:
    def test_the_page_says_what_was_measured(self) -> None:
        result = (ROOT / "research" / "experiments" / "padding.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| (\d) \| (\d+) \| (\d+) \| (\S+) \|", result, re.MULTILINE)
        error = {(int(epsilon), int(length)): (int(often), cell) for epsilon, length, often, cell in rows}
        page = (ROOT / "docs" / "key-value.md").read_text(encoding="utf-8").partition("### How many keys")[2]
        page = " ".join(page.partition("\n## ")[0].split())
        assert error[1, 1][0] == 20 and f"one key ({error[1, 1][1]}, the smallest of all" in page
        assert f"two keys in {error[2, 2][0]} of 20 pilots ({error[2, 2][1]}), three in two and 21 in one" in page
        assert (error[2, 3][0], error[2, 21][0]) == (2, 1) and f"({error[2, 21][1]}), where one key is best" in page
        assert error[4, 3][0] + error[4, 5][0] == 20 and error[4, 3][1] == error[4, 5][1]
        assert f"three or five ({error[4, 3][1]} each, the smallest; {error[4, 30][1]} with" in page
        for epsilon, best in ((1, 1), (2, 1), (4, 3)):
            assert min((float(cell), length) for (own, length), (_, cell) in error.items() if own == epsilon)[1] == best

    def test_an_error_is_measured(self) -> None:
        held = padding.people(padding.sizes(2000, 4), padding.KEYS, 5)
        assert len(held) == 2000 and padding.real_error(held, 3, 8.0, 2) < padding.real_error(held, 3, 1.0, 2)
