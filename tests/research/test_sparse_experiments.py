"""The tables about compressed response and graphs: in the documentation as they were computed, and what they must show."""

import re

import pytest

from research.experiments import compressed, triangle_rivals, triangles
from tests import ROOT
from tests.research.test_experiments import cells, committed, rows


@pytest.mark.parametrize("name", ["compressed", "triangles"])
def test_the_documentation_shows_the_tables(name: str) -> None:
    page = (ROOT / "docs" / "sparse.md").read_text(encoding="utf-8")
    for part in committed(name).strip().split("\n\n"):
        assert part in page
    assert f"python -m research.experiments.{name}" in page
    assert re.search(
        rf"python -m research\.experiments\.{name}(?: --data DIR)? +writes",
        (ROOT / "research" / "experiments" / f"{name}.py").read_text(),
    )


@pytest.mark.parametrize(("alpha", "each", "beside"), [(2.0, 0.225, 10), (1.5, 0.52, 25)])
def test_bits_for_each_differing_coordinate(alpha: float, each: float, beside: float) -> None:
    """Twenty vectors beside the table's two hundred: within a tenth."""
    table = rows(committed("compressed").split("\n\n")[1])
    listed = [float(cell.split()[0]) for cell in table[f"{alpha:g}"][1:]]
    for place, differing in enumerate(compressed.DIFFERING):
        if differing >= 1000:
            assert listed[place] <= each * differing + beside
    measured, entropy = compressed.bits(alpha, 1000, 20)
    assert measured == pytest.approx(listed[3], rel=0.1)
    assert entropy < measured


def test_times_do_not_grow_with_the_vector() -> None:
    """As they were measured; nothing is timed here."""
    table = [cells(line) for line in committed("compressed").split("\n\n")[3].splitlines()[2:]]
    assert [row[0] for row in table[::2]] == [f"{size:,}" for size in compressed.SIZES]
    for published, ours in zip(table[::2], table[1::2], strict=True):
        assert float(published[2]) <= 1 and float(published[3]) <= 4
        assert float(ours[2]) <= 8 and float(ours[3]) <= 25


def test_triangles_beat_the_rivals_at_no_more_bits() -> None:
    table = [cells(line) for line in committed("triangles").split("\n\n")[1].splitlines()[2:]]
    assert len(table) == 4 * len(triangles.GRAPHS)
    for first, _, asymmetric, grouped in zip(*(table[start::4] for start in range(4)), strict=True):
        assert first[1].startswith("compressed, alpha 1.5, split")
        assert asymmetric[1].startswith("ARROne") and grouped[1].startswith("GroupRR")
        for rival in (asymmetric, grouped):
            assert float(rival[3]) >= float(first[3])
            assert number(first[2]) < number(rival[2])
            shares = re.search(r"split ([\d.]+)/([\d.]+)", rival[1])
            assert shares is not None
            # The best is not at an edge of what was tried, but for the degrees' smallest share: less is hardly anything.
            assert float(shares[1]) < triangles.DEGREES[-1]
            assert triangles.RESPONSES[0] < float(shares[2]) < triangles.RESPONSES[-1]
    wiki = table[0]
    assert wiki[0] == "wiki_vote, 608,389 triangles"
    assert number(wiki[2]) <= 120_000 and number(wiki[4]) <= 120_000 and float(wiki[3]) <= 150 and float(wiki[6]) < 2
    for ours in (row for row in table if row[5]):
        covered, runs = map(int, ours[5].split(" of "))
        assert runs < 20 or covered >= 0.85 * runs


def number(cell: str) -> float:
    return float(cell.replace(",", ""))


def test_a_small_graph_goes_through_all_methods() -> None:
    from deniable.graphs import Graph

    graph = Graph.of([(j, k) for k in range(30) for j in range(k) if (j * k) % 3])
    truth = graph.triangles()
    first = triangles.ours(graph, truth, graph.shared_pairs(), 1.5, 2)
    assert first.bits > 0 and first.error > 0
    for outcome in (triangles.asymmetric(graph, first.bits), triangles.grouped(graph, 100.0)):
        assert outcome.error > 0 and outcome.bits > 0


