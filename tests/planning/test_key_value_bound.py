"""The bound of keys with values: never beaten, by any channel, report or candidate, and met where people have one key."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.arrays import Floats
from deniable.mechanisms.key_value.key_value_protocol import total_error
from deniable.planning.key_value import key_value_options
from deniable.planning.key_value_bound import _least_noise, _Reach, _sets, key_value_bound
from tests.planning.best_channels import best_expected_noise
from tests.planning.test_vector_bounds import channels


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 2.5])
@pytest.mark.parametrize(("keys", "share"), [(2, Fraction(3, 10)), (3, Fraction(1, 3)), (2, Fraction(1, 2))])
def test_no_channel_is_below(keys: int, share: Fraction, epsilon: float) -> None:
    """Random laws of people with one key, high or low, or with none: the best unbiased decoding of their reports."""
    f = float(share)
    rows = [(key, end) for key in range(keys) for end in (1, -1)]
    common = np.array([f / 2] * len(rows) + [1 - keys * f])
    told = np.zeros((len(rows) + 1, 2 * keys))
    for place, (key, end) in enumerate(rows):
        told[place, key], told[place, keys + key] = 1, end
    common, told = (common, told) if keys * share < 1 else (common[:-1], told[:-1])
    bounds = [key_value_bound(keys, 1, share, epsilon, 1, values) for values in (True, False)]
    assert bounds[0] is not None
    for channel in channels(len(told), epsilon, 6):
        information = (channel / (common @ channel)) @ channel.T
        inverse = np.linalg.pinv(information, rcond=1e-12)
        second = np.einsum("xi,xy,yi->i", told, inverse, told)  # of the best numbers, where they exist
        frequency, weight = second[:keys].sum() - keys * f, second[keys:].sum()
        if np.linalg.matrix_rank(channel, 1e-9) == len(told):
            assert math.sqrt((frequency + weight) / (2 * keys)) >= bounds[0] * (1 - 1e-9)
            assert bounds[1] is None or math.sqrt(frequency / keys) >= bounds[1] * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("share", [Fraction(1, 50), Fraction(1, 10), Fraction(2, 5)])
@pytest.mark.parametrize("values", [True, False], ids=["values", "frequencies"])
def test_with_one_key_a_person_it_is_the_error_of_the_best_channel(values: bool, share: Fraction, epsilon: float) -> None:
    """By brute force over all extreme channels; a value of 0 is rounded by a coin, which is noise as well."""
    told, f = table(answers(2, 1, values), 2, values), float(share)
    common = np.where(told.any(axis=1), 2 * f / (len(told) - 1), 1 - 2 * f)
    best = best_expected_noise(told @ told.T, math.exp(epsilon), common) + (2 * f if values else 0)
    assert _least_noise(2, 1, share, epsilon, values) == pytest.approx(best, rel=5e-3)


def answers(keys: int, at_most: int, values: bool) -> list[tuple[tuple[int, int], ...]]:
    """All sets of at most so many keys, with an end for each."""
    return [
        tuple(zip(places, ends, strict=True))
        for size in range(at_most + 1)
        for places in itertools.combinations(range(keys), size)
        for ends in (itertools.product((1, -1), repeat=size) if values else [(1,) * size])
    ]


def table(sets: list[tuple[tuple[int, int], ...]], keys: int, values: bool) -> Floats:
    """What a report about each set is decoded as, on average."""
    rows = np.zeros((len(sets), 2 * keys))
    for row, pairs in zip(rows, sets, strict=True):
        for key, end in pairs:
            row[key], row[keys + key] = 1, end
    return rows if values else rows[:, :keys]


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 2.5])
@pytest.mark.parametrize(
    ("keys", "at_most", "values"), [(2, 2, True), (3, 2, True), (3, 2, False), (4, 2, False), (4, 3, False)]
)
def test_no_channel_for_sets_is_below(keys: int, at_most: int, values: bool, epsilon: float) -> None:
    """Random laws of all sets: the error of their best unbiased decoding if people have m keys or none."""
    sets = answers(keys, at_most, values)
    told, sizes = table(sets, keys, values), np.array([len(pairs) for pairs in sets])
    laws = [law for law in channels(len(sets), epsilon, 7) if np.linalg.matrix_rank(law, 1e-9) == len(sets)]
    assert laws or len(sets) > 31
    for chosen, having in itertools.product(range(1, at_most + 1), (Fraction(1, 5), Fraction(4, 5), Fraction(1))):
        share = having * chosen / keys
        common = np.where(sizes == chosen, float(having) / (sizes == chosen).sum(), (sizes == 0) * float(1 - having))
        least = _least_noise(keys, chosen, share, epsilon, values)
        for law in laws:
            inverse = np.linalg.pinv((law / (common @ law)) @ law.T, rcond=1e-12)
            noise = np.einsum("xi,xy,yi->", told, inverse, told) - keys * float(share)
            assert noise >= least * (1 - 1e-9)


@pytest.mark.parametrize("values", [True, False], ids=["values", "frequencies"])
@pytest.mark.parametrize(("keys", "chosen"), [(4, 2), (5, 2), (4, 3)])
def test_no_report_is_above_what_is_covered(keys: int, chosen: int, values: bool) -> None:
    """All sets that a report can be likelier for, or many of them: none has a larger |C|^2 less a price."""
    sets = [pairs for pairs in answers(keys, chosen, values) if len(pairs) == chosen]
    x = table(sets, keys, values)
    x[:, :keys] -= chosen / keys
    x[:, keys:] *= math.sqrt((keys - chosen) / (keys - 1))
    random = np.random.default_rng(11)
    all_of_them = np.array(list(itertools.product((False, True), repeat=len(sets)))) if len(sets) < 13 else None
    likelier = (random.random((4000, len(sets))) < random.random((4000, 1))) if all_of_them is None else all_of_them
    stars = np.array(
        [x @ direction > tau for direction in random.normal(size=(300, x.shape[1])) for tau in (-0.5, 0.2, 0.8, 1.5)]
    )
    likelier = np.concatenate([likelier, stars, x[:, keys:].T > 0.1, x[:, :keys].T > 0])
    for odds, having in itertools.product((1.5, 7.0, 60.0), (0.3, 1.0)):
        covered = _sets(_Reach(keys, chosen, having, odds), values)
        for empty, k, price in itertools.product((1.0, odds), (0.0, 0.1, 1.0), (-0.3, 0.0, 0.1)):
            r = 1 + (odds - 1) * likelier
            q = 1 / (having * r.mean(1) + (1 - having) * empty)
            squares = ((q[:, None] * r @ x / len(sets)) ** 2).sum(1) + (k * (1 - empty * q)) ** 2 - price * (empty * q - 1)
            most = covered.first + (k * (1 - covered.empty)) ** 2 - price * (covered.empty - 1)
            assert squares.max() <= most.max() + 1e-9


@pytest.mark.parametrize("values", [True, False], ids=["values", "frequencies"])
def test_every_candidate_is_above(values: bool) -> None:
    for keys, most in (
        (1, 1),
        (2, 2),
        (4, 1),
        (4, 3),
        (6, 6),
        (20, 1),
        (20, 8),
        (50, 3),
        (50, 5),
        (100, 12),
        (1500, 1),
        (300, 7),
    ):
        for epsilon in (0.3, 1.0, 4.0):
            ranked = key_value_options(dn.KeyValue(range(keys), -1, 1, most), epsilon, 1000, values)
            assert ranked.bound is not None
            assert all(row.error >= ranked.bound for row in ranked)
            for share in (Fraction(most, 3 * keys), Fraction(1, 50 * keys)):
                bound = key_value_bound(keys, most, share, epsilon, 1, values)
                target, terms = ("balanced", 2) if values else ("frequency", 1)
                for row in ranked:
                    error = total_error(row.mechanism, float(share), 0.0, target) / terms
                    assert bound is None or error >= bound**2 * (1 - 1e-9)


def test_with_one_key_a_person_the_best_is_nearly_met() -> None:
    for epsilon, most in ((0.5, 1.006), (1.0, 1.008), (2.0, 1.013), (4.0, 1.071), (6.0, 1.003)):
        ranked = key_value_options(dn.KeyValue(range(200), -1, 1, 1), epsilon, 1000)
        above = ranked.above(ranked[0])
        assert above is not None and 1 + above < most


def test_with_few_keys_naming_one_is_the_best_possible() -> None:
    for epsilon in (2.0, 4.0, 6.0):
        ranked = key_value_options(dn.KeyValue(range(4), 0, 1, 1), epsilon, 1000, values=False)
        above = ranked.above(ranked.best)
        assert ranked.best.name == "pckv-direct, frequency" and above is not None and above < 1e-6


def test_sets_of_several_keys_are_near_the_bound() -> None:
    """Where one key of a set is as much as a report should name."""
    for keys, most, epsilon, near in ((50, 5, 3.0, 0.04), (50, 5, 4.0, 0.06), (100, 12, 2.0, 0.02), (1000, 8, 6.0, 0.003)):
        for_frequencies = key_value_options(dn.KeyValue(range(keys), 0, 1, most), epsilon, 1000, values=False)
        above = for_frequencies.above(for_frequencies[0])
        assert above is not None and above < near
    with_values = key_value_options(dn.KeyValue(range(50), 0, 1, 5), 4.0, 1000)
    above = with_values.above(with_values[0])
    assert above is not None and above < 0.035


@pytest.mark.parametrize("values", [True, False], ids=["values", "frequencies"])
def test_any_number_of_keys(values: bool) -> None:
    """The variance of a key that everybody has with the same probability hardly depends on how many there are."""
    for most, epsilon in ((1, 0.5), (1, 4.0), (10, 4.0)):
        few, many, more = (
            key_value_bound(keys, most, Fraction(most, keys), epsilon, 10, values) for keys in (20_000, 10**6, 2**31)
        )
        assert few is not None and many is not None and more is not None
        assert many == pytest.approx(few, rel=2e-3) and more == pytest.approx(many, rel=1e-4)
    # All whole numbers of keys, or only some of them and real numbers:
    found = [key_value_bound(keys, 1, Fraction(1, keys), 2.0, 10, values) for keys in (1024, 1025)]
    assert None not in found and found[1] == pytest.approx(found[0], rel=1e-4)


def test_the_plan_says_of_which_mechanisms_the_bound_is() -> None:
    words = dn.plan(dn.KeyValue(range(20), 0, 5, 1), 1.0, 1000).explain()
    assert "the best that any mechanism with an unbiased estimate that rounds values to an end first can have" in words
    assert "above" in dn.plan(dn.KeyValue(range(5000), 0, 5, 1), 1.0, 1000).explain()
    assert key_value_bound(50, 5, Fraction(1, 10), 40.0, 10, values=False) is None  # nothing above 0 is proved
