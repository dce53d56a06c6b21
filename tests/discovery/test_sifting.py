"""Strings that are certain are set apart in later rounds, so that rarer ones are found: estimates, and what is promised."""

import numpy as np
import pytest

import deniable as dn
from deniable.discovery.candidates import candidates_of
from deniable.discovery.gathered import Round, advantage, gathered, sifted, sizes_of
from deniable.discovery.missing import Missing
from deniable.discovery.rounds import decode_rounds, next_search
from deniable.discovery.verifying import Wanted
from deniable.errors import InvalidParameter, OutsideDomain

PLAIN = dn.PrefixHashing(dn.Strings("key", 16, [8, 16], 343), 3.0, 7, [1, 1, 1])
APART = sifted(PLAIN, [7, 70])
WORDS = ["yes"] * 9000 + ["perhaps"] * 4500 + ["New  York"] * 1500 + ["Lyon"] * 1200 + [f"word {n}" for n in range(1800)]


def rounds_of(people: np.ndarray | list[str], mechanisms: list[dn.Mechanism], seed: int) -> list[Round]:
    """The people, split evenly, one part after the other."""
    size, coins = len(people) // len(mechanisms), dn.SeededCoins(seed)
    parts = [people[place * size : (place + 1) * size] for place in range(len(mechanisms))]
    return [(each, each.tally(each.perturb(own, coins))) for each, own in zip(mechanisms, parts, strict=True)]


def test_given_a_bucket_of_the_row_the_law_is_that_of_prefix_hashing() -> None:
    """So that the reports of whole strings of all rounds can be counted together."""
    assert APART.p / (1 - APART.aside) == PLAIN.p and APART.slope / (1 - APART.aside) == PLAIN.p - PLAIN.q
    assert dn.certify(APART).loss.proof == "proved" and APART.loss().odds == PLAIN.loss().odds
    assert dn.mechanism_from_json(APART.to_json()).fingerprint == APART.fingerprint != PLAIN.fingerprint


def test_predicted_errors_are_those_of_many_cells() -> None:
    """3 tables of 343 cells in 15 runs, of keys that are drawn anew: the mean square of 15,435 errors in standard errors, of
    which those of one table depend little on each other, is off by at most 0.1, which are eight standard errors of it."""
    squares = []
    for seed in range(15):
        keys = np.concatenate([np.full(3000, 7), np.full(1000, 70), np.random.default_rng(seed).integers(0, 1 << 16, 2000)])
        cells = APART.domain.cells_of(APART.domain.index(keys))
        truth = np.concatenate([np.bincount(own, minlength=343)[:343] for own in cells.T]) / len(keys)
        estimate = APART.estimate(APART.tally(APART.perturb(keys, dn.SeededCoins(seed))))
        predicted = APART.predict(truth, len(keys))
        squares.append(((estimate.values - truth) ** 2 / predicted.standard_error**2).mean())
        assert abs((estimate.standard_error / predicted.standard_error).mean() - 1) < 0.05
    assert abs(np.mean(squares) - 1) < 0.1


def test_tables_of_all_rounds_are_joined_by_their_errors() -> None:
    """Known keys are subtracted from the first round; of all others the mean square error is what the size says."""
    keys = np.concatenate([np.full(6000, 7), np.full(3000, 70), np.random.default_rng(1).integers(0, 1 << 16, 3000)])
    np.random.default_rng(2).shuffle(keys)
    whole = gathered(rounds_of(keys, [PLAIN, APART], 1))
    alone = gathered(rounds_of(keys, [PLAIN, PLAIN], 1))
    assert list(whole.known) == [7, 70] and (whole.sizes[:-1] > 1.15 * alone.sizes[:-1]).all()
    others = keys[~np.isin(keys, [7, 70])]
    cells = PLAIN.domain.word_cells(PLAIN.domain.index(others).words)
    for level in range(2):
        truth = np.bincount(cells[:, level], minlength=343) / len(keys)
        square = ((whole.tables[level] - truth) ** 2).mean() * whole.sizes[level] / float(PLAIN.noise())
        assert 0.6 < square < 1.5  # 343 cells: five standard errors are 0.4
    assert advantage(PLAIN, 0.75) > 1.15 > 1 > advantage(PLAIN, 0.0)


