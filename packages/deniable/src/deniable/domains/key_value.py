"""Sets of keys with a value each: films with ratings, apps with minutes, items with weights."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deniable.arrays import Bools, Floats, Ints
from deniable.core import LARGEST_DOMAIN, WHOLE, Answers, Coins, Domain, Label, Rows, Spec
from deniable.core.spec import whole
from deniable.errors import InvalidParameter, OutsideDomain


@dataclass(frozen=True, eq=False, repr=False)
class Pairs(Rows):
    """Many people's sets in columns: person i has the keys `keys[starts[i]:starts[i + 1]]`, with their `values`.

    Keys are positions in the domain's list. `KeyValue.pairs` makes such a table from columns of users, keys and values.
    """

    starts: Ints
    keys: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, part: Any) -> Any:
        first, last, step = part.indices(len(self)) if isinstance(part, slice) else (0, 0, 0)
        if step != 1:
            raise InvalidParameter("A table of pairs can only be sliced into consecutive people.")
        starts = self.starts[first : max(first, last) + 1]
        inside = slice(int(starts[0]), int(starts[-1]))
        return Pairs(starts - starts[0], self.keys[inside], self.values[inside])

    def __repr__(self) -> str:
        return f"<Pairs: {len(self)} people, {len(self.keys)} pairs>"

    @property
    def sizes(self) -> Ints:
        """How many keys each person has."""
        return np.diff(self.starts)

    @property
    def rows(self) -> Ints:
        """The person of each pair."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def is_whole(self) -> bool:
        """Whether every key has a value, and the sets follow each other from the first key to the last."""
        starts = np.asarray(self.starts)
        ends = len(starts) > 0 and starts[0] == 0 and starts[-1] == len(self.keys) == len(self.values)
        return bool(ends and (starts[1:] >= starts[:-1]).all())

    def numbered(self, number: Ints) -> tuple[Bools, Ints]:
        """Whether each person has a pair with this number, and where it is among all pairs."""
        real = number < self.sizes
        return real, np.where(real, self.starts[:-1] + number, 0)

    def _at(self, people: Ints) -> "Pairs":
        """A table of these people, who may come several times."""
        sizes = self.sizes[people]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        place = np.arange(starts[-1]) + np.repeat(self.starts[:-1][people] - starts[:-1], sizes)
        return Pairs(starts, self.keys[place], self.values[place])

    def first(self, most: int) -> "Pairs":
        """The same people with only the first `most` pairs of each."""
        inside = np.arange(len(self.keys)) - np.repeat(self.starts[:-1], self.sizes) < most
        starts = np.concatenate([[0], np.cumsum(np.minimum(self.sizes, most))])
        return Pairs(starts, self.keys[inside], self.values[inside])

    def shuffled(self, coins: Coins) -> "Pairs":
        """The same people with the pairs of each in random order, so that the first few are a fair choice of all."""
        order = np.lexsort((coins.below(1 << 62, len(self.keys)), self.rows)) if len(self.keys) else np.zeros(0, np.int64)
        return Pairs(self.starts, self.keys[order], self.values[order])


