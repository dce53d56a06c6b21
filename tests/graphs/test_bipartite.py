"""Weighted bipartite graphs: degrees, weights and averages of items, in code and on the command line."""

import csv
import gzip
import io
import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.files.links import read_links
from deniable.files.tables import column_names
from tests.cli.test_cli import refusal, run

FILMS = dn.KeyValue(["Alien", "Brazil", "Clue", "Dune"], low=0, high=5, at_most=3)
PEOPLE: list[dict[str, float]] = [
    *[{"Alien": 5.0, "Brazil": 3.0}] * 4000,
    *[{"Brazil": 1.0}] * 3000,
    *[{"Alien": 4.0, "Brazil": 2.0, "Clue": 0.0}] * 2000,
    *[{}] * 1000,
]
LINKS = 4000 * 2 + 3000 + 2000 * 3


def test_degrees_weights_and_averages() -> None:
    """Six standard errors: a false alarm less than once in 1e8 for each of the eight figures."""
    graph = dn.BipartiteGraph.collect(FILMS, PEOPLE, epsilon=3.0, coins=dn.SeededCoins(11))
    degrees, weights = np.array([6000, 9000, 2000, 0]), np.array([28_000, 19_000, 0, 0])
    assert (abs(graph.degree.values - degrees) < 6 * graph.degree.standard_error).all()
    assert (abs(graph.weight.values - weights) < 6 * graph.weight.standard_error).all()
    assert (graph.people, graph.items) == (10_000, 4)
    # all links over items, over people: not over pairs of vertices
    assert abs(graph.item_degree.value - LINKS / 4) < 6 * graph.item_degree.error
    assert abs(graph.person_degree.value - LINKS / 10_000) < 6 * graph.person_degree.error
    assert graph.item_degree.value * 4 == pytest.approx(graph.person_degree.value * 10_000)
    assert graph.item_weight.value == pytest.approx(graph.weight.values.mean())
    first, second, *_ = graph.top(3)
    assert [first.label, second.label] == ["Brazil", "Alien"]
    assert first.mean is not None and first.mean.low < 19 / 9 < first.mean.high
    assert first.weight is not None and first.weight.value == pytest.approx(graph.weight.values[1])
    assert first.degree.low < 9000 < first.degree.high


def test_errors_of_averages_are_not_too_small() -> None:
    """300 collections of the same people: the mean squared error is at most the stated one, give or take 40 %."""
    domain, people = dn.KeyValue(range(4), 0, 1, 2), [{0: 1.0, 1: 0.0}, {2: 0.5}, {}] * 200
    coins, errors, stated, mechanism = dn.SeededCoins(5), [], [], dn.plan(domain, 2.0)
    for _ in range(300):
        graph = dn.BipartiteGraph(mechanism.estimate(mechanism.tally(mechanism.perturb(people, coins))), mechanism)
        errors.append((graph.person_degree.value - 1) ** 2)
        stated.append(graph.person_degree.error**2)
    assert np.mean(errors) < 1.4 * np.mean(stated)


def test_unweighted_graphs_tell_degrees_better() -> None:
    weighted = dn.BipartiteGraph.collect(FILMS, PEOPLE, 2.0, dn.SeededCoins(1))
    plain = dn.BipartiteGraph.collect(FILMS, PEOPLE, 2.0, dn.SeededCoins(1), weighted=False)
    assert (plain.degree.standard_error < weighted.degree.standard_error).all()
    assert all(item.weight is None and item.mean is None for item in plain.top(4))
    with pytest.raises(dn.InvalidParameter, match="frequencies only"):
        _ = plain.weight
    assert dn.certify(plain.mechanism).holds


@pytest.mark.needs("matplotlib")
@pytest.mark.parametrize("weighted", [True, False])
def test_a_picture(weighted: bool) -> None:
    graph = dn.BipartiteGraph.collect(FILMS, PEOPLE, 3.0, dn.SeededCoins(1), weighted)
    axes = graph.plot(3)
    assert len(axes.figure.axes) == (2 if weighted else 1)
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "Brazil"
    assert graph.plot(2, ax=axes) is axes


def table(path: Path, rows: list[list[object]], names: tuple[str, ...] = ("user", "item", "weight")) -> Path:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([list(names), *rows])
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def ratings() -> list[list[object]]:
    return [[f"u{person}", film, value] for person, films in enumerate(PEOPLE) for film, value in films.items()]


