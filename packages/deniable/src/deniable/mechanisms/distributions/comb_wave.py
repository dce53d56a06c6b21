"""A square wave in several pieces: as coarse as the questions allow, and still fine enough for spikes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from deniable.arrays import Bools, Floats, Ints
from deniable.core import Coins, Domain, PrivacyLoss, lookup
from deniable.errors import InvalidParameter
from deniable.mechanisms.algebra.tuning import is_whole
from deniable.mechanisms.distributions.distribution_mechanism import MOST_POINTS, DistributionMechanism

# Pieces of the window for 128 answers, by epsilon: where each begins and ends, and the number of places. They were found by
# a search over all windows of up to six pieces for the smallest expected error of the distribution function from 100,000
# people, half of it on smooth and half on spiky distributions (`research/experiments/distributions.py` checks them).
PIECES: Mapping[float, tuple[int, tuple[int, ...]]] = {
    0.5: (173, (0, 11, 92, 143)),
    1.0: (338, (0, 31, 98, 101, 149, 188, 210, 219, 316, 322)),
    2.0: (306, (0, 5, 7, 10, 17, 34, 160, 171, 172, 182)),
    4.0: (423, (0, 1, 2, 5, 141, 144, 156, 157, 282, 295)),
}
UNIT = 128
# The same for 96 answers that go round and as many places, by a search over windows of up to five pieces for the smallest
# product of the errors that planners compare, for 24, 96 and 240 answers and 20 % of people asked for points.
ROUND_PIECES: Mapping[float, tuple[int, ...]] = {
    0.5: (0, 6, 20, 21, 25, 51),
    1.0: (0, 3, 20, 41, 55, 56),
    2.0: (0, 13, 22, 24, 35, 36),
    4.0: (0, 1, 2, 6),
}
ROUND_UNIT = 96


@dataclass(frozen=True)
class CombWave(DistributionMechanism):
    """Report one of `places`; those of the window, which begins at the true answer, are `odds` times as likely as others.

    The window consists of pieces, [pieces[0], pieces[1]), [pieces[2], pieces[3]), ..., counted from the true answer and
    wrapped round. Every such window says as much in total about the shares, if it has 1 / (odds + 1) of all places; the
    pieces decide how much of that is about coarse and how much about fine structure: one long piece shows little of
    spikes, a design shows little of anything coarse. Without pieces it takes the best known ones. With as many places as
    answers it goes round: the last answer is a neighbour of the first.
    """

    domain: Domain
    epsilon: float
    pieces: Sequence[int] = ()
    places: int = 0
    wire = "comb-wave-1"
    candidate = "comb"

    def __post_init__(self) -> None:
        if not len(self.pieces) and self.places == 0:
            places, pieces = best_pieces(self.domain.size, float(self.epsilon))
            self._fix(places=places, pieces=pieces)
        pieces = tuple(self.pieces)
        most = 4 * max(self.domain.size, 8)
        rising = all(map(is_whole, pieces)) and all(a < b for a, b in pairwise((-1, *pieces)))
        if not is_whole(self.places) or not self.domain.size <= self.places <= min(most, 4 * MOST_POINTS) or not rising:
            raise InvalidParameter(
                "A window has increasing ends of pieces, and as many places as answers up to 4 times that."
            )
        if not pieces or len(pieces) % 2 or pieces[-1] > self.places or sum(pieces[1::2]) - sum(pieces[::2]) >= self.places:
            raise InvalidParameter("The pieces of a window are pairs of ends within its places, and leave some places out.")
        self._fix(pieces=tuple(map(int, pieces)))
        super().__post_init__()

    @classmethod
    def round(cls, domain: Domain, epsilon: float) -> "CombWave":
        """The best known window for answers that go round."""
        return cls(domain, epsilon, round_pieces(domain.size, float(epsilon)), domain.size)

    @property
    def circular(self) -> bool:  # type: ignore[override]
        return self.places == self.domain.size

    @property
    def cells(self) -> int:
        return self.places

    @cached_property
    def window(self) -> Bools:
        """Which places are in the window of the first answer."""
        held = np.zeros(self.places, np.bool_)
        for start, end in zip(self.pieces[::2], self.pieces[1::2], strict=True):
            held[start:end] = True
        return held

    @cached_property
    def _offsets(self) -> Ints:
        """The places of the window, then the others, each in order: part of the wire format."""
        return np.argsort(~self.window, kind="stable")

    @cached_property
    def inside(self) -> Fraction:
        """The probability that the report lies in the window."""
        width = int(self.window.sum())
        return width * self.odds / (width * self.odds + self.places - width)

    @cached_property
    def matrix(self) -> Floats:
        width = int(self.window.sum())
        law = np.where(self.window, float(self.inside / width), float((1 - self.inside) / (self.places - width)))
        offset = (np.arange(self.places)[None, :] - np.arange(self.domain.size)[:, None]) % self.places
        return np.asarray(law[offset])

    def randomize(self, truth: Ints, coins: Coins) -> Mapping[str, Ints]:
        width = int(self.window.sum())
        offset = lookup(self._offsets, coins.split(self.inside, width, self.places - width, len(truth)))
        return {"value": (offset + truth) % self.places}

    def loss(self) -> PrivacyLoss:
        return PrivacyLoss(self.odds)


def best_pieces(size: int, epsilon: float) -> tuple[int, tuple[int, ...]]:
    """The number of places and the ends of the pieces, from the nearest epsilon for which they are known.

    >>> best_pieces(256, 1.0)
    (676, (0, 62, 196, 202, 298, 376, 420, 438, 632, 644))
    """
    places, pieces = PIECES[_nearest(PIECES, epsilon)]
    if size < 16:  # too few for pieces
        return 2 * size, (0, max(1, round(2 * size / (1 + np.exp(min(epsilon, 30.0))))))
    joined = _scaled(pieces, size, UNIT)
    return max(round(places * size / UNIT), joined[-1] + 1), tuple(joined)


def round_pieces(size: int, epsilon: float) -> tuple[int, ...]:
    """The ends of the pieces for answers that go round.

    >>> round_pieces(24, 1.0), round_pieces(3, 4.0)
    ((0, 1, 5, 10), (0, 1))
    """
    return tuple(_scaled(ROUND_PIECES[_nearest(ROUND_PIECES, epsilon)], size, ROUND_UNIT)) or (0, 1)


def _nearest(known: Iterable[float], epsilon: float) -> float:
    """The nearest epsilon for which pieces are known."""
    return min(known, key=lambda each: abs(np.log(each / max(epsilon, 1e-6))))


def _scaled(pieces: Sequence[int], size: int, unit: int) -> list[int]:
    """The ends of the pieces for another number of answers; those that vanish are left out, and neighbours are joined."""
    ends = [round(end * size / unit) for end in pieces]
    kept = [(start, end) for start, end in zip(ends[::2], ends[1::2], strict=True) if start < end]
    joined: list[int] = []
    for start, end in kept:
        if joined and joined[-1] == start:
            joined[-1] = end
        else:
            joined += [start, end]
    return joined
