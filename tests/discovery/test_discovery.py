"""Finding strings: codes, hashes, search, verification and what is promised about all of it."""

import numpy as np
import pytest

import deniable as dn
from deniable.discovery.evolution import floors, survival, tail
from deniable.discovery.planning import Design, best_design, published_discovery
from deniable.domains.string_codes import END, FORMS, prefix_code
from deniable.domains.string_hash import hashed
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.mechanisms.algebra.linear_hash import product, supporters

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
    assert 0 < found.missing < 1 / 6 and "is missing" in str(found)


def test_blocked_strings_are_not_named() -> None:
    mechanism = dn.plan_discovery(4.0)
    tally = mechanism.tally(mechanism.perturb(WORDS, dn.SeededCoins(3)))
    assert [name.name for name in dn.decode(mechanism, tally, blocklist=["yes"])] == ["perhaps", "new york"]


def test_strings_that_nobody_has_twice_give_no_names() -> None:
    """False discoveries: all strings differ, so that a name would be false. At a rate of 3 % this seed names none."""
    found = dn.discover([f"{number:x} unique" for number in range(20_000)], epsilon=1.0, coins=dn.SeededCoins(5))
    assert len(found) == 0 and "No string passed" in str(found)


def test_a_list_that_comes_later_is_estimated() -> None:
    mechanism = dn.plan_discovery(4.0)
    tally = mechanism.tally(mechanism.perturb(WORDS, dn.SeededCoins(3)))
    estimate = dn.known(mechanism, tally, ["yes", "Perhaps", "never"])
    truth = np.array([0.5, 0.25, 0.0])
    assert (np.abs(estimate.values - truth) < 5.5 * estimate.standard_error + 1e-4).all()  # false alarms below 1e-6


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
        planned = best_design((14, 24, 34, 44, 54, 64))
        equal = Design(tuple(range(8, 65, 8)), (1 / 9,) * 9)
        assert planned.needed() < equal.needed()
        assert published_discovery(1.0).domain.prefixes == tuple(range(8, 64, 8))

    def test_stronger_strings_survive_more_often(self) -> None:
        roots = [0.5] * 4
        lost = floors([14, 24, 34, 44], roots, 1024, 40)
        chances = [survival(roots, lost, strength) for strength in (0.0, 4.0, 8.0, 12.0, 30.0)]
        assert chances == sorted(chances) and chances[0] < 1e-3 and chances[-1] > 0.999

    def test_one_level_is_a_normal_tail(self) -> None:
        assert survival([1.0], [3.0], 4.0) == pytest.approx(tail(-1.0), abs=0.01)
