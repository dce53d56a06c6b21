"""Learning from people who keep their data: training sets, gradients, trees, and fair contests between learners."""

from deniable.learning.contest import Contest, Entrant, Score, Standing, Standings, Trial

__all__ = ["Contest", "Entrant", "Score", "Standing", "Standings", "Trial"]
