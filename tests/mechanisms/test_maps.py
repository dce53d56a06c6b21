"""Maps: tiles at several levels, shares of rectangles, and what is published about them."""

from collections.abc import Callable

import numpy as np
import pytest

import deniable as dn
from deniable.core import Tally
from deniable.mechanisms.distributions.plane import plane_of
from deniable.mechanisms.distributions.tiles import tile_weights
from deniable.planning.maps import map_options

SQUARE = dn.Product([dn.Interval(0, 8, steps=8), dn.Interval(0, 1, steps=5)])


def bell(shape: tuple[int, int]) -> np.ndarray:
    rows, columns = (np.exp(-(((np.arange(size) / size - 0.4) / 0.2) ** 2) / 2) for size in shape)
    both = np.outer(rows, columns).ravel()
    return both / both.sum()


def expected(mechanism: dn.Tiles, people: int) -> Tally:
    counts = people * bell(mechanism.plane.shape) @ mechanism.matrix
    return Tally(mechanism.fingerprint, people, np.rint(counts).astype(np.int64))


@pytest.fixture(scope="module")
def found() -> dn.HeatMap:
    mechanism = dn.plan(SQUARE, 1.0, 10**7, target="ranges")
    return mechanism.distribution(expected(mechanism, 10**7))


class TestTiles:
    @pytest.mark.parametrize("shape", [(2, 2), (3, 7), (8, 8), (20, 25)])
    def test_plans_are_proved(self, shape: tuple[int, int]) -> None:
        domain = dn.Product([dn.Ordered(range(size)) for size in shape])
        certificate = dn.certify(dn.plan(domain, 1.0, 10_000, target="ranges"))
        assert certificate.holds and certificate.loss.proof == "proved"

    def test_weighted_rectangles_beat_the_quad_tree_and_points(self) -> None:
        domain = dn.Product([dn.Ordered(range(16)), dn.Ordered(range(16))])
        rectangles = plane_of(domain).rectangles
        best, quad, points = (
            rectangles.mean_square(each.even_noise)
            for each in (
                dn.Tiles.weighted(domain, 1.0),
                dn.Tiles.weighted(domain, 1.0, squares=True),
                dn.Tiles.of(domain, 1.0, [[0, 0]]),
            )
        )
        assert rectangles.bound(dn.odds_below(1.0)) - 1 < best < 0.75 * quad < 0.5 * points

    @pytest.mark.parametrize(("shape", "most"), [((4, 4), 1.08), ((8, 8), 1.11), ((5, 12), 1.12), ((10, 12), 1.15)])
    def test_shifted_tiles_are_near_the_bound(self, shape: tuple[int, int], most: float) -> None:
        """Far nearer than tiles that are cut at the same places from level to level."""
        domain = dn.Product([dn.Ordered(range(size)) for size in shape])
        ranked = map_options(domain, 1.0, 1000)
        above = {row.name: 1 + (ranked.above(row) or 0) for row in ranked}
        assert ranked[0].name == "shifted tiles" and above["shifted tiles"] < most
        assert above["tiles, weighted"] > above["shifted tiles"] * 1.02

    def test_shifted_tiles_are_cut_where_their_levels_say(self) -> None:
        domain = dn.Product([dn.Ordered(range(3)), dn.Ordered(range(4))])
        mechanism = dn.ShiftedTiles(domain, 1.0, [[2, 1, 3, 0], [1, 0, 1, 0]], [1, 1])
        tile = np.array([[0, 0, 0, 1], [2, 2, 2, 3], [2, 2, 2, 3]]).ravel()
        alike = (mechanism.matrix[:, None, :4] == mechanism.matrix[None, :, :4]).all(2)  # the reports of the first level
        assert (alike == (tile[:, None] == tile)).all()

    @pytest.mark.parametrize("level", [[2, 1], [0, 0, 0, 0], [2, 2, 1, 0], [1, 0, 5, 0], [3, 0, 4, 0], [1, -1, 1, 0]])
    def test_other_levels_are_refused(self, level: list[int]) -> None:
        with pytest.raises(dn.InvalidParameter):
            dn.ShiftedTiles(dn.Product([dn.Ordered(range(3)), dn.Ordered(range(4))]), 1.0, [level], [1])

    def test_places_that_are_scattered_and_large_maps_have_tiles(self) -> None:
        scattered = dn.Points([[0, 0], [0, 1], [2, 3], [5, 1], [4, 4]])
        with pytest.raises(dn.InvalidParameter, match="full"):
            dn.ShiftedTiles.mixed(scattered, 1.0)
        with pytest.raises(dn.InvalidParameter, match="Use Tiles"):
            dn.ShiftedTiles(scattered, 1.0, [[1, 0, 1, 0]], [1])
        large = dn.Product([dn.Ordered(range(16)), dn.Ordered(range(16))])
        assert {dn.plan(each, 1.0, 10, target="ranges").wire for each in (scattered, large)} == {"tiles-1"}

    def test_survey_files_keep_their_mechanisms(self) -> None:
        square = dn.Product([dn.Ordered(range(4)), dn.Ordered(range(4))])
        assert dn.plan(square, 1.0, 1000, target="ranges", edition=1) == dn.Tiles.weighted(square, 1.0)

    def test_no_other_weights_are_better(self) -> None:
        domain = dn.Product([dn.Ordered(range(4)), dn.Ordered(range(4))])
        shares, rectangles = tile_weights(2, 2, 1.0), plane_of(domain).rectangles
        levels = [[0, 0] if level == (2, 2) else [1 << level[0], 1 << level[1]] for level in shares]

        def error(weights: np.ndarray) -> float:
            whole = np.maximum(np.rint(1e9 * weights / weights.sum()), 1).astype(np.int64).tolist()
            return rectangles.mean_square(dn.Tiles(domain, 1.0, levels, whole).even_noise)

        best, random = np.array(list(shares.values())), np.random.default_rng(2)
        smallest = error(best)
        assert all(error(best * np.exp(random.normal(0, 0.3, len(best)))) >= smallest - 1e-6 for _ in range(20))

    def test_rectangles(self) -> None:
        plane = plane_of(dn.Product([dn.Ordered(range(3)), dn.Ordered(range(2))]))
        ranges = [(a, b) for a in range(3) for b in range(a, 3)], [(a, b) for a in range(2) for b in range(a, 2)]
        rows = [plane.between(first, second) for first in ranges[0] for second in ranges[1]]
        assert plane.rectangles.questions == len(rows)
        np.testing.assert_array_equal(plane.rectangles.gram, np.array(rows).T @ rows)

    def test_places_that_are_no_grid(self) -> None:
        places = dn.Points(np.random.default_rng(1).normal(size=(40, 2)))
        mechanism = dn.plan(places, 2.0, 10_000, target="ranges")
        assert dn.certify(mechanism).holds
        tally = mechanism.tally(mechanism.perturb(np.zeros(500, np.int64), dn.SeededCoins(1)))
        assert mechanism.distribution(tally).share((-9, 9), (-9, 9)) == pytest.approx(1)


