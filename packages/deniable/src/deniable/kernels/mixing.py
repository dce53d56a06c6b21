"""Words that look random, from words that do not (SplitMix64: Steele, Lea, Flood 2014)."""

import numpy as np

from deniable.arrays import Words

STEP = np.uint64(0x9E3779B97F4A7C15)


def mixed(words: Words) -> Words:
    """A bijection of 64 bits after which nothing of the order of the words is left to see."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
