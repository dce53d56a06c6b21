"""Keys with values: every protocol's exact law over whole sets, its estimates and variances, and what is refused."""

import itertools
import json
import math
from fractions import Fraction as F
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.domains import domain_from_spec
from deniable.mechanisms.key_value.key_value_protocol import KeyValueProtocol, total_error
from deniable.mechanisms.key_value.padded_protocol import Chances
from deniable.mechanisms.key_value.pckv_unary import independent
from deniable.mechanisms.registry import candidates
from deniable.planning import CLOSE
from deniable.planning.key_value import prior
from tests.cli.test_cli import run
from tests.every import EveryCoin
from tests.examples import keys, protocols

EPSILON = math.log(3)


NAMES = list(protocols(keys(2)))
SIZES = [(1, 1), (2, 2), (3, 1), (3, 3), (4, 2)]  # (2, 1) and (3, 2) are among the instances of tests/families.py
CASES = [(name, size) for name in NAMES for size in SIZES if size[0] < 4 or name == "unary" or not name.startswith("unary")]


@pytest.mark.parametrize(("name", "size"), CASES, ids=str)
def test_loss_is_that_of_all_sets(name: str, size: tuple[int, int]) -> None:
    mechanism = protocols(keys(*size))[name]
    certificate = dn.certify(mechanism, "enumerated", limit=1 << 26)
    assert certificate.loss.odds == mechanism.loss().odds
    assert certificate.holds


@pytest.mark.parametrize("name", NAMES)
def test_certificate_at_real_size_equals_the_enumeration(name: str) -> None:
    for size in ((2, 1), (3, 2), (3, 1)):
        mechanism = protocols(keys(*size))[name]
        certificate = dn.certify(mechanism)
        assert certificate.loss.odds == mechanism.loss().odds
        assert certificate.loss.proof == mechanism.loss().proof
        with pytest.raises(dn.NotCertifiable):
            dn.certify(mechanism, "theorem")


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("size", [(2, 1), (50, 1), (60, 7), (7, 7)], ids=str)
def test_the_budget_is_used_up_and_never_overspent(epsilon: float, size: tuple[int, int]) -> None:
    domain = keys(*size)
    for mechanism in (
        dn.PCKVUnary(domain, epsilon),
        dn.PCKVUnary.published(domain, epsilon),
        dn.PCKVUnary.allocated(domain, epsilon),
        dn.PCKVUnary.balanced(domain, epsilon),
        dn.PCKVDirect(domain, epsilon),
        dn.PCKVDirect.frequencies(domain, epsilon),
        dn.PrivSet(domain, epsilon),
        dn.KeySampling.kvue(domain, epsilon),
        dn.KeySampling.harmony(domain, epsilon),
        dn.KeySampling.privkv_for(domain, epsilon),
    ):
        assert 0 <= epsilon - mechanism.loss().epsilon() < 1e-12


def test_large_sets_are_certified_on_the_code() -> None:
    domain = keys(1000, 20)
    for mechanism in (dn.PCKVUnary(domain, 1.0), dn.PCKVUnary.published(domain, 1.0), dn.KeySampling.kvue(domain, 1.0)):
        certificate = dn.certify(mechanism)
        assert certificate.holds and certificate.loss.odds == dn.odds_below(1.0)
        assert "about 10^47 answers" in str(certificate)


@pytest.mark.parametrize("size", [(100, 2), (6, 2), (3, 3), (2000, 8)], ids=str)
def test_what_sampling_hides_is_proved_for_sets_that_have_no_key_twice(size: tuple[int, int]) -> None:
    for epsilon in (0.5, 4.0):
        certificate = dn.certify(dn.PCKVDirect(keys(*size), epsilon))
        assert certificate.loss.proof == "proved" and certificate.holds and certificate.rules == ("sampling",)
        assert certificate.loss.odds == dn.PCKVDirect(keys(*size), epsilon).loss().odds


def test_a_set_with_a_key_twice_is_never_reported() -> None:
    class Twice(dn.PCKVDirect):
        """Somebody sends the first pair always, so that nothing is hidden among the others."""

        def _all_keys(self, truth: Any) -> Any:
            found = np.asarray(super()._all_keys(truth))
            return np.repeat(found[:, :1], found.shape[1], axis=1)

    twice = Twice(keys(6, 2), 1.0)
    assert dn.certify(twice).holds
    with pytest.raises(dn.OutsideDomain, match="Nothing was reported"):
        twice.perturb([{1: 1.0, 2: -1.0}])