@pytest.mark.parametrize(
    "name", ["graph_coverage", "triangle_survey", "triangle_rivals", "graph_sizes", "graph_errors", "graph_large"]
)
def test_the_page_on_graphs_shows_its_tables(name: str) -> None:
    page = (ROOT / "docs" / "graphs.md").read_text(encoding="utf-8")
    for part in committed(name).strip().split("\n\n"):
        assert part in page
    assert f"python -m research.experiments.{name}" in page


def named_cells(name: str) -> list[dict[str, str]]:
    """The rows of a committed table, by the names of its columns."""
    head, _, *lines = committed(name).split("\n\n")[1].splitlines()
    return [dict(zip(cells(head), cells(line), strict=True)) for line in lines]


def test_three_rounds_beat_improved_rivals_at_no_more_bits() -> None:
    table = named_cells("triangle_rivals")
    for graph in triangle_rivals.GRAPHS:
        ours, *rivals = [row for row in table if row["graph"].startswith(graph)]
        assert ours["method"].startswith("three rounds")
        published = [row for row in rivals if row["method"].startswith(("ARROne", "GroupRR"))]
        assert len(published) == 4
        for rival in published:
            assert number(rival["kbit"]) >= number(ours["kbit"])
            assert number(rival["error"]) > 2 * number(ours["error"])


def test_triangles_are_useful_at_epsilon_one_and_two() -> None:
    """As they were measured, at least 20 times each; at epsilon 2 within a quarter of what is aimed at for epsilon 1."""
    table = named_cells("triangle_survey")
    found = {(row["graph"], float(row["epsilon"])): row for row in table}
    for name, most in (("wiki_vote", 40_000), ("facebook_combined", 50_000), ("soc_slashdot0902", 120_000)):
        for epsilon, limit in ((1.0, most), (2.0, most / 4)):
            for each in ("error measured", "true error", "error stated"):
                assert number(found[name, epsilon][each]) <= limit
    assert float(found["wiki_vote", 1.0]["kbit"]) <= 150
    assert all(int(row["runs"]) >= 20 for row in table)
    held_out = {row["graph"] for row in table if row["graph"].endswith("held out")}
    assert len(held_out) == 5 and len([name for name in held_out if name.startswith("contacts")]) == 2


def test_intervals_hold_as_often_as_they_say() -> None:
    """As they were measured: no row is below 95 % by more than three standard errors of 1.5 points, those of 200 runs.

    How many intervals of triangles are expected to hold, given the true variance of each run, is within 2 points of 95 % at
    epsilon 1; on the star at epsilon 2 it is 97.2 %.
    """
    table = named_cells("graph_coverage")
    assert {"triangles", "common neighbours"} <= {row["count"] for row in table if row["graph"] == "wiki_vote"}
    for row in table:
        assert number(row["runs"]) >= 200
        covered = float(row["covered"].rstrip("%"))
        assert covered >= (93 if row["count"] == "10 or more" else 90.5)
        if row["count"] == "triangles":
            assert covered <= 99.5
            assert 93 <= float(row["expected"].rstrip("%")) <= (97 if row["epsilon"] == "1" else 98)


def test_stated_errors_are_near_the_true_ones() -> None:
    """As they were measured: true errors within what was aimed at, and at epsilon 1 intervals that hold in 93 to 97 %."""
    found = {(row["graph"], float(row["epsilon"])): row for row in named_cells("graph_errors")}
    for name, one, two in (("wiki_vote", 40_000, 10_000), ("facebook_combined", 50_000, 12_500)):
        assert number(found[name, 1.0]["true error"]) <= one and number(found[name, 2.0]["true error"]) <= two
    assert number(found["soc_slashdot0902", 1.0]["true error"]) <= 120_000
    assert number(found["wiki_vote", 1.0]["kbit"]) <= 150
    for (_, epsilon), row in found.items():
        if epsilon == 1.0:
            assert 93 <= float(row["covered"].rstrip("%")) <= 97


def test_a_million_people_fit_into_memory() -> None:
    """As they were measured: 10 minutes of two cores, and 4 GB; errors as stated."""
    table = [cells(line) for line in committed("graph_large").split("\n\n")[1].splitlines()[2:]]
    assert table
    for row in table:
        assert number(row[0]) >= 1_000_000 and number(row[1]) >= 20_000_000
        assert abs(float(row[6].split()[0])) < 5
        assert number(row[8]) <= 2 * 600 and float(row[10]) <= 4
