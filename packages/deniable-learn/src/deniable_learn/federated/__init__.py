"""Federated rounds with Flower: randomized updates, a budget for all rounds, and nothing else in the messages."""

from deniable_learn.federated.client import PrivateUpdates
from deniable_learn.federated.forecast import UpdateForecast
from deniable_learn.federated.plan import Anonymizer, UpdatePlan
from deniable_learn.federated.server import PrivateFedAvg
from deniable_learn.federated.simulation import LocalGrid, local_grid

__all__ = ["Anonymizer", "LocalGrid", "PrivateFedAvg", "PrivateUpdates", "UpdateForecast", "UpdatePlan", "local_grid"]
