"""`deniable graph edges`, `stars`, `degrees`, ...: what they print, from every kind of file, and how they refuse."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.files.edges import read_edges
from deniable.files.links import read_links
from deniable.graphs.imported import imported_graph
from tests.cli.test_cli import refusal
from tests.cli.test_graph_cli import done

COUNTS = {
    "edges": (),
    "stars": ("--ends", "3"),
    "degrees": ("--at-least", "10", "--at-least", "20"),
    "clustering": (),
    "homophily": ("--groups", "groups.csv"),
    "cycles": (),
    "core": ("-k", "3"),
}


@pytest.fixture
def edges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sixty people in two groups, of whom two of one group are joined with probability 0.8."""
    random = np.random.default_rng(2)
    pairs = [(j, k) for k in range(60) for j in range(k) if j % 2 == k % 2 and random.random() < 0.8]
    (tmp_path / "edges.csv").write_text("a,b\n" + "\n".join(f"p{j},p{k}" for j, k in pairs))
    (tmp_path / "groups.csv").write_text(
        "name,group\n" + "\n".join(f"p{j},{'red' if j % 4 < 2 else 'blue'}" for j in range(60))
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path / "edges.csv"


@pytest.mark.parametrize("name", COUNTS)
def test_counts_intervals_and_certificates(edges: Path, name: str) -> None:
    """With epsilon 16 and a fixed seed, intervals of six standard errors or so have the truth in them."""
    order = (name, str(edges), "--epsilon", "16", "--seed", "1", *COUNTS[name])
    record = json.loads(done(*order, "--json"))
    assert record["vertices"] == 60 and record["certificate"]["holds"] and record["certificate"]["spent"] <= 16
    for row in record["counts"]:
        width = max(row["high"] - row["low"], 1e-3)
        assert row["low"] - 2 * width <= row["exact"] <= row["high"] + 2 * width
    shown = done(*order)
    assert "Whether you know any one person" in shown and "59 times as large" in shown
    assert "edge (exact)" in shown or (name == "clustering" and "edge (theorem)" in shown)
    assert done(*order) == shown


@pytest.mark.parametrize("name", COUNTS)
def test_too_noisy_to_say_or_an_interval(edges: Path, name: str) -> None:
    shown = done(name, str(edges), "--epsilon", "0.1", "--seed", "1", *COUNTS[name])
    assert "too noisy to say" in shown or "interval" in shown


@pytest.mark.parametrize("name", COUNTS)
def test_help_teaches(name: str) -> None:
    assert f"deniable graph {name} edges.csv" in done(name, "--help")


def test_people_and_items(edges: Path) -> None:
    rows = "\n".join(f"u{u},i{i}" for u in range(40) for i in range(12) if (u + i) % 3)
    Path("ratings.csv").write_text(f"user,item\n{rows}")
    record = json.loads(done("cycles", "ratings.csv", "--bipartite", "--epsilon", "8", "--seed", "1", "--json"))
    (row,) = record["counts"]
    assert record["vertices"] == 52 and row["low"] <= row["exact"] <= row["high"] and row["clear"]
    assert "12 times as large" in done("cycles", "ratings.csv", "--bipartite", "--epsilon", "8")
    Path("one.csv").write_text("user\nu1\n")
    assert "two columns" in refusal("graph", "cycles", "one.csv", "--bipartite", "--epsilon", "1")


def test_groups(edges: Path) -> None:
    Path("few.csv").write_text("name,group\np1,red\n")
    assert "have no group" in refusal("graph", "homophily", str(edges), "--groups", "few.csv", "--epsilon", "1")
    Path("one.csv").write_text("name\np1\n")
    assert "two columns" in refusal("graph", "homophily", str(edges), "--groups", "one.csv", "--epsilon", "1")


def same(one: dn.Graph, other: dn.Graph) -> bool:
    return bool(np.array_equal(one.lower, other.lower) and np.array_equal(one.offsets, other.offsets))


def test_sparse_matrices(edges: Path) -> None:
    from scipy.sparse import coo_array, save_npz

    graph, _ = read_edges(edges)
    matrix = coo_array((np.ones(graph.edges), (graph.owners, graph.lower)), shape=(60, 60))
    save_npz("matrix.npz", matrix)
    found, names = read_edges("matrix.npz")
    assert same(found, graph) and names[:2] == ["0", "1"] and same(imported_graph(matrix)[0], graph)
    assert "60 vertices" in done("edges", "matrix.npz", "--epsilon", "1")
    Path("bad.npz").write_text("nothing")
    assert "not a sparse matrix" in refusal("graph", "edges", "bad.npz", "--epsilon", "1")


@pytest.mark.needs("networkx")
def test_networkx(edges: Path) -> None:
    import networkx

    graph, _ = read_edges(edges)
    other = networkx.Graph(list(zip(graph.owners.tolist(), graph.lower.tolist(), strict=True)))
    other.add_node("alone")
    networkx.write_graphml(other, "graph.graphml")
    found, names = read_edges("graph.graphml")
    assert found.vertices == 61 and found.edges == graph.edges and "alone" in names
    assert imported_graph(other)[0].triangles() == found.triangles() == graph.triangles()
    assert "61 vertices" in done("triangles", "graph.graphml", "--epsilon", "1")


@pytest.mark.needs("igraph")
def test_igraph(edges: Path) -> None:
    import igraph

    graph, _ = read_edges(edges)
    other = igraph.Graph(60, list(zip(graph.owners.tolist(), graph.lower.tolist(), strict=True)))
    other.write_graphml("graph.graphml")
    found, _ = read_edges("graph.graphml")
    assert same(found, graph) and same(imported_graph(other)[0], graph)


def test_graphml_that_is_none(edges: Path) -> None:
    Path("bad.graphml").write_text("<graphml><graph><node id='1'/><edge source='1' target='2'/></graph></graphml>")
    assert "not GraphML" in refusal("graph", "edges", "bad.graphml", "--epsilon", "1")
    Path("bad.graphml").write_text("<graphml>")
    assert "not GraphML" in refusal("graph", "edges", "bad.graphml", "--epsilon", "1")
    Path("bad.graphml").write_text("<graphml/>")
    assert "no nodes" in refusal("graph", "edges", "bad.graphml", "--epsilon", "1")


@pytest.fixture
def files(edges: Path) -> list[str]:
    """The same graph in all kinds of files."""
    import gzip

    import pyarrow
    import pyarrow.parquet
    from scipy.sparse import coo_array, save_npz

    graph, names = read_edges(edges)
    ends = [np.array(names)[side] for side in (graph.owners, graph.lower)]
    Path("packed.csv.gz").write_bytes(gzip.compress(edges.read_bytes()))
    pyarrow.parquet.write_table(pyarrow.table({"a": ends[0], "b": ends[1]}), "words.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"a": graph.owners + 5, "b": graph.lower + 5}), "numbers.parquet")
    save_npz("matrix.npz", coo_array((np.ones(graph.edges), (graph.owners, graph.lower)), shape=(60, 60)))
    nodes = "".join(f'<node id="{name}"/>' for name in names)
    joined = "".join(f'<edge source="{a}" target="{b}"><data>1</data></edge>' for a, b in zip(*ends, strict=True))
    Path("graph.graphml").write_text(f"<graphml><graph>{nodes}{joined}</graph></graphml>")
    return [str(edges), "packed.csv.gz", "words.parquet", "numbers.parquet", "matrix.npz", "graph.graphml"]


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize("name", ["edges", "degrees", "stars", "clustering", "cycles", "core", "triangles"])
def test_every_count_reads_every_file(name: str, files: list[str]) -> None:
    more = {"core": ["-k", "3"]}.get(name, [])
    seen = list[object]()
    for file in files:
        record = json.loads(done(name, file, "--epsilon", "4", "--seed", "1", "--json", *more))
        exact = record["exact"] if name == "triangles" else [row["exact"] for row in record["counts"]]
        seen.append((record["vertices"], record["edges"], exact))
    assert seen == seen[:1] * len(files)


@pytest.mark.needs("pyarrow")
def test_files_are_read_some_rows_at_a_time(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [read_edges(file) for file in files]
    monkeypatch.setattr("deniable.files.edges.ROWS", 7)
    for file, (graph, names) in zip(files, whole, strict=True):
        shares = list[float]()
        found, again = read_edges(file, shares.append)
        assert same(found, graph) and again == names
        assert shares == sorted(shares) and all(0 <= share <= 1 for share in shares)
        assert len(shares) > 5 or file == "matrix.npz"
    numbers = read_edges("numbers.parquet")
    assert numbers[1] == sorted(str(number + 5) for number in range(60))
    place = np.array([numbers[1].index(str(number + 5)) for number in range(60)])
    assert same(read_edges("matrix.npz")[0].renumbered(place), numbers[0])


@pytest.mark.needs("pyarrow")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_links_and_groups_are_read_some_rows_at_a_time(
    suffix: str, edges: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results are the same however many rows are read at a time, and rows are numbered through."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [(f"u{i // 5}", f"i{(i // 5 + i % 5 * 2) % 11}", str(i % 5 + 1)) for i in range(200)]
    columns = dict(zip(("user", "item", "weight"), zip(*rows, strict=True), strict=True))
    (tmp_path / "links.csv").write_text("user,item,weight\n" + "\n".join(map(",".join, rows)))
    pq.write_table(pa.table(columns), tmp_path / "links.parquet")
    people = [line.split(",") for line in (tmp_path / "groups.csv").read_text().split()[1:]]
    pq.write_table(pa.table(dict(zip("ab", zip(*people, strict=True), strict=True))), tmp_path / "groups.parquet")
    orders = [
        ("bipartite", f"links.{suffix}"),
        ("cycles", "--bipartite", f"links.{suffix}"),
        ("homophily", str(edges), "--groups", f"groups.{suffix}"),
    ]
    whole = [done(*order, "--epsilon", "4", "--seed", "1", "--json") for order in orders]
    monkeypatch.setattr("deniable.files.tables.ROWS", 7)
    assert [done(*order, "--epsilon", "4", "--seed", "1", "--json") for order in orders] == whole
    shares = list[float]()
    found = read_links(tmp_path / f"links.{suffix}", progress=shares.append)
    assert [found.people[user] for user in found.users] == list(columns["user"])
    assert [found.labels[item] for item in found.items] == list(columns["item"])
    assert len(shares) == 29 and shares == sorted(shares) and shares[-1] == 1
    (tmp_path / "short.csv").write_text("user,item,weight\n" + "u,i,1\n" * 20 + "u,,1\n")
    with pytest.raises(dn.InvalidParameter, match="Row 21 of"):
        read_links(tmp_path / "short.csv")
    (tmp_path / "short.csv").write_text("user,item,weight\n" + "u,i,1\n" * 20 + "u,i,many\n")
    with pytest.raises(dn.OutsideDomain, match="Row 21 of"):
        read_links(tmp_path / "short.csv")


def test_names_of_a_long_file_are_not_kept_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """50,000 rows of long names, a thousand at a time: 24 bytes a row stay, where two such texts would take 400."""
    name = "somebody-with-a-rather-long-name-that-takes-more-than-a-hundred-bytes-as-a-text-" * 2
    (tmp_path / "links.csv").write_text("user,item,weight\n" + f"{name}1,{name}2,1\n" * 50_000)
    monkeypatch.setattr("deniable.files.tables.ROWS", 1000)
    tracemalloc.start()
    try:
        found = read_links(tmp_path / "links.csv")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.users) == 50_000
    assert most < 50_000 * 200
