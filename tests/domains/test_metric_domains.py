"""Answers with distances: the losses are those of the definition, and what makes no sense is refused."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import deniable as dn
from deniable.domains import domain_from_spec
from deniable.domains.line import Line
from deniable.domains.metric import BLOCK, Metric, checked_prior, metric_of

GRADES = dn.Ordered(["low", "middle", "high"])
AGES = dn.Ordered(range(18, 30))
PRICES = dn.Ordered([1, 2.5, 7, 20])


def test_numbers_are_as_far_apart_as_they_are() -> None:
    assert AGES.losses(np.array([2]))[0].tolist() == [abs(age - 20) for age in range(18, 30)]
    assert PRICES.losses(np.array([1]))[0].tolist() == [1.5, 0, 4.5, 17.5]
    assert dn.Ordered([1, 2.5, 7], power=2).losses(np.array([0]))[0].tolist() == [0, 2.25, 36]
    assert dn.Ordered(["a", "b", "c"], by_rank=[0, 1, 1]).losses(np.array([0, 1])).tolist() == [[0, 1, 1], [1, 0, 1]]
    assert GRADES.losses(np.array([2])).tolist() == [[2, 1, 0]]


def test_answers_are_found_by_their_label() -> None:
    assert AGES.index([18, 29, 20]).tolist() == [0, 11, 2]
    assert PRICES.index(np.array([20.0, 1.0])).tolist() == [3, 0]
    assert GRADES.index(["high", "low"]).tolist() == [2, 0]
    for domain, wrong in ((AGES, [17]), (AGES, [30]), (AGES, [18.5]), (AGES, ["18"]), (PRICES, [3]), (GRADES, ["best"])):
        with pytest.raises(dn.OutsideDomain) as refused:
            domain.index(wrong)
        assert str(wrong[0]) not in str(refused.value).replace("18 to 29", "")


def test_snapping_takes_the_nearest_and_the_lower_of_two() -> None:
    grid = dn.Ordered.grid(0, 1, 5)
    assert grid.index([0.0, 0.1249, 0.125, 0.1251, 0.5, 0.99, 1.0]).tolist() == [0, 0, 0, 1, 2, 4, 4]
    with pytest.raises(dn.OutsideDomain, match="nearer end"):
        grid.index([1.01])
    interval = dn.Interval(0, 1, steps=4)
    assert interval.nearest([0.125, 0.375, 0.3751, 1.0]).tolist() == [0, 0.25, 0.5, 1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: dn.Ordered([]),
        lambda: dn.Ordered([5]),
        lambda: dn.Ordered("abc"),
        lambda: dn.Ordered([2, 1]),
        lambda: dn.Ordered([1, 1, 2]),
        lambda: dn.Ordered([1, float("nan")]),
        lambda: dn.Ordered([True, False]),
        lambda: dn.Ordered([1, "a"]),
        lambda: dn.Ordered(["a", 1]),
        lambda: dn.Ordered([None, 1]),
        lambda: dn.Ordered([[1], [2]]),
        lambda: dn.Ordered(["a", "a"]),
        lambda: dn.Ordered([1, 2], power=0),
        lambda: dn.Ordered([1, 2], power=True),
        lambda: dn.Ordered([1, 2, 3], by_rank=[0, 2, 1]),
        lambda: dn.Ordered([1, 2, 3], by_rank=[1, 2, 3]),
        lambda: dn.Ordered([1, 2, 3], by_rank=[0, 1]),
        lambda: dn.Ordered(["a", "b"], snap=True),
        lambda: dn.Ordered.grid(1, 0, 5),
        lambda: dn.Ordered.grid(0, 1, 1),
        lambda: dn.Points([]),
        lambda: dn.Points([[1, 2]]),
        lambda: dn.Points([[1, 2], [1, 2]]),
        lambda: dn.Points([[0.0, 1], [-0.0, 1]]),
        lambda: dn.Points([[1, 2], [3]]),
        lambda: dn.Points([[1, math.inf], [3, 4]]),
        lambda: dn.Points([[1, 2], [3, 4]], "manhattan"),
        lambda: dn.Points([[91, 2], [3, 4]], "haversine"),
        lambda: dn.Points([[1, 2, 3], [3, 4, 5]], "haversine"),
        lambda: dn.Points([[-1], [3]], "tanimoto"),
        lambda: dn.Points([{1}, {1}], "jaccard"),
        lambda: dn.Points(["abc", "b"], "jaccard"),
        lambda: dn.Points([1, 2], "jaccard"),
        lambda: dn.Points([{1.5}, {2}], "jaccard"),
        lambda: dn.Points([[1], [2]], labels=["one"]),
        lambda: dn.Points([[1], [2]], labels=["one", "one"]),
        lambda: dn.LossMatrix([]),
        lambda: dn.LossMatrix([[0]]),
        lambda: dn.LossMatrix([[0, 1, 2], [1, 0, 1]]),
        lambda: dn.LossMatrix([[0.0, math.nan], [1.0, 0.0]]),
        lambda: dn.LossMatrix([[0.0, math.inf], [1.0, 0.0]]),
        lambda: dn.LossMatrix([[-1, 1], [1, 0]]),
        lambda: dn.LossMatrix([[1, 0], [1, 0]]),
        lambda: dn.LossMatrix([["a", "b"], ["c", "d"]]),
        lambda: dn.Vectors([]),
        lambda: dn.Vectors(["a"]),  # type: ignore[list-item]
        lambda: dn.quadkey([[1, 2, 3]]),
        lambda: dn.quadkey([[1, 2]], 40),
    ],
)
def test_what_makes_no_sense_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(dn.InvalidParameter):
        make()


def definition(metric: str, x: Any, y: Any) -> float:
    """The distances as the textbook has them, one pair at a time."""
    match metric:
        case "euclidean":
            return math.dist(x, y)
        case "haversine":
            (a, b), (c, d) = (map(math.radians, each) for each in (x, y))
            half = math.sin((a - c) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((b - d) / 2) ** 2
            return 2 * 6371.0088 * math.asin(math.sqrt(half))
        case "tanimoto":
            dot = sum(map(float.__mul__, x, y))
            return 1 - dot / (sum(a * a for a in x) + sum(b * b for b in y) - dot)
        case "jaccard":
            return 1 - len(x & y) / len(x | y) if x | y else 0.0
        case _:
            keys = [format(int(key), "046b") for key in dn.quadkey([x, y])]
            return 23 - next((level for level in range(23) if len({key[: 2 * level + 2] for key in keys}) == 2), 23)


SETS = [{"a", "b"}, {"b"}, {"c", "d", "a"}, {"a", "b", "c", "d"}, set()]


@pytest.mark.parametrize("metric", ["euclidean", "haversine", "tanimoto", "jaccard", "quadkey"])
def test_distances_are_those_of_the_definition(metric: str) -> None:
    random = np.random.default_rng(3)
    points: Any = random.uniform(0, 80, (30, 2)).round(3).tolist() if metric != "jaccard" else SETS
    domain = dn.Points(points, metric)
    losses = domain.losses(np.arange(len(points)))
    exact = [[definition(metric, x, y) for y in points] for x in points]
    np.testing.assert_allclose(losses, exact, rtol=1e-9, atol=1e-6)
    assert (np.diag(losses) == 0).all()
    np.testing.assert_array_equal(domain.losses_of(np.arange(len(points))), losses)


def test_two_places_across_the_date_line_and_at_the_poles() -> None:
    domain = dn.Points([[0, 179.9], [0, -179.9], [90, 0], [-90, 0]], "haversine")
    losses = domain.losses(np.arange(4))
    assert losses[0, 1] == pytest.approx(2 * math.pi * 6371.0088 * 0.2 / 360, rel=1e-9)
    assert losses[2, 3] == pytest.approx(math.pi * 6371.0088, rel=1e-9)


def test_a_tile_has_its_known_key() -> None:
    """Column 3, row 5 of level 3 is tile 213 in the documentation of the scheme."""
    latitude = math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * 5.5 / 8))))
    assert [np.base_repr(key, 4) for key in dn.quadkey([[latitude, 3.5 / 8 * 360 - 180]], 3)] == ["213"]
    assert dn.quadkey([[90, 180], [-90, -180]], 1).tolist() == [1, 2]


def test_points_outside_the_domain_have_a_nearest_one() -> None:
    places = dn.Points([[48.86, 2.35], [45.76, 4.84], [43.70, 7.27]], "haversine", ["Paris", "Lyon", "Nice"])
    assert places.nearest([[45.7, 4.8], [49.0, 2.0], [43.7, 7.27]]).tolist() == [1, 0, 2]
    assert places.index(["Nice", "Paris"]).tolist() == [2, 0]
    with pytest.raises(dn.OutsideDomain, match="coordinates"):
        dn.Points([[1, 2], [3, 4]]).nearest([[1, 2, 3]])
    with pytest.raises(dn.InvalidParameter, match="labels"):
        dn.Points(SETS, "jaccard").nearest([[1]])


def test_a_matrix_tells_rows_from_columns() -> None:
    domain = dn.LossMatrix([[0, 2], [5, 1]], ["stay", "go"])
    assert domain.losses(np.array([1])).tolist() == [[5, 1]]
    assert domain.losses_of(np.array([1])).tolist() == [[2, 1]]
    assert domain.diagonal == "minimal"
    assert dn.LossMatrix([[0, 2], [5, 0]]).diagonal == "zero"


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("0,1\n2,0\n", [0, 1]),
        ("stay,go\n0,1\n2,0\n", ["stay", "go"]),
        (",stay,go\nstay,0,1\ngo,2,0\n", ["stay", "go"]),
        ("stay,go\nstay,0,1\ngo,2,0\n", ["stay", "go"]),
    ],
)
def test_losses_come_from_a_file(tmp_path: Path, text: str, labels: list[object]) -> None:
    file = tmp_path / "losses.csv"
    file.write_text(text)
    domain = dn.read_losses(file)
    assert domain.losses(np.arange(2)).tolist() == [[0, 1], [2, 0]]
    assert list(domain.labels) == labels


@pytest.mark.parametrize("text", ["", "0,1\n", "0,x\n1,0\n", ",a,b\na,0,1\nc,1,0\n", "a,b\n0,1\n"])
def test_files_that_hold_no_losses_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "losses.csv"
    file.write_text(text)
    with pytest.raises(dn.InvalidParameter):
        dn.read_losses(file)


DOMAINS: list[dn.Domain] = [
    AGES,
    PRICES,
    GRADES,
    dn.Ordered(range(0, 20, 5)),
    dn.Ordered([1, 2, 3], by_rank=[0, 1, 5]),
    dn.Ordered([1, 2, 4], power=0.5),
    dn.Ordered.grid(-1, 1, 21),
    dn.Points([[1, 2], [3, 4]]),
    dn.Points([[1, 2], [3, 4]], "haversine", ["here", "there"]),
    dn.Points(SETS, "jaccard"),
    dn.LossMatrix([[0, 2], [5, 1]], ["stay", "go"]),
    dn.Vectors([AGES, dn.Interval(0, 1, steps=2), GRADES]),
]


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: str(domain.spec())[:40])
def test_domains_come_back_from_their_description(domain: dn.Domain) -> None:
    back = domain_from_spec(dict(domain.spec()))
    assert back == domain
    assert hash(back) == hash(domain)
    assert back != DOMAINS[0] or domain is AGES
    assert list(back.labels) == list(domain.labels)


def test_vectors_have_an_answer_for_each_coordinate() -> None:
    domain = dn.Vectors([AGES, dn.Interval(0, 1, steps=2), GRADES])
    assert domain.size == 12 * 3 * 3
    assert {domain.answer(index) for index in range(domain.size)} == {
        (age, number, grade) for age in range(18, 30) for number in (0.0, 0.5, 1.0) for grade in GRADES.labels
    }
    assert domain.index([(20, 0.26, "high"), (18, 0.25, "low")]).tolist() == [[2, 1, 2], [0, 0, 0]]
    numbers = dn.Vectors([dn.Interval(0, 1, steps=2), dn.Interval(0, 1, steps=2)])
    assert numbers.index(np.array([[0.0, 1.0], [0.5, 0.2]])).tolist() == [[0, 2], [1, 0]]
    for wrong in ([(20, 0.26)], [5], ["abc"], [(20, 0.3, "best")]):
        with pytest.raises(dn.OutsideDomain):
            domain.index(wrong)


def test_priors_are_shares() -> None:
    np.testing.assert_array_equal(checked_prior(None, 4), [0.25] * 4)
    for prior in ([0.5, 0.6], [1.0], [-0.5, 1.5], [math.nan, 1.0], ["a", "b"], [[0.5, 0.5]]):
        with pytest.raises(dn.InvalidParameter, match="sum to 1"):
            checked_prior(prior, 2)


def test_answers_without_distances_are_refused() -> None:
    with pytest.raises(dn.InvalidParameter, match="no distances"):
        metric_of(dn.Categories(["a", "b"]))
    assert metric_of(dn.Interval(0, 1, steps=4)).losses(np.array([1])).tolist() == [[0.25, 0, 0.25, 0.5, 0.75]]


@pytest.mark.parametrize(
    "line",
    [
        Line(np.arange(9.0)),
        Line(np.linspace(-1, 1, 8), power=2),
        Line(np.array([0, 1, 3, 4, 9, 11.5])),
        Line(np.array([0, 1, 3, 4, 9, 11.5]), power=0.5),
        Line(np.arange(5.0), table=np.array([0, 1, 1, 4, 4.0])),
    ],
    ids=["even", "squares", "uneven", "uneven roots", "table"],
)
def test_windows_and_sums_are_those_of_sorting(line: Line) -> None:
    """The window of every point, from sorting by (distance, number), and its losses added up one by one."""
    size, x = line.size, line.positions
    losses = line.loss(np.arange(size)[:, None], np.arange(size)[None, :])
    apart = np.abs(x[:, None] - x).round(9)
    np.testing.assert_allclose(line.totals, losses.sum(axis=1))
    for count in range(1, size + 1):
        furthest, sums = line.nearest(count)
        for point in range(size):
            window = np.lexsort((np.arange(size), apart[point]))[:count].tolist()
            assert sorted(window) == list(range(line.windows(count)[point], line.windows(count)[point] + count))
            assert sums[point] == pytest.approx(losses[point, window].sum())
            assert furthest[point] == pytest.approx(losses[point, window].max())


def test_what_was_paid_is_worked_out_pair_by_pair() -> None:
    domain, random = dn.Points(np.random.default_rng(1).random((900, 2))), np.random.default_rng(2)
    truth, released = random.integers(0, 900, 3000), random.integers(0, 900, 3000)
    exact = [math.dist(domain.points[x], domain.points[y]) for x, y in zip(truth, released, strict=True)]
    np.testing.assert_allclose(domain.paid(truth, released), exact)


class Sparing(dn.Points):
    """Points that refuse to work out many losses at a time."""

    def losses(self, truth: NDArray[np.int64]) -> NDArray[np.float64]:
        assert len(truth) * self.size <= max(BLOCK, self.size), "too many losses at a time"
        return super().losses(truth)


def test_no_mechanism_ever_holds_all_losses() -> None:
    domain: Metric = Sparing(np.random.default_rng(1).random((900, 2)))
    for release in (dn.Bipartite(domain, 2.0), dn.Bipartite(domain, 2.0, "mean"), dn.Staircase(domain, 2.0)):
        release.perturb(np.arange(900), dn.SeededCoins(1))
        assert 0 < release.expected_loss() < release.worst_loss()
    assert dn.Coarsened(domain, 2.0).expected_loss() < 0.4