def test_a_planted_bug_in_the_noise_is_found() -> None:
    class Leaky(dn.PCKVUnary):
        """The bits of a neighbour follow what is reported."""

        def randomize(self, truth: Any, coins: Any) -> Any:
            columns = super().randomize(truth, coins)
            return {"high": columns["high"] | (columns["low"] << 1), "low": columns["low"]}

    class Loud(dn.PCKVUnary):
        """A low end is never dropped."""

        def randomize(self, truth: Any, coins: Any) -> Any:
            columns = super().randomize(truth, coins)
            real, key, up = self.sampled_pair(truth, coins)
            low: Any = columns["low"]
            return {"high": columns["high"], "low": low.with_bit(key, low.bit(key) | (real & ~up))}

    class Looking(dn.PCKVUnary):
        """The same, by a look into the set itself."""

        def randomize(self, truth: Any, coins: Any) -> Any:
            columns = super().randomize(truth, coins)
            shown = np.zeros((len(truth), self.keys), np.bool_)
            shown[truth.rows, truth.keys] = truth.values < 0
            return {"high": columns["high"], "low": columns["low"] | np.packbits(shown, axis=1, bitorder="little")}

    for kind in (Leaky, Looking):
        with pytest.raises(dn.NotCertifiable, match="cannot be recorded as a program"):
            dn.certify(kind(keys(1000), 1.0))
    for size in (1000, 2):
        with pytest.raises(dn.NotCertifiable, match="no rule of proof"):
            dn.certify(Loud(keys(size), 1.0))
    with pytest.raises(dn.NotCertifiable, match="A custom class"):  # whose encoder may do anything
        dn.certify(Loud(keys(2), 1.0), "enumerated")


def test_the_published_cost_of_lpp_does_not_hold() -> None:
    """Budgets of 0.1 and 2.0: said to cost 0.67, cost 2.0."""
    published = dn.KeySampling.as_published(keys(2), 0.1, 2.0)
    certificate = dn.certify(published)
    assert published.epsilon == pytest.approx(0.6662, abs=1e-4)
    assert certificate.loss.epsilon() == pytest.approx(2.0, abs=1e-12) and not certificate.holds
    assert dn.mechanism_from_json(published.to_json()) == published
    exact = dn.KeySampling.privkv(keys(2), 1.0, 3.0).loss().epsilon()
    assert exact == pytest.approx(3.0, abs=1e-12)
    assert dn.KeySampling.privkv(keys(2), 0.5, 0.5).loss().epsilon() == pytest.approx(0.71907, abs=1e-5)


PEOPLE: list[dict[int, float]] = [{0: 1.0, 1: -1.0}, {0: 1.0}, {}, {1: 0.5}, {2: -1.0, 0: 0.25}]


@cache
def laws(name: str) -> tuple[KeyValueProtocol, list[list[tuple[np.ndarray[Any, Any], F]]]]:
    """For each person the votes of every report on their set, with its probability."""
    mechanism = protocols(keys(3, 2))[name]
    found = []
    for person in PEOPLE:
        coins = EveryCoin()
        mechanism.perturb([person], coins)
        coins.follow(np.arange(coins.combinations))
        mechanism.__dict__["batch"] = coins.combinations
        reports = mechanism.perturb([person] * coins.combinations, coins)
        code, table = coins.chances()
        rows = mechanism.layout.rows(reports.columns)
        sums: dict[bytes, F] = {}
        for row, c in zip(rows, code, strict=True):
            sums[row.tobytes()] = sums.get(row.tobytes(), F(0)) + table[c]
        each = [
            (mechanism.votes(mechanism.layout.columns(np.frombuffer(row, np.uint8)[None, :])), p) for row, p in sums.items()
        ]
        found.append([(votes, p) for votes, p in each if p])
    return mechanism, found


def counted(mechanism: dn.Mechanism, n: int, counts: np.ndarray[Any, Any]) -> dn.Tally:
    return dn.Tally(mechanism.fingerprint, n, counts)


def truth() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    f = np.array([sum(key in person for person in PEOPLE) / 5 for key in range(3)])
    w = np.array([sum(person.get(key, 0.0) for person in PEOPLE) / 5 for key in range(3)])
    return f, w


