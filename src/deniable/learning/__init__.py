"""Learning from people who keep their data: training sets, gradients, trees, and fair contests between learners."""

from deniable.learning.boosting import PrivateGBDTRegressor
from deniable.learning.contest import Contest, Entrant, Score, Standing, Standings, Trial
from deniable.learning.decoding import decode
from deniable.learning.gradients import GradientReports
from deniable.learning.guarantee import Guarantee
from deniable.learning.linear import LinearModel, fit_moments, fit_softmax
from deniable.learning.means import PrivateMeansClassifier
from deniable.learning.noisy_labels import backward_loss, forward_loss, transition, unbiased_labels
from deniable.learning.private_data import PrivateData, privatize
from deniable.learning.sgd import PrivateSGDClassifier, PrivateSGDRegressor
from deniable.learning.signed import SignedData, privatize_together
from deniable.learning.splitting import SampleSplit, split_sample
from deniable.learning.vectors import PrivateVectorClassifier, importance_budgets

__all__ = [
    "Contest",
    "Entrant",
    "GradientReports",
    "Guarantee",
    "LinearModel",
    "PrivateData",
    "PrivateGBDTRegressor",
    "PrivateMeansClassifier",
    "PrivateSGDClassifier",
    "PrivateSGDRegressor",
    "PrivateVectorClassifier",
    "SampleSplit",
    "Score",
    "SignedData",
    "Standing",
    "Standings",
    "Trial",
    "backward_loss",
    "decode",
    "fit_moments",
    "fit_softmax",
    "forward_loss",
    "importance_budgets",
    "privatize",
    "privatize_together",
    "split_sample",
    "transition",
    "unbiased_labels",
]
