"""Collaborative sampling: the open share from the first twentieth of the people, and what comes of using it."""

import numpy as np

from deniable.arrays import Ints
from research.data.folder import random_for
from research.data.histograms import Histogram
from research.papers.uldp.collect import Collector, collector

PILOT = 0.05


def published_pilot(held: Histogram, name: str, epsilon: float) -> Collector:
    """The mechanism for the first people, with the paper's start: an open share of 0."""
    return collector(name, len(held.people), held.sensitive, epsilon, 0.0)


def spread_of(disclosed: float, share: float, people: int) -> float:
    """The standard deviation of a share found from so many people, each disclosed with this probability."""
    return float(np.sqrt(share * (1 - disclosed) / (people * disclosed) + share * (1 - share) / people))


def divided(counts: Ints, seed: int, *what: object) -> tuple[Ints, Ints]:
    """How many people of each answer are among a random twentieth, and among the others."""
    random, size = random_for(seed, "pilot", *what), round(PILOT * int(counts.sum()))
    first = random.multivariate_hypergeometric(counts, size, method="marginals")
    return first, counts - first


def shown_share(made: Collector, first: Ints, seed: int, *what: object) -> float:
    """The open share that the first people show."""
    open_reports = made.collect(first, seed, "shown", *what).disclosing
    return float(np.clip(open_reports / (first.sum() * made.disclosed_share), 0, 1))
