"""What the rounds of a search say together: the shares in every cell, and how many reports these are worth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats, Ints
from deniable.core import Mechanism, Tally
from deniable.discovery.names import complete
from deniable.domains.sifted_strings import SiftedStrings
from deniable.domains.strings import Strings
from deniable.errors import InvalidParameter
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing
from deniable.mechanisms.discovery.sifted_hashing import SiftedHashing

Round = tuple[Mechanism, Tally]


@dataclass(frozen=True, eq=False)
class Part:
    """The reports of rounds in which known strings are set apart: of each group those in a bucket that depends on the row.

    `rates` is the share of these reports that support each cell, and `slopes` how much it grows with the share of people.
    """

    reports: Ints
    people: Ints
    rates: Sequence[Floats]
    slopes: Floats


@dataclass(frozen=True, eq=False)
class Gathered:
    """The shares of people in each cell of each group, as if `sizes` people had been asked with no string set apart.

    Known strings are subtracted from `tables`, and not from `whole`. `first` and `plain` are the sizes and tables of the
    rounds in which none is set apart; `parts` are the other rounds. The last group has the reports of all rounds.
    """

    mechanism: PrefixHashing
    sizes: Ints
    tables: Sequence[Floats]
    whole: Sequence[Floats]
    first: Ints
    plain: Sequence[Floats]
    parts: Sequence[Part] = ()
    known: Sequence[str | int] = ()


def gathered(rounds: Sequence[Round]) -> Gathered:
    """All rounds that search; the first of them sets no string apart."""
    (mechanism, tally), *others = _totals(rounds)
    sizes, tables = mechanism.sizes(tally), [mechanism.table(tally, level) for level in range(mechanism.levels)]
    for other, _ in others:
        if not isinstance(other, SiftedHashing) or not alike(mechanism, other):
            raise InvalidParameter("The rounds of a search must ask for the same prefixes with the same groups.")
    apart = [(other, own) for other, own in others if isinstance(other, SiftedHashing) and other.taken(own).min() > 1]
    if not apart:
        return Gathered(mechanism, sizes, tables, tables, sizes, tables)
    parts = [_part(other, own) for other, own in apart]
    q, rise = float(mechanism.q), float(mechanism.p - mechanism.q)
    voters = sizes[-1] + sum(int(part.reports[-1]) for part in parts)
    support = (q + rise * tables[-1]) * sizes[-1] + np.sum([part.rates[-1] * part.reports[-1] for part in parts], axis=0)
    last = (support / voters - q) / rise
    known = list(dict.fromkeys(name for other, _ in apart for name in other.domain.known))
    cells, shares = _known(mechanism.domain, known, sizes, tables)
    worth, joined = [], list[Floats]()
    for level in range(mechanism.levels - 1):
        table = tables[level].copy()
        np.subtract.at(table, cells[:, level], shares)
        weights = [float(sizes[level]), *(float(each.reports[level]) * (each.slopes[level] / rise) ** 2 for each in parts)]
        all_tables = [table, *((each.rates[level] - q) / each.slopes[level] for each in parts)]
        joined.append(np.asarray(np.average(all_tables, axis=0, weights=weights)))
        worth.append(round(sum(weights)))
    whole = [table.copy() for table in joined]
    for level, table in enumerate(whole):
        np.add.at(table, cells[:, level], shares)
    first, worths = (np.array([*each, voters]) for each in (sizes[:-1], worth))
    plain = [*tables[:-1], last]
    return Gathered(mechanism, worths, [*joined, last], [*whole, last], first, plain, parts, known)


def _totals(rounds: Sequence[Round]) -> list[tuple[PrefixHashing, Tally]]:
    """The tallies of rounds that ask for the same, added; those first in which no string is set apart."""
    totals: dict[str, tuple[PrefixHashing, Tally]] = {}
    for mechanism, tally in rounds:
        if isinstance(mechanism, PrefixHashing) and tally.n:
            before = totals.get(mechanism.fingerprint)
            totals[mechanism.fingerprint] = (mechanism, tally if before is None else before[1] + tally)
    return sorted(totals.values(), key=lambda each: isinstance(each[0], SiftedHashing))


def sizes_of(rounds: Sequence[Round]) -> Ints:
    """How many people each group has in the rounds in which no string is set apart; none if there is no such round."""
    found = [mechanism.sizes(tally) for mechanism, tally in _totals(rounds) if not isinstance(mechanism, SiftedHashing)]
    return found[0] if found else np.zeros(1, np.int64)


def alike(mechanism: PrefixHashing, other: PrefixHashing) -> bool:
    """Whether both have the same cells and groups, so that their tables can be added."""
    names = ("form", "length", "prefixes", "cells", "normal", "at_most")
    same = all(getattr(mechanism.domain, name) == getattr(other.domain, name) for name in names)
    return same and (mechanism.epsilon, mechanism.base, mechanism.weights) == (other.epsilon, other.base, other.weights)


def sifted(mechanism: PrefixHashing, known: Sequence[str | int]) -> SiftedHashing:
    """The same search with these strings set apart, in an order that says nothing about them."""
    own = mechanism.domain
    names = sorted(known, key=lambda name: (str(type(name)), name))
    domain = SiftedStrings(own.form, own.length, own.prefixes, own.cells, own.normal, own.at_most, names)
    return SiftedHashing(domain, mechanism.epsilon, mechanism.base, mechanism.weights)


def advantage(mechanism: PrefixHashing, share: float) -> float:
    """How many people one counts as if strings of this share are set apart; less than one where that does not pay."""
    odds, base = float(mechanism.odds), mechanism.base
    p, aside = odds / (odds + base), 1 / (odds + base)
    taken, slope = share * (1 - p) + (1 - share) * (1 - aside), p - (1 - aside) / base
    return float(mechanism.noise()) * slope**2 / (taken * (1 - 1 / base) / base)


def _part(mechanism: SiftedHashing, tally: Tally) -> Part:
    people, reports = mechanism.sizes(tally), mechanism.taken(tally)
    rise, q = float(mechanism.slope), float(mechanism.q)
    slopes = rise * people / np.maximum(reports, 1)
    slopes[-1] = rise / (1 - float(mechanism.aside))  # nobody is set apart there
    rates = [
        q + rise * mechanism.table(tally, level) * people[level] / max(int(reports[level]), 1)
        for level in range(mechanism.levels)
    ]
    return Part(reports, people, rates, slopes)


def _known(domain: Strings, known: Sequence[str | int], sizes: Ints, tables: Sequence[Floats]) -> tuple[Ints, Floats]:
    """The cells of known strings, and the share of each by the groups that search and ask for all of it and for no other."""
    words = domain.index(list(known)).words
    cells = domain.word_cells(words)
    shares = np.zeros(len(known))
    for place, row in enumerate(words[:, : domain.width]):
        alone = (cells[:, :-1] == cells[place, :-1]).sum(axis=0) == 1
        whole = np.flatnonzero(complete(domain, row) & alone)
        own = [float(tables[level][cells[place, level]]) for level in whole.tolist()]
        if len(whole):
            shares[place] = max(float(np.average(own, weights=sizes[whole])), 0.0)
    return cells, shares


def most_taken(reports: int, people: int, risk: float) -> float:
    """A bound on how often a bucket that depends on the row is reported, exceeded with this risk (Hoeffding)."""
    return min(1.0, reports / max(people, 1) + math.sqrt(-math.log(risk) / (2 * max(people, 1))))
