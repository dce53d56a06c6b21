"""Find the most frequent strings among reports: search, verify, and say what may be missing."""

import math
import unicodedata
from collections.abc import Collection, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Floats, Ints
from deniable.core import Coins, Estimate, Tally
from deniable.discovery.evolution import survival, tail
from deniable.discovery.found import Found, Name
from deniable.discovery.planning import KEPT, plan_discovery
from deniable.discovery.search import Evidence, Paths, search
from deniable.domains.string_codes import prefix_code
from deniable.domains.strings import KEY, NORMAL, Strings
from deniable.errors import InvalidParameter
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing

# The support, in standard errors, that a string needs to be found and explained away, search after search. Frequent
# strings go first: what they add to prefixes hides rarer ones. Of 2^64 strings that nobody has, none reaches the last.
CERTAIN = (60.0, 25.0, 14.0, 11.0, 9.5, 9.5)
RIVAL = 0.75  # the part of the support of a string that another needs to be verified beside it
_MOST_RIVALS = 3
_MOST_FOUND = 1000
Row = NDArray[np.uint32]


def discover(
    strings: Sequence[str | int | Sequence[str]] | NDArray[np.generic],
    epsilon: float,
    find: int = 20,
    form: str = "text",
    normal: Sequence[str] = NORMAL,
    at_most: int = 1,
    coins: Coins | None = None,
    mechanism: PrefixHashing | None = None,
    confidence: float = 0.95,
    false_discoveries: float = 0.03,
) -> Found:
    """The most frequent strings of these people, each of whom reports with privacy loss epsilon; a simulation of devices.

    >>> from deniable.core import SeededCoins
    >>> words = ["yes"] * 6000 + ["perhaps"] * 3000 + [f"word {number}" for number in range(1000)]
    >>> found = discover(words, epsilon=4.0, find=3, coins=SeededCoins(1))
    >>> [name.name for name in found]
    ['yes', 'perhaps']
    """
    chosen = plan_discovery(epsilon, form, normal=normal, at_most=at_most) if mechanism is None else mechanism
    return decode(chosen, chosen.tally(chosen.perturb(strings, coins)), find, confidence, false_discoveries)


def decode(
    mechanism: PrefixHashing,
    tally: Tally,
    find: int = 20,
    confidence: float = 0.95,
    false_discoveries: float = 0.03,
    blocklist: Collection[str] = (),
) -> Found:
    """The most frequent strings behind a tally. Strings of the blocklist are verified as others are, but not named."""
    if not 1 <= find <= _MOST_FOUND or not 0 < confidence < 1 or not 0 < false_discoveries < 1:
        raise InvalidParameter(
            f"Give the number of names to find, 1 to {_MOST_FOUND:,}, and a confidence and a rate of false discoveries "
            "between 0 and 1."
        )
    wanted, sizes = _Wanted(find, confidence, false_discoveries, frozenset(blocklist)), mechanism.sizes(tally)
    if sizes.min() < 2:
        return Found((), tally.n, find, confidence, false_discoveries, 0, 0, 1.0)
    tables = [mechanism.table(tally, level) for level in range(mechanism.levels)]
    words, lost = _candidates(mechanism, Evidence.of(mechanism, sizes, tables), 2 * find)
    return _verified(mechanism, sizes, tables, words, lost, wanted)


class _Wanted(NamedTuple):
    """What was asked for."""

    find: int
    confidence: float
    false_discoveries: float
    blocklist: frozenset[str]


class _Certain(NamedTuple):
    """A string that was explained away, with its share, and those that lost their support by it: it may be one of them."""

    share: float
    row: Row
    rivals: list[Row]


