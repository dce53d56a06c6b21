"""When to list the candidates: what the names are predicted to lack and to confuse if that is done now, or a round later."""

import math
from dataclasses import dataclass

import numpy as np

from deniable.arrays import Floats
from deniable.discovery.evolution import tail
from deniable.discovery.planning import Design


@dataclass(frozen=True, eq=False)
class Outlook:
    """What is known of the candidates, and what people of later rounds add to it.

    Reports of a list are more precise, but what is not listed is never named. Reports that search find rarer strings.
    """

    design: Design
    shares: Floats  # of the candidates, the most frequent first
    variances: Floats
    find: int
    noise: float  # people times the variance of a share, for a report that searches
    worth: float  # how many such reports there are already
    searching: float  # how many more one round of searching adds
    listing: float  # the people of a round over the variance of a share by a list, times people

    def pays(self, left: int) -> bool:
        """Whether fewer errors are predicted if all rounds that are left list the candidates than if one more searches."""
        return self.errors(0, left) <= self.errors(1, left - 1)

    def errors(self, searching: int, listing: int) -> float:
        """The expected number of strings that are missing, or exchanged for a rarer one, after so many more rounds."""
        return self.missing(searching) + self.exchanged(searching, listing)

    def missing(self, searching: int) -> float:
        """How many of the strings that are asked for are no candidates after so many more rounds that search."""
        error = math.sqrt(self.noise / (self.worth + searching * self.searching))
        return sum(1 - self.design.recall(share / error) for share in self.shares[: self.find].tolist())

    def exchanged(self, searching: int, listing: int) -> float:
        """How many pairs of a string that is to be named and one that is not are ranked the wrong way round."""
        own = self.variances * self.worth / (self.worth + searching * self.searching)
        own = 1 / (1 / own + listing * self.listing)
        first, others = slice(self.find), slice(self.find, None)
        apart = self.shares[first, None] - self.shares[None, others]
        errors = np.sqrt(own[first, None] + own[None, others])
        return sum(tail(each) for each in (apart / errors).ravel().tolist())
