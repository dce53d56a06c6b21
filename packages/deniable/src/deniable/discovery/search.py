"""The search: prefixes are extended bit by bit, and the best go on, judged by what all groups so far say of them."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np

from deniable.arrays import Bools, Floats, Ints, Words32
from deniable.discovery.evolution import cap_of
from deniable.domains.string_codes import prefix_code
from deniable.domains.string_hash import begun, finished, hashed, mixed
from deniable.domains.strings import KEY, Strings, leading
from deniable.mechanisms.discovery.prefix_hashing import PrefixHashing

_AT_ONCE = 1 << 19  # prefixes that are scored at a time
_ENDED = 1  # the node of a code whose string is complete


@dataclass(frozen=True, eq=False)
class Paths:
    """Prefixes: their bits as words, where each stands in the code of its form, and its score so far."""

    words: Words32
    nodes: Ints
    scores: Floats

    def __getitem__(self, chosen: "Ints | Bools | slice") -> "Paths":
        return Paths(self.words[chosen], self.nodes[chosen], self.scores[chosen])

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.words)


class Scored(Protocol):
    """Scores of the cells of each level."""

    @property
    def domain(self) -> Strings: ...

    def added(self, level: int, cells: Ints) -> Floats:
        """What a level adds to the scores of prefixes in these cells."""
        ...


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

    @cached_property
    def _added(self) -> list[Floats]:
        """What each cell of a level adds to the score of a prefix."""
        return [self._scored(level, slice(None)) for level in range(len(self.tables))]

    def _scored(self, level: int, cells: "slice | int") -> Floats:
        root = self.roots[level]
        z = self.tables[level][cells] / self.errors[level][cells]
        return np.asarray(root * np.minimum(z, cap_of(self.domain.prefixes[-1]) * root))

    def added(self, level: int, cells: Ints) -> Floats:
        """What a level adds to the scores of prefixes in these cells."""
        return self._added[level][cells]

    def cells(self, words: Words32) -> Ints:
        """The cells of strings at each level of the search."""
        return prefix_cells(self.domain, words)

    def scores(self, words: Words32) -> Floats:
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
        return shares, errors, _parts(shares, errors) @ self.roots

    def beyond(self, cells: Ints) -> Floats:
        """The support of each row by the levels from each one on, a column each, in standard errors of these levels."""
        shares, errors, _ = self.at(cells)
        parts, whole = _parts(shares, errors) * self.roots, self.roots[None, :] ** 2
        return np.asarray(_from_each(parts) / np.sqrt(_from_each(whole)))

    def explain(self, cells: Ints, share: float) -> None:
        """Subtract a string that was found, or with a negative share add it again.

        What is left of a cell has the error of the share that was subtracted from it.
        """
        for level, cell in enumerate(cells.tolist()):
            self.tables[level][cell] -= share
            self._subtracted[level][cell] += share
            frequent = min(max(float(self._subtracted[level][cell]), 0.0), 1.0)
            self.errors[level][cell] = math.sqrt(float(self.noise(frequent)) / int(self.sizes[level]))
            self._added[level][cell] = self._scored(level, cell)

    @cached_property
    def _subtracted(self) -> list[Floats]:
        return [np.zeros(len(table)) for table in self.tables]


def _parts(shares: Floats, errors: Floats) -> Floats:
    """What each level says for a string, in standard errors, if none counts for more than the lowest allows."""
    return np.asarray(np.minimum(shares, (shares + 3 * errors).min(axis=1)[:, None]) / errors)


def _from_each(parts: Floats) -> Floats:
    """The sums of each column and all after it."""
    return np.asarray(np.cumsum(parts[:, ::-1], axis=1)[:, ::-1])


def prefix_cells(domain: Strings, words: Words32) -> Ints:
    """The cells of strings, of which the bits of the longest prefix are given, at each level of the search."""
    columns = [hashed(leading(words, bits), level, domain.cells) for level, bits in enumerate(domain.prefixes)]
    return np.stack(columns, axis=1)


def start(domain: Strings) -> Paths:
    """The empty prefix."""
    return Paths(np.zeros((1, max(domain.width, 1)), np.uint32), np.zeros(1, np.int64), np.zeros(1))


def ended(domain: Strings, paths: Paths, bits: int) -> Bools:
    """Which prefixes of so many bits hold a whole string."""
    return paths.nodes == _ENDED if domain.form != KEY else np.full(paths.number, bits == domain.prefixes[-1])


def search(evidence: Evidence, kept: int) -> Paths:
    """The best whole strings, best first; prefixes are extended level by level, and so many of each length go on.

    Strings that are complete are judged by all levels at once, and go no further.
    """
    domain, done, before = evidence.domain, [], 0
    beam = start(domain)
    for level, bits in enumerate(domain.prefixes):
        beam = _best(extended(evidence, beam, level, before, bits), kept)
        complete = ended(domain, beam, bits)
        if complete.any():
            own = beam[complete]
            done.append(replace(own, scores=evidence.scores(own.words)))
            beam = beam[~complete]
        before = bits
        if beam.number == 0:
            break
    whole = joined(done) if done else beam[np.zeros(beam.number, np.bool_)]
    return whole[np.argsort(-whole.scores, kind="stable")[:kept]]


def joined(paths: Sequence[Paths]) -> Paths:
    """All of these."""
    parts = zip(*((each.words, each.nodes, each.scores) for each in paths), strict=True)
    return Paths(*map(np.concatenate, parts))


def _best(parts: Iterator[Paths], kept: int) -> Paths:
    """The best of many prefixes."""
    found, floor, waiting = None, -np.inf, []
    for part in parts:
        if np.isfinite(floor):
            part = part[part.scores > floor]
        waiting.append(_top(part, kept))
        if sum(each.number for each in waiting) > 4 * kept or found is None:
            found = _top(joined([found, *waiting] if found is not None else waiting), kept)
            waiting = []
            floor = float(found.scores.min()) if found.number == kept else -np.inf
    assert found is not None
    return _top(joined([found, *waiting]), kept)


def _top(paths: Paths, kept: int) -> Paths:
    if paths.number <= kept:
        return paths
    return paths[np.argpartition(paths.scores, paths.number - kept)[paths.number - kept :]]


def extended(scored: Scored, beam: Paths, level: int, before: int, bits: int, least: float | None = None) -> Iterator[Paths]:
    """Extensions of these prefixes from `before` to `bits` bits, with the score of this level added, some at a time.

    All whose score is `least` or more; without `least`, the best at each time.
    """
    many, domain = 1 << bits - before, scored.domain
    patterns, moves = np.arange(many, dtype=np.uint64), _moves(domain.form, bits - before)
    full, used = before // 32, (bits + 31) // 32
    shifted = patterns << np.uint64(32 * used - bits)
    places = [np.uint64(32 * (used - 1 - place)) for place in range(full, used)]
    parts = [(shifted >> place & np.uint64(0xFFFFFFFF)).astype(np.uint32) for place in places]
    states = begun(beam.words, level, full)
    step = max(1, _AT_ONCE // many)
    for first in range(0, beam.number, step):
        own = beam[slice(first, first + step)]
        state = np.repeat(states[first : first + step], many)
        columns = []
        for place, part in enumerate(parts, full):
            columns.append((own.words[:, place, None] | part[None, :]).ravel())
            state = mixed(state, columns[-1])
        scores = np.repeat(own.scores, many) + scored.added(level, finished(state, domain.cells))
        nodes = moves[own.nodes].ravel() if moves is not None else np.zeros(own.number * many, np.int64)
        chosen = np.flatnonzero(nodes >= 0)
        if least is not None:
            chosen = chosen[scores[chosen] >= least]
        elif len(chosen) > 4096:  # no need to copy all words
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