@pytest.mark.parametrize(
    "name",
    [name for name in NAMES if not name.startswith(("unary", "wheel", "direct", "privset")) or "frequency" not in name],
)
def test_expected_votes_give_the_truth(name: str) -> None:
    """On the exact law of five people's sets, with values between the ends."""
    mechanism, found = laws(name)
    assert all(sum(p for _, p in law) == 1 for law in found)
    expected = np.sum([float(p) * votes for law in found for votes, p in law], axis=0)
    n, (f, w) = len(PEOPLE), truth()
    if isinstance(mechanism, dn.KeySampling):
        # each person is asked about each key in a third of all cases; scale to whole expectations
        estimate = mechanism._with_error(*_states(mechanism, expected), np.full(3, n / 3), n, None)
    else:
        estimate = mechanism.estimate(counted(mechanism, n, expected))
    if name != "harmony":
        np.testing.assert_allclose(estimate.frequency.values, f, atol=1e-12)
    np.testing.assert_allclose(estimate.weight.values, w, atol=1e-12)


def _states(mechanism: dn.KeySampling, expected: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    none, high, low = expected.reshape(3, -1)
    return (high + low) / (none + high + low), (high - low) / (none + high + low)


@pytest.mark.parametrize(
    "name", ["unary", "unary-published", "unary-both", "unary-loose", "wheel", "wheel-both", "direct", "direct-split"]
)
def test_variance_and_covariance_are_those_of_the_law(name: str) -> None:
    """The sum over five people of the exact variance of what each adds to the estimate, where owners have one value."""
    mechanism, found = laws(name)
    n, (f, w) = len(PEOPLE), truth()
    slopes, base = [], mechanism.estimate(counted(mechanism, 1, np.zeros(6)))
    for cell in range(6):
        one = np.zeros(6)
        one[cell] = 1
        e = mechanism.estimate(counted(mechanism, 1, one))
        slopes.append([e.frequency.values - base.frequency.values, e.weight.values - base.weight.values])
    matrix = np.array(slopes)  # (cell, frequency or weight, key)
    exact = np.zeros((2, 2, 3))
    for law in found:
        parts = np.array([np.tensordot(votes, matrix, 1) for votes, _ in law])
        chances = np.array([float(p) for _, p in law])
        centred = parts - np.tensordot(chances, parts, 1)
        exact += np.einsum("r,rak,rbk->abk", chances, centred, centred) / n**2
    means = np.array([w[k] / f[k] for k in range(3)])
    predicted = mechanism.predict(np.stack([f, means], axis=1), n)
    np.testing.assert_allclose(predicted.spread.frequency, exact[0, 0], rtol=1e-9)
    np.testing.assert_allclose(predicted.spread.both, exact[0, 1], rtol=1e-9, atol=1e-12)
    # key 2 has one owner, so one value; of keys 0 and 1 the values differ, and the prediction is the upper bound
    assert predicted.spread.signed[2] == pytest.approx(exact[1, 1, 2], rel=1e-9)
    assert (predicted.spread.signed >= exact[1, 1] - 1e-12).all()
    squares = np.array([sum(person.get(key, 0.0) ** 2 for person in PEOPLE) / n for key in range(3)])
    np.testing.assert_allclose(predicted.spread.signed - (squares - w**2 / f) / n, exact[1, 1], rtol=1e-9)


def test_variance_of_people_drawn_at_random() -> None:
    """The law of one person drawn from the five, exactly."""
    for name in ("unary", "unary-both", "direct"):
        mechanism, found = laws(name)
        f, w = truth()
        predicted = mechanism.predict(np.stack([f, w / f], axis=1), 1).for_population()
        base = mechanism.estimate(counted(mechanism, 1, np.zeros(6)))
        assert base.signed is not None
        values, chances = [], []
        for law in found:
            for votes, p in law:
                e = mechanism.estimate(dn.Tally(mechanism.fingerprint, 1, np.minimum(votes, 1)))
                values.append([e.frequency.values, e.weight.values])
                chances.append(float(p) / len(PEOPLE))
        table, often = np.array(values), np.array(chances)
        centred = table - np.tensordot(often, table, 1)
        exact = np.einsum("r,rak,rbk->abk", often, centred, centred)
        np.testing.assert_allclose(predicted.spread.frequency, exact[0, 0], rtol=1e-9)
        np.testing.assert_allclose(predicted.spread.signed, exact[1, 1], rtol=1e-9)
        np.testing.assert_allclose(predicted.spread.both, exact[0, 1], rtol=1e-9, atol=1e-12)


def test_variance_of_sampled_keys_is_that_of_all_ways_to_draw() -> None:
    """Two of four people, all subsets equally likely, each report by the exact channel: mean and variance by hand."""
    mechanism = dn.KeySampling.kvue(keys(2), EPSILON)
    three = mechanism.response
    people = [0, 0, 1, 1]  # states of the key: two have it with a high value
    first = second = signed_first = signed_second = 0.0
    for pair in itertools.combinations(people, 2):
        for reports in itertools.product(range(3), repeat=2):
            p = math.prod(float(three.channel[state][report]) for state, report in zip(pair, reports, strict=True)) / 6
            counts = np.bincount(reports, minlength=3)
            e = mechanism.estimate(dn.Tally(mechanism.fingerprint, 4, np.array([[c, 0] for c in counts]).reshape(-1)))
            first, second = first + p * e.frequency.values[0], second + p * e.frequency.values[0] ** 2
            signed_first, signed_second = signed_first + p * e.weight.values[0], signed_second + p * e.weight.values[0] ** 2
    predicted = mechanism.predict([(0.5, 1.0), (0.0, 0.0)], 4)  # expects n / d = 2 people for each key
    assert first == pytest.approx(0.5) and signed_first == pytest.approx(0.5)
    assert predicted.spread.frequency[0] == pytest.approx(second - first**2, rel=1e-9)
    assert predicted.spread.signed[0] == pytest.approx(signed_second - signed_first**2, rel=1e-9)


def test_errors_of_the_comparison_table() -> None:
    """n x variance of a key, 50 keys, one a person, frequency 0.1, mean 0.3: frequency / weight."""
    domain = keys(50)

    def errors(mechanism: KeyValueProtocol) -> tuple[float, float]:
        spread = mechanism.predict([(0.1, 0.3)] * 50, 10**6).for_population().spread
        return 10**6 * spread.frequency[0], 10**6 * spread.signed[0]

    for epsilon, table in {
        1.0: {"half": (200, 865), "exact": (130.4, 210.3), "kvue": (94, 173), "published": (10.3, 6.8)},
        4.0: {"half": (13.6, 21.7), "exact": (6.4, 7.3), "kvue": (6.3, 7.2), "published": (0.34, 0.35)},
    }.items():
        made = {
            "half": dn.KeySampling.privkv(domain, epsilon / 2, epsilon / 2),
            "exact": dn.KeySampling.privkv_for(domain, epsilon),
            "kvue": dn.KeySampling.kvue(domain, epsilon),
            "published": dn.PCKVUnary.published(domain, epsilon),
        }
        for name, (f, w) in table.items():
            assert errors(made[name]) == pytest.approx((f, w), rel=0.02), name


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_balanced_is_below_published(epsilon: float) -> None:
    domain, at = keys(50), (0.1, 0.3)
    published = total_error(dn.PCKVUnary.published(domain, epsilon), *at)
    allocated = total_error(dn.PCKVUnary.allocated(domain, epsilon, frequency=0.1, mean=0.3), *at)
    balanced = total_error(dn.PCKVUnary.balanced(domain, epsilon, frequency=0.1, mean=0.3), *at)
    assert 0.86 < allocated / published < 0.99
    assert balanced <= allocated * (1 + 1e-9)
    for other in (F(3, 10), F(2, 5), F(3, 5), F(7, 10)):
        odds = dn.odds_below(epsilon)
        p, q = other, other / (odds * (1 - other) + other)
        rival = dn.PCKVUnary(domain, epsilon, independent(p, q))
        assert balanced <= total_error(rival, *at) * (1 + 1e-9)


@pytest.mark.parametrize("size", [(50, 1), (50, 5), (200, 20), (10, 2)], ids=str)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_no_allocation_of_direct_response_beats_the_default(size: tuple[int, int], epsilon: float) -> None:
    """For every p the largest a that the two terms of the loss allow."""
    domain, odds = keys(*size), dn.odds_below(epsilon)
    d, padding = size
    best = dn.PCKVDirect(domain, epsilon)
    for step in range(51, 100, 4):
        p = F(step, 100)
        inner, slack = (padding * (odds - 1) + 1) / (2 * (d + padding - 1)), p - odds * (1 - p)
        rest = (odds - 1) * (padding - 1) / (2 * (d + padding - 1))
        a = min(inner / (inner + p), rest / (rest + slack) if slack > 0 else F(1))
        if a * p > (1 - a) / (d + padding - 1) / 2:  # else a told key would be named less often than another
            rival = dn.PCKVDirect(domain, epsilon, a, p)
            assert rival.loss().odds == odds
            for target in ("weight", "balanced"):
                assert total_error(best, 0.1, 0.3, target) <= total_error(rival, 0.1, 0.3, target) * (1 + 1e-9)
    frequencies = dn.PCKVDirect.frequencies(domain, epsilon)
    assert total_error(frequencies, 0.1, 0.3, "frequency") < 0.9 * total_error(best, 0.1, 0.3, "frequency")


def test_independent_bits_are_best_for_rare_keys() -> None:
    """Sum of the variances 16 E / (E - 1)^2 over n, of frequency and weight each half."""
    for epsilon in (0.5, 1.0, 3.0):
        odds = float(dn.odds_below(epsilon))
        best = total_error(dn.PCKVUnary(keys(50), epsilon), 1e-9, 0.0)
        assert best == pytest.approx(16 * odds / (odds - 1) ** 2, rel=1e-6)
        assert total_error(dn.PCKVUnary.balanced(keys(50), epsilon, frequency=1e-9), 1e-9, 0.0) == pytest.approx(
            best, rel=1e-4
        )


@pytest.mark.parametrize("name", NAMES)
def test_measured_errors_fit_the_intervals(name: str) -> None:
    """5,000 people, ten keys: the squared standardised errors of 60 runs, mean 1 +- 0.35 over ten keys: beyond 1e-6."""
    domain = keys(10, 2, low=0, high=10)
    mechanism = protocols(domain)[name]
    rng = np.random.default_rng(1)
    people = [
        {int(k): float(rng.uniform(0, 10)) for k in rng.choice(10, rng.integers(0, 3), replace=False)} for _ in range(2500)
    ]
    table = domain.index(people)
    f = np.bincount(table.keys, minlength=10) / 2500
    w = np.bincount(table.keys, table.values, minlength=10) / 2500
    coins, scores, weights = dn.SeededCoins(name.encode()), [], []
    for _ in range(60):
        estimate = mechanism.estimate(mechanism.tally(mechanism.perturb(table, coins)))
        if name != "harmony":
            scores.append((estimate.frequency.values - f) ** 2 / estimate.frequency.standard_error**2)
        if "frequency" not in name and name != "harmony":
            weights.append((estimate.weight.values - w) ** 2 / estimate.weight.standard_error**2)
    for each in (scores, weights):
        if each:
            assert abs(np.mean(each) - 1) < 0.35
    if name == "harmony":
        with pytest.raises(dn.InvalidParameter, match="weights only"):
            _ = estimate.weight
        assert estimate.signed is not None and estimate.signed.shape == (10,)


def test_compiled_and_plain_reports_agree() -> None:
    """One answer at a time gives the same law; the same bytes give the same report in bulk of one."""
    mechanism = dn.PCKVUnary(keys(70, 3), 1.0)
    one = mechanism.perturb([{3: 0.5, 60: -1.0}], dn.SeededCoins(5))
    again = mechanism.perturb(keys(70, 3).index([{60: -1.0, 3: 0.5}]), dn.SeededCoins(5))
    assert mechanism.pack(one) == mechanism.pack(again)


@pytest.mark.parametrize("size", [5, 8, 16, 11])
def test_fields_follow_each_other_bit_by_bit(size: int) -> None:
    mechanism = dn.PCKVUnary(keys(size, 2), 1.0)
    reports = mechanism.perturb([{0: 1.0}, {4: -1.0}, {}] * 5, dn.SeededCoins(2))
    bits = [np.unpackbits(reports.columns[name], axis=1, bitorder="little", count=size) for name in ("high", "low")]
    assert reports.pack() == np.packbits(np.concatenate(bits, axis=1), bitorder="little").tobytes()
    back = mechanism.unpack(mechanism.pack(reports))
    for name in ("high", "low"):
        np.testing.assert_array_equal(back.columns[name], reports.columns[name])


def test_privkv_and_lpp_ddagger_are_one_channel() -> None:
    privkv = dn.KeySampling.privkv(keys(2), EPSILON, EPSILON)
    assert privkv.response.channel == dn.ThreeState.ddagger(F(3, 4), F(3, 4)).channel


def test_a_certificate_from_a_file(tmp_path: Path) -> None:
    for mechanism, code in ((dn.PCKVUnary(keys(500, 3), 1.0), 0), (dn.KeySampling.as_published(keys(2), 0.1, 2.0), 1)):
        (tmp_path / "mechanism.json").write_text(mechanism.to_json())
        for shown in ([], ["--json"]):
            result = run("certify", str(tmp_path / "mechanism.json"), *shown)
            assert result.exit_code == code
        record = json.loads(result.stdout)
        assert record["holds"] is (code == 0) and record["protects"] == "any two sets of pairs"


class TestDomain:
    films = dn.KeyValue(["Alien", "Brazil", "Clue"], 0.5, 5, at_most=2)

    def test_every_set_has_a_number(self) -> None:
        for domain in (self.films, keys(1), keys(4, 3), keys(3, 3)):
            sets = {tuple(sorted(domain.answer(index).items())) for index in range(domain.size)}
            assert (
                len(sets) == domain.size == sum(math.comb(len(domain.labels), k) * 2**k for k in range(domain.at_most + 1))
            )
            assert domain.answer(0) == {}
            first, last = domain.answer(1), domain.answer(domain.size - 1)
            assert list(first) == [domain.labels[0]] and set(first.values()) == {domain.low}
            assert domain.labels[0] in last and set(last.values()) == {domain.high}

    def test_dictionaries_lists_and_tables_agree(self) -> None:
        wanted = self.films.index([{"Alien": 1, "Clue": 5}, {}, {"Brazil": 2.5}])
        for other in (
            self.films.index([[("Clue", 5), ("Alien", 1)], [], [("Brazil", 2.5)]]),
            self.films.index(dn.Pairs(np.array([0, 2, 2, 3]), np.array([0, 2, 1]), np.array([1.0, 5.0, 2.5]))),
        ):
            for name in ("starts", "keys", "values"):
                np.testing.assert_array_equal(getattr(other, name), getattr(wanted, name))
        table = self.films.pairs(["x", "z", "x"], ["Alien", "Brazil", "Clue"], [1, 2.5, 5])
        assert len(table) == 2 and table.sizes.tolist() == [2, 1]
        assert "5" not in repr(table[:1])

    def test_more_keys_than_allowed(self) -> None:
        person = [{"Alien": 1, "Brazil": 2, "Clue": 3}]
        with pytest.raises(dn.OutsideDomain, match="more keys than the 2"):
            self.films.index(person)
        cut = dn.KeyValue(self.films.labels, 0.5, 5, at_most=2, cut=True)
        assert cut.over(person) == 1 and cut.over([{}]) == 0
        assert cut.index(person).keys.tolist() == [0, 1]
        drawn = {tuple(cut.index(cut._table(person * 1).shuffled(dn.SeededCoins(seed))).keys.tolist()) for seed in range(40)}
        assert drawn == {(0, 1), (0, 2), (1, 2)}
        assert domain_from_spec(cut.spec()) == cut and domain_from_spec(self.films.spec()) == self.films
        assert domain_from_spec(keys(9, 2).spec()) == keys(9, 2)

    @pytest.mark.parametrize(
        ("answers", "says"),
        [
            ([{"Alien": 9.25}], "outside the range"),
            ([{"Alien": float("nan")}], "outside the range"),
            ([{"Alien": "9.25"}], "not a number"),
            ([{"Alien": True}], "not a number"),
            ([{"Dune": 4.25}], "not one of the 3 keys"),
            ([[("Alien", 1.25), ("Alien", 1.5)]], "same key twice"),
            ([[(["Alien"], 4.25)]], "not one of the 3 keys"),
            ([7.25], "dictionary"),
            ([["Alien"]], "dictionary"),
        ],
    )
    def test_what_is_outside_is_refused_without_repeating_it(self, answers: list[object], says: str) -> None:
        with pytest.raises(dn.OutsideDomain, match=says) as refused:
            dn.PCKVUnary(self.films, 1.0).perturb(answers)
        assert "25" not in str(refused.value) and "Dune" not in str(refused.value)

    @pytest.mark.parametrize(
        "make",
        [
            lambda: dn.KeyValue("films", 0, 1, 1),
            lambda: dn.KeyValue([], 0, 1, 1),
            lambda: dn.KeyValue(["a", "a"], 0, 1, 1),
            lambda: dn.KeyValue(["a", 1.5], 0, 1, 1),  # type: ignore[list-item]
            lambda: dn.KeyValue(["a", "b"], 1, 1, 1),
            lambda: dn.KeyValue(["a", "b"], 0, math.inf, 1),
            lambda: dn.KeyValue(["a", "b"], 0, 1, 0),
            lambda: dn.KeyValue(["a", "b"], 0, 1, -3),
            lambda: dn.KeyValue(["a", "b"], 0, 1, 3),
            lambda: dn.KeyValue(["a", "b"], 0, 1, 1.5),  # type: ignore[arg-type]
            lambda: keys(3).pairs([1, 2], [0], [0.5]),
            lambda: keys(3).index(dn.Pairs(np.array([0, 2]), np.array([0]), np.array([0.5]))),
            lambda: keys(3).index([{}, {}, {}])[::2],
        ],
    )
    def test_impossible_domains_and_tables_are_refused(self, make: Any) -> None:
        with pytest.raises(dn.InvalidParameter):
            make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: dn.PCKVUnary(keys(3)),
        lambda: dn.PCKVUnary.of(keys(3), F(1, 2), F(1, 10), F(9, 10), 1.0),
        lambda: dn.PCKVUnary.of(keys(3), F(1, 3), F(1, 3), F(1, 2)),
        lambda: dn.PCKVUnary.of(keys(3), F(1, 2), F(0), F(3, 4)),
        lambda: dn.PCKVUnary.of(keys(3), F(1), F(1, 2), F(3, 4)),
        lambda: dn.PCKVUnary(keys(3), 1.0, Chances(F(1, 2), F(1, 2), F(1, 2), F(1, 4), F(0))),
        lambda: dn.PCKVUnary.allocated(keys(3), 1.0, "speed"),
        lambda: dn.PCKVDirect(keys(3)),
        lambda: dn.PCKVDirect(keys(3), 1.0, F(1, 2)),
        lambda: dn.PCKVDirect(keys(3), 1.0, F(1, 4), F(3, 4)),
        lambda: dn.PCKVDirect(keys(3), 1.0, F(3, 4), F(3, 4)),
        lambda: dn.KeySampling(keys(3)),
        lambda: dn.KeySampling(keys(3), 1.0, fakes=(1, 2)),
        lambda: dn.KeySampling.privkv(keys(3), 1.0, 1.0, 1.5),
        lambda: dn.KeySampling.privkv(keys(3), 1.0, 1.0, epsilon=0.5),
        lambda: dn.PrivKVM(keys(3), 1.0, 0),
        lambda: dn.PCKVUnary(keys(3), 1.0).predict([(0.5, 2.0)] * 3, 5),
        lambda: dn.PCKVUnary(keys(3), 1.0).predict([(1.5, 0.0)] * 3, 5),
        lambda: dn.PCKVUnary(keys(3), 1.0).predict([(0.5, 0.0)] * 3, 0),
        lambda: dn.plan(keys(3), 1.0, n=0),
        lambda: dn.required_n(keys(3), 1.0, 0.01),  # type: ignore[arg-type]
        lambda: dn.plan(keys(3), 1.0, max_bits=1),
    ],
)
def test_impossible_parameters_are_refused(make: Any) -> None:
    with pytest.raises(dn.InvalidParameter):
        make()


