"""Strings of which some are known already: these are set apart, so that reports are about the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.arrays import Bools, Ints, Words32
from deniable.domains.strings import KEY, Batch, Strings
from deniable.errors import InvalidParameter

MOST_KNOWN = 1000


@dataclass(frozen=True)
class SiftedStrings(Strings):
    """As `Strings`, but the prefixes of `known` strings share one cell of their own, after the last of all others.

    The cell of a whole string is the same as if none were known.

    >>> domain = SiftedStrings(prefixes=[16, 32], cells=1000, known=["new york"])
    >>> domain.cells_of(domain.index(["New York", "lyon"])).tolist()
    [[1000, 1000, 900], [815, 608, 139]]
    """

    known: Sequence[str | int] = ()
    kind = "sifted-strings"

    def __post_init__(self) -> None:
        super().__post_init__()
        known = tuple(self.known)
        if not 1 <= len(known) <= MOST_KNOWN or len(set(known)) != len(known):
            raise InvalidParameter(f"There are 1 to {MOST_KNOWN:,} known strings, all of them different.")
        if any((self.key(each) if self.form == KEY else self.normalised(str(each))) != each for each in known):
            raise InvalidParameter("A known string is not normalised. Normalise it first.")
        self._fix(known=known)

    @property
    def codes(self) -> int:
        return self.cells + 1

    @cached_property
    def _known(self) -> tuple[Words32, Ints]:
        """The words of the known strings, and the cell of each as a whole."""
        words = self.index([*self.known]).words
        return words, self.word_cells(words)[:, -1]

    def is_known(self, words: Words32, whole: Ints) -> Bools:
        """Which strings are known, given their words and the cell of each as a whole."""
        found = np.zeros(len(words), np.bool_)
        for row, cell in zip(*self._known, strict=True):
            alike = np.flatnonzero(whole == cell)
            found[alike] |= (words[alike] == row).all(axis=1)
        return found

    def cells_of(self, batch: Batch, draw: Ints | None = None) -> Ints:
        """The cells of one string of each person; those of prefixes are one and the same for all known strings."""
        words = batch.words[batch.starts if draw is None else batch.starts + np.asarray(draw) % batch.counts]
        cells = self.word_cells(words)
        cells[self.is_known(words, cells[:, -1]), :-1] = self.cells
        return cells
