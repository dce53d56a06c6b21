"""Collaborative sampling: the open share from the first twentieth of the people, and what comes of using it."""

import numpy as np

from deniable.domains import Categories
from deniable.papers.figure import coins_for
from deniable.papers.histograms import Histogram
from deniable.papers.uldp.mechanisms import FAMILIES
from deniable.wrappers.published import PublishedUtility

PILOT = 0.05


def published_pilot(held: Histogram, name: str, epsilon: float) -> PublishedUtility:
    """The mechanism for the first people, with the paper's start: an open share of 0."""
    domain = Categories(range(len(held.people)))
    return PublishedUtility.recommended(FAMILIES[name], domain, held.sensitive, epsilon, 0.0)


def expected_error(told: float, share: float, people: int) -> float:
    """The mean of |found - true| / true for a share found from so many people, each told with this probability."""
    spread = np.sqrt(share * (1 - told) / (people * told) + share * (1 - share) / people)
    return float(spread * np.sqrt(2 / np.pi) / share)


def measured_share(made: PublishedUtility, held: Histogram, people: int, seed: int, run: int) -> float:
    """The open share that a random twentieth of the people shows."""
    coins = coins_for(seed, "pilot", held.name, made.epsilon, type(made.base).__name__, run)
    answers = np.repeat(np.arange(len(held.people)), held.scaled(people))
    chosen = answers[coins.below(len(answers), round(PILOT * len(answers)))]
    tally = made.tally(made.perturb(chosen, coins))
    telling = int(tally.counts[made.base.cells :].sum())
    return float(np.clip(telling / (tally.n * made.told_share), 0, 1))
