"""Poisson numbers from random words; encoder_compiled.py compiles the same text."""

import math

import numpy as np

from deniable.arrays import Words

NONE = -1.0  # there are not enough words left
# 1/(12 k) - 1/(360 k^3) + ...: what Stirling's formula leaves out
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)


def uniform(word: int | np.uint64) -> float:
    """A number strictly between 0 and 1, from 53 bits."""
    return ((int(word) >> 11) + 0.5) * 2.0**-53


def log_poisson(number: float, mean: float) -> float:
    """The logarithm of a Poisson probability, without cancellation for large means."""
    if number < 10.0:
        total = number * math.log(mean) - mean
        factor = 2.0
        while factor <= number:
            total -= math.log(factor)
            factor += 1.0
        return total
    inverse = 1.0 / number
    square = inverse * inverse
    rest = 0.0
    for place in range(len(STIRLING) - 1, -1, -1):
        rest = rest * square + STIRLING[place]
    off = (mean - number) * inverse
    if abs(off) < 0.1:  # log1p(off) - off by its series
        power = 0.0
        for term in range(19, 1, -1):
            power = power * -off + 1.0 / term
        bend = -off * off * power
    else:
        bend = math.log1p(off) - off
    return number * bend - 0.5 * math.log(2.0 * math.pi * number) - rest * inverse


def poisson(mean: float, words: Words, used: int) -> tuple[float, int]:
    """A Poisson number and the words used, or NONE if they do not suffice: by inversion, or by PTRS (Hormann 1993)."""
    if mean < 10.0:
        if used >= len(words):
            return NONE, used
        rest, chance, number = uniform(words[used]), math.exp(-mean), 0.0
        while rest > chance and number < 200.0:
            rest -= chance
            number += 1.0
            chance *= mean / number
        return number, used + 1
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    quick = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        if used + 2 > len(words):
            return NONE, used
        side, height = uniform(words[used]) - 0.5, uniform(words[used + 1])
        used += 2
        edge = 0.5 - abs(side)
        number = math.floor((2.0 * a / edge + b) * side + mean + 0.43)
        if edge >= 0.07 and height <= quick:
            return float(number), used
        if number < 0.0 or (edge < 0.013 and height > edge):
            continue
        if math.log(height * scale / (a / (edge * edge) + b)) <= log_poisson(float(number), mean):
            return float(number), used
