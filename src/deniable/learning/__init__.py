"""Learning from people who keep their data: training sets, gradients, trees, and fair contests between learners."""

from deniable.learning.boosting import PrivateGBDTRegressor
from deniable.learning.codes import LabelledCodes, LabelledVectors
from deniable.learning.contest import Contest, Entrant, Score, Standing, Standings, Trial
from deniable.learning.gradients import GradientReports
from deniable.learning.means import PrivateMeansClassifier
from deniable.learning.sgd import PrivateSGDClassifier, PrivateSGDRegressor
from deniable.learning.vectors import PrivateVectorClassifier, importance_budgets

__all__ = [
    "Contest",
    "Entrant",
    "GradientReports",
    "LabelledCodes",
    "LabelledVectors",
    "PrivateGBDTRegressor",
    "PrivateMeansClassifier",
    "PrivateSGDClassifier",
    "PrivateSGDRegressor",
    "PrivateVectorClassifier",
    "Score",
    "Standing",
    "Standings",
    "Trial",
    "importance_budgets",
]
