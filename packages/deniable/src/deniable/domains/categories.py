"""Categories: answers to choose from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from deniable.arrays import Ints
from deniable.core import LARGEST_DOMAIN, Answers, Domain, Label, Spec
from deniable.core.orders import inside
from deniable.core.spec import whole
from deniable.errors import InvalidParameter, OutsideDomain

NO_ANSWER = "(no answer)"  # the answer of people who skip an optional question


@dataclass(frozen=True)
class Categories(Domain[Label, Ints]):
    """Answers to choose from: words, whole numbers, or `range(n)` for n numbered answers.

    With `other`, one of the answers, everything outside becomes that answer instead of being refused.

    >>> Categories(["red", "green"]).index(["green", "red", "green"])
    array([1, 0, 1])
    >>> Categories(["red", "green", "another"], other="another").index(["blue"])
    array([2])
    """

    labels: Sequence[Label]
    other: Label | None = None

    def __init__(self, labels: Iterable[Label], other: Label | None = None) -> None:
        if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
            raise InvalidParameter(
                'Categories need a list of answers, for example Categories(["yes", "no"]), or Categories(range(16)) for '
                "numbered ones."
            )
        if isinstance(labels, range) and labels.start == 0 and labels.step == 1:
            kept: Sequence[Label] = labels
        else:
            kept = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
            if any(isinstance(label, bool) or not isinstance(label, str | int) for label in kept):
                raise InvalidParameter("Each category must be a string or a whole number.")
            if len(set(kept)) != len(kept):
                raise InvalidParameter("Two categories are the same. List every answer once.")
            if kept == tuple(range(len(kept))):
                kept = range(len(kept))
        if not kept[1:]:
            raise InvalidParameter(
                f"A question needs at least two possible answers; this one has {len(kept)}. "
                'Add the missing ones, or an answer such as "none of these".'
            )
        if kept[LARGEST_DOMAIN:]:
            raise InvalidParameter(f"A question may have at most {LARGEST_DOMAIN:,} possible answers.")
        if other is not None and other not in kept:
            raise InvalidParameter("The answer that stands for all others must be one of the categories. Add it.")
        self._fix(labels=kept, other=other)

    @cached_property
    def _positions(self) -> "_Positions":
        return _Positions((label, position) for position, label in enumerate(self.labels))

    def index(self, values: Answers) -> Ints:
        if isinstance(self.labels, range):
            found = self._own_index(values)
        else:
            answers = values.tolist() if isinstance(values, np.ndarray) else values
            try:
                found = np.fromiter(map(self._positions.__getitem__, answers), np.int64, len(answers))
            except TypeError:  # an answer that cannot be looked up, such as a list
                raise self._refusal() from None
        if len(found) and not inside(found, 0, self.size - 1):
            if self.other is None:
                raise self._refusal()
            found = np.where((found < 0) | (found >= self.size), self.labels.index(self.other), found)
        return found

    def _own_index(self, values: Answers) -> Ints:
        """Numbered answers given as integers are their own index."""
        try:
            numbers = np.asarray(values)
        except ValueError:  # lists of different lengths
            raise self._refusal() from None
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise self._refusal()
        if numbers.dtype == np.uint64:
            numbers = np.minimum(numbers, np.uint64(self.size))  # before it could wrap around to a negative number
        return numbers.astype(np.int64, copy=False)

    def _refusal(self) -> OutsideDomain:
        return OutsideDomain(
            f"An answer is not one of {self.summary()}. Add it to the categories, or map it to an answer such as "
            '"other" first.'
        )

    def summary(self) -> str:
        """The possible answers in a few words, for messages."""
        if isinstance(self.labels, range):
            return f"the whole numbers 0 to {self.size - 1}"
        shown = ", ".join(repr(label) for label in self.labels[:4])
        return shown if self.size <= 4 else f"the {self.size} categories {shown}, ..."

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """The categories that `spec` described."""
        if ("size" in spec) == ("labels" in spec):
            raise InvalidParameter('Categories are described by their "labels", or by a "size".')
        if "size" in spec:
            return super().from_spec({**spec, "labels": range(whole(spec, "size"))})
        return super().from_spec(spec)

    def spec(self) -> Mapping[str, object]:
        answers = {"size": self.size} if isinstance(self.labels, range) else {"labels": list(self.labels)}
        return {"kind": "categories", **answers} | ({} if self.other is None else {"other": self.other})


class _Positions(dict[object, int]):
    def __missing__(self, label: object) -> int:
        return -1