def test_a_key_nobody_was_asked_about_has_no_error_bar() -> None:
    mechanism = dn.KeySampling.kvue(keys(50), 1.0)
    estimate = mechanism.estimate(mechanism.tally(mechanism.perturb([{0: 1.0}] * 5, dn.SeededCoins(1))))
    nobody = np.isinf(estimate.frequency.standard_error)
    assert nobody.sum() >= 45 and not estimate.clear[nobody].any()


def test_privkvm_stays_biased_and_costs_all_its_rounds() -> None:
    domain = keys(2)
    rounds = dn.PrivKVM(domain, 2.0, 5)
    assert rounds.loss().answers == 5
    first = dn.KeySampling.privkv(domain, 1.0, 0.2).loss().epsilon()
    assert rounds.loss().epsilon() == pytest.approx(first + 4 * 0.2, abs=1e-9)
    assert rounds.limit(0.01, 0.6) < 0.067 < dn.PrivKVM(domain, 2.0, 200).limit(0.01, 0.6) == pytest.approx(0.52, abs=0.01)
    # enough people to see the limit: five standard errors of the last mean are about 0.05 at this budget
    people = dn.PrivKVM(domain, 40.0, 3).run([{0: 0.6}, {}, {}, {}] * 20_000, dn.SeededCoins(3))
    assert people.means[-1][0] == pytest.approx(dn.PrivKVM(domain, 40.0, 3).limit(0.25, 0.6), abs=0.05)
    assert people.first.mean.values[0] == pytest.approx(0.6, abs=0.05)