class TestCommand:
    def test_it_prints_items_and_what_was_assumed(self, tmp_path: Path) -> None:
        file = table(tmp_path / "ratings.csv", ratings())
        result = run("graph", "bipartite", str(file), "--epsilon", "3", "--seed", "1", "--top", "2")
        assert result.exit_code == 0 and result.stderr == ""
        lines = result.stdout.splitlines()
        assert lines[2].split()[0] == "Brazil" and lines[3].split()[0] == "Alien"
        said = " ".join(result.stdout.split())
        assert "not private: the items, the range of weights, how many links count" in said
        assert "for experiments only" in said and "9,000 people, 3 items" in said
        public = ["--low", "0", "--high", "5", "--at-most", "3", "--items", str(tmp_path / "films.txt")]
        (tmp_path / "films.txt").write_text("Alien\nBrazil\nDune\n")
        result = run("graph", "bipartite", str(file), "--epsilon", "3", *public)
        said = " ".join(result.stdout.split())
        assert "not private" not in said and "2,000 links to other items" in said

    def test_json_has_everything(self, tmp_path: Path) -> None:
        file = table(tmp_path / "ratings.csv.gz", ratings())
        result = run("graph", "bipartite", str(file), "--epsilon", "2", "--at-most", "2", "--json", "--seed", "3")
        record = json.loads(result.stdout)
        assert record["people"] == 9000 and record["people_over"] == 2000 and record["at_most"] == 2
        assert record["top"][0]["item"] == "Brazil"
        assert record["top"][0]["degree_low"] < record["top"][0]["degree"] < record["top"][0]["degree_high"]
        assert record["person_degree"]["value"] * 9000 == pytest.approx(record["item_degree"]["value"] * 3)

    def test_a_table_without_weights(self, tmp_path: Path) -> None:
        file = table(tmp_path / "visits.csv", [row[:2] for row in ratings()], ("user", "area"))
        picture = tmp_path / "areas.png"
        result = run("graph", "bipartite", str(file), "--item", "area", "--epsilon", "3", "--picture", str(picture))
        assert result.exit_code == 0 and "total weight" not in result.stdout
        assert picture.read_bytes()[:4] == b"\x89PNG"

    @pytest.mark.needs("pyarrow")
    def test_parquet_is_read_alike(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet

        rows = ratings()
        columns = {
            "user": [str(row[0]) for row in rows],
            "item": [str(row[1]) for row in rows],
            "weight": [row[2] for row in rows],
        }
        pa.parquet.write_table(pa.table(columns), tmp_path / "ratings.parquet")
        file = table(tmp_path / "ratings.csv", rows)
        asked = ("--epsilon", "2", "--json", "--seed", "3")
        outputs = [run("graph", "bipartite", str(each), *asked).stdout for each in (file, tmp_path / "ratings.parquet")]
        assert outputs[0] == outputs[1]
        (tmp_path / "broken.parquet").write_bytes((tmp_path / "ratings.parquet").read_bytes()[:-10])
        assert "not a Parquet file" in refusal("graph", "bipartite", str(tmp_path / "broken.parquet"), "--epsilon", "1")

    @pytest.mark.parametrize(
        ("rows", "names", "options", "says"),
        [
            ([["u", "a", 1]], ("user", "film", "weight"), [], "no column 'item'"),
            ([["u", "a", "x9"]], ("user", "item", "weight"), [], "Row 1"),
            ([["u", "a", 1], ["u", "", 2]], ("user", "item", "weight"), [], "Row 2"),
            ([["u", "a"]], ("user", "item", "weight"), [], "Row 1"),
            ([], ("user", "item", "weight"), [], "no rows"),
            ([["u", "a", 1], ["u", "a", 2]], ("user", "item", "weight"), [], "same key twice"),
            ([["u", "a", 1], ["v", "a", 1]], ("user", "item", "weight"), [], "two finite ends"),
            (
                [["u", "a", 1], ["v", "a", 77]],
                ("user", "item", "weight"),
                ["--low", "0", "--high", "5"],
                "outside the range",
            ),
            ([["u", "a", 1], ["v", "b", 2]], ("user", "item", "weight"), ["--at-most", "0"], "at_most"),
            ([["u", "a"], ["v", "b"]], ("user", "item"), ["--low", "0"], "no weights"),
            ([["u", "a", 1], ["v", "b", 2]], ("user", "item", "weight"), ["--confidence", "2"], "confidence level"),
            ([["u", "a", 1], ["v", "b", 2]], ("user", "item", "weight"), ["--picture", "x.txt"], "picture"),
        ],
    )
    def test_bad_tables_are_refused(
        self, tmp_path: Path, rows: list[list[object]], names: tuple[str, ...], options: list[str], says: str
    ) -> None:
        file = table(tmp_path / "links.csv", rows, names)
        message = refusal("graph", "bipartite", str(file), "--epsilon", "1", *options)
        message = message.replace(str(tmp_path), "")  # the folder's own digits are nobody's
        assert says in message and "x9" not in message and "77" not in message

    def test_missing_files_and_items_are_refused(self, tmp_path: Path) -> None:
        assert "no file" in refusal("graph", "bipartite", str(tmp_path / "none.csv"), "--epsilon", "1")
        file = table(tmp_path / "links.csv", [["u", "a", 1], ["v", "b", 2]])
        (tmp_path / "items.txt").write_text("x\ny\n")
        asked = ("--epsilon", "1", "--items", str(tmp_path / "items.txt"))
        assert "asked about" in refusal("graph", "bipartite", str(file), *asked)
        (tmp_path / "damaged.csv.gz").write_bytes(b"\x1f\x8b\x08\x00 nothing")
        with pytest.raises(dn.InvalidParameter, match="not a gzip file"):
            column_names(tmp_path / "damaged.csv.gz")
        with pytest.raises(dn.InvalidParameter, match="not a gzip file"):
            read_links(tmp_path / "damaged.csv.gz")
