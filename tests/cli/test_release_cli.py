"""`deniable release`: what it prints, what it writes, and what it refuses."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from tests.cli.test_cli import misused, refusal, run

PLACES = [(48.86, 2.35, "Paris"), (45.76, 4.84, "Lyon"), (43.70, 7.27, "Nice"), (50.63, 3.06, "Lille")]


@pytest.fixture
def venues(tmp_path: Path) -> Path:
    file = tmp_path / "venues.csv"
    file.write_text("name,lat,lon\n" + "".join(f"{name},{lat},{lon}\n" for lat, lon, name in PLACES))
    return file


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.needs("scipy")
def test_the_table_is_that_of_the_optimum() -> None:
    table = json.loads(run("release", "--table", "--json").stdout)
    assert [(row["points"], row["epsilon"]) for row in table] == [
        (n, e) for n in (5, 10, 20, 50) for e in (0.25, 0.5, 1.0, 2.0, 4.0)
    ]
    for row in table:
        assert row["coarsened"] == pytest.approx(row["optimum"], abs=1e-7)
        assert row["bipartite, min"] >= row["bipartite, mean"] - 1e-12 >= row["optimum"] - 1e-7
    (last,) = [row for row in table if (row["points"], row["epsilon"]) == (50, 4.0)]
    assert (last["near, min"], last["near, mean"], last["representatives"]) == (5, 7, 7)
    assert last["exponential, tight"] == pytest.approx(8.6926, abs=5e-5)
    shown = run("release", "--table").stdout.splitlines()
    assert len(shown) == 22
    assert "10.6717 ( 2) 10.6717  1.142" in shown[19]


def test_numbers_are_released_one_for_each_row(tmp_path: Path) -> None:
    people, out = tmp_path / "people.csv", tmp_path / "released.csv"
    people.write_text("age,name\n" + "".join(f"{18 + 7 * i % 82},x\n" for i in range(500)))
    arguments = ["release", str(people), "--column", "age", "--numbers", "18", "99", "--out", str(out), "--seed", "1"]
    record = json.loads(run(*arguments, "--json").stdout)
    released = [int(row["released"]) for row in rows(out)]
    assert len(released) == record["released"] == 500
    assert set(released) == set(dn.Coarsened(dn.Ordered(range(18, 100)), 1.0).released_labels)
    paid = [abs(age - int(row["age"])) for age, row in zip(released, rows(people), strict=True)]
    assert record["loss"] == pytest.approx(np.mean(paid))
    # 500 losses between 0 and 81: the mean is within 7 points of what is expected but once in 1e6 (Hoeffding: 14 needed;
    # the spread of a loss is below 20, so 7 are 7.8 standard errors).
    assert abs(record["loss"] - record["expected_loss"]) < 7
    assert "exists already" in refusal(*arguments)
    assert "500 answers released by coarsened-1" in run(*arguments, "--force").stdout


@pytest.mark.parametrize("name", ["bipartite", "bipartite-mean", "staircase", "coarsened", "best"])
def test_places_are_released_by_name_or_by_where_they_are(venues: Path, tmp_path: Path, name: str) -> None:
    visits, out = tmp_path / "visits.csv.gz", tmp_path / "released.csv"
    text = "lat,lon,place\n" + "".join(f"{lat + 0.01},{lon - 0.01},{place}\n" for lat, lon, place in PLACES * 30)
    visits.write_bytes(gzip.compress(text.encode()))
    common = [str(visits), "--places", str(venues), "--label", "name", "--epsilon", "2", "--seed", "3", "--mechanism", name]
    near = run("release", *common, "--out", str(out))
    assert near.exit_code == 0
    first = rows(out)
    assert {row["released"] for row in first} <= {place for _, _, place in PLACES}
    assert all((float(row["lat"]), float(row["lon"]), row["released"]) in PLACES for row in first)
    run("release", *common, "--column", "place", "--out", str(out), "--force")
    assert rows(out) == first  # the same coins on the same places


def test_venues_at_the_same_place_are_one(venues: Path, tmp_path: Path) -> None:
    venues.write_text(venues.read_text() + "Lutetia,48.86,2.35\n")
    visits, out = tmp_path / "visits.csv", tmp_path / "released.csv"
    visits.write_text("place\n" + "Lutetia\nParis\nNice\n" * 20)
    common = ["release", str(visits), "--places", str(venues), "--epsilon", "9", "--out", str(out), "--seed", "1"]
    assert run(*common, "--label", "name", "--column", "place").exit_code == 0
    assert {row["released"] for row in rows(out)} >= {"Paris", "Nice"}
    assert "Lutetia" not in out.read_text()
    visits.write_text("place\n4\n0\n2\n")
    assert run(*common, "--column", "place", "--force").exit_code == 0
    assert "Row 1 of" in refusal(*common, "--label", "name", "--column", "place", "--force")


@pytest.mark.needs("matplotlib")
def test_a_city_is_drawn_on_a_map(tmp_path: Path) -> None:
    picture = tmp_path / "map.png"
    shown = run("release", "--city", "40", "--epsilon", "4", "--picture", str(picture), "--seed", "1")
    assert shown.exit_code == 0
    assert "40 answers, epsilon 4" in shown.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_losses_come_from_a_file(tmp_path: Path) -> None:
    losses, data = tmp_path / "losses.csv", tmp_path / "data.csv"
    losses.write_text("stay,go\n0,1\n5,0\n")
    record = json.loads(run("release", "--losses", str(losses), "--epsilon", "1", "--json").stdout)
    assert record["answers"] == 2
    assert {"direct", "coarsened"} <= {line["name"] for line in record["releases"]}
    data.write_text("answer\nstay\ngo\n")
    shown = run("release", str(data), "--losses", str(losses), "--column", "answer").stdout
    assert shown.startswith("2 answers released by ")


def test_refusals(tmp_path: Path, venues: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("age\n200\n")
    assert "exactly one of" in refusal("release", "--epsilon", "1")
    assert "exactly one of" in refusal("release", "--numbers", "1", "5", "--city", "9")
    assert "map needs" in refusal("release", "--numbers", "1", "5", "--picture", str(tmp_path / "a.png"))
    assert "No such option '--out'" in misused("release", "--numbers", "1", "5", "--out", str(tmp_path / "out.csv"))
    assert "Name the column" in refusal("release", str(data), "--numbers", "1", "5")
    outside = refusal("release", str(data), "--column", "age", "--numbers", "1", "5")
    assert "Row 1 of" in outside and "column 'age'" in outside and "1 to 5" in outside and "200" not in outside
    assert "no column 'name'" in refusal("release", str(data), "--column", "name", "--numbers", "1", "5")
    assert "no column 'lat'" in refusal("release", str(data), "--places", str(venues))
    data.write_text("age\nforty\n")
    assert "does not contain a number" in refusal("release", str(data), "--column", "age", "--numbers", "1", "5")
    bad = tmp_path / "bad.csv.gz"
    bad.write_bytes(b"nothing")
    assert "not a gzip file" in refusal("release", str(bad), "--column", "age", "--numbers", "1", "5")
    assert "Epsilon" in refusal("release", "--numbers", "1", "5", "--epsilon", "0")


@pytest.mark.parametrize("labels", [range(18, 99), [0.5, 1.0, 2.5]], ids=["whole numbers", "other numbers"])
def test_the_other_verbs_take_ordered_answers_too(labels: list[float], tmp_path: Path) -> None:
    """A release planned in code, its JSON on disk, and perturb and certify as for any mechanism."""
    mechanism = dn.Bipartite(dn.Ordered(labels), 1.0)
    file, answers, out = tmp_path / "mechanism.json", tmp_path / "answers.csv", tmp_path / "answers.parquet"
    file.write_text(mechanism.to_json())
    answers.write_text("value\n" + "".join(f"{label}\n" for label in labels))
    assert run("certify", str(file)).exit_code == 0
    made = run("perturb", str(answers), "--column", "value", "--mechanism", str(file), "--out", str(tmp_path / "reports"))
    assert made.exit_code == 0, made.stderr
    assert len(dn.read_reports(tmp_path / "reports", mechanism)) == len(labels)
    answers.write_text("value\n17\n")
    assert "Row 1" in refusal("perturb", str(answers), "--column", "value", "--mechanism", str(file), "--out", str(out))


@pytest.mark.needs("scipy")
@pytest.mark.parametrize("name", ["best", "laplace"])
def test_places_are_released_with_epsilon_per_kilometre(venues: Path, tmp_path: Path, name: str) -> None:
    visits, out = tmp_path / "visits.csv", tmp_path / "released.csv"
    visits.write_text("lat,lon\n" + "".join(f"{lat},{lon}\n" for lat, lon, _ in PLACES * 30))
    common = ["release", str(visits), "--places", str(venues), "--metric", "0.005", "--seed", "1", "--mechanism", name]
    said = run(*common, "--out", str(out)).stdout
    assert "120 answers released by metric-1, epsilon 0.005 per km of distance" in said
    assert "two answers 100 km apart: odds at most e^0.5; 500 km apart: e^2.5" in said
    assert len(rows(out)) == 120
    record = json.loads(run(*common, "--json").stdout)
    domain = dn.Points([place[:2] for place in PLACES], "haversine")
    make = {"best": dn.MetricRelease.optimal, "laplace": dn.MetricRelease.laplace}[name]
    assert record["per_unit"] == 0.005 and record["fingerprint"] == make(domain, 0.005).fingerprint
    assert record["expected_loss"] == pytest.approx(make(domain, 0.005).expected_loss())
    assert "km apart: e^(0.005 d)" in said and "above the best that any release with this promise can have" in said
    assert 0 <= record["accuracy"]["above_bound"] < (1e-5 if name == "best" else 1)


@pytest.mark.parametrize("name", ["best", "staircase"])
def test_releases_say_how_far_they_are_from_the_best_possible(venues: Path, name: str) -> None:
    common = ["release", str(venues), "--places", str(venues), "--epsilon", "1", "--mechanism", name]
    record, said = json.loads(run(*common, "--json").stdout), run(*common).stdout
    above = record["accuracy"]["above_bound"]
    assert (above < 1e-4) == (name == "best")
    assert f"at most {100 * above:.1f} % above the best that any release with this promise can have" in said


@pytest.mark.needs("scipy")
def test_the_certificate_of_a_release_from_a_file_has_its_accuracy(tmp_path: Path) -> None:
    file = tmp_path / "release.json"
    file.write_text(dn.MetricRelease.laplace(dn.Ordered(range(12)), 0.3).to_json())
    record = json.loads(run("certify", str(file), "--json").stdout)
    assert record["holds"] and 0 <= record["accuracy"]["above_bound"] < 1
    assert "accuracy" in run("certify", str(file)).stdout


@pytest.mark.needs("scipy")
def test_releases_are_compared_per_unit_of_distance() -> None:
    shown = run("release", "--numbers", "1", "12", "--metric", "0.3").stdout
    assert shown.startswith("12 answers, epsilon 0.3 per unit\n") and "linear program" in shown
    record = json.loads(run("release", "--numbers", "1", "12", "--metric", "0.3", "--json").stdout)
    found = {each["name"]: each["expected"] for each in record["releases"]}
    assert record["unit"] == "per unit" and record["bound"] == pytest.approx(found["optimal"], rel=1e-6)
    assert found["optimal"] < found["laplace"] < found["exponential"] < found["staircase"]


def test_an_epsilon_per_unit_stands_alone(venues: Path) -> None:
    common = ["release", str(venues), "--places", str(venues), "--metric", "0.5"]
    assert "not both" in refusal(*common, "--epsilon", "1")
    assert "Use one of best, laplace with --metric" in refusal(*common, "--mechanism", "staircase")
    assert "without --metric" in refusal("release", str(venues), "--places", str(venues), "--mechanism", "laplace")