class TestHeatMap:
    def test_expected_reports_give_back_the_truth(self, found: dn.HeatMap) -> None:
        truth = bell((9, 6))
        np.testing.assert_allclose(found.raw, truth, atol=2e-5)
        assert np.abs(found.values - truth).max() < 0.005
        assert found.share((0, 8), (0, 1)) == pytest.approx(1)
        assert found.histogram((2, 3)).values.sum() == pytest.approx(1)

    def test_errors_are_those_of_the_linear_estimate(self, found: dn.HeatMap) -> None:
        weights = found.plane.between((1, 5), (0.2, 0.6))
        share = found.share((1, 5), (0.2, 0.6))
        assert share.standard_error == pytest.approx((weights @ found.covariance @ weights) ** 0.5)
        tiles = found.histogram((4, 2))
        assert tiles.covary is not None
        assert tiles.variance is not None and np.allclose(tiles.variance, tiles.covary().diagonal())
        corner = found.share((0, 2), (0, 0.5))
        assert tiles.values[0] == pytest.approx(float(corner)) and tiles.standard_error[0] == pytest.approx(
            corner.standard_error
        )
        assert tiles.values.reshape(tiles.bins).shape == (4, 2) and len(tiles.first_edges) == 5
        assert found.estimate().values is found.raw

    def test_intervals_hold(self) -> None:
        """200 collections: 95 % intervals of a rectangle hold 190 +- 3.1 times; below 172 or always is beyond chance."""
        mechanism = dn.Tiles.weighted(SQUARE, 1.0)
        people, random = np.rint(4000 * bell((9, 6))).astype(np.int64), np.random.default_rng(3)
        weights, n = mechanism.plane.between((0, 3), (0, 0.5)), int(people.sum())
        spread = float(weights @ (mechanism.joint_noise(people / n) / n) @ weights) ** 0.5
        reports = np.sum(
            [random.multinomial(many, row, 200) for many, row in zip(people, mechanism.matrix, strict=True)], axis=0
        )
        errors = (reports @ mechanism.inverse.T / n - people / n) @ weights
        assert 172 <= (np.abs(errors) <= 1.96 * spread).sum() < 200

    @pytest.mark.needs("matplotlib")
    def test_plot(self, found: dn.HeatMap) -> None:
        axes = found.plot()
        assert len(axes.figure.axes) == 2 and found.plot(ax=axes) is axes  # with the scale of colours


@pytest.mark.parametrize(
    "make",
    [
        lambda: dn.Tiles(SQUARE, 1.0, [], []),
        lambda: dn.Tiles(SQUARE, 1.0, [[0, 0]], [0]),
        lambda: dn.Tiles(SQUARE, 1.0, [[1, 1]], [1]),
        lambda: dn.Tiles(SQUARE, 1.0, [[10, 2]], [1]),
        lambda: dn.Tiles(SQUARE, 1.0, [[2]], [1]),
        lambda: dn.Tiles.weighted(dn.Ordered(range(4)), 1.0),
        lambda: dn.Tiles.weighted(dn.Product([dn.Ordered(range(2))] * 3), 1.0),
        lambda: dn.Tiles.weighted(dn.Points([[0, 1], [0, 2]]), 1.0),
        lambda: dn.Tiles.weighted(dn.Points([[0.0], [1.0]]), 1.0),
        lambda: dn.plan(SQUARE, 1.0, 100, target="quantiles"),
    ],
)
def test_what_cannot_be(make: Callable[[], object]) -> None:
    with pytest.raises(dn.InvalidParameter):
        make()


def test_histograms_that_cannot_be(found: dn.HeatMap) -> None:
    with pytest.raises(dn.InvalidParameter):
        found.histogram((10, 2))
    with pytest.raises(dn.InvalidParameter):
        found.linear(np.ones(3))
