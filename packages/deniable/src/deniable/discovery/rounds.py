"""Frequent strings in several rounds: search, publish the candidates, and let later people say which of these they have.

Each person answers in one round only. The first rounds ask for prefixes and whole strings. As soon as fewer errors are
predicted with a list of the candidates, they are listed, and a report says which of them a person has, or another. With a
short list and a large epsilon that is more precise than a report on any string. With a small epsilon it is not: then all
rounds search, and those who report whole strings verify, as in one round.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats
from deniable.core import Coins, Mechanism, PureProtocol, Tally, checked_coins, odds_below
from deniable.core.odds import checked_epsilon
from deniable.discovery.candidates import STRONG, Candidates, candidates_of
from deniable.discovery.found import Found
from deniable.discovery.gathered import Round, advantage, sifted, sizes_of
from deniable.discovery.names import complete
from deniable.discovery.outlook import Outlook
from deniable.discovery.planning import VERIFIED_EACH, Design, plan_discovery
from deniable.discovery.verifying import (
    Ranked,
    Votes,
    Wanted,
    chances_of,
    named,
    passing,
    pooled_of,
    ranked,
    too_few,
    verified,
    weighed,
    weight_of,
)
from deniable.domains.categories import Categories
from deniable.domains.listed_strings import ListedStrings
from deniable.domains.strings import KEY, NORMAL, Strings
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.linear_hash import MOST_CELLS, best_base, noise
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing
from deniable.mechanisms.discovery.sifted_hashing import SiftedHashing
from deniable.planning.shares import plan_shares

EDITION = 1  # of the planner, for lists of candidates; later ones have the same errors, with shorter reports
LISTED_EACH = 2  # strings that are listed for each that is to be found
WORTH = 1.25  # candidates are listed if a report on any string has so many times the variance
MOST_BITS = 128  # of a report
ANOTHER = -1  # the number that stands for all keys that are not listed
LISTED_AT = 0.2  # the rate of false discoveries among the candidates that are listed
FAR = 4.0  # standard errors by which a string is above or below another for certain
SIFTED_AT = 1.15  # strings are set apart if people then count for so much more


@cache
def listing_pays(epsilon: float, find: int) -> bool:
    """Whether a report that names one of a few candidates is much more precise than one on any string."""
    short = plan_shares(Categories(range(LISTED_EACH * find + 1)), epsilon, 100_000, MOST_BITS, edition=EDITION)
    base, _ = best_base(odds_below(checked_epsilon(epsilon)))
    return noise(base, float(odds_below(checked_epsilon(epsilon)))) > WORTH * _variance(short)


def lists(mechanism: Mechanism) -> bool:
    """Whether this is a round in which candidates are listed."""
    return isinstance(mechanism.domain, ListedStrings | Categories)


def _searches(mechanism: Mechanism) -> TypeGuard[PrefixHashing]:
    return isinstance(mechanism, PrefixHashing)


def next_search(earlier: Sequence[Round], find: int, people: int, blocked: Collection[str] = (), left: int = 1) -> Mechanism:
    """The mechanism of the next round, for so many people, from the tallies of earlier ones; so many rounds are left.

    Candidates are listed as soon as fewer errors are predicted if all that are left list them than if one more searches.
    Otherwise strings that are certain are set apart, once that pays. Blocked strings are never published.
    """
    last = earlier[-1][0]
    if not _searches(last) or too_few(sizes_of(earlier)):
        return last
    listing, sifts = last.domain.at_most == 1 and listing_pays(last.epsilon, find), _may_sift(last)
    if not listing and not sifts:
        return last
    found = candidates_of(earlier, VERIFIED_EACH * find)
    known, share = certain(found, find)
    shown = [name for name in known if name not in blocked]
    sifting = sifted(last, shown) if sifts and shown and advantage(last, share) >= SIFTED_AT else last
    if listing:
        gain = advantage(found.mechanism, share) if isinstance(sifting, SiftedHashing) else 1.0
        listed = _list(found, find, people, blocked, gain * people, left)
        if listed is not None:
            return listed
    return sifting


def _may_sift(last: PrefixHashing) -> bool:
    """Whether strings can be set apart from now on, and that would pay if everybody had one of them."""
    possible = not isinstance(last, SiftedHashing) and (last.base + 1) * last.domain.cells <= MOST_CELLS
    return possible and advantage(last, 1.0) >= SIFTED_AT


def _list(
    found: Candidates, find: int, people: int, blocked: Collection[str], searching: float, left: int
) -> Mechanism | None:
    """A list of the candidates that may be among those asked for, if it pays; `searching` is the worth of another round."""
    order = ranked(found, LISTED_AT).order[: LISTED_EACH * find]
    names = [found.names[place] for place in order]
    shares, variances = pooled_of(found, names)
    if len(shares) < find:
        return None
    border = shares[find - 1] - FAR * np.sqrt(variances + variances[find - 1])
    chosen = [place for place in np.flatnonzero(shares >= border).tolist() if names[place] not in blocked]
    if len(chosen) < find:
        return None
    mechanism = found.mechanism
    listed = _listed(mechanism.domain, [names[place] for place in chosen])
    made = plan_shares(listed, mechanism.epsilon, people, MOST_BITS, edition=EDITION)
    design = Design(tuple(mechanism.domain.prefixes), tuple(mechanism.shares.tolist()))
    worth, per_person = float(found.sizes.sum()), people / _variance(made)
    outlook = Outlook(design, shares, variances, find, float(mechanism.noise()), worth, searching, per_person)
    return made if outlook.pays(left) else None


def certain(found: Candidates, find: int) -> tuple[list[str | int], float]:
    """The strings that later people need not report on, and their share in all, by the search alone.

    They are certain, the prefixes of a group hold all of them, they are far above the last that is to be found, and those
    who verify back them.
    """
    domain, searching = found.mechanism.domain, found.sizes.copy()
    searching[-1] = 0
    backed = np.array(sorted(ranked(found, LISTED_AT).order), np.int64)
    places = backed[found.support[backed] > 0]
    places = places[[bool(complete(domain, found.words[place]).any()) for place in places.tolist()]]
    names = [found.names[place] for place in places.tolist()]
    shares, variances = pooled_of(replace(found, sizes=searching), names)
    last = np.sort(shares)[-find] if len(shares) >= find else 0.0
    far = (found.support[places] >= STRONG) & (shares >= last + FAR * np.sqrt(2 * variances))
    return [name for name, good in zip(names, far.tolist(), strict=True) if good], float(shares[far].sum())


def _listed(domain: Strings, names: Sequence[str | int]) -> ListedStrings | Categories:
    """The candidates in an order that says nothing about them, and one more answer for all other strings."""
    if domain.form == KEY:
        return Categories([*sorted(map(int, names)), ANOTHER], other=ANOTHER)
    return ListedStrings(sorted(map(str, names)), domain.length, domain.normal)


def _variance(mechanism: Mechanism) -> float:
    """n times the variance of a share of nearly nobody."""
    truth = np.zeros(mechanism.domain.size)
    truth[-1] = 1.0
    estimate = mechanism.predict(truth, 1_000_000)
    return float(estimate.standard_error[0] ** 2) * 1_000_000


def decode_rounds(rounds: Sequence[Round], wanted: Wanted) -> Found:
    """The most frequent strings behind the tallies of several rounds; names are verified by the rounds with a list alone."""
    wanted.check()
    searching = [(mechanism, tally) for mechanism, tally in rounds if _searches(mechanism) and tally.n]
    listing = [(mechanism, tally) for mechanism, tally in rounds if lists(mechanism) and tally.n]
    n = sum(tally.n for _, tally in rounds)
    if not searching or too_few(sizes_of(searching)):
        return Found((), n, *wanted[:3], 0, 0, 1.0)
    found = candidates_of(searching, VERIFIED_EACH * wanted.find)
    if not listing:
        return verified(found, n, wanted)
    return _judged(found, listing[0][0], sum_of([tally for _, tally in listing]), n, wanted)


def sum_of(tallies: Sequence[Tally]) -> Tally:
    """All tallies added."""
    total = tallies[0]
    for tally in tallies[1:]:
        total = total + tally
    return total


def _judged(found: Candidates, mechanism: Mechanism, tally: Tally, n: int, wanted: Wanted) -> Found:
    names = [each if isinstance(each, int) else str(each) for each in mechanism.domain.labels[:-1]]
    estimate = mechanism.estimate(tally)
    shares = estimate.values[:-1]
    drawn = np.clip(shares, 0, 1) * (1 - np.clip(shares, 0, 1)) / tally.n  # those of these rounds stand for all people
    errors = np.sqrt(estimate.standard_error[:-1] ** 2 + drawn)
    nobody = np.full(len(names), math.sqrt(_variance(mechanism) / tally.n))
    gain = weight_of(mechanism.p, mechanism.q) if isinstance(mechanism, PureProtocol) else math.inf
    votes = Votes(shares, errors, chances_of(shares, nobody), gain / tally.n)
    likely = dict(zip(found.names, found.likely.tolist(), strict=True))
    weights = weighed(np.array([likely.get(name, 0.0) for name in names]))
    good = np.flatnonzero(passing(votes, weights, wanted.false_discoveries))
    both = _both(found, [names[place] for place in good], shares[good], errors[good])
    order = good[np.argsort(-both, kind="stable")].tolist()
    return named(found, names, Ranked(votes, weights, order), n, wanted)


def _both(found: Candidates, names: Sequence[str | int], shares: Floats, errors: Floats) -> Floats:
    """The shares by all rounds: those of the list, and what the search says of the same strings."""
    earlier, noise = pooled_of(found, names)
    weights = 1 / np.maximum(errors, 1e-12) ** 2, 1 / noise
    return np.asarray((shares * weights[0] + earlier * weights[1]) / (weights[0] + weights[1]))


def discover_in_rounds(
    strings: Sequence[str] | NDArray[np.generic],
    epsilon: float,
    find: int = 20,
    rounds: int = 4,
    form: str = "text",
    normal: Sequence[str] = NORMAL,
    coins: Coins | None = None,
    confidence: float = 0.95,
    false_discoveries: float = 0.03,
) -> Found:
    """As `discover`, with people who answer one after the other in several rounds, each in one of them.

    >>> from deniable.core import SeededCoins
    >>> words = ["yes", "perhaps", "yes", "no", "yes", "no"] * 2000
    >>> found = discover_in_rounds(words, epsilon=4.0, find=3, rounds=2, coins=SeededCoins(1))
    >>> [name.name for name in found]
    ['yes', 'no', 'perhaps']
    """
    if not 2 <= rounds <= 16 or len(strings) < rounds:
        raise InvalidParameter("There are 2 to 16 rounds, with at least one person each.")
    tosses = checked_coins(coins)
    mechanism: Mechanism = plan_discovery(epsilon, form, normal=normal)
    done: list[Round] = []
    people = -(-len(strings) // rounds)
    for start in range(0, len(strings), people):
        if done:
            mechanism = next_search(done, find, people, left=rounds - len(done))
        own = strings[start : start + people]
        done.append((mechanism, mechanism.tally(mechanism.perturb(own, tosses))))
    return decode_rounds(done, Wanted(find, confidence, false_discoveries))
