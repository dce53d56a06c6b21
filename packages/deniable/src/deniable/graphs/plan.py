"""How the budget of one edge is divided between the rounds: for hubs and for everybody else, from public numbers only."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.graphs.outlook import Outlook
from deniable.graphs.response import CompressedLists
from deniable.graphs.smooth_noise import SmoothNoise
from deniable.mechanisms.sparse import codes
from deniable.mechanisms.sparse.coordinate_response import CoordinateResponse
from deniable.mechanisms.sparse.index_law import checked_alpha
from deniable.mechanisms.sparse.noisy_count import NoisyCount

DEGREES = 0.08
SHARES = np.arange(20, 86, 5) / 100  # of what is left after the degrees, for the response
TAILS = (4.2, 5.0, 6.0, 8.0, 11.0, 16.0, 24.0)
FEWEST_BITS = 60_000  # for the pairs of hubs, times the square of epsilon where it is above 1
PLAIN_PART = 0.6  # of the bits of the compressed lists, for the pairs of hubs


@dataclass(frozen=True)
class Tier:
    """What an edge spends on its response and on the count of the person below, and the tail of that count's noise."""

    response: float
    count: float
    tail: float

    @cached_property
    def noise(self) -> SmoothNoise:
        """The noise of the count."""
        return SmoothNoise(self.count, self.tail)


@dataclass(frozen=True)
class Plan:
    """Every edge costs `degrees` and then what its tier says: `between` hubs in plain, `other` compressed."""

    epsilon: float
    degrees: float
    alpha: float
    hubs: int
    between: Tier
    other: Tier

    @property
    def spent(self) -> float:
        """What all rounds together cost an edge."""
        return self.degrees + max(tier.response + tier.count for tier in (self.between, self.other))

    def promise(self, neighbours: int = 100) -> str:
        """What all rounds together promise, in words, and what they promise somebody with so many neighbours as a whole."""
        return promise(self.epsilon, neighbours)

    @cached_property
    def lists(self) -> CompressedLists:
        """How lists are reported."""
        return CompressedLists(self.other.response, self.alpha, NoisyCount(self.degrees))

    @cached_property
    def plain(self) -> CoordinateResponse:
        """The response of a pair of hubs."""
        return CoordinateResponse.of(self.between.response)

    def parts(self, people: int) -> list[tuple[Tier, CoordinateResponse, int, int]]:
        """The tiers that somebody is in, with their responses and from which to which place of the order they reach."""
        both = ((self.between, self.plain, 0, self.hubs), (self.other, self.lists.coordinate, self.hubs, people))
        return [each for each in both if each[2] < each[3]]

    def variance(self, outlook: Outlook, triangles: float | None = None) -> float:
        """The variance of the count, foreseen; with the triangles that were found, or else as the degrees have it."""
        count = outlook.shared.triangles if triangles is None else triangles
        squares, closed = outlook.shared_given(count), outlook.closed(count)
        return sum(
            answer.noise * float(squares[start:stop].sum())
            + outlook.counting(answer, start, stop, closed).variance(tier.noise)
            for tier, answer, start, stop in self.parts(outlook.people)
        )


def promise(epsilon: float, neighbours: int = 100) -> str:
    """What all rounds together promise, in words, and what they promise somebody with so many neighbours as a whole."""
    factor, people = math.ceil(100 * math.exp(epsilon)) / 100, neighbours * epsilon
    return (
        f"Whether you know any one person: all reports together change the odds by at most a factor of {factor:,.2f} "
        f"(epsilon {epsilon:g}). This does not cover all your neighbours at once: for {neighbours:,} of them "
        f"epsilon is {people:,g}."
    )


def planned(outlook: Outlook, epsilon: float, alpha: float, degrees: float, hubs: int | None = None) -> Plan:
    """The plan with the smallest foreseen variance; as many hubs as their plain answers have room for, unless given."""
    left = epsilon - degrees
    checked_alpha(alpha)
    squares, size = outlook.shared.squares, outlook.people
    closed = outlook.closed(outlook.shared.triangles)

    def best(compressed: bool, start: int, stop: int) -> Tier:
        found, least = Tier(left / 2, left / 2, 8.0), math.inf
        for share in SHARES.tolist() if start < stop else ():
            response = share * left
            answer = CoordinateResponse.quantised(response / (2 * alpha) if compressed else response)
            first = answer.noise * float(squares[start:stop].sum())
            counting = outlook.counting(answer, start, stop, closed)
            for tail in TAILS:
                tier = Tier(response, left - response, tail)
                variance = first + counting.variance(tier.noise)
                if variance < least:
                    found, least = tier, variance
        return found

    hubs = _hubs_with_room(outlook, left / 2, alpha, epsilon) if hubs is None else min(max(hubs, 0), size)
    return Plan(epsilon, degrees, alpha, hubs, best(False, 0, hubs), best(True, hubs, size))


def _hubs_with_room(outlook: Outlook, response: float, alpha: float, epsilon: float) -> int:
    """As many that their plain answers take no more than a part of what everybody's compressed lists take."""
    room, size = FEWEST_BITS * max(epsilon, 1.0) ** 2, outlook.people
    if size**2 / 2 > room:
        lists = CompressedLists(response, alpha, outlook.noisy_count)
        chunks = lists.wanted(outlook.noisy, np.full(size, size // 2))
        room = max(room, PLAIN_PART * float(chunks.sum()) * codes.mean_bits(lists.weights))
    return min(size, int(math.sqrt(2 * room)))
