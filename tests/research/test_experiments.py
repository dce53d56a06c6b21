"""The tables in research/experiments/ and in the documentation are what the experiments compute."""

import math
import re

import numpy as np
import pytest

from deniable import FeatureVector, Ordered, Workload
from deniable.arrays import Floats
from deniable.core.estimate import Estimate
from deniable.mechanisms.registry import candidates
from deniable.planning import CLOSE
from research import rank_bound
from research.experiments import accuracy, coverage, distribution_coverage, embeddings, planned, scale, utility
from tests import ROOT


def committed(name: str) -> str:
    return (ROOT / "research" / "experiments" / f"{name}.md").read_text(encoding="utf-8")


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def rows(text: str) -> dict[str, list[str]]:
    """The rows of a table by their first cell."""
    return {first: rest for first, *rest in (cells(line) for line in text.splitlines() if line.startswith("|"))}


class TestUtility:
    def test_the_table_is_what_is_computed(self) -> None:
        assert "\n".join(utility.exact_table()) in committed("utility")

    def test_every_measurement_is_near_its_prediction(self) -> None:
        """Twenty collections each: nothing is off by more than a third, nor all together by more than two percent."""
        found = [
            row[1:3]
            for part in committed("utility").split("| mechanism |")[1:]
            for row in map(cells, part.splitlines()[2:])
            if len(row) == 5
        ]
        ratios = [float(measured) / float(predicted) for predicted, measured in found]
        assert len(ratios) == 55
        assert max(abs(ratio - 1) for ratio in ratios) < 1 / 3
        assert abs(sum(ratios) / len(ratios) - 1) < 0.05


class TestAccuracy:
    def test_the_table_is_what_is_computed(self) -> None:
        assert "\n".join(accuracy.accuracy_table()) in committed("accuracy")

    def test_nothing_beats_the_optimum(self) -> None:
        for epsilon, size in [*accuracy.POINTS, (0.1, 2), (8.0, 2), (0.1, 4096), (8.0, 4096)]:
            found = accuracy.ratios(epsilon, size)
            assert found.keys() == candidates("shares", 1).keys()
            assert min(found.values()) == found["subset"] == 1

    def test_the_planner_is_as_near_as_is_said(self) -> None:
        planned = rows(committed("accuracy").split("\n\n")[3])
        points, worst, *_ = planned.pop("any")
        assert int(points.replace(",", "")) == len(accuracy.BUDGETS) * len(accuracy.SIZES)
        assert sum(int(row[0].replace(",", "")) for row in planned.values() if row[0][:1].isdigit()) == int(
            points.replace(",", "")
        )
        largest = 0.0
        for name in planned.keys() & candidates("shares", 1).keys():
            _, ratio, epsilon, size = planned[name]
            found = accuracy.choice(float(epsilon), int(size))
            assert (found.name, f"{found.ratio:.4f}") == (name, ratio)
            largest = max(largest, found.ratio)
        assert f"{largest:.4f}" == worst
        assert 1 <= largest <= CLOSE

    def test_other_points_are_no_worse(self) -> None:
        worst = float(rows(committed("accuracy").split("\n\n")[3])["any"][1])
        for epsilon in accuracy.BUDGETS[::13]:
            for size in accuracy.SIZES[::29]:
                assert 1 <= accuracy.choice(epsilon, size).ratio <= worst + 5e-5


