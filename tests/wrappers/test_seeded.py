"""Any report in a few bits by a public seed: its exact law by enumeration, its loss, its estimates, its size."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.core import WHOLE, Columns, PackedBits, PureProtocol
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.random_codes import best_near, favoured
from deniable.mechanisms.key_value.key_value_protocol import total_error as key_error
from deniable.mechanisms.key_value.padded_protocol import Chances
from deniable.mechanisms.registry import mechanism_from_spec
from deniable.privacy.law import law_of
from deniable.wrappers.seeded import Seeded
from research.experiments import seeded_bits
from tests import ROOT

FOUR = dn.Categories(range(4))
BASES = [
    dn.SubsetSelection(FOUR, 1.0),
    dn.Unary(FOUR, 2.0),
    dn.Unary.symmetric(FOUR, 1.0),
    dn.DirectResponse(FOUR, 1.0),
    dn.HadamardResponse(FOUR, 1.0),
    dn.BlockDesign(FOUR, 1.0),
    dn.Wheel(FOUR, 1.0),
    dn.LocalHashing(FOUR, 1.0, 2),
]
named = pytest.mark.parametrize("base", BASES, ids=lambda base: base.wire)


def contents(base: PureProtocol) -> list[tuple[np.ndarray, Fraction]]:
    """What blank reports support, and how often: from the law of the base, whose reports on all values mixed are blank ones.

    A report that supports x is p / s times as likely on x as a blank one, any other (1 - p) / (1 - s) times.
    """
    law, share = law_of(base, 0), base.blank_support
    columns = base.layout.columns(law.reports)
    found: dict[bytes, Fraction] = {}
    for supported, chance in zip(base.supports(columns, np.arange(4)), law.chance.tolist(), strict=True):
        more = base.p / share if supported[0] else (1 - base.p) / (1 - share)
        found[supported.tobytes()] = found.get(supported.tobytes(), Fraction(0)) + law.chances[chance] / more
    return [(np.frombuffer(name, np.bool_), chance) for name, chance in found.items()]


@named
def test_the_law_is_exact(base: PureProtocol, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all contents of three codes: how often the named report supports each value, each two, and the worst ratio."""
    mechanism, every = Seeded(base, 3), contents(base)
    assert sum(chance for _, chance in every) == 1
    triples = list(itertools.product(range(len(every)), repeat=3))
    if len(triples) > 3000:  # of sixteen contents, with unary bits
        triples = triples[:: len(triples) // 3000 + 1]
    monkeypatch.setattr(Seeded, "candidates_of", lambda self, seed: {"which": np.array(triples[seed])})
    monkeypatch.setattr(type(base), "supports", lambda self, columns, cells: _held(every, columns, cells))
    seeds, near = np.arange(len(triples)), mechanism.near
    places = [(mechanism.odds if place < near else Fraction(1)) for place in range(3)]
    total, laws = sum(places), []
    for value in range(4):
        order = mechanism.order(np.full(len(seeds), value), seeds)
        by_code = [[Fraction(0)] * 3 for _ in triples]
        for seed, row in enumerate(order.tolist()):
            for place, code in enumerate(row):
                by_code[seed][code] = places[place] / total
        laws.append(by_code)
        if len(triples) == len(every) ** 3:
            _check_shares(mechanism, every, triples, by_code, value)
    pairs = itertools.permutations(laws, 2)
    ratios = (a / b for one, two in pairs for x, y in zip(one, two, strict=True) for a, b in zip(x, y, strict=True))
    assert max(ratios) == mechanism.odds == mechanism.loss().odds


def _held(every: list[tuple[np.ndarray, Fraction]], columns: Columns, cells: np.ndarray) -> np.ndarray:
    return np.stack([every[which][0] for which in columns["which"].tolist()])[:, cells]


def _check_shares(
    mechanism: Seeded,
    every: list[tuple[np.ndarray, Fraction]],
    triples: list[tuple[int, ...]],
    by_code: list[list[Fraction]],
    value: int,
) -> None:
    """The named report supports the true value with p, another one with q, and two of them as `pairs` says."""
    supported = np.zeros((4, 4), object)
    for triple, chances in zip(triples, by_code, strict=True):
        weight = every[triple[0]][1] * every[triple[1]][1] * every[triple[2]][1]
        for which, chance in zip(triple, chances, strict=True):
            held = every[which][0]
            supported += np.outer(held, held).astype(int) * (weight * chance)
    others = [other for other in range(4) if other != value]
    assert supported[value, value] == mechanism.p and {supported[other, other] for other in others} == {mechanism.q}
    if mechanism.pairs is not None:
        assert {supported[value, other] for other in others} == {mechanism.pairs[0]}
        assert {supported[one, two] for one, two in itertools.permutations(others, 2)} == {mechanism.pairs[1]}


@named
def test_a_seeded_base_is_proved_and_read_back(base: PureProtocol) -> None:
    mechanism = Seeded(base)
    certificate = dn.certify(mechanism)
    assert certificate.holds and certificate.loss.odds == mechanism.odds and certificate.loss.proof == "proved"
    assert mechanism_from_spec(mechanism.spec()).fingerprint == mechanism.fingerprint
    assert [field.bits for field in mechanism.layout.fields] == [32, {1.0: 6, 2.0: 8}[base.epsilon]]


WIDE = dn.FiniteChannel(dn.Categories(range(3)), 1.5, [[4, 2, 1, 3], [1, 4, 2, 3], [2, 1, 4, 3]])


@pytest.mark.parametrize("near", [1, 2])
def test_the_law_of_a_seeded_channel_is_exact(near: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all contents of three codes of a channel with three and with four ratios."""
    mechanism = dn.SeededChannel(WIDE, 3, near)
    triples = list(itertools.product(range(4), repeat=3))
    monkeypatch.setattr(dn.SeededChannel, "candidates_of", lambda self, seed: {"value": np.array(triples[seed])})
    seeds, whole = np.arange(len(triples)), sum(mechanism.mixture)
    places = [(mechanism.odds if place < near else Fraction(1)) for place in range(3)]
    for value in range(3):
        found = [Fraction(0)] * 4
        for triple, row in zip(triples, mechanism.order(np.full(len(seeds), value), seeds).tolist(), strict=True):
            weight = Fraction(1)
            for y in triple:
                weight *= Fraction(mechanism.mixture[y], whole)
            for place, code in enumerate(row):
                found[triple[code]] += weight * places[place] / sum(places)
        assert tuple(found) == mechanism.channel[value] and sum(found) == 1


def test_a_seeded_channel_with_two_ratios_is_a_seeded_protocol() -> None:
    """Direct response as a table of weights: the same probabilities as by its supports."""
    odds = Fraction(5)
    rows = [[odds if x == y else 1 for y in range(4)] for x in range(4)]
    channel = dn.SeededChannel(dn.FiniteChannel.from_rows(FOUR, 1.7, rows), 16)
    assert channel.channel[0][0] == favoured(Fraction(1, 4), 16, channel.near, channel.odds)
    assert len(set(channel.channel[0][1:])) == 1 and dn.certify(channel).loss.odds == channel.odds


def test_a_seeded_channel_estimates_without_bias() -> None:
    """2,000 people with fixed seeds: 3 standard scores, none beyond 5.5 (false alarm below 2e-7)."""
    mechanism = dn.SeededChannel(WIDE)
    assert mechanism_from_spec(mechanism.spec()).fingerprint == mechanism.fingerprint and dn.certify(mechanism).holds
    answers = [0] * 1000 + [1] * 600 + [2] * 400
    found = mechanism.estimate(mechanism.tally(mechanism.perturb(answers, dn.SeededCoins(3))))
    assert (np.abs(found.values - [0.5, 0.3, 0.2]) / found.standard_error < 5.5).all()
    with pytest.raises(InvalidParameter):
        dn.SeededChannel(BASES[0])  # type: ignore[arg-type]


KEYS = dn.KeyValue(["a", "b"], -1, 1, at_most=2)
PAIRS = [
    dn.PCKVUnary(KEYS, 1.0),
    dn.PCKVUnary.published(KEYS, 1.0),
    dn.PCKVUnary.balanced(KEYS, 2.0),
    dn.PCKVUnary.allocated(KEYS, 1.0, "frequency"),
]
SAID = [(0, 0), (1, 0), (0, 1), (1, 1)]  # whether a row names the high end of a key, and the low one
kept = pytest.mark.parametrize("base", PAIRS, ids=["independent", "published", "balanced", "frequency"])


@kept
@pytest.mark.parametrize("near", [1, 2])
def test_the_law_of_seeded_pairs_is_exact(near: int, base: dn.PCKVUnary, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all contents of three codes: what the named row says about both keys, for either end, and the worst ratio."""
    mechanism, law = dn.SeededPairs(base, 3, near), base.chances
    noise = dict(zip(SAID, (1 - 2 * law.noise - law.noise_both, law.noise, law.noise, law.noise_both), strict=True))
    contents = {one + two: noise[one] * noise[two] for one in SAID for two in SAID if noise[one] * noise[two]}
    scale = math.lcm(*(chance.denominator for chance in contents.values()))  # so that sums are of whole numbers
    triples = list(itertools.product(contents, repeat=3))
    weights = [math.prod(int(contents[each] * scale) for each in triple) for triple in triples]
    packed = [[PackedBits.pack(rows[:, first::2]) for first in (0, 1)] for rows in np.array(triples, bool)]
    monkeypatch.setattr(dn.SeededPairs, "coins_of", lambda self, seed: seed)
    monkeypatch.setattr(dn.PCKVUnary, "blank", lambda self, n, seed: packed[seed])
    places = [int((mechanism.odds if place < near else 1) * mechanism.odds.denominator) for place in range(3)]
    seeds, own, laws = np.arange(len(triples)), mechanism.chances, []
    said = dict(zip(SAID, (1 - own.kept - own.flipped - own.both, own.kept, own.flipped, own.both), strict=True))
    for answer, up in (({"a": 1.0}, True), ({"a": -1.0}, False), ({"b": 1.0}, True), ({}, True)):
        level = np.full_like(seeds, 0 if up else WHOLE - 1)
        order = mechanism.order(KEYS.index([answer] * len(seeds)), seeds, np.zeros_like(seeds), level)
        found = dict.fromkeys(contents, 0)
        for triple, weight, row in zip(triples, weights, order.tolist(), strict=True):
            for place, code in zip(places, row, strict=True):
                found[triple[code]] += weight * place
        laws.append(np.argsort(order, axis=1))  # the place of every code
        for content, total in found.items():
            rows = {"a": content[:2], "b": content[2:]}
            chances = [said[row if up else row[::-1]] if name in answer else noise[row] for name, row in rows.items()]
            assert Fraction(total, scale**3 * sum(places)) == math.prod(chances, start=Fraction(1))
    met = {pair for one, two in itertools.permutations(laws, 2) for pair in zip(one.flat, two.flat, strict=True)}
    assert max(Fraction(places[one], places[two]) for one, two in met) == mechanism.odds == mechanism.loss().odds


@kept
def test_seeded_pairs_are_proved_read_back_and_unbiased(base: dn.PCKVUnary) -> None:
    """4,000 people with fixed seeds: 4 standard scores for each base, none beyond 5.5 (false alarm below 1e-6)."""
    mechanism = dn.SeededPairs(base)
    certificate = dn.certify(mechanism)
    assert certificate.holds and certificate.loss.odds == mechanism.odds and certificate.loss.proof == "proved"
    assert mechanism_from_spec(mechanism.spec()).fingerprint == mechanism.fingerprint
    people = [{"a": 0.5, "b": -1.0}] * 1500 + [{"a": 0.5}] * 1500 + [{}] * 1000
    found = mechanism.estimate(mechanism.tally(mechanism.perturb(people, dn.SeededCoins(5))))
    scores = (found.frequency.values - [0.75, 0.375]) / found.frequency.standard_error
    assert (np.abs(scores) < 5.5).all()
    if mechanism.chances.kept != mechanism.chances.flipped:
        signed = (found.weight.values - [0.375, -0.375]) / found.weight.standard_error
        assert (np.abs(signed) < 5.5).all()


def test_a_thousand_keys_take_the_bits_of_epsilon_and_a_few() -> None:
    """The bits beside the seed; more of them come closer to 2,000 noisy bits."""
    films = dn.KeyValue(range(1000), -1, 1, at_most=8)
    for epsilon, bits, most in ((1.0, 6, 1.28), (4.0, 10, 1.22)):
        base = dn.PCKVUnary.balanced(films, epsilon, frequency=0.01)
        shorts = [dn.SeededPairs(base), dn.SeededPairs(base, 1 << bits + 1)]
        assert [field.bits for field in shorts[0].layout.fields] == [32, bits] and dn.certify(shorts[0]).holds
        rates = [key_error(short, 0.01, 0.0) / key_error(base, 0.01, 0.0) for short in shorts]
        assert 1 < rates[1] < rates[0] < most
    with pytest.raises(InvalidParameter):
        dn.SeededPairs(dn.PCKVDirect(films, 1.0))  # type: ignore[arg-type]


def test_estimates_are_right_on_average_with_the_variance_that_is_predicted() -> None:
    """3,000 people with fixed seeds, two bases: 10 standard scores, none beyond 5.5 (false alarm below 4e-7)."""
    answers = [0] * 1500 + [1] * 900 + [2] * 600
    for base in (dn.SubsetSelection(dn.Categories(range(5)), 2.0), dn.LocalHashing(dn.Categories(range(5)), 2.0)):
        mechanism = Seeded(base)
        found = mechanism.estimate(mechanism.tally(mechanism.perturb(answers, dn.SeededCoins(7))))
        assert (np.abs(found.values - [0.5, 0.3, 0.2, 0, 0]) / found.standard_error < 5.5).all()


def test_more_codes_come_closer_to_the_base() -> None:
    base = dn.Unary(dn.Categories(range(1000)), 1.0)
    shares = [Seeded(base, 1 << bits).p for bits in (2, 4, 6, 8)]
    assert shares == sorted(shares) and 0.97 * base.p < shares[-1] < base.p


def test_the_best_number_of_near_codes_is_found() -> None:
    share, odds = Fraction(1, 4), Fraction(3)
    every = [favoured(share, 12, near, odds) for near in range(1, 12)]
    assert favoured(share, 12, best_near(share, 12, odds), odds) == max(every)


@pytest.mark.parametrize("given", [{"codes": 1}, {"codes": 5000}, {"codes": 8, "near": 8}, {"codes": 2.5}, {"near": True}])
def test_impossible_numbers_of_codes_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(InvalidParameter):
        Seeded(BASES[0], **given)


def test_probabilities_with_very_many_digits_are_refused() -> None:
    """The probability of a report that is named would have thousands of times as many."""
    tiny, half, quarter = Fraction(1, 10**100 + 7), Fraction(1, 2), Fraction(1, 4)
    assert Seeded(dn.Unary(FOUR, 2.0, half, quarter), 16).p > quarter
    with pytest.raises(InvalidParameter, match="too many digits"):
        Seeded(dn.Unary(FOUR, 2.0, half, quarter - tiny), 16)
    law = Chances(half, quarter, Fraction(0), Fraction(1, 3) - tiny, Fraction(0))
    with pytest.raises(InvalidParameter, match="too many digits"):
        dn.SeededPairs(dn.PCKVUnary(dn.KeyValue(range(4), -1, 1, 2), chances=law), 16)


def test_bases_without_blank_reports_are_refused() -> None:
    with pytest.raises(InvalidParameter):
        Seeded(Seeded(BASES[0]))
    with pytest.raises(InvalidParameter):
        Seeded(dn.Memoized(dn.Unary(FOUR, 1.0)))
    with pytest.raises(InvalidParameter):
        Seeded(dn.Duchi(dn.Interval(0, 1), 1.0))  # type: ignore[arg-type]


def test_the_page_on_mechanisms_shows_the_table() -> None:
    page = (ROOT / "docs" / "mechanisms.md").read_text(encoding="utf-8")
    table = (ROOT / "research" / "experiments" / "seeded_bits.md").read_text(encoding="utf-8")
    assert table.strip() in page
    row = next(line for line in table.splitlines() if line.startswith("| SubsetSelection |"))
    first = seeded_bits.seeded(dn.SubsetSelection(dn.Categories(range(seeded_bits.ANSWERS)), 0.5))
    assert row.split("|")[3].strip() == first