@dataclass(frozen=True)
class KeyValue(Domain[object, Pairs]):
    """Sets of at most `at_most` of the `keys`, each with a value from `low` to `high`; the empty set is one of them.

    An answer is a dictionary or a list of (key, value); many answers may come as `Pairs`. A person with more keys is
    refused; with `cut` the first `at_most` of them count, and `over` counts the people concerned. The fewer keys
    are allowed, the smaller the error of every key.

    Where laws are compared, the answers are all sets with values at the two ends: what is reported about a value between
    them is a mixture of what is reported about the ends, and so never further from another law.

    >>> films = KeyValue(["Alien", "Brazil", "Clue"], low=0.5, high=5, at_most=2)
    >>> films.index([{"Brazil": 4.5}, {}]).sizes
    array([1, 0])
    >>> films.size, films.answer(0), films.answer(1), films.answer(18)
    (19, {}, {'Alien': 0.5}, {'Alien': 5.0, 'Brazil': 5.0})
    """

    labels: Sequence[Label]
    low: float
    high: float
    at_most: int
    cut: bool

    def __init__(self, keys: Iterable[Label], low: float, high: float, at_most: int, cut: bool = False) -> None:
        if isinstance(keys, str | bytes):
            raise InvalidParameter('Keys must be a list, for example KeyValue(["Alien", "Brazil"], 0.5, 5, at_most=2).')
        kept: Sequence[Label] = keys if isinstance(keys, range) else tuple(_plain(key) for key in keys)
        if not kept or kept[LARGEST_DOMAIN:]:
            raise InvalidParameter(f"A question about keys needs 1 to {LARGEST_DOMAIN:,} keys.")
        if not isinstance(kept, range):
            if any(isinstance(key, bool) or not isinstance(key, str | int) for key in kept):
                raise InvalidParameter("Each key must be a string or a whole number.")
            if kept == tuple(range(len(kept))):
                kept = range(len(kept))
            elif len(set(kept)) != len(kept):
                raise InvalidParameter("Two keys are the same. List every key once.")
        ends = [_plain(low), _plain(high)]
        if not all(isinstance(end, int | float) and math.isfinite(end) for end in ends) or not ends[0] < ends[1]:
            raise InvalidParameter("Values need two finite ends, the lower one first, for example low=0.5, high=5.")
        most = _plain(at_most)
        if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= len(kept):
            raise InvalidParameter(
                f"at_most is how many of the {len(kept):,} keys a person's set may have, from 1 to that number; "
                "smaller sets are padded to it."
            )
        self._fix(labels=kept, low=float(ends[0]), high=float(ends[1]), at_most=most, cut=bool(cut))

    @cached_property
    def size(self) -> int:
        """How many sets there are with values at the ends."""
        return sum(self._of_size(k) for k in range(self.at_most + 1))

    def _of_size(self, k: int) -> int:
        return math.comb(len(self.labels), k) << k

    def answer(self, index: int) -> dict[Label, float]:
        """A set with values at the ends; first the empty one, then by size.

        The last one of a size mirrors the first: the same keys with all values high instead of low. So the first, second
        and last set together show a key absent, with the lowest and with the highest value.
        """
        k = 0
        while index >= self._of_size(k):
            index -= self._of_size(k)
            k += 1
        mirrored = 2 * index >= self._of_size(k) > 1
        if mirrored:
            index = self._of_size(k) - 1 - index
        signs, rank = divmod(index, math.comb(len(self.labels), k))
        keys = _combination(len(self.labels), k, rank)
        highs = [bool(signs >> place & 1) != mirrored for place in range(k)]
        return {self.labels[key]: self.high if high else self.low for key, high in zip(keys, highs, strict=True)}

    @cached_property
    def _positions(self) -> dict[Label, int]:
        return {label: position for position, label in enumerate(self.labels)}

    def pairs(self, users: ArrayLike, keys: Sequence[object] | NDArray[Any], values: ArrayLike) -> Pairs:
        """A table from one row for each pair; people come in the order of their sorted names, who has no pair not at all.

        >>> KeyValue(["a", "b"], 0, 1, at_most=2).pairs([7, 3, 7], ["a", "b", "b"], [0.1, 0.2, 0.3])
        <Pairs: 2 people, 3 pairs>
        """
        names, key, value = np.asarray(users), self._keys(keys), np.asarray(values)
        if names.ndim != 1 or not len(names) == len(key) == len(value) or value.ndim != 1:
            raise InvalidParameter("Users, keys and values must be columns of the same length.")
        if value.dtype.kind not in "iuf":
            raise OutsideDomain("A value is not a number. Remove or correct that pair.")
        people, person = np.unique(names, return_inverse=True)
        order = np.argsort(person, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(person, minlength=len(people)))])
        return Pairs(starts, key[order], value[order].astype(np.float64))

    def _keys(self, keys: Sequence[object] | NDArray[Any]) -> Ints:
        if isinstance(self.labels, range) and isinstance(keys, np.ndarray) and keys.dtype.kind in "iu":
            return keys.astype(np.int64)
        listed = keys.tolist() if isinstance(keys, np.ndarray) else keys
        try:
            return np.fromiter((self._positions.get(key, -1) for key in listed), np.int64, len(listed))  # type: ignore[arg-type]
        except TypeError:  # a key that cannot be looked up, such as a list
            raise self._no_key() from None

    def _no_key(self) -> OutsideDomain:
        return OutsideDomain(f"A key is not one of the {len(self.labels):,} keys of this question. Add it, or leave it out.")

    @property
    def inputs(self) -> None:
        """Sets are for encoders: see `encoded`."""
        return None

    def index(self, values: Answers) -> Pairs:
        """The sets as a table, with the keys of each person in order; refuses what is outside."""
        table = values if isinstance(values, Pairs) else self._table(values)
        if not table.is_whole():
            raise InvalidParameter(
                "A table of pairs needs a value for every key, and starts from 0 up to their number, in order."
            )
        table = self._sorted(table)
        if len(table) and table.sizes.max() > self.at_most:
            if not self.cut:
                raise OutsideDomain(
                    f"A person has more keys than the {self.at_most} that are allowed. Raise at_most, or pass cut=True to "
                    "take only the first of them."
                )
            table = self._sorted((values if isinstance(values, Pairs) else self._table(values)).first(self.at_most))
        return table

    def _sorted(self, table: Pairs) -> Pairs:
        """With the keys of each person in order; refuses what is outside, and a key that a person has twice."""
        from deniable.kernels import pairs  # which few questions need

        if len(table.keys) and table.keys.dtype.kind not in "iu":
            raise self._no_key()
        starts, keys = (np.ascontiguousarray(each, np.int64) for each in (table.starts, table.keys))
        values = np.ascontiguousarray(table.values, np.float64)
        wrong = pairs.fault(starts, keys, values, len(self.labels), self.low, self.high)
        if wrong == pairs.KEY_OUTSIDE:
            raise self._no_key()
        if wrong == pairs.VALUE_OUTSIDE:
            raise OutsideDomain(
                f"A value lies outside the range from {self.low:g} to {self.high:g}, or is not a number. Widen the range, "
                "or clip the values first."
            )
        if wrong == pairs.UNSORTED:
            keys, values, twice = pairs.in_order(starts, keys, values)
            if twice:
                raise OutsideDomain("A person has the same key twice. Give one value for each key of a person.")
        return Pairs(starts, keys, values)

    def _table(self, values: Answers) -> Pairs:
        distinct = {id(each): each for each in values}  # a certificate asks about the same set many times
        if 2 * len(distinct) <= len(values):
            known = {name: place for place, name in enumerate(distinct)}
            return self._table(list(distinct.values()))._at(np.array([known[id(each)] for each in values]))
        try:
            sets = [list(each.items()) if isinstance(each, Mapping) else [(k, v) for k, v in each] for each in values]  # type: ignore[union-attr]
        except (TypeError, ValueError):
            raise OutsideDomain("An answer must be a dictionary of keys and values, or a list of such pairs.") from None
        numbers = [_plain(value) for _, value in chain(*sets)]
        if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
            raise OutsideDomain("A value is not a number. Remove or correct that pair.")
        starts = np.concatenate([[0], np.cumsum([len(each) for each in sets], dtype=np.int64)])
        return Pairs(starts, self._keys([_plain(key) for key, _ in chain(*sets)]), np.array(numbers, np.float64))

    @property
    def scored(self) -> bool:
        """Whether values are asked for; keys with values from 0 to 1 are there or not, and have the value 1 if they are."""
        return (self.low, self.high) != (0.0, 1.0)

    def read(self, text: str) -> dict[Label, float] | None:
        """What a text such as "Alien = 4, Brazil = 2.5" says, or "Alien, Brazil" without scores; None if that is unclear.

        >>> KeyValue(["Alien", "Brazil"], 0, 5, at_most=2).read("Alien = 4, Brazil = 2.5")
        {'Alien': 4.0, 'Brazil': 2.5}
        """
        found: dict[Label, float] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, given, number = part.rpartition("=")
            if not self.scored and (not given or self._is_key(self.key(part))):
                name, number = part, "1"
            key = self.key(name.strip())
            try:
                found[key] = float(number) if key not in found else math.nan  # a key twice
            except ValueError:
                return None
        return found

    def key(self, name: str) -> Label:
        """The key that is written so, or the name itself where there is none."""
        if isinstance(self.labels, range):
            return int(name) if name.isascii() and name.isdigit() and len(name) < 19 else name
        return self._names.get(name, name)

    def _is_key(self, key: Label) -> bool:
        return key in (self.labels if isinstance(self.labels, range) else self._positions)

    @cached_property
    def _names(self) -> dict[str, Label]:
        return {str(label): label for label in self.labels}

    def over(self, values: Answers) -> int:
        """How many people have more keys than `at_most`: whom `cut` concerns."""
        table = values if isinstance(values, Pairs) else self._table(values)
        return int((table.sizes > self.at_most).sum())

    def asked(self, table: Pairs, key: Ints) -> Ints:
        """The chance that the value of this key is rounded up, in parts of 2^53; one more for who does not have the key."""
        from deniable.kernels import pairs  # which few questions need

        return pairs.heads_of(table.starts, table.keys, table.values, key, self.low, self.high, WHOLE)

    def heads(self, values: Floats) -> Ints:
        """The probability, in units of 2^-53, with which a value is rounded up to the high end: right on average."""
        from deniable.kernels import pairs  # which few questions need

        return pairs.shares(values, self.low, self.high, WHOLE)

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """The domain that `spec` described."""
        return super().from_spec({**spec, "keys": range(whole(spec, "size"))} if "size" in spec else spec)

    def spec(self) -> Mapping[str, object]:
        keys = {"size": len(self.labels)} if self.labels == range(len(self.labels)) else {"keys": list(self.labels)}
        ends = {"kind": "key-value", **keys, "low": self.low, "high": self.high, "at_most": self.at_most}
        return ends | ({"cut": True} if self.cut else {})


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _combination(n: int, k: int, rank: int) -> list[int]:
    """The k-subset of range(n) with this rank in lexicographic order."""
    chosen: list[int] = []
    for element in range(n):
        if len(chosen) == k:
            break
        with_it = math.comb(n - element - 1, k - len(chosen) - 1)
        if rank < with_it:
            chosen.append(element)
        else:
            rank -= with_it
    return chosen
