"""Learning from people who keep their data: training sets, gradients, trees, federated rounds."""

from deniable_learn.boosting import PrivateGBDTRegressor
from deniable_learn.decoding import decode
from deniable_learn.gradients import GradientReports
from deniable_learn.guarantee import Guarantee
from deniable_learn.linear import LinearModel, fit_moments, fit_softmax
from deniable_learn.means import PrivateMeansClassifier
from deniable_learn.noisy_labels import backward_loss, forward_loss, transition, unbiased_labels
from deniable_learn.private_data import PrivateData, privatize
from deniable_learn.sgd import PrivateSGDClassifier, PrivateSGDRegressor
from deniable_learn.signed import SignedData, privatize_together
from deniable_learn.splitting import SampleSplit, split_sample
from deniable_learn.vectors import PrivateVectorClassifier, importance_budgets

__all__ = [
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
    "SignedData",
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
