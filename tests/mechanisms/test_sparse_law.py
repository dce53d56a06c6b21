"""Poisson private representation: what is told has the exact law, and what is drawn is exactly a response to the truth.

Statistical tests have fixed seeds; by the cube-root approximation of chi-square each alarms falsely less than once in 1e6.
"""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import deniable as dn
from deniable.arrays import Ints
from deniable.kernels import encoder, encoder_plain, poisson_plain
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.encoder import labels_for, series_of, stream
from deniable.mechanisms.sparse.index_law import IndexLaw, checked_alpha, index_law, mixed_index_law, phi
from tests.every import EveryCoin

CASES = [
    (0, 0.25, 2.0, 2), (1, 0.25, 2.0, 2), (3, 0.5, 2.0, 2), (6, 0.5, 2.0, 2), (2, 1.0, 1.5, 2), (4, 0.333, 1.5, 2), (2, 2.0,
    1.5, 2), (0, 1.0, 1.25, 2), (3, 0.4, 1.25, 2), (2, 1.0, 3.0, 2), (2, 0.5, 2.0, 11), (3, 1.0, 2.0, 3), (1, 1.5, 1.5, 3),
]  # fmt: skip


def is_likely(observed: ArrayLike, expected: ArrayLike) -> bool:
    """Chi-square, small cells taken together."""
    o, e = np.asarray(observed, float), np.asarray(expected, float)
    small = e < 10
    o, e = np.append(o[~small], o[small].sum()), np.append(e[~small], e[small].sum())
    o, e = o[e > 0], e[e > 0]
    freedom = len(o) - 1
    x = ((o - e) ** 2 / e).sum()
    z = ((x / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))
    return bool(z < 5)


def encoded(
    coordinate: CoordinateResponse, alpha: float, differing: int, chunks: int, seed: int, key: int | None = None
) -> Ints:
    """The labels of many chunks with so many differing coordinates each: with draws of their own, or all with the same."""
    places = np.tile(np.arange(differing) * 5, chunks)
    values = np.tile(np.arange(differing) % (coordinate.values - 1) + 1, chunks)
    keys = np.arange(chunks) if key is None else np.full(chunks, key)
    offsets = np.arange(chunks + 1) * differing
    single = np.ones(chunks, np.int64)
    return labels_for(coordinate, alpha, places, values, offsets, 64, single, keys.astype(np.uint64), dn.SeededCoins(seed))


@pytest.mark.needs("numba")
@pytest.mark.parametrize(("differing", "epsilon", "alpha", "values"), CASES)
def test_index_has_the_exact_law(differing: int, epsilon: float, alpha: float, values: int) -> None:
    coordinate, chunks = CoordinateResponse.quantised(epsilon, values), 60_000
    law = index_law(coordinate, alpha, differing)
    labels = encoded(coordinate, alpha, differing, chunks, 1)
    edges = np.concatenate([np.arange(31), 2.0 ** np.arange(5, 40)])
    expected = chunks * np.append(-np.diff(law.tail(edges)), law.tail(edges[-1]))
    assert is_likely(np.bincount(np.searchsorted(edges, labels) - 1, minlength=len(expected)), expected)


@pytest.mark.needs("numba")
@pytest.mark.parametrize(("differing", "epsilon", "alpha", "values"), [CASES[2], CASES[4], CASES[10], CASES[11]])
def test_decoded_coordinates_are_a_response(differing: int, epsilon: float, alpha: float, values: int) -> None:
    """The joint law of all that differ and of one that does not is that of independent responses."""
    coordinate, chunks = CoordinateResponse.quantised(epsilon, values), 60_000
    labels = encoded(coordinate, alpha, differing, chunks, 2).astype(np.uint64)
    from deniable.kernels import draws

    drawn = []
    for place in [*(np.arange(differing) * 5), 3]:
        given = np.full(chunks, place, np.uint64), np.zeros(chunks, np.uint64), labels, np.arange(chunks).astype(np.uint64)
        bits = draws.draw_bits(*given, coordinate.threshold)
        drawn.append(bits if values == 2 else draws.draw_values(*given, coordinate.threshold, values))
    truth = [*(np.arange(differing) % (values - 1) + 1), 0]
    cell = np.zeros(chunks, np.int64)
    for each in drawn:
        cell = cell * values + each
    expected = [
        chunks * math.prod(float(coordinate.p if z == v else coordinate.q) for z, v in zip(outcome, truth, strict=True))
        for outcome in itertools.product(range(values), repeat=differing + 1)
    ]
    assert is_likely(np.bincount(cell, minlength=len(expected)), expected)


def by_definition(coordinate: CoordinateResponse, alpha: float, differing: int, key: int, samples: int, points: int) -> Ints:
    """argmin of (T / r)^alpha V over the first points, with fixed draws; none beyond wins but with small probability."""
    random = np.random.default_rng(8)
    net = np.array([_net(coordinate, differing, key, label) for label in range(1, points + 1)])
    ratio = float(coordinate.odds) ** net
    out = np.empty(samples, np.int64)
    for start in range(0, samples, 1000):
        times = np.cumsum(random.exponential(size=(1000, points)), axis=1)
        out[start : start + 1000] = ((times / ratio) ** alpha * random.exponential(size=times.shape)).argmin(axis=1) + 1
    return out


