"""The bound of releases: that of the linear program where there is one, met on a line, and never beaten."""

import math

import numpy as np
import pytest

import deniable as dn
from deniable.core import odds_below
from deniable.mechanisms.algebra.optimal import optimal_channel
from deniable.mechanisms.algebra.release_bound import checked, release_bound
from deniable.planning.releases import release_options
from research.experiments import release_bounds
from tests import ROOT
from tests.planning.test_vector_bounds import channels


def places(size: int) -> dn.Points:
    return dn.Points(np.random.default_rng(size).random((size, 2)).tolist())


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0, 8.0])
def test_it_is_the_optimum_of_the_linear_program(epsilon: float) -> None:
    domain, shares = places(30), np.random.default_rng(2).dirichlet(np.ones(30))
    best = optimal_channel(domain, odds_below(epsilon), shares)[0]
    bound = release_bound(domain, epsilon, shares)
    assert bound is not None and 0.99 * best < bound < best * (1 + 1e-9)
    worst, least = (
        optimal_channel(domain, odds_below(epsilon), shares, worst=True)[0],
        release_bound(domain, epsilon, shares, True),
    )
    assert least is not None and 0.7 * worst < least < worst * (1 + 1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("epsilon", [1.0, 6.0, 12.0])
def test_for_the_worst_answer_no_prior_counts(epsilon: float) -> None:
    domain, even = dn.Ordered(range(3)), np.full(3, 1 / 3)
    least = release_bound(domain, epsilon, even, worst=True)
    assert least is not None and least == release_bound(domain, epsilon, np.eye(3)[0], worst=True)
    best = optimal_channel(domain, odds_below(epsilon), worst=True)[0]
    assert 0.8 * best < least <= best * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_on_a_line_the_best_release_meets_it(epsilon: float) -> None:
    ranked = release_options(dn.Ordered(range(150)), epsilon)
    assert ranked.bound is not None and ranked.best.name == "coarsened"
    assert ranked.bound < ranked.best.error < ranked.bound * 1.001


def test_hundreds_of_places_have_a_bound_too() -> None:
    ranked = release_options(places(500), 2.0)
    assert ranked.bound is not None
    assert ranked.bound < ranked[0].error < 1.01 * ranked.bound
    assert "best that any mechanism can have" in ranked.legend()


@pytest.mark.parametrize(("epsilon", "most"), [(6.0, 1.02), (8.0, 1.07), (20.0, 1.002)])
def test_large_budgets_have_one_that_is_close(epsilon: float, most: float) -> None:
    ranked = release_options(places(200), epsilon)
    assert ranked.bound is not None
    assert ranked.bound <= ranked.best.error < most * ranked.bound


def test_no_channel_is_below() -> None:
    """Random laws, and whatever is released for each report: the best answer for it."""
    domain, shares = places(5), np.full(5, 0.2)
    losses = domain.losses(np.arange(5))
    for epsilon in (0.4, 1.5):
        bound = release_bound(domain, epsilon, shares)
        assert bound is not None
        for channel in channels(5, epsilon, 7):
            assert float(((shares[:, None] * losses).T @ channel).min(axis=0).sum()) >= bound


def test_any_prices_prove_something_true() -> None:
    domain, shares, random = places(12), np.full(12, 1 / 12), np.random.default_rng(5)
    losses, best = domain.losses(np.arange(12)), optimal_channel(domain, odds_below(1.0), np.full(12, 1 / 12))[0]
    for scale in (0.01, 0.1, 1.0, 10.0):
        assert checked(losses, scale * random.random(12), shares, math.e) <= best


def test_where_nothing_is_proved_there_is_no_bound() -> None:
    assert release_bound(dn.Ordered(range(5000)), 1.0, np.full(5000, 1 / 5000)) is None


def test_the_page_on_releases_shows_the_table() -> None:
    page = (ROOT / "docs" / "releases.md").read_text(encoding="utf-8")
    table = (ROOT / "research" / "experiments" / "release_bounds.md").read_text(encoding="utf-8")
    assert table.strip() in page
    rows = {tuple(cells[:2]): cells[2:] for cells in map(_cells, table.splitlines()) if len(cells) > 2}
    for size, epsilon in ((10, 1.0), (100, 4.0)):
        *key, name, error, bound, _, _ = _cells(release_bounds.row(size, epsilon))
        written = rows[tuple(key)]
        assert [name, error] == written[:2]
        # Where the search for prices ends depends on the processor; any of its ends is a proof.
        assert abs(float(bound) / float(written[2]) - 1) < 2e-3


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split("|")]
