"""The search: prefixes are extended bit by bit, and the best go on, judged by what all groups so far say of them."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.discovery.evolution import CAP
from deniable.domains.string_codes import prefix_code
from deniable.domains.string_hash import Words, begun, finished, mixed
from deniable.domains.strings import KEY, Strings, leading
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing

_AT_ONCE = 1 << 19  # prefixes that are scored at a time
_ENDED = 1  # the node of a code whose string is complete


@dataclass(frozen=True, eq=False)
class Paths:
    """Prefixes: their bits as words, where each stands in the code of its form, and its score so far."""

    words: Words
    nodes: Ints
    scores: Floats

    def __getitem__(self, chosen: "Ints | Bools | slice") -> "Paths":
        return Paths(self.words[chosen], self.nodes[chosen], self.scores[chosen])

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.words)


@dataclass(eq=False)
class Evidence:
    """What each group says of each cell, less what strings explain that were found already."""

    domain: Strings
    tables: list[Floats]  # shares
    errors: list[Floats]  # their standard errors
    sizes: Ints  # reports of each group; the last group verifies and is no part of the search
    noise: Callable[[Floats | float], Floats]

    @classmethod
    def of(cls, mechanism: PrefixHashing, sizes: Ints, tables: Sequence[Floats]) -> "Evidence":
        """The evidence in the tables of all groups but the last, which verifies."""
        levels, noise = mechanism.levels - 1, float(mechanism.noise())
        errors = [np.full(len(tables[level]), math.sqrt(noise / int(sizes[level]))) for level in range(levels)]
        return cls(mechanism.domain, [table.copy() for table in tables[:levels]], errors, sizes[:levels], mechanism.noise)

    @property
    def roots(self) -> Floats:
        """The weight of each level in a score."""
        return np.sqrt(self.sizes / self.sizes.sum())

    def added(self, level: int, cells: Ints) -> Floats:
        """What a level adds to the scores of prefixes in these cells."""
        root = self.roots[level]
        z = self.tables[level][cells] / self.errors[level][cells]
        return np.asarray(root * np.minimum(z, CAP * root))

    def cells(self, words: Words) -> Ints:
        """The cells of strings at each level of the search."""
        prefixes = enumerate(self.domain.prefixes)
        return np.stack([_cells(self.domain, leading(words, bits), level) for level, bits in prefixes], axis=1)

    def scores(self, words: Words) -> Floats:
        """The scores of whole strings, from all levels."""
        return self.at(self.cells(words))[2]

    def at(self, cells: Ints) -> tuple[Floats, Floats, Floats]:
        """The shares in these cells, a column for each level, their standard errors, and the scores of the rows."""
        columns = list(enumerate(cells.T))
        shares = np.stack([self.tables[level][own] for level, own in columns], axis=1)
        errors = np.stack([self.errors[level][own] for level, own in columns], axis=1)
        return shares, errors, np.sum([self.added(level, own) for level, own in columns], axis=0)

    def supported(self, cells: Ints) -> tuple[Floats, Floats, Floats]:
        """As `at`, with the support of each row: its score if no level counts for more than the lowest allows."""
        shares, errors, _ = self.at(cells)
        bounds = (shares + 3 * errors).min(axis=1)
        return shares, errors, (np.minimum(shares, bounds[:, None]) / errors) @ self.roots

    def explain(self, cells: Ints, share: float) -> None:
        """Subtract a string that was found; where it is frequent, what is left has the larger error of its share."""
        for level, cell in enumerate(cells.tolist()):
            self.tables[level][cell] -= share
            own = float(np.sqrt(self.noise(min(max(share, 0.0), 1.0)) / self.sizes[level]))
            self.errors[level][cell] = max(own, self.errors[level][cell])


def _cells(domain: Strings, words: Words, level: int) -> Ints:
    return finished(begun(words, level, words.shape[1]), domain.cells)


class Search(NamedTuple):
    """The best whole strings of a search, best first, and the scores below which prefixes were lost, level by level."""

    found: Paths
    floors: list[float]


def search(evidence: Evidence, kept: int) -> Search:
    """Extend prefixes level by level. Strings that are complete are judged by all levels at once, and go no further."""
    domain, width = evidence.domain, max(evidence.domain.width, 1)
    beam = Paths(np.zeros((1, width), np.uint32), np.zeros(1, np.int64), np.zeros(1))
    done, lost, before = [], [], 0
    for level, bits in enumerate(domain.prefixes):
        beam, floor = _best(_extended(evidence, beam, level, before, bits), kept)
        lost.append(floor)
        complete = (beam.nodes == _ENDED) if domain.form != KEY else np.full(beam.number, level == len(domain.prefixes) - 1)
        if complete.any():
            own = beam[complete]
            done.append(replace(own, scores=evidence.scores(own.words)))
            beam = beam[~complete]
        before = bits
        if beam.number == 0:
            break
    whole = _joined(done) if done else beam[np.zeros(beam.number, np.bool_)]
    return Search(whole[np.argsort(-whole.scores, kind="stable")[:kept]], lost)


def _joined(paths: Sequence[Paths]) -> Paths:
    parts = zip(*((each.words, each.nodes, each.scores) for each in paths), strict=True)
    return Paths(*map(np.concatenate, parts))


def _best(parts: Iterator[Paths], kept: int) -> tuple[Paths, float]:
    """The best of many prefixes, and the score of the worst of them if any were lost."""
    found, floor, waiting = None, -np.inf, []
    for part in parts:
        if np.isfinite(floor):
            part = part[part.scores > floor]
        waiting.append(_top(part, kept))
        if sum(each.number for each in waiting) > 4 * kept or found is None:
            found = _top(_joined([found, *waiting] if found is not None else waiting), kept)
            waiting = []
            floor = float(found.scores.min()) if found.number == kept else -np.inf
    assert found is not None
    found = _top(_joined([found, *waiting]), kept)
    return found, float(found.scores.min()) if found.number == kept else -np.inf


def _top(paths: Paths, kept: int) -> Paths:
    if paths.number <= kept:
        return paths
    return paths[np.argpartition(paths.scores, paths.number - kept)[paths.number - kept :]]


def _extended(evidence: Evidence, beam: Paths, level: int, before: int, bits: int) -> Iterator[Paths]:
    """All extensions of these prefixes from `before` to `bits` bits, with the score of this level, some at a time."""
    many, domain = 1 << bits - before, evidence.domain
    patterns, moves = np.arange(many, dtype=np.uint64), _moves(domain.form, bits - before)
    full, used = before // 32, (bits + 31) // 32
    shifted = patterns << np.uint64(32 * used - bits)
    places = [np.uint64(32 * (used - 1 - place)) for place in range(full, used)]
    parts = [(shifted >> place & np.uint64(0xFFFFFFFF)).astype(np.uint32) for place in places]
    states = begun(beam.words, level, full)
    step = max(1, _AT_ONCE // many)
    for start in range(0, beam.number, step):
        own = beam[slice(start, start + step)]
        state = np.repeat(states[start : start + step], many)
        columns = []
        for place, part in enumerate(parts, full):
            columns.append((own.words[:, place, None] | part[None, :]).ravel())
            state = mixed(state, columns[-1])
        scores = np.repeat(own.scores, many) + evidence.added(level, finished(state, domain.cells))
        nodes = moves[own.nodes].ravel() if moves is not None else np.zeros(own.number * many, np.int64)
        chosen = np.flatnonzero(nodes >= 0)
        if len(chosen) > 4096:  # no need to copy all words
            cut = np.partition(scores[chosen], -4096)[-4096]
            chosen = chosen[scores[chosen] >= cut]
        words = own.words[chosen // many].copy()
        for place, column in enumerate(columns, full):
            words[:, place] = column[chosen]
        yield Paths(words, nodes[chosen], scores[chosen])


@lru_cache(maxsize=32)
def _moves(form: str, bits: int) -> Ints | None:
    """Where each node of a code leads by each pattern of so many bits, -1 where no string goes on like that."""
    if form == KEY:
        return None
    tree = np.array([*prefix_code(form).tree, (-1, -1)], np.int64)  # the last, -1, is nowhere
    found = np.arange(len(tree) - 1)[:, None]
    for _ in range(bits):
        found = tree[found].reshape(len(found), -1)
    return found
