"""Tails of sums over random sets: no direction is above the bounds, and one key that stands out nearly meets them."""

import itertools
import math

import numpy as np
import pytest

from deniable.arrays import Floats
from deniable.planning.set_tails import evenness, excesses, exponential_moment, largest_variance

SIZES = [(3, 2), (4, 2), (4, 3), (5, 2), (6, 2), (6, 3), (7, 2), (7, 3), (10, 3), (12, 2)]


def sums(keys: int, chosen: int, values: bool) -> Floats:
    """A row for each set, with all signs of its values: a direction times these rows are all S."""
    rows = []
    for places in itertools.combinations(range(keys), chosen):
        for signs in itertools.product((1, -1), repeat=chosen) if values else [()]:
            row = np.zeros(2 * keys if values else keys)
            row[list(places)] = 1
            row[[keys + place for place in places[: len(signs)]]] = math.sqrt(evenness(keys, chosen, values)) * np.array(
                signs
            )
            rows.append(row)
    found = np.array(rows)
    found[:, :keys] -= chosen / keys
    return found


def directions(rows: Floats, random: np.random.Generator) -> list[Floats]:
    """A few keys, with many or few numbers of a direction that are not 0, in the span of the rows."""
    width = rows.shape[1]
    starts = [random.normal(size=width) * (random.random(width) < part) for part in (0.2, 0.5, 1.0) for _ in range(6)]
    starts += list(np.eye(width))
    spans = [rows.T @ (rows @ start) for start in starts]
    return [span / np.linalg.norm(span) for span in spans if np.linalg.norm(span) > 1e-9]


@pytest.mark.parametrize("values", [False, True], ids=["frequencies", "values"])
@pytest.mark.parametrize(("keys", "chosen"), SIZES)
def test_no_direction_is_above(keys: int, chosen: int, values: bool) -> None:
    """Climbing from many directions: each step goes to the mean of what is above tau, where a convex function is larger."""
    if values and chosen * keys > 21:
        keys, chosen = 6, 3
    rows, random = sums(keys, chosen, values), np.random.default_rng(8)
    taus, bounds = excesses(keys, chosen, values)
    assert (np.diff(taus) > 0).all() and (np.diff(bounds) < 0).all()
    for tau, bound in zip(taus[:: len(taus) // 10], bounds[:: len(taus) // 10], strict=True):
        for direction in directions(rows, random):
            for _ in range(20):
                over = rows @ direction - tau
                assert np.maximum(over, 0).mean() <= bound * (1 + 1e-12)
                climbed = rows[over > 0].sum(0)
                if not np.linalg.norm(climbed) > 1e-9:
                    break
                direction = climbed / np.linalg.norm(climbed)
    for speed in (0.3, 1.0, 3.0, 8.0):
        most = exponential_moment(keys, chosen, values, speed)
        for direction in directions(rows, random):
            for _ in range(20):
                tilted = np.exp(speed * (rows @ direction))
                assert tilted.mean() <= most * (1 + 1e-12)
                direction = rows.T @ tilted / np.linalg.norm(rows.T @ tilted)


def test_one_key_that_stands_out_nearly_meets_the_bound() -> None:
    for keys, chosen in ((50, 5), (1000, 10), (1000, 100), (50, 3)):
        step, f = math.sqrt(keys / (keys - 1)), chosen / keys
        for tau in (0.5, 0.6, 0.7):
            met = f * (step * (1 - f) - tau)
            assert met <= float(np.interp(tau, *excesses(keys, chosen, False))) <= 1.03 * met


@pytest.mark.parametrize(("keys", "chosen"), [(4, 2), (5, 2), (6, 2), (6, 3), (7, 2), (7, 3)])
def test_the_variance_over_all_blocks(keys: int, chosen: int) -> None:
    """The keys in all orders, cut at the same places: v as in the proof."""
    n, more = divmod(keys, chosen)
    sizes = [n + 1] * more + [n] * (chosen - more)
    cuts = np.cumsum([0, *sizes])[:-1]
    orders = np.array(list(itertools.permutations(range(keys))))
    random, found = np.random.default_rng(9), []
    for place in range(20):
        u = random.normal(size=keys) if place else np.arange(keys) % 2 - 0.5
        u -= u.mean()
        u /= np.linalg.norm(u)
        v = 1 - (np.add.reduceat(u[orders], cuts, axis=1) ** 2 / sizes).sum(1)
        assert v.mean() == pytest.approx((keys - chosen) / (keys - 1))
        found.append(v.var())
    most = float(largest_variance(keys, chosen))
    assert max(found) <= most * (1 + 1e-9)
    assert keys % 2 or max(found) == pytest.approx(most)  # where all u_i^2 are the same


def test_sums_over_random_keys_are_bounded_as_the_proof_says() -> None:
    random = np.random.default_rng(10)
    for keys in (4, 7, 9):
        for size in range(1, keys):
            chosen = np.array(
                [[place in some for place in range(keys)] for some in itertools.combinations(range(keys), size)]
            )
            for _ in range(20):
                u = random.normal(size=keys) * (random.random(keys) < 0.6) + 1e-6 * random.random(keys)
                u -= u.mean()
                u /= np.linalg.norm(u)
                for t in (0.5, 2.0, 6.0):
                    assert np.exp(t * (chosen @ u)).mean() <= math.exp(t * t / 3)