class TestRounds:
    def test_what_is_certain_is_set_apart_and_verified(self) -> None:
        """The strings that later rounds do not search for are named with shares from those who verify in all rounds."""
        words = WORDS[:]
        np.random.default_rng(1).shuffle(words)
        first = dn.plan_discovery(2.0)
        before = rounds_of(words[:9000], [first], 1)
        second = next_search(before, 6, 9000)
        assert isinstance(second, dn.SiftedHashing) and list(second.domain.known) == ["perhaps", "yes"]
        assert second.layout.bits <= 128 and dn.certify(second).holds
        done = [*before, *rounds_of(words[9000:], [second], 2)]
        assert next_search(done, 6, 9000) is second
        found = decode_rounds(done, Wanted(6))
        assert found.n == len(words) and [name.name for name in found][:2] == ["yes", "perhaps"]
        shares = {"yes": 1 / 2, "perhaps": 1 / 4, "new york": 1 / 12, "lyon": 1 / 15}
        named = {str(name.name): name for name in found}
        assert all(named[name].low <= share <= named[name].high for name, share in shares.items() if name in named)
        assert found.missing >= max([share for name, share in shares.items() if name not in named], default=0)

    def test_blocked_strings_are_not_published(self) -> None:
        words = WORDS[:]
        np.random.default_rng(1).shuffle(words)
        second = next_search(rounds_of(words[:9000], [dn.plan_discovery(2.0)], 1), 6, 9000, ["perhaps"])
        assert isinstance(second, dn.SiftedHashing) and list(second.domain.known) == ["yes"]

    def test_few_people_change_nothing(self) -> None:
        first = dn.plan_discovery(2.0)
        assert next_search(rounds_of(["yes"] * 40, [first], 1), 6, 9000) is first
        assert sizes_of([]).tolist() == [0]
        before = rounds_of(np.repeat(np.array([7, 70, 900]), [600, 200, 100]), [PLAIN], 1)
        late = (APART, APART.tally(APART.perturb([900], dn.SeededCoins(1))))  # too few to say anything
        assert gathered([*before, late]).known == ()
        other = sifted(dn.PrefixHashing(PLAIN.domain, 3.0, 7, [1, 2, 1]), [7])
        with pytest.raises(InvalidParameter, match="same prefixes"):
            gathered([*before, (other, other.tally(other.perturb([900], dn.SeededCoins(1))))])


class TestMissing:
    """The bound on the share of every string that is not named, by rounds with and without known strings."""

    def bounded(self, risk: float, seed: int, named: list[int]) -> float:
        keys = np.concatenate([np.full(1200, 7), np.full(300, 900), np.random.default_rng(seed).integers(0, 1 << 16, 300)])
        np.random.default_rng(seed).shuffle(keys)
        return Missing.of(gathered(rounds_of(keys, [PLAIN, APART], seed)), risk).bound(named)

    def test_a_string_is_excluded_as_rarely_as_stated(self) -> None:
        """A risk of 0.4 allows that a key of share 1/6 is excluded in 6.7 % of the runs: of 60, more than 17 have a
        probability of 5e-7."""
        assert sum(self.bounded(0.4, seed, [7]) < 1 / 6 for seed in range(60)) <= 17

    def test_a_string_that_is_set_apart_and_not_named_counts(self) -> None:
        """With a risk of 1e-7: later rounds say nothing about it, and do not exclude it."""
        assert self.bounded(1e-7, 1, [900]) >= 2 / 3 and 1 / 6 <= self.bounded(1e-7, 1, [7]) < 2 / 3


def test_a_list_that_comes_later_is_estimated_for_known_strings_too() -> None:
    keys = np.repeat(np.array([7, 70, 900]), [6000, 3000, 3000])
    estimate = dn.known(APART, APART.tally(APART.perturb(keys, dn.SeededCoins(1))), [7, 900])
    assert (np.abs(estimate.values - [1 / 2, 1 / 4]) < 5.5 * estimate.standard_error).all()
    assert estimate.standard_error[0] > 1.5 * estimate.standard_error[1]  # only those who report whole strings do so for it


@pytest.mark.parametrize("known", [[], [7, 7], [1 << 16], ["yes", 7]])
def test_wrong_lists_of_known_strings_are_refused(known: list[int | str]) -> None:
    with pytest.raises((InvalidParameter, OutsideDomain)):
        dn.SiftedStrings("key", 16, [8, 16], 343, known=known)
    with pytest.raises(InvalidParameter, match="not normalised"):
        dn.SiftedStrings(prefixes=[8], cells=9, known=["New York"])
    with pytest.raises(InvalidParameter, match="SiftedStrings"):
        dn.SiftedHashing(PLAIN.domain, 3.0, 7, [1, 1, 1])  # type: ignore[arg-type]


def test_known_strings_are_among_the_candidates() -> None:
    keys = np.repeat(np.array([7, 70, 900]), [6000, 3000, 3000])
    np.random.default_rng(1).shuffle(keys)
    found = candidates_of(rounds_of(keys, [PLAIN, APART], 1), 20)
    assert list(found.names)[:2] == [7, 70] and found.likely[:2].tolist() == [1.0, 1.0] and 900 in found.names
