"""Small instances of questions with open answers: lean ones, and as published."""

import math
from collections.abc import Collection
from typing import Any

import deniable as dn
from deniable.mechanisms.algebra.difference_sets import Singer

EPSILON = math.log(3)
SEVEN = dn.Categories(["flu", "AIDS", "cold", "cancer", "none", "burn", "other"])
SIX = dn.Categories(range(8))


def number(size: int) -> dn.Categories:
    return dn.Categories(range(size))


def lean(
    base: Any, secret: Collection[object], domain: dn.Categories = SEVEN, epsilon: float = EPSILON
) -> dn.UtilityOptimized:
    return dn.UtilityOptimized(base, domain, secret, epsilon)


CHANNEL = dn.FiniteChannel(number(3), EPSILON, [[5, 3, 2, 2], [2, 5, 3, 2], [3, 2, 5, 2]])
TWO, FOUR = ["AIDS", "cancer"], ["AIDS", "cancer", "none", "other"]

LEAN: dict[str, dn.UtilityOptimized] = {
    "single": lean(dn.SubsetSelection, ["cancer"]),
    "direct": lean(dn.DirectResponse, FOUR),
    "direct-two": lean(dn.DirectResponse, TWO, epsilon=1.0),
    "unary": lean(dn.Unary, FOUR),
    "unary-symmetric": lean(dn.Unary.symmetric, FOUR, epsilon=1.0),
    "unary-six": lean(dn.Unary, range(6), SIX),
    "unary-flat": dn.UtilityOptimized(dn.Unary, SEVEN, FOUR, EPSILON, flat=True),
    "subset": lean(dn.SubsetSelection, FOUR),
    "subset-six": lean(dn.SubsetSelection(number(6), EPSILON, 3), range(6), SIX),
    "hashing": lean(dn.LocalHashing, FOUR),
    "hashing-binary": lean(dn.LocalHashing.binary, TWO, epsilon=1.0),
    "hashing-six": lean(dn.LocalHashing(number(6), EPSILON, 3), range(6), SIX),
    "wheel": lean(dn.Wheel, FOUR),
    "wheel-six": lean(dn.Wheel, range(1, 7), SIX),
    "hadamard-two": lean(dn.HadamardResponse, TWO),
    "hadamard": lean(dn.HadamardResponse, FOUR, epsilon=1.0),
    "design": lean(dn.BlockDesign(number(4), EPSILON, Singer(2, 3)), FOUR),
    "design-idle": lean(dn.BlockDesign(number(2), EPSILON, Singer(3, 3)), TWO),
    "design-flat": dn.UtilityOptimized(dn.BlockDesign(number(2), EPSILON, Singer(3, 3)), SEVEN, TWO, EPSILON, flat=True),
    "weaker-base": lean(dn.SubsetSelection(number(4), 0.5), FOUR),
    "channel": lean(CHANNEL, ["flu", "none", "other"]),
    "channel-weaker": dn.UtilityOptimized(CHANNEL, SEVEN, ["flu", "none", "other"], 1.5),
}
PUBLISHED: dict[str, dn.PublishedUtility] = {
    "uRR": dn.PublishedUtility(dn.DirectResponse, SEVEN, FOUR, EPSILON),
    "uSS": dn.PublishedUtility(dn.SubsetSelection(number(4), EPSILON, 2), SEVEN, FOUR, EPSILON),
    "uUE": dn.PublishedUtility(dn.Unary, SEVEN, FOUR, EPSILON),
    "uLH": dn.PublishedUtility(dn.LocalHashing(number(4), EPSILON, 2), SEVEN, FOUR, EPSILON),
    "uLH-uneven": dn.PublishedUtility(dn.LocalHashing(number(3), 1.0, 2), SEVEN, ["flu", "none", "other"], 1.0),
    "uWheel": dn.PublishedUtility(dn.Wheel(number(4), EPSILON, 2), SEVEN, FOUR, EPSILON),
}
