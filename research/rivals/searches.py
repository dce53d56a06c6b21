"""Searches for a quantile by one question at a time: noisy binary search, and Bayesian screening search.

Everybody is asked once whether the number is at most a threshold, by randomized response; the threshold depends on all
answers before. Aamand, Boninsegna, Gentle, Imola, Pagh 2025 (arXiv 2502.02990), after Gretta, Price 2024. A screening search
has as many rounds as people, so no survey can run it; it is here as a yardstick for the rounds of one.
"""

import math

import numpy as np

from deniable.arrays import Bools, Floats, Ints

FEW = 13  # intervals that the last step of a screening search is about


def asked(people: Ints, threshold: int, epsilon: float, random: np.random.Generator) -> Bools:
    """Whether each person says that the number is at most the threshold."""
    lies = random.random(len(people)) >= 1 / (1 + math.exp(-epsilon))
    return (people <= threshold) ^ lies


def share_below(heard: Bools, epsilon: float) -> float:
    """The share of people at most the threshold, unbiased."""
    return float((heard.mean() - 0.5) / math.tanh(epsilon / 2) + 0.5)


def binary_search(people: Ints, thresholds: Ints, epsilon: float, share: float, random: np.random.Generator) -> int:
    """The threshold that halving leads to, with equally many people for each of its steps."""
    low, high = 0, len(thresholds) - 1
    for group in np.array_split(people, max(1, math.ceil(math.log2(len(thresholds))))):
        middle = (low + high) // 2
        if share_below(asked(group, int(thresholds[middle]), epsilon, random), epsilon) >= share:
            high = middle
        else:
            low = min(middle + 1, high)
    return int(thresholds[low])


def screening_search(
    people: Ints, cells: int, epsilon: float, random: np.random.Generator, step: float, share: float = 0.5
) -> int:
    """The cell of a quantile: Bayesian searches for ever fewer candidates, then a binary search among these.

    The weights of all intervals between thresholds are updated after every answer as if the share below those to the left
    were `step` less than the wanted one, and that below those to the right so much more.
    """
    many = math.log(cells)
    parts = np.array([many, math.log(many), 1.0])
    first, second, last = np.split(people, np.rint(len(people) * np.cumsum(parts / parts.sum())[:2]).astype(np.int64))
    candidates = np.arange(cells)
    candidates = _screened(first, candidates, epsilon, random, step, share, max(FEW, math.ceil(many**2)))
    if len(candidates) > FEW:
        candidates = _screened(second, candidates, epsilon, random, step, share, FEW)
    else:
        last = np.concatenate([second, last])
    return binary_search(last, candidates, epsilon, share, random)


def _screened(
    people: Ints, thresholds: Ints, epsilon: float, random: np.random.Generator, step: float, share: float, kept: int
) -> Ints:
    """Thresholds that a Bayesian search visits, as many of its equally frequent ones as are kept."""
    weights = np.full(len(thresholds), 1 / len(thresholds))
    visited = np.empty(len(people), np.int64)
    truth = 1 / (1 + math.exp(-epsilon))
    lies = random.random(len(people)) >= truth
    for turn, (number, lie) in enumerate(zip(people.tolist(), lies.tolist(), strict=True)):
        place = min(int(np.searchsorted(np.cumsum(weights), 0.5)), len(weights) - 1)
        visited[turn] = place
        below = (number <= thresholds[place]) ^ lie
        weights = updated(weights, place, below, step, share)
    ranks = np.quantile(visited, (np.arange(kept) + 0.5) / kept, method="nearest")
    return np.asarray(thresholds[np.unique(ranks)])


def updated(weights: Floats, place: int, below: bool, step: float, share: float) -> Floats:
    """The weights after an answer to the threshold number `place`: a "yes" speaks for quantiles up to it.

    >>> updated(np.array([0.25, 0.5, 0.25]), 1, True, 0.1, 0.5).round(3).tolist()
    [0.3, 0.5, 0.2]
    """
    yes = step / share if below else -step / (1 - share)
    moved = weights.copy()
    moved[:place] *= 1 + yes
    moved[place + 1 :] *= 1 - yes
    moved[place] = max(1 - moved[:place].sum() - moved[place + 1 :].sum(), 1e-12)
    return np.asarray(moved / moved.sum())
