"""What an answer may be: a domain turns answers into indices, and refuses anything else without repeating it."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EmptyBatch, OutsideDomain

if TYPE_CHECKING:
    from deniable.core.coins import Coins

Label = str | int
Answers = Sequence[object] | NDArray[Any]

LARGEST_DOMAIN = 1 << 31


class Domain(ABC):
    """A finite set of answers, numbered from 0; `labels` lists them in order.

    A set too large to be listed, such as all sets of items, has `size` and `answer` of its own, and `labels` for what is
    estimated.
    """

    labels: Sequence[Any]

    @property
    def size(self) -> int:
        """How many answers there are."""
        return len(self.labels)

    def answer(self, index: int) -> object:
        """The answer with this number: what certificates go through."""
        return self.labels[index]

    @abstractmethod
    def index(self, values: Answers) -> Any:
        """The index of each answer, or whatever else mechanisms for this domain start from; refuses what is outside."""

    def place(self, values: Answers, coins: "Coins") -> Any:
        """As `index`, where coins may decide, such as those that round a number to one of the two nearest indices."""
        return self.index(values)

    def snapped(self, values: Answers) -> Answers:
        """The answers themselves, or where they may lie between two of ours, the nearest of ours; no coin is tossed."""
        return values

    @abstractmethod
    def spec(self) -> Mapping[str, object]:
        """The domain as plain data, for JSON and fingerprints."""


def formatted_size(size: int) -> str:
    """How many answers there are, for people to read.

    >>> formatted_size(1024), formatted_size(2**7680)
    ('1,024', 'about 10^2311')
    """
    return f"{size:,}" if size < 10**15 else f"about 10^{math.floor(math.log10(size))}"


class Rows(Sequence[Any]):
    """A batch of answers in columns of its own, which its domain understands: its slices are such batches."""


def checked_answers(values: Answers) -> Answers:
    """A batch that can be sliced; a lone word is refused, since it would be read letter by letter."""
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise OutsideDomain("Answers must come as a list; for one answer write perturb([answer]).")
    batch = values if isinstance(values, list | tuple | np.ndarray | Rows) else np.asarray(values)
    if len(batch) == 0:
        raise EmptyBatch("There is no answer in this batch. Give at least one.")
    return batch
