"""`deniable graph`: what it prints, and how it refuses."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.files.edges import read_edges
from tests.cli.test_cli import refusal, run


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    """Forty people, of whom each pair is joined with probability 0.3; and some lines that add nothing."""
    random = np.random.default_rng(1)
    pairs = [(j, k) for k in range(40) for j in range(k) if random.random() < 0.3]
    lines = ["src,dst", *(f"p{j},p{k}" for j, k in pairs), "", "p1,p1", f"p{pairs[0][1]},p{pairs[0][0]},extra"]
    path = tmp_path / "edges.csv"
    path.write_text("\n".join(lines))
    return path


def done(*arguments: str) -> str:
    result = run("graph", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_edges_in_files(edges: Path) -> None:
    found, names = read_edges(edges)
    assert (found.vertices, len(names)) == (40, 40)
    packed = edges.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(edges.read_bytes()))
    again, _ = read_edges(packed)
    assert np.array_equal(again.lower, found.lower) and np.array_equal(again.offsets, found.offsets)


@pytest.mark.needs("pyarrow")
def test_edges_in_parquet(edges: Path, tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    lines = [line.split(",")[:2] for line in edges.read_text().splitlines()[1:] if line]
    path = tmp_path / "edges.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"src": [a for a, _ in lines], "dst": [b for _, b in lines]}), path)
    found, names = read_edges(path)
    csv, csv_names = read_edges(edges)
    assert names == csv_names and np.array_equal(found.lower, csv.lower) and np.array_equal(found.offsets, csv.offsets)
    pyarrow.parquet.write_table(pyarrow.table({"src": ["a"]}), path)
    assert "no second column" in refusal("graph", "triangles", str(path), "--epsilon", "1")
    pyarrow.parquet.write_table(pyarrow.table({"src": ["a", None], "dst": ["b", "c"]}), path)
    assert "empty name" in refusal("graph", "triangles", str(path), "--epsilon", "1")


@pytest.mark.parametrize("options", [(), ("--plain",), ("--second", "laplace"), ("--alpha", "2")])
def test_triangles(edges: Path, options: tuple[str, ...]) -> None:
    record = json.loads(done("triangles", str(edges), "--epsilon", "8", "--seed", "1", "--json", *options))
    exact = read_edges(edges)[0].triangles()
    assert record["exact"] == exact and record["edges"] == read_edges(edges)[0].edges
    assert abs(record["raw"] - exact) < 6 * record["standard_error"]  # a false alarm once in 5e8, and the seed is fixed
    assert 0 <= record["low"] <= record["estimate"] <= record["high"] <= 40 * 39 * 38 / 6
    shown = done("triangles", str(edges), "--epsilon", "8", "--seed", "1", *options)
    says = f"{record['estimate']:,.0f} triangles, between" if record["clear"] else "too noisy to say how many triangles"
    assert f"triangles    {says}" in shown and f"the file has {exact:,}" in shown
    assert f"download     {record['bits']:,} bits" in shown
    assert record["certificate"]["holds"] and record["certificate"]["spent"] <= 8
    assert "certificate  triangles: at most" in shown and "Whether you know any one person" in shown


def test_no_triangle_in_a_graph_of_two_people(tmp_path: Path) -> None:
    """It has no triangles, and no noise makes one of it."""
    path = tmp_path / "two.csv"
    path.write_text("src,dst\nann,bob\n")
    for seed in range(5):
        shown = done("triangles", str(path), "--epsilon", "1", "--seed", str(seed))
        assert "0 triangles: so few people cannot have any; the file has 0" in shown
        record = json.loads(done("triangles", str(path), "--epsilon", "1", "--seed", str(seed), "--json"))
        assert record["estimate"] == 0 and record["clear"]


def test_common_neighbours(edges: Path) -> None:
    arguments = ("common-neighbours", str(edges), "p3", "p17", "--epsilon", "8", "--seed", "1")
    record = json.loads(done(*arguments, "--json"))
    found, names = read_edges(edges)
    both = set(found.neighbours(names.index("p3"))) & set(found.neighbours(names.index("p17")))
    assert record["exact"] == len(both)
    assert abs(record["raw"] - record["exact"]) < 6 * record["standard_error"]
    assert 0 <= record["low"] <= record["estimate"] <= record["high"] <= 38
    assert record["certificate"] == {"spent": 8.0, "proof": "theorem", "holds": True}
    assert "from 40 possible neighbours" in done(*arguments) and "common: at most 8 of epsilon 8" in done(*arguments)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "has no edges"),
        (b"a,b\n", "has no edges"),
        (b"a,b\nx\n", "no second column"),
        (b"a,b\n\xff,y\n", "is not UTF-8 text"),
        (b'a,b\n"x,y\n', "cannot be read as CSV"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    assert says in refusal("graph", "triangles", str(path), "--epsilon", "1")


def test_other_refusals(edges: Path, tmp_path: Path) -> None:
    name = str(edges)
    assert "There is no file" in refusal("graph", "triangles", str(tmp_path / "none.csv"), "--epsilon", "1")
    assert "Epsilon must be" in refusal("graph", "triangles", name, "--epsilon", "0")
    assert "above 1" in refusal("graph", "triangles", name, "--epsilon", "1", "--alpha", "1")
    assert "names in the file" in refusal("graph", "common-neighbours", name, "p3", "hepatitis", "--epsilon", "1")
    (tmp_path / "bad.csv.gz").write_bytes(b"plain")
    assert "not a gzip file" in refusal("graph", "triangles", str(tmp_path / "bad.csv.gz"), "--epsilon", "1")
    with pytest.raises(dn.InvalidParameter, match="There is no file"):
        read_edges(tmp_path / "none.csv")


@pytest.mark.parametrize("name", ["common-neighbours", "triangles"])
def test_help_teaches(name: str) -> None:
    shown = done(name, "--help")
    assert f"deniable graph {name} edges.csv" in shown and "EDGES" in shown


def test_certificates_of_compressed_response(tmp_path: Path) -> None:
    """Of ours and of the published one: by a theorem, however many coordinates there are."""
    items = dn.SparseVector(200_000)
    for mechanism, holds in ((dn.Compressed(items, 1.0), True), (dn.Compressed.as_published(items, 1.0), False)):
        path = tmp_path / "mechanism.json"
        path.write_text(mechanism.to_json())
        result = run("certify", str(path))
        assert (result.exit_code, result.stderr) == (0 if holds else 1, "")
        assert ("holds" if holds else "DOES NOT HOLD") in result.stdout and "theorem" in result.stdout
        assert json.loads(run("certify", str(path), "--json").stdout)["holds"] is holds
