"""Bounds that are printed beside plans: reached where they should be, and never beaten, by any law."""

import math

import numpy as np
import pytest

import deniable as dn
from deniable.planning import options
from deniable.planning.bounds import share_bound
from deniable.planning.sensitive_bound import MOST, Counts, _largest, sensitive_share_bound
from deniable.planning.shares import _unproved, plan_shares


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 2.5, 8.0, 90.0])
@pytest.mark.parametrize("size", [2, 3, 5, 16, 100, 1024])
def test_subset_selection_reaches_the_bound_and_nothing_is_below(size: int, epsilon: float) -> None:
    domain, bound = dn.Categories(range(size)), share_bound(size, epsilon, 1000)
    ranked = options(domain, epsilon, 1000)
    assert all(row.error >= bound * (1 - 1e-12) for row in ranked)
    (subset,) = [row for row in ranked if row.name == "subset"]
    assert subset.error == pytest.approx(bound, rel=1e-6)  # odds are fractions just below e^epsilon


def best_error(channel: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> float:
    """The error of the best unbiased estimate from many reports of a channel, at equal shares, less that of sampling."""
    size = len(channel)
    scores = channel - channel.mean(0)
    information = (scores / channel.mean(0)) @ scores.T
    variances = 1 / np.linalg.eigvalsh(information)[1:]
    return math.sqrt(max(0.0, (variances.sum() - (1 - 1 / size)) / size))


@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_no_channel_is_below(size: int) -> None:
    """Random laws with this epsilon, extreme ones among them; the last column makes rows sum to one."""
    random = np.random.default_rng(1)
    for epsilon in (0.2, 1.0, 3.0):
        for place in range(300):
            likelihoods = np.exp(epsilon * (random.integers(0, 2, (size, 40)) if place % 2 else random.random((size, 40))))
            weights = random.dirichlet(np.full(40, 0.1))
            channel = np.concatenate([likelihoods * weights, np.roll(likelihoods * weights, 1, 0)], 1)
            for turn in range(2, size):  # all rotations: every row has the same sum
                channel = np.concatenate([channel, np.roll(likelihoods * weights, turn, 0)], 1)
            channel /= channel.sum(1, keepdims=True)
            assert (channel.max(0) <= math.exp(epsilon) * channel.min(0) * (1 + 1e-9)).all()
            assert best_error(channel) >= share_bound(size, epsilon, 1) * (1 - 1e-9)


def test_a_plan_says_how_far_it_is_from_the_best_possible() -> None:
    mechanism = plan_shares(dn.Categories(range(16)), 1.0, 5000, edition=1)
    best = "the best that any mechanism with an unbiased estimate can have"
    assert f"above: squared error, at most this far above {best}" in mechanism.explain()
    (chosen,) = [line.split() for line in mechanism.explain().splitlines() if line.startswith("*")]
    assert chosen[1:5] == ["wheel", "2.54", "1.011x", "1.1%"]
    assert "above_bound" in options(dn.Categories(range(16)), 1.0, 5000).records()[0]


def test_one_answer_needs_no_report() -> None:
    assert share_bound(1, 1.0, 10) == 0.0


@pytest.mark.parametrize("share", [0.1, 0.5, 0.75, 0.95, 1.0])
@pytest.mark.parametrize(("sensitive", "others"), [(1, 4), (2, 3), (3, 7), (12, 5), (40, 60)])
def test_with_sensitive_answers_nothing_is_below_and_subset_selection_is_nearly_at_it(
    sensitive: int, others: int, share: float
) -> None:
    domain = dn.Categories(range(sensitive + others))
    for epsilon in (0.1, 1.0, 3.0):
        ranked = options(domain, epsilon, 1000, sensitive=range(sensitive), open_share=share)
        bound = sensitive_share_bound(sensitive, others, epsilon, 1000, share)
        assert ranked.bound == bound is not None
        assert all(row.error >= bound * (1 - 1e-9) for row in ranked)
        best = (ranked.rows[0].error / bound) ** 2
        assert best < (1 + 1e-4 if sensitive in (1, 40) else 1.1)


@pytest.mark.parametrize("open_share", [0.7, 0.99, 1.0])
def test_at_the_largest_budgets_errors_keep_their_digits(open_share: float) -> None:
    """An open answer is hidden once in e^epsilon, which a float next to 1 does not hold."""
    for sensitive, others in ((1, 1), (2, 1), (9, 4)):
        for epsilon in (20.0, 34.0, 40.0):
            asked = dn.Categories(range(sensitive + others))
            ranked = options(asked, epsilon, 100, sensitive=range(sensitive), open_share=open_share)
            assert ranked.bound is None or all(row.error >= ranked.bound * (1 - 1e-9) for row in ranked)


def test_no_channel_with_sensitive_answers_is_below() -> None:
    """Random laws, extreme ones among them: reports that disclose nothing, and one for each answer that is not sensitive."""
    random, sensitive, others, share = np.random.default_rng(2), 2, 2, 0.6
    size, shares = 4, np.array([0.2, 0.2, 0.3, 0.3])
    exchanges = [[a, b, c, d] for a, b in ((0, 1), (1, 0)) for c, d in ((2, 3), (3, 2))]
    nearest = math.inf
    for epsilon in (0.3, 1.0, 2.5):
        bound = sensitive_share_bound(sensitive, others, epsilon, 1, share)
        assert bound is not None
        for place in range(400):
            few = random.integers(0, 2, (size, 12)) if place % 2 else random.random((size, 12))
            few[2:] *= random.random() < 0.5  # often the least that is allowed
            part = np.exp(epsilon * few) * random.dirichlet(np.full(12, 0.1))
            columns = np.concatenate([part[exchange] for exchange in exchanges], 1)  # then sums on either side are equal
            columns /= columns.sum(1).max()
            if columns[0].sum() < columns[2].sum():
                continue  # the sensitive answers have no report of their own to make up for it
            columns = np.concatenate([columns, np.diag(1 - columns.sum(1))[:, 2:]], 1)
            columns = columns[:, columns.sum(0) > 1e-12]
            np.testing.assert_allclose(columns.sum(1), 1)
            information = (columns / (shares @ columns)) @ columns.T
            if np.linalg.cond(information) > 1e9:
                continue
            error = math.sqrt((np.trace(np.linalg.inv(information)) - 1) / size)
            assert error >= bound * (1 - 1e-9)
            nearest = min(nearest, error / bound)
    assert nearest < 1.5


def test_where_no_bound_is_known_none_is_shown() -> None:
    assert (
        sensitive_share_bound(2, 3, 1.0, 10, 0.0) is None and sensitive_share_bound(MOST + 1, MOST + 1, 1.0, 10, 0.5) is None
    )
    assert f"{MOST + 1:,} other answers are too many for a proof" in _unproved(MOST + 1, MOST + 1, 0.5)
    assert _unproved(2, 3, 0.5) == "the search for a proof found none at this epsilon"
    ranked = options(dn.Categories(range(9)), 1.0, 5000, sensitive=[1, 2], open_share=0.0)
    assert ranked.bound is None and "above" not in ranked.table()


def test_the_largest_quotient_is_that_of_all_pairs() -> None:
    """Of quadratic terms of two whole numbers, the second above 0: against all of them."""
    random = np.random.default_rng(4)
    for few, many in ((1, 1), (2, 9), (7, 7), (5, 40)):
        for _ in range(50):
            k, j = random.integers(-50, 50, 6).tolist(), random.integers(1, 50, 6).tolist()

            def terms(a: Counts, c: Counts, k: list[int] = k, j: list[int] = j) -> tuple[Counts, Counts]:
                first, second = (w[0] + w[1] * a + w[2] * c + w[3] * a * a + w[4] * a * c + w[5] * c * c for w in (k, j))
                return first, second

            a, c = (each.ravel().astype(object) for each in np.meshgrid(range(few + 1), range(many + 1)))
            above, beside = terms(a, c)
            assert float(_largest(terms, few, many)) == math.nextafter(float((above / beside).max()), math.inf)


def test_many_sensitive_answers_have_a_bound_that_nothing_is_below() -> None:
    for sensitive, others in ((1500, 1500), (3000, 10), (10, 3000)):
        ranked = options(dn.Categories(range(sensitive + others)), 1.0, 1000, sensitive=range(sensitive))
        assert ranked.bound is not None and all(row.error >= ranked.bound * (1 - 1e-9) for row in ranked)
        assert (ranked.above(ranked[0]) or 0) < 0.01
