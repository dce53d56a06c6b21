"""Federated rounds with Flower: randomized updates, a budget for all rounds, and nothing else in the messages."""

from deniable.learning.federated.client import PrivateUpdates
from deniable.learning.federated.plan import Anonymizer, UpdatePlan
from deniable.learning.federated.server import PrivateFedAvg
from deniable.learning.federated.simulation import LocalGrid, local_grid

__all__ = ["Anonymizer", "LocalGrid", "PrivateFedAvg", "PrivateUpdates", "UpdatePlan", "local_grid"]