def test_the_plan_takes_what_is_best() -> None:
    for size, at_most, epsilon in itertools.product((3, 50, 400), (1, 3), (0.5, 3.0)):
        planned = dn.plan(keys(size, at_most), epsilon)
        share = float(prior(keys(size, at_most)))
        errors = {
            each.name: total_error(each.make(keys(size, at_most), epsilon), share, 0.0)
            for each in candidates("key_value").values()
            if each.target == "balanced"
        }
        assert total_error(planned, share, 0.0) <= CLOSE * min(errors.values())
    films = dn.plan(keys(1000), epsilon=2.0)
    assert isinstance(films, dn.PairWheel) and "pckv-unary" in films.explain() and "1,000 keys" in films.explain()
    assert isinstance(dn.plan(keys(1000), 2.0, max_bits=15), dn.PCKVDirect)
    assert "chosen by hand" in dn.PCKVUnary(keys(1000), 1.0).explain()
    rare = dn.plan(keys(50), 4.0)  # one key in 50: one in ten cannot have each
    assert isinstance(rare, dn.PCKVDirect) and rare.layout.bits == 7 and "0.02 of all people have" in rare.explain()


def test_means_that_are_reported_cover_at_a_small_budget() -> None:
    """Exactly, over all tallies of 40 people at epsilon 1: only keys that pass two standard errors have a mean at all."""
    three, people, owners = dn.ThreeState.ewrr(1.0), 40, 5
    q = 1 / (math.e + 2)

    def counted(count: int, none: float, high: float, low: float) -> dict[tuple[int, int], float]:
        return {
            (a, b): math.comb(count, a) * math.comb(count - a, b) * high**a * low**b * none ** (count - a - b)
            for a in range(count + 1)
            for b in range(count + 1 - a)
        }

    law: dict[tuple[int, int], float] = {}
    for (a, b), first in counted(owners, q, math.e * q, q).items():
        for (c, d), second in counted(people - owners, math.e * q, q, q).items():
            law[a + c, b + d] = law.get((a + c, b + d), 0.0) + first * second
    given = held = 0.0
    for (high, low), chance in law.items():
        if chance > 1e-6:
            found = three.links(dn.Tally(three.fingerprint, people, np.array([people - high - low, high, low])))
            if found.clear[0]:
                ends = found.mean.interval(0.95)
                given, held = given + chance, held + chance * (ends[0][0] <= 1.0 <= ends[1][0])
    assert given > 0.05 and held / given > 0.95  # 0.918 without regard to the selection


def test_few_reports_still_give_honest_means() -> None:
    """Forty people, nearly truthful reports: intervals hold 93 % of the time or more, less 6 sigma of 1,500 runs."""
    three = dn.ThreeState.ewrr(4.0)
    people, coins = [None] * 26 + [1.0] * 10 + [-1.0] * 4, dn.SeededCoins(9)

    @cache  # many of the 1,500 tallies are equal
    def holds(*counts: int) -> bool | None:
        found = three.links(dn.Tally(three.fingerprint, len(people), np.array(counts)))
        if not found.clear[0]:
            return None
        low, high = found.for_population().mean.interval(0.95)
        return bool(low[0] <= 6 / 14 <= high[0])

    runs = [holds(*three.tally(three.perturb(people, coins)).counts.tolist()) for _ in range(1500)]
    given = [held for held in runs if held is not None]
    assert len(given) > 1400
    assert sum(given) / len(given) > 0.93 - 0.04
