"""PCKV-UE by the number of a public row: its exact law by enumeration, its loss, its estimates, its size."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.errors import InvalidParameter
from deniable.mechanisms.key_value import pair_codes
from deniable.mechanisms.key_value.pair_codes import FINE, PairCodes
from deniable.mechanisms.key_value.pckv_unary import independent
from research.experiments import few_bits
from tests import ROOT

KEYS = dn.KeyValue(range(2), -1, 1, 1)
ROWS = list(itertools.product((False, True), repeat=4))  # high and low of both keys


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seeds count all contents of three rows, as if each were made by its own public draws."""

    def words(seed: np.ndarray, code: np.ndarray, key: np.ndarray) -> np.ndarray:
        row = seed // 16**code % 16  # the number of a row: its first bit counts most
        high, low = ((row >> 3 - 2 * key) & 1, (row >> 2 - 2 * key) & 1)
        return np.asarray((1 - high) * (FINE - 1) + ((1 - low) * (FINE - 1) << 32)).astype(np.uint64)

    monkeypatch.setattr(pair_codes, "noise_words", words)


def weight(mechanism: PairCodes, row: tuple[bool, ...]) -> Fraction:
    """How likely noise makes this row."""
    q = mechanism.noise
    return q ** sum(row) * (1 - q) ** (4 - sum(row))


def laws(mechanism: PairCodes, answer: dict[int, float]) -> tuple[dict[tuple[bool, ...], Fraction], list[list[Fraction]]]:
    """The exact law of the named row, and for every content of the three rows that of its number."""
    seeds = np.arange(16**3)
    truth = mechanism.domain.index([answer] * len(seeds))
    order = mechanism.order(truth, seeds, np.zeros(len(seeds), np.int64), np.zeros(len(seeds), np.int64))
    total, near = mechanism.near * mechanism.odds + 3 - mechanism.near, mechanism.near
    law, numbers = dict.fromkeys(ROWS, Fraction(0)), []
    for seed, places in zip(seeds.tolist(), order.tolist(), strict=True):
        rows = [ROWS[seed // 16**code % 16] for code in range(3)]
        chance = weight(mechanism, rows[0]) * weight(mechanism, rows[1]) * weight(mechanism, rows[2])
        by_number = [Fraction(0)] * 3
        for place, code in enumerate(places):
            share = (mechanism.odds if place < near else Fraction(1)) / total
            by_number[code] = share
            law[rows[code]] += chance * share
        numbers.append(by_number)
    return law, numbers


@pytest.mark.usefixtures("contents")
@pytest.mark.parametrize("near", [1, 2])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_law_is_that_of_pckv_with_independent_bits(epsilon: float, near: int) -> None:
    """Over all contents of three rows: exact fractions, for each end of a key, and for padding."""
    mechanism = PairCodes(KEYS, epsilon, 3, near)
    p, q, chances = mechanism.named_share, mechanism.noise, mechanism.chances
    assert chances == independent(p, q) and q < p < Fraction(1, 2)
    found = {}
    for name, answer in {"up": {0: 1.0}, "down": {0: -1.0}, "other": {1: 1.0}, "none": {}}.items():
        law, found[name] = laws(mechanism, answer)
        true = {"up": 0, "down": 1, "other": 2, "none": None}[name]
        for row, share in law.items():
            bits = [(p if place == true else q) if bit else 1 - (p if place == true else q) for place, bit in enumerate(row)]
            assert share == bits[0] * bits[1] * bits[2] * bits[3]
    ratios = [
        one / two
        for first, second in itertools.permutations(found.values(), 2)
        for ones, twos in zip(first, second, strict=True)
        for one, two in zip(ones, twos, strict=True)
    ]
    assert max(ratios) == mechanism.odds == mechanism.loss().odds


def test_it_is_proved_for_a_thousand_keys_in_six_bits_and_a_seed() -> None:
    mechanism = PairCodes(dn.KeyValue(range(1000), -1, 1, 8), 1.0)
    certificate = dn.certify(mechanism)
    assert certificate.holds and certificate.loss.odds == mechanism.odds
    assert [field.bits for field in mechanism.layout.fields] == [32, 6]
    assert dn.PCKVUnary(mechanism.domain, 1.0).layout.bits == 2000


@pytest.mark.parametrize(("epsilon", "bits"), [(0.5, 6), (1.0, 6), (2.0, 8), (4.0, 10), (8.0, 12)])
def test_rows_take_epsilon_bits_and_a_few(epsilon: float, bits: int) -> None:
    mechanism = PairCodes(dn.KeyValue(range(1000), -1, 1, 8), epsilon)
    assert mechanism.layout.fields[1].bits == bits <= 1.5 * epsilon + 6


def test_estimates_are_right_on_average_with_the_variance_that_is_predicted() -> None:
    """40,000 people with fixed seeds: 12 standard scores, none beyond 5.5 (false alarm below 5e-7)."""
    domain = dn.KeyValue(range(6), -1, 1, 2)
    mechanism, random = PairCodes(domain, 2.0), np.random.default_rng(3)
    keys = np.sort(np.stack([random.integers(0, 3, 40_000), random.integers(3, 6, 40_000)], axis=1), axis=1)
    values = random.choice([-1.0, 0.5, 1.0], keys.shape)
    people = dn.Pairs(np.arange(0, 2 * len(keys) + 1, 2), keys.ravel(), values.ravel())
    estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(people, dn.SeededCoins(11))))
    shares = np.bincount(keys.ravel(), minlength=6) / len(keys)
    weights = np.bincount(keys.ravel(), values.ravel(), minlength=6) / len(keys)
    for found, truth in ((estimate.frequency, shares), (estimate.weight, weights)):
        assert found.variance is not None
        assert np.abs((found.values - truth) / np.sqrt(found.variance)).max() < 5.5


@pytest.mark.parametrize("given", [{"codes": 1}, {"codes": 5000}, {"codes": 8, "near": 8}, {"codes": 2.5}, {"near": True}])
def test_impossible_numbers_of_rows_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(InvalidParameter):
        PairCodes(KEYS, 1.0, **given)


def test_the_page_on_keys_with_values_shows_the_table() -> None:
    page = (ROOT / "docs" / "key-value.md").read_text(encoding="utf-8")
    table = (ROOT / "research" / "experiments" / "few_bits.md").read_text(encoding="utf-8")
    assert table.strip() in page
    for epsilon, bits in ((0.5, 1), (1.0, 6), (4.0, 8)):
        row = next(line for line in table.splitlines() if line.startswith(f"| {bits} |"))
        assert f"{few_bits.ratio(epsilon, bits):.3g}" == row.split("|")[2 + few_bits.EPSILONS.index(epsilon)].strip()
