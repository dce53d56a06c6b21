"""The strings to verify: what a search suggests, and how likely each is."""

import math
import unicodedata
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ints
from deniable.core import Tally
from deniable.discovery.planning import KEPT, RIVALS, WIDE
from deniable.discovery.search import Evidence, Paths, search
from deniable.domains.string_codes import prefix_code
from deniable.domains.strings import KEY, Strings
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing

# The support, in standard errors, that a string needs to be found and explained away, search after search, if it has 64
# unknown bits, and for others in proportion to the root of these. Frequent strings go first: what they add to prefixes
# hides rarer ones. Of 2^64 strings that nobody has, none reaches the last.
CERTAIN = (60.0, 25.0, 14.0, 11.0, 9.5)
SWEEPS = 2  # how often rivals are compared again, given all other strings that are found
STRONG = 14.0  # hardly any string has so much support that owes all of it to others
NEAR, DOUBT = 0.75, math.exp(-4)  # rivals with nearly as much support at any time stay so likely: cells may mislead
CHANCE = math.sqrt(2 * math.log(2) * 64)  # the support that the luckiest of 2^64 strings has which nobody has
REMEMBERED = 8  # searches, each done once for a tally
Row = NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The strings to verify, and beside them what the reports of each group say.

    `likely` follows from the search alone, in which the last group takes no part. `strong`: how many strings are backed
    so well that rarer ones are found too.
    """

    mechanism: PrefixHashing
    sizes: Ints
    tables: Sequence[Floats]
    words: Row
    names: Sequence[str | int]
    likely: Floats
    strong: int


_lock = Lock()
_found: OrderedDict[tuple[str, int, bytes, int], Candidates] = OrderedDict()


def candidates_of(mechanism: PrefixHashing, tally: Tally, most: int) -> Candidates:
    """At most so many strings that the search suggests; the same tally is searched once, however often this is called."""
    key = (mechanism.fingerprint, tally.n, blake2b(tally.counts.tobytes()).digest(), most)
    with _lock:
        if key not in _found:
            sizes = mechanism.sizes(tally)
            tables = [mechanism.table(tally, level) for level in range(mechanism.levels)]
            _found[key] = searched(mechanism, sizes, tables, most)
            while len(_found) > REMEMBERED:
                _found.popitem(last=False)
        return _found[key]


def searched(mechanism: PrefixHashing, sizes: Ints, tables: Sequence[Floats], most: int) -> Candidates:
    """At most so many strings that the reports of all groups but the last suggest.

    Strings that are certain are found first, and subtracted. The last search is wider.
    """
    evidence = Evidence.of(mechanism, sizes, tables)
    domain, known, groups = mechanism.domain, dict[bytes, tuple[Row, float]](), list[Rivals]()
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
    for row, likely in (each for group in groups for each in group.likely):
        known[row.tobytes()] = (row, max(likely, known.get(row.tobytes(), (row, 0.0))[1]))
    rest = _decodable(domain, search(evidence, WIDE))
    cells = evidence.cells(rest.words) if rest.number else np.zeros((0, len(evidence.tables)), np.int64)
    own = Support.of(evidence, rest.words, cells)
    order = [
        place for place in np.argsort(-own.strength, kind="stable").tolist() if rest.words[place].tobytes() not in known
    ]
    chosen = order[: max(most - len(known), most // 2)]
    rows = [*(row for row, _ in known.values()), *(rest.words[place] for place in chosen)]
    words = np.array(rows, np.uint32).reshape(len(rows), -1)
    names = [name for row in words if (name := name_of(domain, row)) is not None]
    chances = [*(each for _, each in known.values()), *own.likely[chosen].tolist()]
    strong = sum(float(group.most.max()) >= STRONG for group in groups)
    return Candidates(mechanism, sizes, tables, words, names, np.array(chances), strong)


@dataclass(frozen=True, eq=False)
class Support:
    """How well strings are supported, a row each, by the levels from each one on, and the bits that these have to tell.

    Texts share prefixes: where others begin like a string, the levels of these prefixes say nothing for the string itself.
    So a text must stand out at the levels from each one on, as if all before it were about others. Keys share none.
    """

    beyond: Floats
    unknown: Floats

    @classmethod
    def of(cls, evidence: Evidence, words: Row, cells: Ints) -> "Support":
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


def unknown_bits(domain: Strings, words: Row) -> Floats:
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

    words: Row
    cells: Ints
    bits: Floats  # the longer a string, the less likely beforehand
    parts: Floats
    most: Floats  # the most support that each had
    share: float = 0.0

    @classmethod
    def of(cls, words: Row, cells: Ints, bits: Floats) -> "Rivals":
        """None of them is explained yet."""
        return cls(words, cells, bits, np.zeros(len(words)), np.zeros(len(words)))

    @property
    def likely(self) -> list[tuple[Row, float]]:
        """The strings that may be the frequent one, and how likely each is."""
        chances = np.maximum(self.parts, np.where(self.most >= NEAR * self.most.max(), DOUBT, 0.0))
        return [(self.words[place], float(chances[place])) for place in np.flatnonzero(chances > 1e-3).tolist()]

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


def _explained(evidence: Evidence, words: Row, needed: float) -> list[Rivals]:
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


def complete(domain: Strings, row: Row) -> NDArray[np.bool_]:
    """The levels whose prefix holds the whole string, so that their cell has no other but by chance."""
    if domain.form == KEY:
        return np.ones(len(domain.prefixes), np.bool_)
    name = name_of(domain, row)
    size = prefix_code(domain.form).size(str(name).encode())
    return np.array([bits >= size for bits in domain.prefixes])


def _decodable(domain: Strings, paths: Paths) -> Paths:
    """The strings that can be answers: of valid characters, and normalised."""
    good = [name_of(domain, row) is not None for row in paths.words]
    return paths[np.array(good, np.bool_)] if len(good) else paths


def name_of(domain: Strings, row: Row) -> str | int | None:
    """The string of a row of words; None if it cannot be an answer."""
    number = int.from_bytes(row.astype(">u4").tobytes(), "big")
    bits = 32 * len(row)
    if domain.form == KEY:
        return number >> bits - domain.length
    text = prefix_code(domain.form).text(number, bits)
    try:
        name = (text or b"").decode()
    except UnicodeDecodeError:
        return None
    shown = all(unicodedata.category(each)[0] != "C" for each in name)  # no control or formatting characters
    try:
        return name if shown and domain.normalised(name) == name else None
    except ValueError:
        return None
