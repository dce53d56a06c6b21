"""Verification: which strings pass among people who took no part in the search, their shares, and what may be missing."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from deniable.arrays import Bools, Floats, Ints, Words32
from deniable.core import Estimate, Tally
from deniable.discovery.candidates import Candidates
from deniable.discovery.evolution import tail
from deniable.discovery.found import Found, Name
from deniable.discovery.missing import Missing
from deniable.discovery.names import complete
from deniable.domains.sifted_strings import SiftedStrings
from deniable.domains.strings import Strings
from deniable.errors import InvalidParameter
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing

LEAST = 30  # people who verify, for anything to be named
EVEN = 0.1  # of the weight of the verified strings, the part that they share evenly, whatever the search says of them
_MOST_FOUND = 1000


class Wanted(NamedTuple):
    """What was asked for."""

    find: int = 20
    confidence: float = 0.95
    false_discoveries: float = 0.03
    blocklist: frozenset[str] = frozenset()

    def check(self) -> None:
        """Refuse what makes no sense."""
        shares = (self.confidence, self.false_discoveries)
        if not 1 <= self.find <= _MOST_FOUND or not all(0 < each < 1 for each in shares):
            raise InvalidParameter(
                f"Give the number of names to find, 1 to {_MOST_FOUND:,}, and a confidence and a rate of false discoveries "
                "between 0 and 1."
            )


class Votes(NamedTuple):
    """What the people who verify say of each string: its share, the error of that, and how often chance does as much."""

    shares: Floats
    errors: Floats
    chances: Floats  # the p-values
    gain: float  # how much one false report raises a share at most


def chances_of(shares: Floats, nobody: Floats) -> Floats:
    """How often a string that nobody has gets such a share, by the error that it has then: the tail of a normal."""
    return np.array([tail(each) for each in (shares / nobody).tolist()])


def supported_by_chance(rates: Floats, q: float, n: int) -> Floats:
    """A bound on how often so many of n reports or more support a string that nobody has, each with probability q.

    It holds for any n (Zubkov, Serov 2013), and is close to the binomial tail for many reports, where a normal tail is too
    small: 306 of 8,000 reports or more, with q = 1/31, have 0.0017, and a normal 0.0012.

    >>> supported_by_chance(np.array([0, 258, 306]) / 8000, 1 / 31, 8000).round(4).tolist()
    [1.0, 0.5269, 0.0019]
    """
    fewer = np.clip(rates - 1 / n, 0, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(fewer > 0, fewer * np.log(fewer / q), 0) + np.where(
            fewer < 1, (1 - fewer) * np.log((1 - fewer) / (1 - q)), 0
        )
    away = np.sign(fewer - q) * np.sqrt(2 * n * np.maximum(parts, 0))
    return np.where(rates < 0.5 / n, 1.0, [tail(each) for each in away.tolist()])


class Ranked(NamedTuple):
    """What those who verify say of all candidates, the weight of each, and those that pass, the most frequent first."""

    votes: Votes
    weights: Floats
    order: list[int]


def too_few(sizes: Ints) -> bool:
    """Whether a group has too few people for anything to be named."""
    return bool(sizes.min() < 2 or sizes[-1] < LEAST)


def verified(found: Candidates, n: int, wanted: Wanted) -> Found:
    """Test every string among the people who took no part in the search, and name the most frequent that pass."""
    return named(found, found.names, ranked(found, wanted.false_discoveries), n, wanted)


def ranked(found: Candidates, level: float) -> Ranked:
    """The strings that pass at this rate of false discoveries; all groups say which of them are the most frequent."""
    mechanism, domain, n = found.mechanism, found.mechanism.domain, int(found.sizes[-1])
    cells = domain.word_cells(domain.index(found.names).words) if found.names else np.zeros((0, domain.levels), np.int64)
    shares = _debiased(domain, found.tables[-1][cells[:, -1]])
    errors = np.sqrt(mechanism.noise(np.clip(shares, 0, 1)) / n) * domain.cells / (domain.cells - 1)
    others, more = _others(found, cells)
    p, q = float(mechanism.p), float(mechanism.q)
    by_chance = supported_by_chance(q + (p - q) * found.tables[-1][cells[:, -1]], q, n)
    chances = np.maximum(chances_of(shares - others, np.sqrt(float(mechanism.noise()) / n + more)), by_chance)
    votes = Votes(shares - others, np.sqrt(errors**2 + more), chances, weight_of(mechanism.p, mechanism.q) / n)
    weights = weighed(found.likely)
    good = np.flatnonzero(passing(votes, weights, level))
    pooled, _ = pooled_of(found, [found.names[place] for place in good.tolist()])
    return Ranked(votes, weights, good[np.argsort(-pooled, kind="stable")].tolist())


def _others(found: Candidates, cells: Ints) -> tuple[Floats, Floats]:
    """What likely strings add to the cells of others among those who verify, by the search alone, and the variance of that.

    Of unlikely strings with the same cell only the first can pass: the variance of the others is infinite.
    """
    total, variance, last = np.zeros(len(cells)), np.zeros(len(cells)), cells[:, -1]
    likely = found.likely >= 0.5
    searching = found.sizes.copy()
    searching[-1] = 0
    for place in np.flatnonzero(likely).tolist():
        shared = last == last[place]
        shared[place] = False
        if shared.any():
            values, noise = pooled_of(replace(found, sizes=searching), [found.names[place]])
            total[shared] += values[0] if math.isfinite(values[0]) else 0.0
            variance[shared] += noise[0] if math.isfinite(noise[0]) else math.inf
    for place in np.flatnonzero(~likely).tolist():
        if (~likely[:place] & (last[:place] == last[place])).any():
            variance[place] = math.inf
    return total, variance


def weight_of(p: Fraction, q: Fraction) -> float:
    """How many honest people one false report counts as, at most, whether it raises a share or lowers it."""
    return float(max(1 - q, p) / (p - q))


def weighed(likely: Floats) -> Floats:
    """How the risk of an error is split among the strings that are verified: mostly by how likely the search makes each."""
    return (1 - EVEN) * likely / max(likely.sum(), 1e-300) + EVEN / max(len(likely), 1)


def pooled_of(found: Candidates, names: Sequence[str | int]) -> tuple[Floats, Floats]:
    """The shares of strings from all groups that asked for the whole of them, and the variances of these."""
    domain = found.mechanism.domain
    if not names:
        return np.zeros(0), np.zeros(0)
    batch = domain.index(list(names))
    cells, used = domain.word_cells(batch.words), _wholes(domain, batch.words[:, : domain.width])
    values = _pooled(domain, found.sizes, found.tables, used, cells, alone=True)
    weight = (np.concatenate([used, np.ones((len(used), 1), np.bool_)], axis=1) * found.sizes).sum(axis=1)
    noise = found.mechanism.noise(np.clip(values, 0, 1))
    return values, np.asarray(np.divide(noise, weight, out=np.full(len(weight), math.inf), where=weight > 0))


def passing(votes: Votes, weights: Floats, level: float) -> Bools:
    """Which strings pass at this rate of false discoveries.

    The weights sum to one, and do not depend on those who verify. Benjamini, Hochberg 1995; with weights: Genovese,
    Roeder, Wasserman 2006.
    """
    if not len(weights):
        return np.zeros(0, np.bool_)
    weighed = votes.chances / weights
    good = np.flatnonzero(np.sort(weighed) <= level * np.arange(1, len(weights) + 1))
    return np.asarray(weighed <= level * (good[-1] + 1 if len(good) else 1))


def named(found: Candidates, names: Sequence[str | int], ranked: Ranked, n: int, wanted: Wanted) -> Found:
    """The strings that passed, in this order, as far as they are asked for; all intervals hold together.

    The search bounds the shares of all others but those of the blocklist.
    """
    votes, weights, order = ranked
    shown = [place for place in order if str(names[place]) not in wanted.blocklist][: wanted.find]
    width = np.array([NormalDist().inv_cdf(1 - (1 - wanted.confidence) / 2 * weight) for weight in weights])
    low, high = (np.clip(votes.shares + side * width * votes.errors, 0, 1) for side in (-1, 1))
    made = [
        Name(names[place], *(float(each[place]) for each in (votes.shares, low, high, votes.chances, votes.errors)))
        for place in sorted(shown, key=lambda place: -votes.shares[place])
    ]
    known = {*(names[place] for place in shown), *wanted.blocklist}
    missing = Missing.of(found.reports, 1 - wanted.confidence).bound(known)
    asked = (wanted.find, wanted.confidence, wanted.false_discoveries)
    return Found(tuple(made), n, *asked, len(names), len(order), missing, votes.gain)


def _debiased(domain: Strings, shares: Floats) -> Floats:
    """Shares of cells less what other strings that are hashed to the same cell add on average."""
    return np.asarray((shares - 1 / domain.cells) * domain.cells / (domain.cells - 1))


def _wholes(domain: Strings, words: Words32) -> Bools:
    return np.array([complete(domain, row) for row in words], np.bool_).reshape(len(words), len(domain.prefixes))


def _pooled(domain: Strings, sizes: Ints, tables: Sequence[Floats], used: Bools, cells: Ints, alone: bool = False) -> Floats:
    """Shares of strings from the groups whose prefix holds all of them, and from those who verify.

    With `alone`, only where no other of these strings has the same cell.
    """
    total, weight = np.zeros(len(cells)), np.zeros(len(cells))
    for level, table in enumerate(tables):
        own = used[:, level] if level < len(tables) - 1 else np.ones(len(cells), np.bool_)
        if alone and level < len(tables) - 1:
            own = own & np.array([(cells[:, level] == cell).sum() == 1 for cell in cells[:, level]], np.bool_)
        total += np.where(own, _debiased(domain, table[cells[:, level]]) * sizes[level], 0.0)
        weight += own * sizes[level]
    return np.asarray(np.divide(total, weight, out=np.full(len(cells), math.nan), where=weight > 0))


def known(mechanism: PrefixHashing, tally: Tally, strings: Sequence[str | int]) -> Estimate:
    """The shares of strings that were listed after the reports were collected, from every group that asked for all of them.

    Nothing is searched for, so that the standard errors are those of all these people.
    """
    domain, sizes = mechanism.domain, mechanism.sizes(tally)
    batch = domain.index(list(strings))
    cells, used = domain.word_cells(batch.words), _wholes(domain, batch.words[:, : domain.width])
    if isinstance(domain, SiftedStrings):
        used[domain.is_known(batch.words, cells[:, -1])] = False  # only those who report whole strings do so for these
    tables = [mechanism.table(tally, level) for level in range(mechanism.levels)]
    values = _pooled(domain, sizes, tables, used, cells)
    weight = (np.concatenate([used, np.ones((len(used), 1), np.bool_)], axis=1) * sizes).sum(axis=1)
    return Estimate(list(strings), values, mechanism.noise(np.clip(values, 0, 1)) / weight, tally.n)
