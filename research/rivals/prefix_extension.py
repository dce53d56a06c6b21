"""Prefix extension as published: equal groups, steps of eight bits, and a hash function for each report.

Wang, Li, Jha 2018 (PEM), on optimized local hashing: a person of group k hashes the first 8 k bits of a key with a function
of one's own into e^epsilon + 1 buckets, and reports a bucket by randomized response. Each group judges the 256 extensions of
the best of the group before. Counting takes the product of reports and candidates, which no tally can hold.
"""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Words = NDArray[np.uint32]
STEP = 8


def words(prefixes: Keys) -> Words:
    """A number of 32 bits for each prefix, far from those of its neighbours."""
    mixed = (prefixes ^ (prefixes >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(32)).astype(np.uint32)


@njit(cache=True)
def hashed(word: np.uint32, function: np.uint32) -> np.uint32:
    """One of 2^32 numbers, by a function of one's own."""
    mixed = np.uint32((word ^ function) * np.uint32(0x85EBCA6B))
    mixed = np.uint32((mixed ^ (mixed >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    return np.uint32(mixed ^ (mixed >> np.uint32(16)))


@njit(cache=True)
def all_hashed(keys: Words, functions: Words) -> Words:
    """The hash of each person's word."""
    found = np.empty(len(keys), np.uint32)
    for person in range(len(keys)):
        found[person] = hashed(keys[person], functions[person])
    return found


@njit(cache=True)
def supported(candidates: Words, functions: Words, starts: Words, width: np.uint32) -> NDArray[np.int64]:
    """How many reports support each candidate: its hash lies in the bucket, of this width, that the report begins at."""
    found = np.zeros(len(candidates), np.int64)
    for person in range(len(functions)):
        function, start = functions[person], starts[person]
        for place in range(len(candidates)):
            found[place] += np.uint32(hashed(candidates[place], function) - start) < width
    return found


def extended(answers: Keys, epsilon: float, top: int, random: np.random.Generator) -> list[int]:
    """The `top` keys of 64 bits that prefix extension names."""
    odds, levels = math.exp(epsilon), 64 // STEP
    buckets = round(odds + 1)
    width = np.uint32(2**32 // buckets)
    truth = odds / (odds + buckets - 1)
    best = np.zeros(1, np.uint64)
    for level, group in enumerate(np.array_split(random.permutation(answers), levels), 1):
        rest = np.uint64(64 - STEP * level)
        functions = random.integers(0, 2**32, len(group), dtype=np.uint32)
        own = np.minimum(all_hashed(words(group >> rest << rest), functions) // width, buckets - 1)
        other = random.integers(1, buckets, len(group))
        told = np.where(random.random(len(group)) < truth, own, (own + other) % buckets)
        candidates = (best[:, None] | (np.arange(1 << STEP, dtype=np.uint64) << rest)[None, :]).ravel()
        support = supported(words(candidates), functions, (told * int(width)).astype(np.uint32), width)
        best = candidates[np.argsort(-support, kind="stable")[:top]]
    return [int(key) for key in best]
