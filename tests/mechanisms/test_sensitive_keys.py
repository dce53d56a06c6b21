"""Sensitive keys beside open ones: what one utility-optimized report on a padded and sampled pair promises about sets."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

import pytest

import deniable as dn
from deniable.privacy.law import law_of

OPEN, SECRET, PADDING = ("k", "m"), ("s", "t"), "-"
ENDS = [f"{key}{end}" for key in (*OPEN, *SECRET) for end in "+-"]
Law = dict[object, Fraction]
Person = tuple[str, ...]


def pairs(*, padding_is_open: bool = False, epsilon: float = 1.0) -> dn.UtilityOptimized:
    """The mechanism for one pair, an end each, or padding."""
    secret = [end for end in ENDS if end[0] in SECRET]
    sensitive = secret if padding_is_open else [*secret, PADDING]
    return dn.UtilityOptimized(dn.DirectResponse, dn.Categories([*ENDS, PADDING]), sensitive, epsilon)


def people(most: int) -> Iterator[Person]:
    """All sets of at most so many keys, each with either end."""
    for size in range(most + 1):
        for keys in combinations((*OPEN, *SECRET), size):
            for ends in product("+-", repeat=size):
                yield tuple(key + end for key, end in zip(keys, ends, strict=True))


def of_set(single: dict[str, Law], person: Person, most: int) -> Law:
    """One of the places of a padded set, each as likely, goes through the mechanism for one pair."""
    found: Law = {}
    for place in [*person, *[PADDING] * (most - len(person))]:
        for report, chance in single[place].items():
            found[report] = found.get(report, Fraction(0)) + chance / most
    return found


def odds(first: Law, second: Law) -> Fraction | None:
    """How many times as likely a report can be, at most; None where there is no bound."""
    ratios = [chance / second.get(report, Fraction(0)) if second.get(report) else None for report, chance in first.items()]
    return None if None in ratios else max(each for each in ratios if each is not None)


def laws(mechanism: dn.UtilityOptimized, most: int) -> dict[Person, Law]:
    single: dict[str, Law] = {end: dict(law_of(mechanism, end).items()) for end in [*ENDS, PADDING]}
    return {person: of_set(single, person, most) for person in people(most)}


def shown(person: Person) -> Person:
    return tuple(end for end in person if end[0] in OPEN)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_sets_with_the_same_open_pairs_are_within_the_odds(most: int) -> None:
    """All sets of four keys: 41 with at most two, 73 with at most three."""
    mechanism = pairs()
    found, bound = laws(mechanism, most), mechanism.loss().odds
    assert all(sum(law.values()) == 1 for law in found.values()) and bound is not None
    worst = Fraction(1)
    for one, other in product(found, repeat=2):
        ratio = odds(found[one], found[other])
        if shown(one) == shown(other):
            assert ratio is not None and ratio <= bound
            worst = max(worst, ratio)
        elif not set(shown(one)) <= set(shown(other)):
            assert ratio is None  # an open pair that only one of them has is disclosed
    # tight where all places can differ: padding only in one set, sensitive keys only in the other
    assert worst == bound if most <= len(SECRET) else worst < bound


def test_padding_must_be_sensitive() -> None:
    """Else a report of padding, which is then true, rules out people whose places are all taken."""
    found = laws(pairs(padding_is_open=True), 2)
    assert (
        odds(found[()], found["s+", "t+"]) is None and odds(laws(pairs(), 2)[()], laws(pairs(), 2)["s+", "t+"]) is not None
    )


def test_it_is_no_utility_optimized_privacy_of_sets() -> None:
    """A report of an open pair comes from several sets, one of which holds a sensitive key, and not from all."""
    found = laws(pairs(), 2)
    disclosing = {report for report in found["k+",] if report not in found[()]}
    (report,) = disclosing
    sources = {person for person, law in found.items() if report in law}
    assert ("k+",) in sources and ("k+", "s+") in sources and ("s+",) not in sources


def test_one_pair_each_is_certified() -> None:
    certificate = dn.certify(pairs())
    assert certificate.holds and certificate.loss.protects == "sensitive values"
