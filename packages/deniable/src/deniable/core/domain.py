"""What an answer may be: a domain turns answers into indices, and refuses anything else without repeating it."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from inspect import signature
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ints
from deniable.core.frames import answers
from deniable.core.frozen import Frozen
from deniable.core.spec import Spec, plain
from deniable.errors import EmptyBatch, OutsideDomain

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from deniable.core.coins import Coins

    Answer = TypeVar("Answer", default=object, covariant=True)
    Truth = TypeVar("Truth", default=object, covariant=True)
    Index = TypeVar("Index", default=Ints, covariant=True)
else:
    from typing import TypeVar

    Answer, Truth, Index = TypeVar("Answer"), TypeVar("Truth"), TypeVar("Index")

Label = str | int
Answers = Sequence[object] | NDArray[np.generic]

LARGEST_DOMAIN = 1 << 31


class Input(NamedTuple):
    """A number from `low` to `high` that a law starts from, or with a width a vector of them."""

    name: str
    low: int
    high: int
    width: int | None = None


class Domain(Frozen, ABC, Generic[Answer, Index]):
    """A finite set of answers, numbered from 0; `labels` lists them in order.

    It is generic in the type of an answer, and in what a batch of answers becomes before it is randomized: mostly an array
    of their numbers.

    A set too large to be listed, such as all sets of items, has `size` and `answer` of its own, and `labels` for what is
    estimated.
    """

    kind: ClassVar[str]  # what its JSON calls it
    ordered: ClassVar[bool] = False  # whether the answers have an order, which charts keep
    labels: Sequence[Answer]

    @property
    def size(self) -> int:
        """How many answers there are."""
        return len(self.labels)

    def answer(self, index: int) -> Answer:
        """The answer with this number: what certificates go through."""
        return self.labels[index]

    @abstractmethod
    def index(self, values: Answers) -> Index:
        """The index of each answer, or whatever else mechanisms for this domain start from; refuses what is outside."""

    @property
    def inputs(self) -> Sequence[Input] | None:
        """What `encode` gives, with bounds; None: answers that only encoders look into (see `tracing.encoded`)."""
        return (Input("answer", 0, self.size - 1),)

    def encode(self, values: Answers) -> Sequence[Ints]:
        """The answers as whole numbers within the bounds of `inputs`, an array for each; no coin is tossed here."""
        return (cast(Ints, self.index(values)),)

    def placed(self, codes: Sequence[Ints], coins: "Coins") -> Index:
        """What mechanisms start from: the codes themselves, or with coins that round them. This is part of the law."""
        return cast(Index, codes[0])

    def place(self, values: Answers, coins: "Coins") -> Index:
        """As `index`, where coins may decide, such as those that round a number to one of the two nearest indices."""
        return self.placed(self.encode(values), coins)

    def snapped(self, values: Answers) -> Answers:
        """The answers themselves, or where they may lie between two of ours, the nearest of ours; no coin is tossed."""
        return values

    def spec(self) -> Mapping[str, object]:
        """The domain as plain data, for JSON and fingerprints: its kind, and its fields but for options not used."""
        kept: dict[str, object] = {"kind": self.kind}
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if value or not (each.default is None or each.default is False):
                kept[each.name] = plain(value)
        return kept

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """The domain that `spec` described."""
        given = signature(cls).parameters.values()
        return cls(**{each.name: spec[each.name] for each in given if each.name in spec or each.default is each.empty})


AnyDomain = Domain[object, object]  # whatever its mechanisms start from; `Domain` alone has an index for each answer


def formatted_size(size: int) -> str:
    """How many answers there are, for people to read.

    >>> formatted_size(1024), formatted_size(2**7680)
    ('1,024', 'about 10^2311')
    """
    return f"{size:,}" if size < 10**15 else f"about 10^{math.floor(math.log10(size))}"


class Rows(Sequence[object]):
    """A batch of answers in columns of its own, which its domain understands: its slices are such batches."""


def checked_answers(values: Answers) -> Answers:
    """A batch that can be sliced; a lone word is refused, since it would be read letter by letter."""
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise OutsideDomain("Answers must be a list; for one answer write perturb([answer]).")
    batch = values if isinstance(values, list | tuple | np.ndarray | Rows) else answers(values)
    if len(batch) == 0:
        raise EmptyBatch("This batch has no answers. Give at least one.")
    return batch
