"""Published reports on vectors of length one: formulas beside simulations and each other, and the table of the page."""

import math

import numpy as np
import pytest

import deniable as dn
from deniable.planning.ranking import CLOSE
from deniable.planning.vectors import MANY, plan_units, unit_options
from research.experiments import unit_bits
from research.rivals import unit_vectors as rivals
from tests import ROOT

PEOPLE = 20_000


def near(found: np.ndarray, error: float) -> None:
    """Squared lengths of decoded vectors agree with the error: within 5.5 standard errors (false alarm below 4e-8)."""
    assert abs(found.mean() - error - 1) < 5.5 * found.std() / math.sqrt(len(found))


def test_no_formula_is_below_the_bound() -> None:
    for d, epsilon in ((64, 0.5), (64, 4.0), (256, 2.0)):
        bound = unit_bits.least(d, epsilon)
        for name, (_, cost) in unit_bits.MECHANISMS.items():
            assert cost(d, epsilon).error >= bound * (1 - 1e-4), name
        assert rivals.priv_unit(d, epsilon).error == pytest.approx(bound, rel=1e-4)


def test_a_projection_onto_all_dimensions_is_none_and_two_corners_are_a_half_space() -> None:
    assert rivals.proj_unit(64, 64, 2.0).error == pytest.approx(rivals.priv_unit(64, 2.0).error)
    assert rivals.simplex(64, 0.5, 2).error == pytest.approx(rivals.half_spaces(64, 0.5).error, rel=1e-6)
    assert rivals.half_spaces(64, 0.5).bits == rivals.simplex(64, 0.5, 2).bits == 1


def test_normal_vectors_have_the_error_of_the_formula() -> None:
    """PrivUnitG run on 20,000 people with some cap: its error is the formula at that cap, and no less than the best."""
    d, odds, draws = 16, math.exp(2.0), np.random.default_rng(1)
    t = 0.7
    q = 0.5 * math.erfc(t / math.sqrt(2))
    p = q * odds / (q * odds + 1 - q)
    pool = draws.normal(size=20 * PEOPLE)
    inside = draws.random(PEOPLE) < p
    along = np.where(inside, pool[pool > t][:PEOPLE], pool[pool <= t][:PEOPLE])
    gain = math.exp(-t * t / 2) / math.sqrt(2 * math.pi) * (p / q - (1 - p) / (1 - q))
    lengths = (along**2 + (draws.normal(size=(PEOPLE, d - 1)) ** 2).sum(axis=1)) / gain**2
    near(lengths, (1 + t * gain + d - 1) / gain**2 - 1)
    assert lengths.mean() - 1 > rivals.priv_unit_g(d, 2.0).error * 0.98


def test_kashin_coefficients_make_the_direction_and_are_small() -> None:
    coefficients, (direction, frame) = rivals.kashin(64), rivals.random_frame(64)
    assert np.allclose(frame.made(coefficients), direction) and np.allclose(frame.made(frame.adjoint(direction)), direction)
    assert 1 < np.abs(coefficients).max() * math.sqrt(128) < 0.8 * np.abs(frame.adjoint(direction)).max() * math.sqrt(128)


def test_words_of_kashin_signs_have_the_error_of_the_formula() -> None:
    """SQKR run on 20,000 people with k = 3: the mean square of what is decoded, and its mean along the direction."""
    d, k, odds, draws = 64, 3, math.exp(3.0), np.random.default_rng(2)
    coefficients = rivals.kashin(d)
    count, most = len(coefficients), float(np.abs(coefficients).max())
    _, frame = rivals.random_frame(d)
    rows = np.stack([frame.made(row) for row in np.eye(count)])
    places = np.argsort(draws.random((PEOPLE, count)), axis=1)[:, :k]
    signs = draws.random((PEOPLE, k)) < (1 + coefficients[places] / most) / 2
    word = (signs << np.arange(k)).sum(axis=1)
    kept = draws.random(PEOPLE) < (odds - 1) / (odds + 2**k - 1)
    word = np.where(kept, word, draws.integers(0, 2**k, PEOPLE))
    decoded = ((word[:, None] >> np.arange(k) & 1) * 2 - 1) * most * (odds + 2**k - 1) / (odds - 1)
    vectors = count / k * np.einsum("nk,nkd->nd", decoded, rows[places])
    factor, squares = (odds + 2**k - 1) / (odds - 1), float((coefficients**2).sum())
    pairs = factor * k * (k - 1) / (count * (count - 1)) * (1 - squares * d / count)
    error = (count / k) ** 2 * (k * (most * factor) ** 2 * d / count + pairs) - 1
    near((vectors**2).sum(axis=1), error)
    assert rivals.sampled_kashin(d, 3.0).error <= error


def test_one_of_two_blocks_has_the_error_of_the_formula() -> None:
    """RHR for four answers and two blocks, from its exact law: words (sign, block) for a public row of a 2 x 2 matrix."""
    odds, matrix = math.exp(1.0), np.array([[1, 1], [1, -1]])
    total = 0.0
    for row in range(2):
        for word in range(4):
            sign, block = 1 - 2 * (word % 2), word // 2
            chance = (odds if word == 0 else 1) / (odds + 3)  # the answer 0: sign 1, block 0
            vector = np.zeros(4)
            vector[2 * block : 2 * block + 2] = sign * matrix[row] * (odds + 3) / (odds - 1)
            total += chance / 2 * float(vector @ vector)
    best = rivals.recursive_hadamard(4, 1.0)
    assert best.error + 1 <= total + 1e-12 == pytest.approx(2 * ((odds + 3) / (odds - 1)) ** 2)


def test_plans_for_few_dimensions_take_many_directions() -> None:
    """Where the axes of a rotation are more than 1.5 % above the bound, and nowhere else."""
    few, many = plan_units(dn.UnitVectors(8), 4.0), plan_units(dn.UnitVectors(256), 2.0)
    assert few.wire == "unit-codes-1" and few.codes == MANY and many.wire == "unit-axes-1"
    for d, epsilon in ((8, 4.0), (64, 8.0), (256, 2.0)):
        ranking = unit_options(dn.UnitVectors(d), epsilon, 100)
        above = ranking.above(ranking.best)
        assert above is not None and above < 0.02
        axes = next(row for row in ranking if row.name == "unit axes")
        assert (any(str(f"{MANY:,}") in row.name for row in ranking)) == (axes.error**2 > CLOSE * (ranking.bound or 0) ** 2)


def test_the_page_on_numbers_shows_the_table() -> None:
    page = (ROOT / "docs" / "numbers.md").read_text(encoding="utf-8")
    table = (ROOT / "research" / "experiments" / "unit_bits.md").read_text(encoding="utf-8")
    assert table.strip() in page
    row = next(line for line in table.splitlines() if line.startswith("| 64 | RRSC, 16 corners |"))
    assert row.split("|")[5].strip() == unit_bits.shown(rivals.simplex(64, 1.0, 16), unit_bits.least(64, 1.0))