class TestCoverage:
    def test_every_mechanism_is_within_a_point(self) -> None:
        table = rows(committed("coverage"))
        settings = table.pop("mechanism")
        assert settings == [str(setting) for setting in coverage.SETTINGS]
        del table["---"]
        assert list(table) == list(candidates())
        for row in table.values():
            assert all(abs(float(cell) - 95) < 1 for cell in row)

    @pytest.mark.parametrize("name", candidates())
    def test_a_shorter_run_agrees(self, name: str) -> None:
        """200 collections of 64 shares with fixed coins: chance alone moves them by about 0.3 points."""
        setting = coverage.SETTINGS[2]
        measured = 100 * coverage.coverage(candidates()[name].make, setting, coverage.QUICK, f"{name}, {setting}")
        assert abs(measured - float(rows(committed("coverage"))[name][2])) < 1
        assert abs(measured - 95) < 1

    def test_wrong_intervals_would_be_noticed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With intervals that are 10 % too short, coverage falls to 92.2 %."""
        right = Estimate.interval

        def narrow(self: Estimate, confidence: float = 0.95, together: bool = False) -> tuple[Floats, Floats]:
            low, high = right(self, confidence, together)
            return self.values - 0.9 * (self.values - low), self.values + 0.9 * (high - self.values)

        monkeypatch.setattr(Estimate, "interval", narrow)
        measured = 100 * coverage.coverage(candidates()["direct"].make, coverage.SETTINGS[2], 100, "direct")
        assert abs(measured - 95) > 1

    def test_people(self) -> None:
        held = coverage.people(16)
        assert held.sum() == coverage.PEOPLE and held.min() > 0 and abs(held[0] - 2 * held[1]) <= 2


@pytest.mark.parametrize("name", ["accuracy", "coverage"])
def test_the_documentation_shows_the_tables(name: str) -> None:
    page = (ROOT / "docs" / "choosing.md").read_text(encoding="utf-8")
    parts = committed(name).strip().split("\n\n")
    assert len(parts) % 2 == 0 and all(part in page for part in parts)
    assert f"python -m research.experiments.{name}" in page
    assert re.search(
        rf"python -m research\.experiments\.{name} +writes", (ROOT / "research" / "experiments" / f"{name}.py").read_text()
    )


@pytest.mark.needs("scipy")
class TestEmbeddings:
    def test_every_mechanism_is_in_the_table_and_runs(self) -> None:
        """On few people with short vectors; that only the mechanisms with a large enough budget have a figure is right."""
        vectors = np.random.default_rng(1).normal(0.3, 1, (300, 16))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        found = rows(embeddings.page(vectors, 1))
        kept = rows(committed("embeddings"))
        assert list(found) == list(kept) == ["mechanism", "---", *embeddings.ROWS]
        assert all(float(cell) > 0 for name in embeddings.ROWS for cell in found[name][1:])

    def test_errors_are_as_predicted(self) -> None:
        """The committed errors of two mechanisms are those that follow from their exact variances, within 5 %."""
        kept = rows(committed("embeddings"))
        people = 12_000
        vectors = np.full((1, 384), embeddings.TYPICAL)
        for column, epsilon in enumerate(embeddings.BUDGETS, 1):
            mechanism = FeatureVector.typical(embeddings.box(384), epsilon, embeddings.TYPICAL)
            predicted = 1000 * mechanism.predict(vectors, people).standard_error.mean()
            assert float(kept["`FeatureVector.typical`"][column]) == pytest.approx(predicted, rel=0.05)

    def test_the_documentation_shows_it(self) -> None:
        page = (ROOT / "docs" / "numbers.md").read_text(encoding="utf-8")
        assert committed("embeddings").strip() in page


class TestScale:
    def test_the_page_shows_what_was_measured(self) -> None:
        measured, page = committed("scale"), (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
        assert all(part in page for part in measured.strip().split("\n\n"))
        assert list(rows(measured.partition("A run of")[0]))[2:] == list(scale.MAKERS)
        assert "The tally is equal to that of one process." in measured
        assert "A run of 200,000,000 fresh reports" in measured

    def test_the_arithmetic_uses_the_measurements(self) -> None:
        found = rows(committed("scale"))
        page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
        asked = re.findall(r'print\("(\w+):", day\(1e9, ([\d.]+), ([\d.]+)e6\)\)', page)
        assert len(asked) == 3
        for family, size, rate in asked:
            assert [float(size), float(rate)] == [float(cell) for cell in found[family][1:3]]

    @pytest.mark.needs("pyarrow")
    def test_every_family_is_measured(self) -> None:
        table = scale.table(500)
        assert len(table) == 2 + len(scale.MAKERS)
        assert all(float(cell) >= 0 for line in table[2:] for cell in cells(line)[1:])


def measured_rows() -> dict[str, list[str]]:
    """The rows of predicted and measured errors, without the heading."""
    return dict(list(rows(committed("planned")).items())[2:])


class TestPlanned:
    def test_every_mechanism_of_the_planner_is_in_the_table(self) -> None:
        found = measured_rows()
        assert list(found) == [case.name for case in planned.cases()]

    def test_predicted_and_measured_errors_agree_to_five_percent(self) -> None:
        ratios = [float(cells[-1]) for cells in measured_rows().values()]
        assert len(ratios) >= 40 and all(abs(ratio - 1) <= planned.LARGEST for ratio in ratios)

    def test_the_table_can_be_made_again(self) -> None:
        """A ratio over 100 collections of 16 shares has a standard error of 0.02; 0.15 is beyond chance (1e-12)."""
        case = next(planned.cases())
        predicted, measured = case.ratio(100)
        assert abs(measured / predicted - 1) < 0.15
        assert f"{predicted:.4g}" == rows(committed("planned"))[case.name][0]


class TestDistributions:
    def test_every_measured_error_is_within_three_percent_of_its_prediction(self) -> None:
        table = committed("distributions").split("| mechanism | questions | predicted |")[1].splitlines()[2:]
        ratios = [float(cells(line)[-1]) for line in table if line.startswith("|")]
        assert len(ratios) == 26 and max(abs(ratio - 1) for ratio in ratios) < 0.03

    def test_the_bound_on_rank_errors_is_what_is_computed(self) -> None:
        assert "\n".join(distribution_coverage.bounds()) in committed("distribution_coverage")

    @pytest.mark.parametrize("kind", ["smooth", "spiky"])
    def test_no_mechanism_is_below_the_bound_on_rank_errors(self, kind: str) -> None:
        least = rank_bound.least_rank_error(math.e, 100_000, kind, 0.15, 0.85, 150)
        for candidate in candidates("distributions").values():
            if "channel" not in candidate.name:  # which takes minutes
                made = candidate.made(Ordered(range(64)), 1.0, Workload.prefixes(64))
                assert rank_bound.rank_error(made, 100_000, kind, 0.15, 0.85) > least > 0.004
