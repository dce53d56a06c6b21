"""PCKV-UE as a place on a ring: its exact law by enumeration, its loss, its votes, its size."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.core import odds_below
from deniable.errors import InvalidParameter
from deniable.mechanisms.key_value import pair_wheel
from deniable.mechanisms.key_value.padded_protocol import Chances, expected
from deniable.mechanisms.key_value.pair_wheel import PairWheel, best_arcs
from deniable.privacy.law import law_of
from research.experiments import few_bits
from tests import ROOT

KEYS = dn.KeyValue(range(4), -1, 1, 1)
THOUSAND = dn.KeyValue(range(1000), -1, 1, 8)
RINGS = [
    PairWheel(KEYS, 1.0, 3),
    PairWheel(KEYS, 1.0, 5, 2, 1),
    PairWheel(KEYS, 2.0, 7),
    PairWheel.frequencies(KEYS, 1.0, 5),
]


def ends(mechanism: PairWheel, answer: dict[int, float]) -> list[dict[tuple[bool, bool], Fraction]]:
    """For every key the exact law of whether its high and its low end are named."""
    law = law_of(mechanism, answer)
    found: list[dict[tuple[bool, bool], Fraction]] = [defaultdict(Fraction) for _ in range(4)]
    columns = {name: column.astype(np.int64) for name, column in mechanism.layout.columns(law.reports).items()}
    for key, chances in enumerate(found):
        pairs = zip(mechanism.named(columns, key, 1).tolist(), mechanism.named(columns, key, 0).tolist(), strict=True)
        for named, chance in zip(pairs, law.chance.tolist(), strict=True):
            chances[named] += law.chances[chance]
    return found


@pytest.mark.parametrize("mechanism", RINGS, ids=lambda mechanism: f"{mechanism.places}-{mechanism.near}-{mechanism.apart}")
def test_the_law_of_every_key_is_that_of_pckv(mechanism: PairWheel) -> None:
    """In exact fractions, for the sampled key with either end, for all other keys, and where padding is sampled."""
    law = mechanism.chances
    noise = {(True, False): law.noise, (False, True): law.noise, (True, True): law.noise_both}
    up = {(True, False): law.kept, (False, True): law.flipped, (True, True): law.both}
    down = {(True, False): law.flipped, (False, True): law.kept, (True, True): law.both}
    for answer, own in (({1: 1.0}, up), ({1: -1.0}, down), ({}, noise)):
        for key, found in enumerate(ends(mechanism, answer)):
            wanted = own if key == 1 else noise
            assert {named: found[named] for named in wanted} == wanted and sum(found.values()) == 1


def test_it_is_pckv_with_the_best_probabilities_but_for_rounding() -> None:
    mechanism, whole = PairWheel(THOUSAND, 1.0, 1021), dn.PCKVUnary.balanced(THOUSAND, 1.0, frequency=0.01)
    assert isinstance(mechanism.chances, Chances)
    assert np.allclose([float(chance) for chance in mechanism.chances], [float(each) for each in whole.chances], atol=2e-3)


@pytest.mark.parametrize(("epsilon", "bits"), [(0.5, 5), (1.0, 5), (2.0, 7), (4.0, 9), (8.0, 14)])
def test_a_thousand_keys_take_epsilon_bits_and_a_few(epsilon: float, bits: int) -> None:
    """Proved for all sets and all rows, in log2(e^epsilon + 1) bits rounded up and three more at most."""
    mechanism = PairWheel(THOUSAND, epsilon)
    certificate = dn.certify(mechanism)
    assert certificate.holds and certificate.loss.odds == mechanism.odds and certificate.loss.proof == "proved"
    assert mechanism.layout.fields[1].bits == bits <= np.ceil(np.log2(np.exp(epsilon) + 1)) + 3
    assert dn.PCKVUnary(THOUSAND, epsilon).layout.bits == 2000


def test_the_plan_takes_it_where_it_has_the_error_of_pckv() -> None:
    planned = dn.plan(THOUSAND, epsilon=1.0, n=10_000)
    assert isinstance(planned, PairWheel) and planned.layout.bits == 20
    assert isinstance(dn.plan(THOUSAND, epsilon=1.0, n=10_000, max_bits=12), dn.PCKVDirect)


@pytest.mark.parametrize("mechanism", [PairWheel(dn.KeyValue(range(30), -1, 1, 3), 1.0), PairWheel(THOUSAND, 3.0, 31)])
def test_votes_are_the_same_by_histogram_and_one_by_one(mechanism: PairWheel, monkeypatch: pytest.MonkeyPatch) -> None:
    people = [{key % mechanism.keys: (-1.0) ** key} for key in range(500)]
    reports = mechanism.perturb(people, dn.SeededCoins(5))
    at_once = mechanism.count(reports)
    monkeypatch.setattr(pair_wheel, "MOST_CELLS", 0)
    one_by_one = mechanism.count(reports)
    columns = {name: column.astype(np.int64)[:, None] for name, column in reports.columns.items()}
    keys = np.arange(mechanism.keys)[None, :]
    named = [np.asarray(mechanism.named(columns, keys, high)).sum(axis=0) for high in (1, 0)]
    assert (at_once == one_by_one).all() and (at_once == np.concatenate(named)).all()


@pytest.mark.parametrize("target", ["balanced", "frequency"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_arcs_are_the_best_of_all(epsilon: float, target: str) -> None:
    odds, places = odds_below(epsilon), 31

    def error(near: int, apart: int) -> float:
        law = PairWheel(KEYS, epsilon, places, near, apart).chances
        return expected(tuple(map(float, law)), 8, 0.01, 0.0, target)

    every = [
        error(near, apart)
        for near in range(1, places)
        for apart in range(target != "frequency", min(near, places - near) + 1)
    ]
    assert error(*best_arcs(places, odds, 8, target)) == pytest.approx(min(every), rel=1e-12)


@pytest.mark.parametrize(
    "given", [{"places": 4}, {"places": 2}, {"places": 7, "near": 7}, {"places": 7, "near": 2, "apart": 3}, {"near": True}]
)
def test_impossible_rings_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(InvalidParameter):
        PairWheel(KEYS, 1.0, **given)


def test_the_page_on_keys_with_values_shows_the_table() -> None:
    page = (ROOT / "docs" / "key-value.md").read_text(encoding="utf-8")
    table = (ROOT / "research" / "experiments" / "few_bits.md").read_text(encoding="utf-8")
    assert table.strip() in page
    for epsilon, bits in ((0.5, 3), (1.0, 5), (4.0, 6)):
        row = next(line for line in table.splitlines() if line.startswith(f"| {bits} |"))
        assert f"{few_bits.ratio(epsilon, bits):.4g}" == row.split("|")[2 + few_bits.EPSILONS.index(epsilon)].strip()