def _candidates(mechanism: PrefixHashing, evidence: Evidence, most: int) -> tuple[Row, list[float]]:
    """The strings to verify, as rows of words; and the scores below which others were lost."""
    certain: list[_Certain] = []
    for needed in CERTAIN:
        result = search(evidence, KEPT)
        rest = _decodable(mechanism.domain, result.found)
        new = _explained(evidence, rest.words, most - len(certain), needed)
        certain += new
        if (not new and needed == CERTAIN[-1]) or len(certain) >= most:
            break
    scores = evidence.scores(rest.words) if rest.number else rest.scores
    rows = {row.tobytes(): row for each in certain for row in (each.row, *each.rivals)}
    order = [place for place in np.argsort(-scores, kind="stable").tolist() if rest.words[place].tobytes() not in rows]
    chosen = order[: max(most - len(rows), most // 2)]
    floor = max(result.floors[-1], float(scores[order[len(chosen)]]) if len(order) > len(chosen) else -math.inf)
    found = [*rows.values(), *(rest.words[place] for place in chosen)]
    return np.array(found, np.uint32).reshape(len(found), -1), [*result.floors[:-1], floor]


def _explained(evidence: Evidence, words: Row, most: int, needed: float) -> list[_Certain]:
    """The strings among these that are certain; their shares are subtracted from the evidence.

    Every level bounds the share of a string from above, since its cell may hold others too. The string with the most
    support within its bound goes first; what remains in its cells then backs no other. It may still be wrong, where its
    last bits are those of another frequent string: so strings that lose by it are verified too.
    """
    found: list[_Certain] = []
    cells = evidence.cells(words) if len(words) else np.zeros((0, len(evidence.tables)), np.int64)
    left = np.ones(len(words), np.bool_)
    while len(found) < most and len(words):
        shares, errors, support = evidence.supported(cells)
        left &= support >= needed
        if not left.any():
            break
        best = int(np.argmax(np.where(left, support, -np.inf)))
        left[best] = False
        whole = _complete(evidence.domain, words[best])
        own = np.minimum(shares[best], shares[best].min() + 4 * errors[best])
        share = float((own * evidence.sizes)[whole].sum() / evidence.sizes[whole].sum()) if whole.any() else 0.0
        if share > 0:
            evidence.explain(cells[best], share)
            after = evidence.supported(cells)[2]
            near = (support >= max(RIVAL * support[best], CERTAIN[-1] - 1)) & (after < 0.8 * support)
            near[best] = False
            rivals = [place for place in np.argsort(-support, kind="stable").tolist() if near[place]][:_MOST_RIVALS]
            found.append(_Certain(share, words[best], [words[place] for place in rivals]))
    return found


def _complete(domain: Strings, row: Row) -> NDArray[np.bool_]:
    """The levels whose prefix holds the whole string, so that their cell has no other but by chance."""
    if domain.form == KEY:
        return np.ones(len(domain.prefixes), np.bool_)
    name = _named(domain, row)
    size = prefix_code(domain.form).size(str(name).encode())
    return np.array([bits >= size for bits in domain.prefixes])


def _decodable(domain: Strings, paths: Paths) -> Paths:
    """The strings that can be answers: of valid characters, and normalised."""
    good = [_named(domain, row) is not None for row in paths.words]
    return paths[np.array(good, np.bool_)] if len(good) else paths


def _named(domain: Strings, row: Row) -> str | int | None:
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


def _verified(
    mechanism: PrefixHashing, sizes: Ints, tables: list[Floats], words: Row, lost: list[float], wanted: _Wanted
) -> Found:
    """Test every string among the people who took no part in the search, and name the most frequent that pass."""
    domain = mechanism.domain
    names = [str(name) if domain.form != KEY else int(name) for row in words if (name := _named(domain, row)) is not None]
    cells = domain.word_cells(domain.index(names).words) if names else np.zeros((0, domain.levels), np.int64)
    shares = _debiased(domain, tables[-1][cells[:, -1]])
    single = np.array([(cells[:place, -1] != cell).all() for place, cell in enumerate(cells[:, -1])], np.bool_)
    error = math.sqrt(float(mechanism.noise()) / int(sizes[-1]))
    chances = np.where(single, [tail(share / error) for share in shares], 1.0)
    passed, needed = _passing(chances, wanted.false_discoveries)
    pooled = _pooled(domain, sizes, tables, _wholes(domain, words), cells, alone=True)
    order = [place for place in np.argsort(-pooled, kind="stable").tolist() if passed[place]]
    shown = [place for place in order if str(names[place]) not in wanted.blocklist][: wanted.find]
    width = NormalDist().inv_cdf(1 - (1 - wanted.confidence) / 2 / max(len(names), 1))
    room = width * np.sqrt(mechanism.noise(np.clip(shares, 0, 1)) / int(sizes[-1])) * domain.cells / (domain.cells - 1)
    low, high = np.clip(shares - room, 0, 1), np.clip(shares + room, 0, 1)
    made = [
        Name(names[place], float(shares[place]), float(low[place]), float(high[place]), float(chances[place]))
        for place in sorted(shown, key=lambda place: -shares[place])
    ]
    missing = _missing(mechanism, sizes, lost, needed, wanted.confidence)
    missing = max([missing, *(float(high[place]) for place in set(order) - set(shown))])
    asked = (wanted.find, wanted.confidence, wanted.false_discoveries)
    return Found(tuple(made), int(sizes.sum()), *asked, len(names), len(order), min(missing, 1.0))


def _debiased(domain: Strings, shares: Floats) -> Floats:
    """Shares of cells less what other strings that are hashed to the same cell add on average."""
    return np.asarray((shares - 1 / domain.cells) * domain.cells / (domain.cells - 1))


def _passing(chances: Floats, level: float) -> tuple[NDArray[np.bool_], float]:
    """Which pass at this rate of false discoveries, and the z that was needed (Benjamini, Hochberg 1995)."""
    ordered = np.sort(chances)
    good = np.flatnonzero(ordered <= level * np.arange(1, len(chances) + 1) / max(len(chances), 1))
    cut = level * (good[-1] + 1 if len(good) else 1) / max(len(chances), 1)
    return chances <= cut, NormalDist().inv_cdf(1 - cut)


def _wholes(domain: Strings, words: Row) -> NDArray[np.bool_]:
    return np.array([_complete(domain, row) for row in words], np.bool_).reshape(len(words), len(domain.prefixes))


def _pooled(
    domain: Strings, sizes: Ints, tables: list[Floats], used: NDArray[np.bool_], cells: Ints, alone: bool = False
) -> Floats:
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
    return np.asarray(total / weight)


def _missing(mechanism: PrefixHashing, sizes: Ints, lost: list[float], needed: float, confidence: float) -> float:
    """The share above which no string is missing with this confidence: at most 1 / s strings have a share of s or more."""
    searching = sizes[:-1]
    roots = np.sqrt(searching / searching.sum()).tolist()[: len(lost)]
    every = math.sqrt(float(mechanism.noise()) / int(searching.sum()))
    error = math.sqrt(float(mechanism.noise()) / int(sizes[-1]))

    def risk(share: float) -> float:
        return (1 - survival(roots, lost, min(share / every, 100.0)) + tail(share / error - needed)) / share

    low, high = 0.0, 1.0
    if risk(1.0) > 1 - confidence:
        return 1.0
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if risk(middle) > 1 - confidence else (low, middle)
    return high


def known(mechanism: PrefixHashing, tally: Tally, strings: Sequence[str]) -> Estimate:
    """The shares of strings that were listed after the reports were collected, from every group that asked for all of them.

    Nothing is searched for, so that the standard errors are those of all these people.
    """
    domain, sizes = mechanism.domain, mechanism.sizes(tally)
    batch = domain.index(list(strings))
    cells, used = domain.word_cells(batch.words), _wholes(domain, batch.words[:, : domain.width])
    tables = [mechanism.table(tally, level) for level in range(mechanism.levels)]
    values = _pooled(domain, sizes, tables, used, cells)
    weight = (np.concatenate([used, np.ones((len(used), 1), np.bool_)], axis=1) * sizes).sum(axis=1)
    return Estimate(list(strings), values, mechanism.noise(np.clip(values, 0, 1)) / weight, tally.n)
