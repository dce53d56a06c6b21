"""Which of very many items a person has, in a few bits: each item is protected on its own."""

import math

import numpy as np

from deniable.arrays import Floats
from deniable.core import Answers, Estimate, Mechanism
from deniable.domains import SparseVector
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.mechanisms.sparse.compressed import Compressed
from deniable.survey.kinds.kind import Details, Kind, WrongDetail

MOST_ITEMS = 1 << 17  # a tally has a counter for each
TYPICAL = 30  # items of a made-up person


class SparseSet(Kind[SparseVector]):
    """A list of the numbers of items, from 0."""

    keys = frozenset({"size", "at_most", "alpha", "protects"})
    unit = "one item that differs"

    def domain(self, details: Details) -> SparseVector:
        if details.get("protects") != "item":
            raise WrongDetail(
                "protects",
                'A question of kind "sparse-set" protects each item that differs, not a whole person. To confirm this, add '
                'protects = "item". To protect a whole person, use kind = "set".',
            )
        size = details.get("size")
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MOST_ITEMS:
            raise WrongDetail(
                "size", f'A question of kind "sparse-set" needs size, the number of items, at most {MOST_ITEMS:,}.'
            )
        try:
            return SparseVector(size, most=details.get("at_most"))
        except (InvalidParameter, TypeError) as error:
            raise WrongDetail("at_most", str(error)) from None

    def mechanism(self, domain: SparseVector, details: Details, epsilon: float, people: int) -> Mechanism:
        try:
            return Compressed(domain, epsilon, details.get("alpha", 1.5))
        except (InvalidParameter, TypeError) as error:
            raise WrongDetail("alpha" if "alpha" in details else "kind", str(error)) from None

    def hint(self, domain: SparseVector) -> str:
        up_to = "" if domain.most is None else f"up to {domain.most} "
        return f"{up_to}numbers from 0 to {domain.size - 1}, separated by spaces; each item is protected on its own"

    def read(self, domain: SparseVector, text: str) -> object:
        try:
            return sorted({int(part) for part in text.replace(",", " ").split()})
        except ValueError:
            raise OutsideDomain("Type the numbers of the items, separated by spaces, or nothing.") from None

    def pretend(self, domain: SparseVector, random: np.random.Generator, people: int) -> Answers:
        """Some items are common and most are rare: the logarithm of an item's number is uniform."""
        sizes = random.integers(0, min(domain.most or TYPICAL, domain.size) + 1, people)
        drawn = np.minimum(np.exp(random.random(int(sizes.sum())) * math.log(domain.size + 1)) - 1, domain.size - 1)
        return [np.unique(part).tolist() for part in np.split(drawn.astype(np.int64), np.cumsum(sizes)[:-1])]

    def cleaned(self, domain: SparseVector, part: Estimate) -> Floats:
        """People may have several items, so shares do not sum to one."""
        return np.clip(part.values, 0, 1)