def _net(coordinate: CoordinateResponse, differing: int, key: int, label: int) -> int:
    places, values = (
        np.arange(differing, dtype=np.uint64) * 5,
        np.arange(differing, dtype=np.uint64) % (coordinate.values - 1) + 1,
    )
    return encoder_plain.net_of(
        label,
        0,
        differing,
        places,
        values.astype(np.uint64),
        np.uint64(0),
        np.uint64(key),
        coordinate.threshold,
        coordinate.values,
    )


@pytest.mark.needs("numba")
@pytest.mark.parametrize(
    ("differing", "epsilon", "alpha", "values"), [(2, 0.7, 3.0, 2), (3, 0.5, 3.0, 3), (4, 0.25, 4.0, 2)]
)
def test_law_given_the_draws_is_the_definition(differing: int, epsilon: float, alpha: float, values: int) -> None:
    """Two samples, of the encoder and of the definition with 400 points, compared cell by cell."""
    coordinate, samples = CoordinateResponse.quantised(epsilon, values), 40_000
    ours = np.bincount(np.minimum(encoded(coordinate, alpha, differing, samples, 3, key=77), 40), minlength=41)[1:]
    wanted = np.bincount(np.minimum(by_definition(coordinate, alpha, differing, 77, samples, 400), 40), minlength=41)[1:]
    both = (ours + wanted) / 2
    assert is_likely(np.concatenate([ours, wanted]), np.concatenate([both, both]))


@pytest.mark.needs("numba")
@pytest.mark.parametrize(
    ("differing", "epsilon", "alpha", "values"),
    [CASES[0], CASES[3], CASES[8], CASES[10], (12, 0.4, 2.0, 2), (25, 0.2, 2.0, 2), (25, 0.2, 2.5, 3)],
)
def test_twins_tell_the_same(differing: int, epsilon: float, alpha: float, values: int) -> None:
    from deniable.kernels import encoder_compiled

    coordinate, chunks = CoordinateResponse.quantised(epsilon, values), 40
    outcomes = []
    for twin in (encoder_plain, encoder_compiled):
        labels, state = np.zeros(chunks, np.uint64), np.array([0, 0, 0, 0, np.inf, 0, np.inf])
        words = dn.SeededCoins(4).draw(8 * 40_000).view("<u8")
        place = np.tile(np.arange(differing, dtype=np.uint64) * 5, chunks)
        value = np.ones(len(place), np.uint64)
        offsets = np.arange(chunks + 1) * differing
        key = np.arange(chunks, dtype=np.uint64)
        done, used = twin.encode(
            words, twin.exponentials(words), offsets, place, value, key * 0, key, coordinate.threshold, values,
            encoder.factors_for(math.log(coordinate.odds), differing), alpha, series_of(alpha), state, labels
        )  # fmt: skip
        outcomes.append((done, used, labels.tolist()))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] == chunks


