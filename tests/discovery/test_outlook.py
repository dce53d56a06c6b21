"""When rounds list candidates, which strings they set apart, and which names are never shown."""

from dataclasses import replace

import numpy as np
import pytest

import deniable as dn
from deniable.discovery.candidates import STRONG, candidates_of
from deniable.discovery.names import name_of
from deniable.discovery.outlook import Outlook
from deniable.discovery.planning import Design, best_design
from deniable.discovery.rounds import LISTED_AT, certain
from deniable.discovery.verifying import ranked
from deniable.domains.strings import leading

SHARES = np.arange(1, 31, dtype=np.float64) ** -1.5 / 2.6


def outlook(people: float, listing: float = 3.0, find: int = 20) -> Outlook:
    """A million people in four rounds, at epsilon 4, when so many have answered; a list is so many times as precise."""
    noise = 0.083
    known = np.full(len(SHARES), noise / people)
    return Outlook(best_design(64), SHARES, known, find, noise, people, 500_000.0, 250_000 * listing / noise)


class TestOutlook:
    def test_rare_strings_are_searched_for_before_candidates_are_listed(self) -> None:
        """After 250,000 people the twentieth string is 7 standard errors: a list would lack it. Later it would not."""
        assert outlook(250_000).missing(0) > 3 and not outlook(250_000).pays(3)
        assert outlook(1_250_000).missing(0) < 0.01 and outlook(1_250_000).pays(1)

    def test_a_list_that_is_less_precise_than_a_search_never_pays(self) -> None:
        assert not any(outlook(people, listing=1.0).pays(left) for people in (250_000, 10**6, 10**7) for left in (1, 2, 3))

    def test_more_rounds_confuse_fewer_strings(self) -> None:
        errors = [outlook(750_000).exchanged(0, rounds) for rounds in range(4)]
        assert errors == sorted(errors, reverse=True) and errors[-1] < errors[0] / 2
        assert outlook(750_000, find=30).exchanged(0, 1) == 0  # there is none to confuse them with

    def test_pairs_in_the_wrong_order_are_counted_as_drawn(self) -> None:
        """The probability that the second of two strings seems the more frequent: 20,000 draws, 6 standard errors."""
        pair = Outlook(Design((16,), (0.9, 0.1)), np.array([0.02, 0.018]), np.full(2, 1e-6), 1, 1.0, 1.0, 1.0, 1e6)
        random = np.random.default_rng(1)
        drawn = np.array([0.02, 0.018]) + np.sqrt(0.5e-6) * random.standard_normal((20_000, 2))
        assert pair.exchanged(0, 1) == pytest.approx(float((drawn[:, 1] > drawn[:, 0]).mean()), abs=0.006)


def test_strings_that_are_not_verified_are_not_set_apart() -> None:
    """Two strings can exchange the cells of a level, so that the search takes two others for certain that nobody has."""
    words = ["yes"] * 3000 + ["perhaps"] * 2000 + ["new york"] * 1500 + [f"word {number}" for number in range(500)]
    mechanism = dn.plan_discovery(4.0)
    found = candidates_of([(mechanism, mechanism.tally(mechanism.perturb(words, dn.SeededCoins(2))))], 60)
    passed = {found.names[place] for place in ranked(found, LISTED_AT).order}
    assert "yes" in passed and len(passed) < len(found.names)
    everything = replace(found, support=np.full(len(found.names), 2 * STRONG))
    names, share = certain(everything, find=20)
    assert "yes" in names and set(names) <= passed and 0.5 < share <= 1.1


@pytest.mark.parametrize("text", ["exa\u200bmple", "\u202egpj.exe", "a\u2066b", "soft\u00adhyphen", "x\u0007", "\ue000"])
def test_invisible_characters_are_reported_but_never_named(text: str) -> None:
    """Zero-width and formatting characters, right-to-left marks, control characters and those of private use."""
    domain = dn.Strings("bytes", prefixes=[134], cells=1009)
    row = leading(domain.index([text]).words, 134)[0]
    assert name_of(domain, row) is None


@pytest.mark.parametrize("text", ["<script>", "$x^2$", "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "\N{FIRE}\N{FIRE}"])
def test_other_strings_are_named_as_they_are(text: str) -> None:
    domain = dn.Strings("bytes", prefixes=[134], cells=1009)
    assert name_of(domain, leading(domain.index([text]).words, 134)[0]) == text
