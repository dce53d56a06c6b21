"""Finding strings: codes, hashes, search, verification and what is promised about all of it."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import deniable as dn
from deniable.discovery.candidates import candidates_of
from deniable.discovery.evolution import floors, survival, tail
from deniable.discovery.missing import Missing, most_deviance
from deniable.discovery.planning import Design, best_design, published_discovery
from deniable.discovery.rounds import listing_pays
from deniable.discovery.verifying import ranked, supported_by_chance
from deniable.domains.string_codes import END, FORMS, prefix_code
from deniable.domains.string_hash import hashed
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.mechanisms.algebra.linear_hash import product, supporters
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing
from tests import ROOT

WORDS = ["yes"] * 9000 + ["perhaps"] * 4500 + ["New  York"] * 3000 + [f"word {number}" for number in range(1500)]


@pytest.mark.parametrize("form", FORMS)
def test_a_code_can_be_read_back_and_no_code_begins_another(form: str) -> None:
    code = prefix_code(form)
    assert len(code.codes) == (257 if END in code.codes and 0 in code.codes else 256)
    assert sum(2.0**-each.size for each in code.codes.values()) <= 1
    for text in (b"a", b"new york", "naïve \N{SNOWMAN}".encode(), b"1.12.0-rc1", b"example.org/a?b=c"):
        size = code.size(text)
        assert code.text(code.bits(text, size), size) == text
        assert code.text(code.bits(text, size + 9), size + 9) == text
        assert code.text(code.bits(text, size - 1), size - 1) is None


def test_the_hash_is_murmur_three() -> None:
    """Known values of MurmurHash3 x86 32 without its length: the state of one word, scaled to 2^20 cells."""
    words = np.array([[0], [1], [0xFFFFFFFF]], np.uint32)
    assert hashed(words, 0, 1 << 20).tolist() == [_murmur(0), _murmur(1), _murmur(0xFFFFFFFF)]


def _murmur(word: int) -> int:
    full = 0xFFFFFFFF
    k = word * 0xCC9E2D51 & full
    k = (k << 15 | k >> 17) & full
    h = k * 0x1B873593 & full
    h = ((h << 13 | h >> 19) * 5 + 0xE6546B64) & full
    h = (h ^ h >> 16) * 0x85EBCA6B & full
    h = (h ^ h >> 13) * 0xC2B2AE35 & full
    return (h ^ h >> 16) * (1 << 20) >> 32


@pytest.mark.parametrize(("base", "digits"), [(2, 3), (3, 2), (5, 2), (7, 1)])
def test_supporters_are_counted_by_a_transform(base: int, digits: int) -> None:
    cells = base**digits
    histogram = np.random.default_rng(1).integers(0, 9, (cells, base))
    rows = np.arange(cells)
    plain = [histogram[rows, product(np.full(cells, cell), rows, base, digits)].sum() for cell in range(cells)]
    assert np.allclose(supporters(histogram, base, digits), plain)


def test_strings_have_the_cells_that_javascript_gives_them() -> None:
    """The file is checked by js/test/strings.test.mjs too."""
    for each in json.loads((ROOT / "js" / "test" / "strings.json").read_text(encoding="utf-8")):
        domain = dn.Strings(each["form"], prefixes=each["prefixes"], cells=each["cells"])
        for one in each["strings"]:
            assert domain.normalised(one["string"]) == one["normalised"]
            assert domain.cells_of(domain.index([one["string"]]))[0].tolist() == one["cells"]


class TestStrings:
    def test_equal_strings_have_equal_cells(self) -> None:
        domain = dn.Strings(prefixes=[16, 40], cells=1000)
        cells = domain.cells_of(
            domain.index(["Caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT} ", "x"])
        )
        assert cells[0].tolist() == cells[1].tolist() != cells[2].tolist()

    @pytest.mark.parametrize("value", ["", "   ", "a" * 65, 3, None, ["a"], ["a", "b"], "a\0b", "\ud800"])
    def test_what_is_no_string_is_refused_without_being_repeated(self, value: object) -> None:
        domain = dn.Strings(prefixes=[16], cells=9)
        if value == ["a"]:
            assert len(domain.index([value]).words) == 1  # a list of one
            return
        with pytest.raises(OutsideDomain) as refusal:
            domain.index([value])
        assert not isinstance(value, str) or not value.strip() or value not in str(refusal.value)

    @pytest.mark.parametrize(
        "wrong",
        [{"form": "prose"}, {"length": 65}, {"prefixes": [16, 8]}, {"prefixes": [0]}, {"cells": 1}, {"normal": ["upper"]}],
    )
    def test_wrong_parameters_are_refused(self, wrong: dict[str, object]) -> None:
        with pytest.raises(InvalidParameter):
            dn.Strings(**wrong)  # type: ignore[arg-type]

    def test_a_string_of_a_list_is_drawn_equally_often(self) -> None:
        domain = dn.Strings(prefixes=[], cells=1009, at_most=3)
        batch = domain.index([["a", "b", "c"]] * domain.draws)
        _, counts = np.unique(domain.cells_of(batch, np.arange(domain.draws)), return_counts=True)
        assert counts.tolist() == [domain.draws // 3] * 3


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("at_most", [1, 4])
def test_every_plan_is_proved_for_all_strings(epsilon: float, at_most: int) -> None:
    """The law is proved for all cells and draws: any string against any other, of whatever length."""
    mechanism = dn.plan_discovery(epsilon, "text", at_most=at_most)
    certificate = dn.certify(mechanism)
    assert certificate.holds and certificate.loss.proof == "proved"
    assert mechanism.layout.bits <= 8 * 16


def test_frequent_strings_are_found_and_verified() -> None:
    found = dn.discover(WORDS, epsilon=4.0, find=5, coins=dn.SeededCoins(3))
    assert [name.name for name in found] == ["yes", "perhaps", "new york"]
    for name, share in zip(found, (0.5, 0.25, 1 / 6), strict=True):
        assert name.low <= share <= name.high and name.error_rate < 1e-3
    assert 0 < found.missing < 1 / 6 and "is missing (95 % confidence)" in str(found)


@pytest.mark.parametrize("q", [1 / 3, 1 / 7, 1 / 31])
def test_chances_are_never_less_than_those_of_a_binomial(q: float) -> None:
    for n in (1, 4, 30, 200):
        each = [math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]
        exact = np.cumsum(each[::-1])[::-1]
        stated = supported_by_chance(np.arange(n + 1) / n, q, n)
        assert (stated >= exact - 1e-12).all()
        assert n < 200 or (stated[exact > 1e-6] < 3 * exact[exact > 1e-6]).all()


def test_blocked_strings_are_not_named() -> None:
    mechanism = dn.plan_discovery(4.0)
    tally = mechanism.tally(mechanism.perturb(WORDS, dn.SeededCoins(3)))
    assert [name.name for name in dn.decode(mechanism, tally, blocklist=["yes"])] == ["perhaps", "new york"]


def test_strings_that_nobody_has_are_named_as_rarely_as_stated() -> None:
    """All strings differ, so that every name is false: then something is named in at most 3 % of the runs.

    Those who verify are drawn anew 200 times, since they take no part in the search; more than 20 draws with a name have a
    probability of 9e-7 at most.
    """
    mechanism = dn.plan_discovery(1.0)
    tally = mechanism.tally(mechanism.perturb([f"{number:x} unique" for number in range(4000)], dn.SeededCoins(5)))
    found, random = candidates_of([(mechanism, tally)], 100), np.random.default_rng(1)
    n, p, q = int(found.sizes[-1]), float(mechanism.p), float(mechanism.q)
    wrong = 0
    for _ in range(200):
        table = (random.binomial(n, q, mechanism.domain.cells) / n - q) / (p - q)
        wrong += bool(ranked(replace(found, tables=[*found.tables[:-1], table]), 0.03).order)
    assert wrong <= 20
    assert len(found.names) == 100


class TestMissing:
    """The bound on the share of every string that is not named."""

    MECHANISM = PrefixHashing(dn.Strings("key", 16, [8, 16], 343), 3.0, 7, [1, 1, 1])

    def possible(self, risk: float, seed: int) -> bool:
        """Whether a key that half of 900 people have is still possible at this share."""
        keys = np.concatenate([np.full(450, 7), np.random.default_rng(seed).integers(0, 1 << 16, 450)])
        tally = self.MECHANISM.tally(self.MECHANISM.perturb(keys, dn.SeededCoins(seed)))
        tables = [self.MECHANISM.table(tally, level) for level in range(3)]
        cells = self.MECHANISM.domain.word_cells(self.MECHANISM.domain.index([7]).words)[0]
        return Missing(self.MECHANISM, self.MECHANISM.sizes(tally), tables, risk)._largest(cells) >= 0.5

    def test_a_string_is_excluded_as_rarely_as_stated(self) -> None:
        """A risk of 0.4 allows a key of share 1/2 to be excluded in 20 % of the runs: of 300, more than 97 have a
        probability of 2e-7. Fewer than 15 would mean that the bound is much too cautious."""
        excluded = sum(not self.possible(0.4, seed) for seed in range(300))
        assert 15 <= excluded <= 97

    def test_every_other_string_is_below_the_bound(self) -> None:
        """A risk of 1e-7 in each of 8 runs. What is named does not count; the next string then sets the bound."""
        keys = np.repeat(np.array([3, 70, 900, 65_000]), [1500, 1000, 500, 100])
        for seed in range(8):
            tally = self.MECHANISM.tally(self.MECHANISM.perturb(keys, dn.SeededCoins(seed)))
            tables = [self.MECHANISM.table(tally, level) for level in range(3)]
            missing = Missing(self.MECHANISM, self.MECHANISM.sizes(tally), tables, 1e-7)
            bounds = [missing.bound([3, 70, 900, 65_000][:known]) for known in range(4)]
            assert all(bound >= share for bound, share in zip(bounds, (15 / 31, 10 / 31, 5 / 31, 1 / 31), strict=True))
            assert bounds == sorted(bounds, reverse=True) and bounds[3] < 10 / 31

    def test_a_string_that_is_too_long_to_be_named_counts(self) -> None:
        mechanism = dn.plan_discovery(4.0, bits=64)
        long = "a text that does not fit into sixty-four bits"
        found = dn.discover([long] * 6000 + ["yes"] * 4000, 4.0, mechanism=mechanism, coins=dn.SeededCoins(1))
        assert [name.name for name in found] == ["yes"] and found.missing >= 0.6

    @pytest.mark.parametrize("groups", [1, 2, 3, 7])
    def test_the_law_of_the_deviance(self, groups: int) -> None:
        """20,000 draws: 5.5 standard errors of a tail of 2 % are 0.0055, with a probability below 1e-7."""
        drawn = (np.minimum(np.random.default_rng(groups).standard_normal((20_000, groups)), 0) ** 2).sum(axis=1)
        assert (drawn > most_deviance(0.02, groups)).mean() == pytest.approx(0.02, abs=0.0055)


def test_what_begins_like_a_frequent_string_is_not_likely_for_that() -> None:
    """Prefixes of many people back every string that goes on from them; only what comes after speaks for the string."""
    pages = ["support", "download", "search", "windows", "products", "office", "gallery"]
    people = [f"example.com/{page}" for place, page in enumerate(pages) for _ in range(6000 - 700 * place)]
    people += [f"example.com/{number}" for number in range(2000)]
    mechanism = dn.plan_discovery(4.0, "address")
    found = candidates_of([(mechanism, mechanism.tally(mechanism.perturb(people, dn.SeededCoins(1))))], 125)
    likely = {name for name, chance in zip(found.names, found.likely, strict=True) if chance > 0.1}
    assert likely == {f"example.com/{page}" for page in pages}


def test_a_list_that_comes_later_is_estimated() -> None:
    mechanism = dn.plan_discovery(4.0)
    tally = mechanism.tally(mechanism.perturb(WORDS, dn.SeededCoins(3)))
    estimate = dn.known(mechanism, tally, ["yes", "Perhaps", "never"])
    truth = np.array([0.5, 0.25, 0.0])
    assert (np.abs(estimate.values - truth) < 5.5 * estimate.standard_error + 1e-4).all()  # false alarms below 1e-6


def test_a_list_of_strings_that_are_hashed_to_keys_comes_later() -> None:
    mechanism = dn.plan_discovery(4.0, "key")
    tally = mechanism.tally(mechanism.perturb(["Yes", "no ", "yes"] * 4000, dn.SeededCoins(1)))
    estimate = dn.known(mechanism, tally, ["yes", "NO", "never"])
    assert (np.abs(estimate.values - [2 / 3, 1 / 3, 0]) < 5.5 * estimate.standard_error + 1e-4).all()  # below 1e-6


def test_keys_are_found() -> None:
    keys = np.repeat(np.array([5, 2**63 + 7], np.uint64), [6000, 4000])
    found = dn.discover(keys, epsilon=4.0, form="key", find=3, coins=dn.SeededCoins(1))
    assert [name.name for name in found] == [5, 2**63 + 7]


def test_too_few_people_give_no_names() -> None:
    assert len(dn.discover(["a", "b"], epsilon=1.0, coins=dn.SeededCoins(1))) == 0


@pytest.mark.parametrize("wrong", [{"find": 0}, {"confidence": 1.0}, {"false_discoveries": 0.0}])
def test_wrong_wishes_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter):
        dn.discover(WORDS[:100], epsilon=1.0, **wrong)  # type: ignore[arg-type]


class TestPlans:
    def test_a_plan_beats_equal_groups_and_steps_of_eight(self) -> None:
        planned = best_design(64)
        equal = Design(tuple(range(8, 65, 8)), (1 / 9,) * 9)
        assert planned.needed() < equal.needed()
        assert published_discovery(1.0).domain.prefixes == tuple(range(8, 64, 8))

    def test_stronger_strings_survive_more_often(self) -> None:
        roots = [0.5] * 4
        lost = floors([14, 24, 34, 44], roots, 1024, 40)
        chances = [survival(roots, lost, strength, 44) for strength in (0.0, 4.0, 8.0, 12.0, 30.0)]
        assert chances == sorted(chances) and chances[0] < 1e-3 and chances[-1] > 0.999

    def test_one_level_is_a_normal_tail(self) -> None:
        assert survival([1.0], [3.0], 4.0, 64) == pytest.approx(tail(-1.0), abs=0.01)


def test_rounds_list_candidates_where_that_is_more_precise() -> None:
    """From epsilon 3 on a short list is; below, all rounds ask for the same. Half of the people answer in each round."""
    words = WORDS[:]
    np.random.default_rng(1).shuffle(words)
    found = dn.discover_in_rounds(words, epsilon=4.0, find=3, rounds=2, coins=dn.SeededCoins(1))
    assert [name.name for name in found] == ["yes", "perhaps", "new york"] and found.n == len(WORDS)
    for name, share in zip(found, (0.5, 0.25, 1 / 6), strict=True):
        assert name.low <= share <= name.high
    assert listing_pays(4.0, 20) and not listing_pays(2.0, 20)
    with pytest.raises(InvalidParameter, match="2 to 16 rounds"):
        dn.discover_in_rounds(words, epsilon=1.0, rounds=1)


def test_what_false_reports_can_do_is_bounded() -> None:
    """People who all claim to verify one string that nobody has raise its share by no more than the bound."""
    mechanism = dn.plan_discovery(4.0)
    honest = mechanism.perturb(WORDS, dn.SeededCoins(3))
    found = dn.decode(mechanism, mechanism.tally(honest), 5)
    gain = found.worst_gain(100 / len(WORDS))
    group = found.n * mechanism.shares[-1]
    weight = float((1 - mechanism.q) / (mechanism.p - mechanism.q))
    assert gain == pytest.approx(100 * weight / group, rel=0.15)  # by the size of the group, which is drawn
