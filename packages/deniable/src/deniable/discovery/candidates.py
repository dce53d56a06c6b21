"""The strings to verify: what a search suggests, and how likely each is."""

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock

import numpy as np

from deniable.arrays import Floats, Ints, Words32
from deniable.discovery.gathered import Gathered, Round, gathered
from deniable.discovery.names import complete, name_of
from deniable.discovery.planning import KEPT, RIVALS, WIDE
from deniable.discovery.search import Evidence, Paths, search
from deniable.domains.string_codes import prefix_code
from deniable.domains.strings import KEY, Strings, leading
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing

# The support, in standard errors, that a string needs to be found and explained away, search after search, if it has 64
# unknown bits, and for others in proportion to the root of these. Frequent strings go first: what they add to prefixes
# hides rarer ones. Of 2^64 strings that nobody has, none reaches the last.
CERTAIN = (60.0, 25.0, 14.0, 11.0, 9.5)
SWEEPS = 2  # how often rivals are compared again, given all other strings that are found
STRONG = 14.0  # hardly any string has so much support that owes all of it to others
ALMOST = 0.99  # the likelihood of a string that is called certain
NEAR, DOUBT = 0.75, math.exp(-4)  # rivals with nearly as much support at any time stay so likely: cells may mislead
CHANCE = math.sqrt(2 * math.log(2) * 64)  # the support that the luckiest of 2^64 strings has which nobody has
REMEMBERED = 8  # searches, each done once for a tally


@dataclass(frozen=True, eq=False)
class Candidates:
    """The strings to verify, and beside them what the reports of each group say.

    `likely` and `support` follow from the search alone, in which the last group takes no part. The support is in standard
    errors, and zero where a string was not certain enough to be explained away.
    """

    reports: Gathered
    sizes: Ints
    tables: Sequence[Floats]
    words: Words32
    names: Sequence[str | int]
    likely: Floats
    support: Floats

    @property
    def mechanism(self) -> PrefixHashing:
        """What was asked for, if no string was set apart."""
        return self.reports.mechanism


_lock = Lock()
_found: OrderedDict[tuple[object, ...], Candidates] = OrderedDict()


def candidates_of(rounds: Sequence[Round], most: int) -> Candidates:
    """At most so many strings that the search suggests; the same tallies are searched once, however often this is called."""
    digests = [(each.fingerprint, tally.n, blake2b(tally.counts.tobytes()).digest()) for each, tally in rounds]
    key = (*digests, most)
    with _lock:
        if key not in _found:
            _found[key] = searched(gathered(rounds), most)
            while len(_found) > REMEMBERED:
                _found.popitem(last=False)
        return _found[key]