def test_words_that_come_in_small_parts_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step that lacks words is taken again from its first one."""
    coordinate, data = CoordinateResponse.quantised(0.5), dn.SeededCoins(6).draw(8 * 4000).view("<u8")
    results = []
    for more in (4000, 5, 3):
        left = data
        monkeypatch.setattr(encoder, "MORE", more)

        def draw(count: int) -> NDArray[np.uint64]:
            nonlocal left
            taken, left = left[:count], left[count:]
            return taken

        arguments = np.arange(0, 25, 4), np.arange(24, dtype=np.uint64) * 3, np.ones(24, np.uint64)
        keys = np.arange(6, dtype=np.uint64)
        first = 64 + 8 * 6
        taken = encoder.encode(
            draw, *arguments, keys, keys, coordinate.threshold, 2, math.log(coordinate.odds), 1.5, series_of(1.5)
        )
        assert len(data) - len(left) > first or more == 4000
        results.append(taken.tolist())
    assert results[0] == results[1] == results[2]


@pytest.mark.needs("numba")
def test_labels_far_out_are_times() -> None:
    """At alpha 1.1 about 6 % of all labels lie past 2^40; the law of their exponents is that of the tail."""
    coordinate, chunks = CoordinateResponse.quantised(0.5), 40_000
    labels = encoded(coordinate, 1.1, 1, chunks, 9)
    law = index_law(coordinate, 1.1, 1)
    far = labels >= (1023 + 40) << 32
    assert not ((labels > 1 << 41) & ~far).any()
    exponent = (labels[far] >> 32) - 1023
    edges = 2.0 ** np.arange(40, 301, 5)
    expected = chunks * np.append(-np.diff(law.tail(edges)), law.tail(edges[-1]))
    assert is_likely(np.bincount(np.minimum((exponent - 40) // 5, len(expected) - 1), minlength=len(expected)), expected)


@pytest.mark.parametrize("mean", [0.3, 4.0, 9.99, 10.0, 35.5, 1e6])
def test_poisson(mean: float) -> None:
    words = dn.SeededCoins(10).draw(8 * 60_000).view("<u8")
    numbers: list[float] = []
    used = 0
    while len(numbers) < 8000:
        number, used = poisson_plain.poisson(mean, words, used)
        assert number != poisson_plain.NONE
        numbers.append(number)
    low = max(0, int(mean - 6 * mean**0.5))
    grid = np.arange(low, int(mean + 6 * mean**0.5) + 12)
    chances = np.exp([poisson_plain.log_poisson(float(k), mean) for k in grid])
    assert chances.sum() == pytest.approx(1, abs=1e-7)
    width = max(1, len(grid) // 60)
    cells = np.bincount((np.array(numbers, np.int64) - low) // width, minlength=len(grid) // width + 1)
    expected = np.bincount((grid - low) // width, 8000 * chances, minlength=len(grid) // width + 1)
    assert is_likely(cells[: len(expected)], expected)


def test_poisson_probabilities_are_exact() -> None:
    for number, mean in [(0, 12.5), (9, 12.5), (10, 10.0), (17, 12.5), (40, 12.5), (150, 120.0)]:
        exact = number * math.log(mean) - mean - math.lgamma(number + 1)
        assert poisson_plain.log_poisson(float(number), mean) == pytest.approx(exact, abs=2e-13)


@pytest.mark.parametrize("alpha", [1.1, 1.5, 2.0, 5.0])
def test_law_is_one(alpha: float) -> None:
    for differing in (0, 1, 5):
        law = index_law(CoordinateResponse.quantised(0.4), alpha, differing)
        ones = np.arange(1, 200)
        assert law.tail(0) == pytest.approx(1, abs=1e-9)
        assert law.pmf(ones).sum() == pytest.approx(float(1 - law.tail(199)), abs=1e-9)


def test_mixed_law_is_the_mixture() -> None:
    coordinate, load = CoordinateResponse.quantised(0.5), 1.5
    mixed = mixed_index_law(coordinate, 2.0, load)
    k = np.array([1.0, 2, 5, 40])
    shares = [math.exp(-load) * load**d / math.factorial(d) for d in range(14)]
    whole = sum(share * index_law(coordinate, 2.0, d).pmf(k) for d, share in enumerate(shares))
    assert mixed.pmf(k) == pytest.approx(whole, rel=2e-4)


def test_entropy_of_a_known_law() -> None:
    """One geometric law with C = 3: mean 4, entropy 4 h(1/4)."""
    law = IndexLaw(np.array([3.0]), np.array([1.0]))
    assert law.entropy() == pytest.approx(4 * (-0.25 * math.log2(0.25) - 0.75 * math.log2(0.75)), abs=1e-6)


@pytest.mark.needs("scipy")
def test_phi_is_the_incomplete_gamma_function() -> None:
    from scipy.special import gamma, gammaincc

    x = np.array([1e-9, 1e-3, 0.5, 1.9, 2.0, 2.1, 8.0, 30.0])
    for alpha in (1.1, 1.5, 2.0, 7.0):
        a = 1 - 1 / alpha
        exact = np.exp(-x) - x ** (1 / alpha) * gamma(a) * gammaincc(a, x)
        assert phi(x, alpha) == pytest.approx(exact, rel=1e-9, abs=1e-15)


def test_changing_one_coordinate_moves_no_index_by_more_than_the_theorem() -> None:
    """Given draws and times, Pr[K = k] is in proportion to (r_k / T_k)^alpha: exactly, on many times and draws."""
    coordinate, alpha = CoordinateResponse.quantised(0.25), 2.0
    odds, random = float(coordinate.odds), np.random.default_rng(11)
    worst = 0.0
    for points in (2, 3, 5, 10, 100):
        for _ in range(50):
            times = np.cumsum(random.exponential(size=points))
            z = random.integers(0, 2, points) if _ else np.eye(points, dtype=int)[-1]
            rest = odds ** random.integers(-3, 4, points)
            laws = []
            for truth in (0, 1):
                ratio = rest * (odds ** (2 * z - 1) if truth else 1.0)
                weight = (ratio / times) ** alpha
                laws.append(weight / weight.sum())
            worst = max(worst, float(np.abs(np.log(laws[0] / laws[1])).max()))
    assert 0.9 < worst / (2 * alpha * coordinate.epsilon) <= 1 + 1e-12


def test_refusals() -> None:
    for alpha in (1.0, 0.5, 1.05, float("nan"), True, "2", 100):
        with pytest.raises(dn.InvalidParameter, match=r"Alpha must be a number from 1\.1"):
            checked_alpha(alpha)  # type: ignore[arg-type]
    with pytest.raises(dn.NotCertifiable, match="theorem"):
        stream(EveryCoin())
