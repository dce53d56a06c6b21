"""Strings of which some are listed: any other counts as one more answer, whatever it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from deniable.arrays import Ints
from deniable.core import Answers, Domain
from deniable.domains.strings import LONGEST, NORMAL, Strings
from deniable.errors import InvalidParameter

OTHER = "(another)"  # the label of all strings that are not listed; no normalised string of a list may be it
MOST_LISTED = 1000


@dataclass(frozen=True)
class ListedStrings(Domain[str, Ints]):
    """Strings as in `Strings`, normalised in the same way; each of `names` has its own number, and all others have one.

    >>> domain = ListedStrings(["new york", "lyon"])
    >>> domain.index(["New  York", "Paris", "lyon"]).tolist()
    [0, 2, 1]
    """

    names: Sequence[str]
    length: int = LONGEST
    normal: Sequence[str] = NORMAL
    kind = "listed-strings"

    def __post_init__(self) -> None:
        names = tuple(self.names)
        alike = Strings("bytes", self.length, normal=self.normal)
        if not 1 <= len(names) <= MOST_LISTED or len(set(names)) != len(names):
            raise InvalidParameter(f"A list of strings has 1 to {MOST_LISTED:,} different strings.")
        if any(name == OTHER or alike.normalised(name) != name for name in names):
            raise InvalidParameter("A string of the list is not normalised, or stands for all others. Normalise it first.")
        self._fix(names=names, normal=alike.normal)

    @cached_property
    def strings(self) -> Strings:
        """Any string that may be answered."""
        return Strings("bytes", self.length, normal=self.normal)

    @property
    def labels(self) -> Sequence[str]:  # type: ignore[override]
        """The listed strings, and the one label of all others."""
        return (*self.names, OTHER)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def index(self, values: Answers) -> Ints:
        others = len(self.names)
        known = {each: self._places.get(self.strings.normalised(cast(str, each)), others) for each in _distinct(values)}
        return np.array([known[each] for each in values], np.int64)

    def answer(self, index: int) -> str:
        """The last is any string that is not listed."""
        if index < len(self.names):
            return self.names[index]
        return next(each for place in range(len(self.names) + 1) if (each := f"other {place}") not in self._places)


def _distinct(values: Answers) -> set[object]:
    try:
        return set(values)
    except TypeError:  # a list, which is refused as no string
        return {tuple(each) if isinstance(each, list) else each for each in values}