def searched(reports: Gathered, most: int) -> Candidates:
    """At most so many strings that the reports of all groups but the last suggest.

    Strings that are certain are found first, and subtracted. The last search is wider.
    """
    mechanism = reports.mechanism
    evidence = Evidence.of(mechanism, reports.sizes, reports.tables)
    domain, groups = mechanism.domain, list[Rivals]()
    known = {row.tobytes(): (row, 1.0, STRONG) for row in _rows(domain, reports.known)}
    found = None
    for needed in CERTAIN:
        found = _decodable(domain, search(evidence, KEPT)) if found is None else found
        if new := _explained(evidence, found.words, needed):
            found = None  # what was hidden may show now
            groups += new
            for group in groups * SWEEPS:
                group.compare(evidence)
        if len(groups) >= most:
            break
    for row, likely, support in (each for group in groups for each in group.likely):
        before = known.get(row.tobytes(), (row, 0.0, 0.0))
        known[row.tobytes()] = (row, max(likely, before[1]), max(support, before[2]))
    rest = _decodable(domain, search(evidence, WIDE))
    cells = evidence.cells(rest.words) if rest.number else np.zeros((0, len(evidence.tables)), np.int64)
    own = Support.of(evidence, rest.words, cells)
    order = [
        place for place in np.argsort(-own.strength, kind="stable").tolist() if rest.words[place].tobytes() not in known
    ]
    chosen = order[: max(most - len(known), most // 2)]
    rows = [*(row for row, _, _ in known.values()), *(rest.words[place] for place in chosen)]
    words = np.array(rows, np.uint32).reshape(len(rows), -1)
    names = [name for row in words if (name := name_of(domain, row)) is not None]
    chances = [*(each for _, each, _ in known.values()), *own.likely[chosen].tolist()]
    certain = np.array([*(each for _, _, each in known.values()), *np.zeros(len(chosen))])
    return Candidates(reports, reports.sizes, reports.whole, words, names, np.array(chances), certain)


def _rows(domain: Strings, names: Sequence[str | int]) -> Words32:
    """The bits of strings that prefixes are taken from, as far as the longest prefix goes."""
    return leading(domain.index(list(names)).words, domain.prefixes[-1]) if names else np.zeros((0, 1), np.uint32)


@dataclass(frozen=True, eq=False)
class Support:
    """How well strings are supported, a row each, by the levels from each one on, and the bits that these have to tell.

    Texts share prefixes: where others begin like a string, the levels of these prefixes say nothing for the string itself.
    So a text must stand out at the levels from each one on, as if all before it were about others. Keys share none.
    """

    beyond: Floats
    unknown: Floats

    @classmethod
    def of(cls, evidence: Evidence, words: Words32, cells: Ints) -> "Support":
        """By the evidence that is left; a column of infinitely many bits is not asked for."""
        if not len(words):
            return cls(np.zeros((0, 1)), np.ones((0, 1)))
        return cls(evidence.beyond(cells), unknown_bits(evidence.domain, words))

    @property
    def strength(self) -> Floats:
        """The support in standard errors, as if each string had 64 unknown bits."""
        lucky = np.sqrt(2 * math.log(2) * self.unknown)
        own = np.where(np.isfinite(lucky), np.clip(self.beyond, 0, None) / lucky, np.inf)
        return np.asarray(CHANCE * own.min(axis=1))

    @property
    def likely(self) -> Floats:
        """How likely each string is: z makes it exp(z^2 / 2) times as likely as if nobody had it, and b bits 2^-b times."""
        odds = np.clip(self.beyond, 0, None) ** 2 / 2 - math.log(2) * self.unknown
        least = np.where(np.isfinite(self.unknown), odds, np.inf).min(axis=1)
        return np.asarray(1 / (1 + np.exp(-np.clip(least, -30, 30))))


def unknown_bits(domain: Strings, words: Words32) -> Floats:
    """The bits of each string that the levels from each one on have to tell, infinitely many where that is not asked.

    For texts, those after the prefix of the level before, and as many as it takes to number the prefixes that went on.
    """
    found = np.full((len(words), len(domain.prefixes)), np.inf)
    if domain.form == KEY:
        found[:, 0] = domain.length
        return found
    before, most, code = np.array([0, *domain.prefixes[:-1]]), domain.prefixes[-1], prefix_code(domain.form)
    bits = np.array([min(code.size(str(name_of(domain, row)).encode()), most) for row in words], np.float64)
    left = bits[:, None] - before
    return np.where(left > 0, left + math.log2(KEPT), np.inf)


@dataclass(eq=False)
class Rivals:
    """Strings that share prefixes, one of which is frequent; its share is split between them by their likelihoods."""

    words: Words32
    cells: Ints
    bits: Floats  # the longer a string, the less likely beforehand
    parts: Floats
    most: Floats  # the most support that each had
    share: float = 0.0

    @classmethod
    def of(cls, words: Words32, cells: Ints, bits: Floats) -> "Rivals":
        """None of them is explained yet."""
        return cls(words, cells, bits, np.zeros(len(words)), np.zeros(len(words)))

    @property
    def likely(self) -> list[tuple[Words32, float, float]]:
        """The strings that may be the frequent one, how likely each is, and its support if it is almost certain."""
        chances = np.maximum(self.parts, np.where(self.most >= NEAR * self.most.max(), DOUBT, 0.0))
        support = np.where(self.parts > ALMOST, self.most, 0.0)
        places = np.flatnonzero(chances > 1e-3).tolist()
        return [(self.words[place], float(chances[place]), float(support[place])) for place in places]

    def compare(self, evidence: Evidence, rest: Floats | float = 0.0) -> None:
        """Decide again which of them is frequent, given all other strings that were subtracted from the evidence.

        Every level bounds the share of a string from above, since its cell may hold others too. `rest` is twice the
        log-likelihood of what remains if each of them is the frequent one, up to a constant.
        """
        self.remove(evidence)
        shares, errors, support = evidence.supported(self.cells)
        twice = np.clip(support, 0, None) ** 2 - 2 * math.log(2) * self.bits + rest
        best, self.most = int(np.argmax(twice)), np.maximum(self.most, support)
        whole = complete(evidence.domain, self.words[best])
        own = np.minimum(shares[best], shares[best].min() + 4 * errors[best])
        share = float((own * evidence.sizes)[whole].sum() / evidence.sizes[whole].sum()) if whole.any() else 0.0
        likely = np.exp((twice - twice[best]) / 2)
        self.parts, self.share = likely / likely.sum(), max(share, 0.0)
        self._explain(evidence, 1)

    def remove(self, evidence: Evidence) -> None:
        """Add what was subtracted for them again."""
        self._explain(evidence, -1)

    def _explain(self, evidence: Evidence, sign: int) -> None:
        for place in np.flatnonzero(self.parts > 1e-3).tolist() if self.share else []:
            evidence.explain(self.cells[place], sign * self.share * float(self.parts[place]))


def _explained(evidence: Evidence, words: Words32, needed: float) -> list[Rivals]:
    """The strings among these that are certain, each with its rivals; their shares are subtracted from the evidence.

    The string with the most support goes first. Strings with the same first prefixes may be the frequent one instead. One
    of these that owes its support to the cell of another frequent string leaves that one without.
    """
    found: list[Rivals] = []
    cells = evidence.cells(words) if len(words) else np.zeros((0, len(evidence.tables)), np.int64)
    families = np.unique(cells[:, :2], axis=0, return_inverse=True)[1].ravel()
    left, unknown = np.ones(len(words), np.bool_), unknown_bits(evidence.domain, words)
    while len(words):
        own = Support(evidence.beyond(cells), unknown)
        support = own.beyond[:, 0]
        left &= own.strength >= needed
        if not left.any():
            break
        best = int(np.argmax(np.where(left, support, -np.inf)))
        alike = slice(2 if evidence.domain.form == KEY else max(2, int(np.isfinite(unknown[best]).sum()) - 1))
        family = np.flatnonzero((cells[:, alike] == cells[best, alike]).all(axis=1))
        family = family[np.argsort(-support[family], kind="stable")]
        chosen = np.array([best, *family[family != best]])[:RIVALS]
        left[chosen] = False
        others = np.unique(families[left & (support >= STRONG) & (families != families[best])])
        rest = np.zeros(len(chosen))
        near = support[chosen] >= NEAR * support[best]
        for place in np.flatnonzero(near).tolist() if near.sum() > 1 and len(others) else []:
            alone = Rivals.of(words[chosen[[place]]], cells[chosen[[place]]], unknown[chosen[[place]], 0])
            alone.compare(evidence)
            most = np.zeros(families.max() + 1)
            np.maximum.at(most, families, evidence.supported(cells)[2])
            rest[place] = float((most[others] ** 2).sum())
            alone.remove(evidence)
        rest[~near] = rest[near].min()
        group = Rivals.of(words[chosen], cells[chosen], unknown[chosen, 0])
        group.compare(evidence, rest)
        if group.share:
            found.append(group)
    return found


def _decodable(domain: Strings, paths: Paths) -> Paths:
    """The strings that can be answers: of valid characters, and normalised."""
    good = [name_of(domain, row) is not None for row in paths.words]
    return paths[np.array(good, np.bool_)] if len(good) else paths
