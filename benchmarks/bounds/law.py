"""The probabilities of the mechanisms at the measured epsilon, as integers over 2^64."""

from math import exp

from benchmarks.cell import EPSILON

ODDS = exp(EPSILON)
ONE = 2**64


def direct(size: int) -> tuple[int, int]:
    """How many of the 2^64 words keep the value, and how many tell each lie."""
    quota = int(ONE / (ODDS + size - 1)) + 1
    return ONE - (size - 1) * quota, quota


def unary(variant: str) -> tuple[int, int]:
    """Heads of the true bit and of the others."""
    if variant == "optimized":
        return ONE // 2, int(ONE / (ODDS + 1))
    true = int(ONE / (1 + exp(-EPSILON / 2)))
    return true, ONE - true


def hadamard() -> int:
    """How many of the 2^64 words want a column of the true row's set."""
    return int(ONE / (1 + 1 / ODDS))


def design(points: int, k: int) -> int:
    """How many of the 2^64 words want one of the k points of the true block."""
    return int(ONE * (k * ODDS / (k * ODDS + points - k)))


def subset(size: int) -> tuple[int, int]:
    """How many values a subset holds, and how many of the 2^64 words put the true one among them."""
    members = max(1, round(size / (ODDS + 1)))
    return members, int(ONE * (members * ODDS / (members * ODDS + size - members)))
