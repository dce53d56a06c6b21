"""Which of very many items people have, in a few bits: each item is protected by itself."""

import math

import numpy as np

from deniable.core.domain import Answers, Domain
from deniable.core.mechanism import Mechanism
from deniable.domains import SparseVector
from deniable.errors import InvalidParameter, OutsideDomain
from deniable.mechanisms.sparse.compressed import Compressed
from deniable.survey.kind import Details, Kind, WrongDetail

MOST_ITEMS = 1 << 17  # a tally has a counter for each
TYPICAL = 30  # items of a made-up person


def _items(details: Details) -> SparseVector:
    if details.get("protects") != "item":
        raise WrongDetail(
            "protects",
            'A question of kind "sparse-set" spends its epsilon on every item that differs, not on a whole person. Say that '
            'this is meant: protects = "item". For a promise to a whole person use kind = "set".',
        )
    size = details.get("size")
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MOST_ITEMS:
        raise WrongDetail(
            "size", f'A question of kind "sparse-set" needs its size: how many items there are, at most {MOST_ITEMS:,}.'
        )
    try:
        return SparseVector(size, most=details.get("at_most"))
    except (InvalidParameter, TypeError) as error:
        raise WrongDetail("at_most", str(error)) from None


def _compressed(domain: Domain, details: Details, epsilon: float, people: int) -> Mechanism:
    assert isinstance(domain, SparseVector)
    try:
        return Compressed(domain, epsilon, details.get("alpha", 1.5))
    except (InvalidParameter, TypeError) as error:
        raise WrongDetail("alpha" if "alpha" in details else "kind", str(error)) from None


def _hint(domain: Domain) -> str:
    assert isinstance(domain, SparseVector)
    up_to = "" if domain.most is None else f"up to {domain.most} "
    return f"{up_to}numbers from 0 to {domain.size - 1}, with blanks between them; each item is protected by itself"


def _read(domain: Domain, text: str) -> object:
    try:
        return sorted({int(part) for part in text.replace(",", " ").split()})
    except ValueError:
        raise OutsideDomain("Type the numbers of items with blanks between them, or nothing.") from None


def _pretend(domain: Domain, random: np.random.Generator, people: int) -> Answers:
    """Some items are common and most are rare: the logarithm of an item's number is uniform."""
    assert isinstance(domain, SparseVector)
    sizes = random.integers(0, min(domain.most or TYPICAL, domain.size) + 1, people)
    drawn = np.minimum(np.exp(random.random(int(sizes.sum())) * math.log(domain.size + 1)) - 1, domain.size - 1)
    return [np.unique(part).tolist() for part in np.split(drawn.astype(np.int64), np.cumsum(sizes)[:-1])]


SPARSE_SET = Kind(
    frozenset({"size", "at_most", "alpha", "protects"}),
    _items,
    _compressed,
    _hint,
    _read,
    _pretend,
    unit="one item that differs",
)
